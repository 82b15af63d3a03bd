"""`karatage evaluate`."""

from __future__ import annotations

import re
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
from karatage.text import shorten

if TYPE_CHECKING:
    import polars as pl

    from karatage.data.evaluation import Evaluation
    from karatage.data.gold import Gold
    from karatage.data.judgments import Judgments


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
    from karatage.views.evaluation import view_evaluation

    if per_topic and choose_style(to.format, to.output) == "table":
        to = replace(to, format="tsv")
    if not runs:
        raise OptionError("no runs were given; name run files or a folder, e.g. karatage evaluate runs/ -j crowd.csv")
    if not judgments:
        raise OptionError("no judgments were given; name their files with --judgments or -j")
    retrieved, graded, trusted = reading.read_all(runs, judgments, gold, quiet=to.quiet)
    used = _use_gold(trusted, train, gold_certainty, seed)
    with progress("Scoring", quiet=to.quiet):
        result = kt.evaluate(retrieved, graded, list(measure), approach=list(approach), gold=used, rng=seed)
    if (weights or explain) and not result.weights:
        raise OptionError("no requested approach weights judges; name one such as sgl_tau_msd, tpc_tau_own4 or sup_tau")
    if draws:
        with progress("Drawing", quiet=to.quiet):
            result = kt.draw_evaluation(retrieved, result, draws=draws)
    put(
        result,
        to,
        lambda: write_page(view_evaluation(result, weights=weights, explain=explain), top=top),
        frame=lambda: _choose_frame(result, per_topic=per_topic, weights=weights or explain),
        facts=lambda: result.to_dict(per_topic=per_topic, weights=weights or explain),
        output=to.output,
    )


def _use_gold(gold: Judgments | None, train: str | None, certainty: float, seed: int) -> Gold | None:
    """Gold with what the options say of it."""
    from karatage.data.gold import Gold

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

    if not weights:
        return result.per_topic() if per_topic else result.to_frame()
    if per_topic:
        raise OptionError("--per-topic and --weights are two tables; ask for one, or for both with --format json")
    return pl.concat([found.to_frame() for found in result.weights], how="diagonal")
