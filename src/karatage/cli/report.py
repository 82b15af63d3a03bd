"""`karatage report`."""

from __future__ import annotations

import shlex
import sys
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.compare import (
    CLAIM_HELP,
    CONFIDENCE_HELP,
    Adjustment,
    Claim,
    Correction,
    JudgeKind,
    JudgesShared,
    choose_pair,
    order_as_named,
)
from karatage.cli.completing import CORRECTIONS, complete_approaches
from karatage.cli.output import STANDARD_OUTPUT, WIDTH, emit, emit_result, encode_frame, render, say
from karatage.cli.terminal import progress
from karatage.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karatage.data.result import Result

RESULT_ENDINGS = (".json", ".json.gz", ".json.zst")


def report(
    files: Annotated[
        list[str] | None,
        options.reads_arguments("RUNS... | RESULTS...", "TREC runs; or results that a command wrote as .json."),
    ] = None,
    *,
    runs: options.MoreRunFiles = None,
    judgments: options.SomeJudgmentFiles = None,
    gold: options.GoldFiles = None,
    measure: options.MeasureName = "P@10",
    a: options.SystemA = None,
    b: options.SystemB = None,
    approach: Annotated[
        list[str] | None,
        typer.Option(
            "--approach",
            "-a",
            help="The first decides, all are held against gold; may be repeated.",
            autocompletion=complete_approaches,
        ),
    ] = None,
    topics: Annotated[Claim, typer.Option("--topics", help=f"{CLAIM_HELP}.")] = Claim.new,
    correction: Correction = CORRECTIONS[0],
    judges: JudgesShared = JudgeKind.shared,
    confidence: Annotated[float, typer.Option("--confidence", help=f"{CONFIDENCE_HELP}.")] = 0.95,
    adjust: Annotated[
        Adjustment, typer.Option("--adjust", help="For many pairs: Holm, Benjamini-Hochberg, or not at all.")
    ] = Adjustment.holm,
    families: options.Families = None,
    figures: Annotated[
        str | None, options.writes("--figures", kind="folder", help="A folder for every chart as .svg and .png.")
    ] = None,
    tables: Annotated[
        str | None, options.writes("--tables", kind="folder", help="A folder for every table as .tex and .md.")
    ] = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: Annotated[str, options.writes("--output", "-o", help="The page: one .html file.")] = "report.html",
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Everything on one page: the decision, the leaderboard, the judges, and every doubt.

    From runs, judgments and gold, or from results that other commands wrote with -o RESULT.json.

    Example, on the files that `karatage demo` writes:

        karatage report demo/runs -j demo/judgments.csv -g demo/gold.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    paths = [*(files or []), *(runs or [])]
    command = shlex.join(["karatage", *sys.argv[1:]])
    if _are_results(paths):
        if judgments or gold:
            raise OptionError("results need no judgments and no gold; give RESULT.json alone, or runs, -j and -g")
        with progress("Reading", quiet=quiet):
            saved = [kt.read_result(path) for path in paths]
        results = [found.result for found in saved]
        command = "\n".join([*(found.command for found in saved if found.command), command])
    else:
        if not paths or not judgments:
            lacking = "judgments" if paths else "runs"
            raise OptionError(f"no {lacking} were given, e.g. karatage report a.run b.run -j crowd.csv -g gold.qrels")
        with progress("Reading", quiet=quiet):
            retrieved = kt.read_runs(paths)
        graded, trusted = options.read_both(
            judgments,
            gold,
            grades=(grades, gold_grades),
            columns=(columns, gold_columns),
            repeats=repeats,
            quiet=quiet,
        )
        question = kt.Question(
            measure=measure,
            approach=approach[0] if approach else None,
            topics=topics.value,
            correction=correction,
            judges=judges.value,
            confidence=confidence,
            seed=seed,
        )
        rules = kt.SurveyRules(
            approaches=tuple(approach) if approach else None,
            families=None if families is None else kt.read_families(families),
            adjust=adjust.value,
        )
        pair = choose_pair(order_as_named(retrieved, paths), a, b)
        with progress("Comparing systems, auditing judges", quiet=quiet):
            results = [kt.survey(retrieved, graded, trusted, question, pair=pair, rules=rules)]
    with progress("Drawing", quiet=quiet):
        kt.write_report(output, *results, command=command, figures=figures, tables=tables)
    _print(results, style)
    if not quiet:
        _tell_where(output, results)


def _are_results(paths: Sequence[str]) -> bool:
    """Whether results are named, rather than runs."""
    from karatage.errors import OptionError

    found = [path.endswith(RESULT_ENDINGS) for path in paths]
    if any(found) and not all(found):
        raise OptionError("runs and results at once; give RESULT.json files alone, or runs with -j and -g")
    return bool(found) and all(found)


def _print(results: Sequence[Result], style: options.Style | None) -> None:
    """The sentences, or what was asked for."""
    if style is None or style == options.Style.table:
        for result in results:
            emit(render(fill(result.sentence, WIDTH)), STANDARD_OUTPUT)
        return
    for result in results:
        if style == options.Style.json:
            emit_result(result.to_dict(), STANDARD_OUTPUT)
        else:
            emit(encode_frame(result.to_frame(), "tsv"), STANDARD_OUTPUT)


def _tell_where(output: str, results: Sequence[Result]) -> None:
    notes = len(dict.fromkeys(note for result in results for note in result.notes))
    doubts = f", with {counted(notes, 'note')} to read before you rely on it" if notes else ""
    say(f"The page is in {output}{doubts}.")
