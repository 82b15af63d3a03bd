"""`karatage evaluate`."""

from __future__ import annotations

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
from karatage.cli.output import choose_style, put, write_page
from karatage.cli.terminal import progress
from karatage.errors import OptionError

if TYPE_CHECKING:
    import polars as pl

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
        per_topic: Print the scores of every topic (tsv, json, parquet).
        weights: Print each judge's weight, for approaches that weight judges.
        explain: Print the reasons for each judge's weight, one line each.
        train: Topics whose gold is for training only: 401,402 or a share like 30%.
        gold_certainty: Probability that a grade of gold is correct; the papers use 0.95.
        draws: Random draws of merged grades, for intervals and P(A better than B); 0: none.
    """
    from dataclasses import replace

    from karatage.decisions.evaluate import evaluate as evaluate_systems
    from karatage.views.evaluation import view_evaluation

    if per_topic and choose_style(to.format, to.output) == "table":
        to = replace(to, format="tsv")
    if not runs:
        raise OptionError("no runs were given; name run files or a folder, e.g. karatage evaluate runs/ -j crowd.csv")
    if not judgments:
        raise OptionError("no judgments were given; name their files with --judgments or -j")
    retrieved, graded, trusted = reading.read_all(runs, judgments, gold, quiet=to.quiet)
    with progress("Scoring", quiet=to.quiet):
        result = evaluate_systems(
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
        lambda: write_page(view_evaluation(result, weights=weights, explain=explain), top=top),
        frame=lambda: _choose_frame(result, per_topic=per_topic, weights=weights or explain),
        facts=lambda: result.to_dict(per_topic=per_topic, weights=weights or explain),
        output=to.output,
    )


def _choose_frame(result: Evaluation, *, per_topic: bool, weights: bool) -> pl.DataFrame:
    """The table for formats that hold one table."""
    import polars as pl

    if not weights:
        return result.per_topic() if per_topic else result.to_frame()
    if per_topic:
        raise OptionError("--per-topic and --weights are two tables; ask for one, or for both with --format json")
    return pl.concat([found.to_frame() for found in result.weights], how="diagonal")
