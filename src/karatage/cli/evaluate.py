"""`karatage evaluate`."""

from __future__ import annotations

import re
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from karatage.cli import options
from karatage.cli.output import (
    STANDARD_OUTPUT,
    choose_style,
    emit,
    emit_result,
    encode_frame,
    fit_columns,
    render,
    say,
    show_table,
    tell,
    tell_rest,
)
from karatage.cli.terminal import progress
from karatage.text import counted, shorten

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from karatage.data.evaluation import Evaluation
    from karatage.data.gold import Gold
    from karatage.data.judgments import Judgments


def evaluate(
    run_files: options.RunFiles = None,
    *,
    judgments: options.JudgmentFiles,
    runs: options.MoreRunFiles = None,
    gold: options.GoldFiles = None,
    measure: options.Measures = ["nDCG@10"],  # noqa: B006 typer copies it
    approach: options.Approaches = ["uniform", "mv"],  # noqa: B006
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    per_topic: Annotated[
        bool, typer.Option("--per-topic", help="Scores for every topic (tsv, json, parquet).")
    ] = False,
    top: options.Top = 20,
    weights: Annotated[
        bool, typer.Option("--weights", help="What each judge weighs, for approaches that weigh.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Why each judge weighs what it does, a line each.")
    ] = False,
    train: Annotated[
        str | None,
        typer.Option("--train", help="Topics whose gold only teaches: 401,402 or a share like 30%."),
    ] = None,
    gold_certainty: Annotated[
        float, typer.Option("--gold-certainty", help="Below 1, gold is random: 0.95 is the papers' choice.")
    ] = 1.0,
    draws: Annotated[
        int,
        typer.Option("--draws", min=0, help="Draw grades so many times from merged ones: intervals, P(A beats B)."),
    ] = 0,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = "-",
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Rank systems under noisy judges, and say how near each approach comes to gold.

    Example, on the files that `karatage demo` writes:

        karatage evaluate demo/runs -j demo/judgments.csv -g demo/gold.qrels
    """
    import karatage as kt
    from karatage.errors import OptionError

    chosen = choose_style(style, output)
    paths = [*(run_files or []), *(runs or [])]
    if not paths:
        raise OptionError("no runs were given; name run files or a folder, e.g. karatage evaluate runs/ -j crowd.csv")
    if per_topic and chosen == "table":
        chosen = "tsv"
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
    used = _use_gold(trusted, train, gold_certainty, seed)
    with progress("Scoring", quiet=quiet):
        result = kt.evaluate(retrieved, graded, measure, approach=approach, gold=used, rng=seed)
    if (weights or explain) and not result.weights:
        raise OptionError("no approach asked for weighs judges; name one such as sgl_tau_msd, tpc_tau_own4 or sup_tau")
    if draws:
        with progress("Drawing", quiet=quiet):
            result = kt.draw_evaluation(retrieved, result, draws=draws)
    if chosen == "json":
        emit_result(result.to_dict(per_topic=per_topic, weights=weights or explain), output)
    elif chosen == "table":
        emit(_render(result, top, weights=weights, explain=explain), output)
    else:
        emit(
            encode_frame(_choose_frame(result, per_topic=per_topic, weights=weights or explain), chosen, raw=raw),
            output,
        )
    if not quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


def _use_gold(gold: Judgments | None, train: str | None, certainty: float, seed: int) -> Gold | None:
    """Gold with what the options say of it."""
    from karatage.data.gold import Gold
    from karatage.errors import OptionError

    if gold is None:
        if train is not None or certainty != 1:
            raise OptionError("--train and --gold-certainty say how gold is used, and there is none; add --gold")
        return None
    if train is None:
        return Gold(gold, certainty=certainty)
    if re.fullmatch(r"0?\.\d+", train.strip()) and train.strip() not in gold.topics:
        return Gold.split(gold, float(train), certainty=certainty, rng=seed)
    if not train.strip().endswith("%"):
        return Gold(gold, tuple(part.strip() for part in train.split(",")), certainty)
    share = train.strip().removesuffix("%")
    if not share.isdecimal() or not 0 < int(share) < 100:
        raise OptionError(f"--train '{shorten(train)}' is no share of the topics; write it like 30%")
    return Gold.split(gold, int(share) / 100, certainty=certainty, rng=seed)


def _choose_frame(result: Evaluation, *, per_topic: bool, weights: bool) -> pl.DataFrame:
    """The one table that a file without structure holds."""
    import polars as pl

    from karatage.errors import OptionError

    if not weights:
        return result.per_topic() if per_topic else result.to_frame()
    if per_topic:
        raise OptionError("--per-topic and --weights are two tables; ask for one, or for both with --format json")
    return pl.concat([found.to_frame() for found in result.weights], how="diagonal")


def _render(result: Evaluation, top: int, *, weights: bool, explain: bool) -> str:
    from karatage.views.draws import tabulate_draws
    from karatage.views.evaluation import tabulate_fidelity
    from karatage.views.weights import tabulate_weights

    parts: list[RenderableType] = []
    for measure in result.measures:
        parts += _show_scores(result, measure, top)
    for drawn in result.draws:
        parts += ["", show_table(tabulate_draws(drawn), top=top)]
    if result.fidelity:
        parts += ["", show_table(tabulate_fidelity(result))]
    for found in result.weights:
        table = tabulate_weights(found)
        parts += ["", show_table(table, top=top), *tell_rest(table, top, "judge")] if weights else []
        parts += [f"\nWhy judges weigh what they do, {found.approach} on {found.measure}:"] if explain else []
        parts += [fill(line, 80, initial_indent="  ", subsequent_indent="    ") for line in found.explain() if explain]
    return render(*parts, "", result.sentence)


def _show_scores(result: Evaluation, measure: str, top: int) -> list[RenderableType]:
    """As many approaches side by side as fit."""
    from karatage.views.evaluation import tabulate_measure

    table = tabulate_measure(result, measure)
    shown = fit_columns(table, top=top)
    parts: list[RenderableType] = [show_table(shown, top=top), *tell_rest(table, top, "system")]
    rest = len(table.columns) - len(shown.columns)
    return [*parts, f"… {counted(rest, 'more approach')}; --format tsv shows all."] if rest else parts
