"""`karatage evaluate`."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated

from karatage.cli.options import (
    AT_LEAST_0,
    FLAT,
    ApproachNames,
    GoldFiles,
    JudgmentFiles,
    Measures,
    Output,
    Reading,
    RunFiles,
    Seed,
    Top,
)
from karatage.cli.output import choose_style, fit_columns, put, render, show_table, tell_rest
from karatage.cli.terminal import progress
from karatage.errors import OptionError
from karatage.text import counted

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from karatage.data.evaluation import Evaluation


def evaluate(
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    measure: Measures = ("nDCG@10",),
    approach: ApproachNames = ("uniform", "mv"),
    per_topic: bool = False,
    top: Top = 20,
    weights: bool = False,
    explain: bool = False,
    train: str | None = None,
    gold_certainty: float = 1.0,
    draws: Annotated[int, AT_LEAST_0] = 0,
    seed: Seed = 0,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Evaluate systems.

    Args:
        approach: uniform, sgl_tau_msd, sup_tau, mv, ds, binmv, ..., judge:NAME, judge:* (all); may be repeated.
        per_topic: Scores for every topic (tsv, json, parquet).
        weights: Each judge's weight, for approaches that weight judges.
        explain: Reasons for each judge's weight, one line each.
        train: Topics whose gold is for training only: 401,402 or a share like 30%.
        gold_certainty: Below 1, gold is random: 0.95 is the papers' choice.
        draws: Number of draws of merged grades: intervals, P(A better than B).
    """
    from dataclasses import replace

    import karatage as kt

    if per_topic and choose_style(to.format, to.output) == "table":
        to = replace(to, format="tsv")
    if not runs:
        raise OptionError("no runs were given; name run files or a folder, e.g. karatage evaluate runs/ -j crowd.csv")
    if not judgments:
        raise OptionError("no judgments were given; name their files with --judgments or -j")
    retrieved, graded, trusted = reading.read_all(runs, judgments, gold, quiet=to.quiet)
    with progress("Scoring", quiet=to.quiet):
        result = kt.evaluate(
            *(retrieved, graded, measure),
            approach=approach,
            gold=trusted,
            train=train,
            gold_certainty=gold_certainty,
            draws=draws,
            rng=seed,
        )
    if (weights or explain) and not result.weights:
        raise OptionError("no requested approach weights judges; name one such as sgl_tau_msd, tpc_tau_own4 or sup_tau")
    put(
        result,
        to,
        lambda: _render(result, top, weights=weights, explain=explain),
        frame=lambda: _choose_frame(result, per_topic=per_topic, weights=weights or explain),
        facts=lambda: result.to_dict(per_topic=per_topic, weights=weights or explain),
        output=to.output,
    )


def _choose_frame(result: Evaluation, *, per_topic: bool, weights: bool) -> pl.DataFrame:
    """The one table that a file without structure holds."""
    import polars as pl

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
        parts += [f"\nReasons for the weights of judges, {found.approach} on {found.measure}:"] if explain else []
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
