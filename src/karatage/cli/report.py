"""`karatage report`."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from karatage.cli.options import (
    FLAT,
    ApproachNames,
    Families,
    Format,
    GoldFiles,
    InputFiles,
    JudgmentFiles,
    OutputFolder,
    OutputName,
    Pair,
    Printing,
    Reading,
    Recorded,
    make_question_options,
    require_files,
)
from karatage.cli.output import emit, emit_result, encode_frame, say, write_paragraphs
from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import progress
from karatage.data.options import Adjust
from karatage.errors import OptionError
from karatage.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karatage.data.result import Result

RESULT_ENDINGS = (".json", ".json.gz", ".json.zst")
Asked = make_question_options("approach", "paired", "test", "undo_bias", "resamples")


def report(
    runs: Annotated[
        InputFiles,
        Parameter(help="TREC runs: files, folders, globs, or - for stdin; or results that a command wrote as .json."),
    ] = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    pair: Annotated[Pair, FLAT] = Pair(),
    asked: Annotated[Asked, FLAT] = Asked(),  # type: ignore[valid-type]
    approach: ApproachNames = (),
    adjust: Adjust = "holm",
    families: Families = None,
    figures: OutputFolder = None,
    tables: OutputFolder = None,
    output: OutputName = "report.html",
    recorded: Annotated[Recorded, FLAT] = Recorded(),
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Printing, FLAT] = Printing(),
) -> None:
    """Write a page.

    Args:
        approach: The first is used for the decision, all are compared with gold; may be repeated.
        adjust: Correction for many pairs: Holm, Benjamini-Hochberg (bh), or none.
        figures: A folder for every chart as .svg and .png.
        tables: A folder for every table as .tex and .md.
        output: The page: one .html file.
    """
    from karatage.decisions.question import Question
    from karatage.io.models import read_families
    from karatage.views.reading import read_result
    from karatage.views.report import report as survey_systems
    from karatage.views.report import write_report

    study = None
    command = shlex.join(["karatage", *sys.argv[1:]])
    if _are_results(runs):
        if judgments or gold:
            raise OptionError("results need no judgments and gold; give only RESULT.json files, or runs with -j and -g")
        if recorded != Recorded():
            raise OptionError("results need no record of judges; give --record with runs, judgments and gold")
        with progress("Reading", quiet=to.quiet):
            saved = [read_result(path) for path in runs]
        results = [found.result for found in saved]
        command = "\n".join([*(found.command for found in saved if found.command), command])
    else:
        require_files("report a.run b.run -j crowd.csv -g gold.qrels", runs, judgments)
        record = recorded.read()
        retrieved, graded, trusted = reading.read_all(runs, judgments, gold, quiet=to.quiet)
        question = Question(**vars(asked))
        family_of = None if families is None else read_families(families)
        with progress("Comparing systems, auditing judges", quiet=to.quiet):
            found = survey_systems(
                *(retrieved, graded, trusted, question),
                **vars(pair),
                approach=approach,
                adjust=adjust,
                families=family_of,
                record=record,
            )
        study = found.study
        results = [found]
    with progress("Drawing", quiet=to.quiet):
        write_report(output, *results, command=command, figures=figures, tables=tables)
    _print(results, to.format)
    recorded.update(study, quiet=to.quiet)
    if not to.quiet:
        _tell_where(output, results)


def _are_results(paths: Sequence[str]) -> bool:
    """Whether the paths are results, not runs."""
    found = [path.endswith(RESULT_ENDINGS) for path in paths]
    if any(found) and not all(found):
        raise OptionError("runs and results cannot be combined; give only RESULT.json files, or runs with -j and -g")
    return bool(found) and all(found)


def _print(results: Sequence[Result], style: Format | None) -> None:
    """Print the sentences, or the requested format."""
    for result in results:
        if style == "json":
            emit_result(result.to_dict(), STANDARD_OUTPUT)
        elif style == "tsv":
            emit(encode_frame(result.to_frame(), "tsv"), STANDARD_OUTPUT)
        else:
            emit(write_paragraphs(result.sentence), STANDARD_OUTPUT)


def _tell_where(output: str, results: Sequence[Result]) -> None:
    notes = len(dict.fromkeys(note for result in results for note in result.notes))
    doubts = f", with {counted(notes, 'note')} to read before you use it" if notes else ""
    say(f"The page is in {output}{doubts}.")
