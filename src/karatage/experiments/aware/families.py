"""Merging grades against merging scores: families of approaches by size of the k-tuple, and where they cross."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.contenders import MERGED_GRADES
from karatage.experiments.square.telling import list_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karatage.experiments.aware.findings import AwareFindings

CORRELATION = "correlation "  # what the names of simulated panels begin with
USUAL_BASELINE = "mv"


class Crossing(NamedTuple):
    """Where merging scores overtakes merging grades as judges' errors get more alike."""

    systems: str
    measure: str
    size: int
    crossing: float | None
    low: float | None
    high: float | None
    verdict: str


def frame_families(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """By systems, panel, measure, size and family: the mean over its members, and its best member there."""
    lower = outcome == "rmse"
    frame = findings.frame.filter(pl.col("outcome") == outcome)
    best = pl.col("mean", "low", "high", "approach").sort_by("mean", descending=not lower, maintain_order=True).first()
    found = frame.group_by(["systems", "panel", "measure", "size", "family"], maintain_order=True).agg(
        pl.col("mean").mean().alias("family_mean"), best
    )
    return found.rename({"mean": "best", "approach": "best_approach"}).select(
        "systems", "panel", "measure", "size", "family", "family_mean", "best", "low", "high", "best_approach"
    )


def frame_by_size(findings: AwareFindings, sizes: Sequence[int] | None = None) -> pl.DataFrame:
    """Every approach in a row for each outcome, systems, panel and measure, and a column for each size."""
    shown = findings.frame if sizes is None else findings.frame.filter(pl.col("size").is_in(sizes))
    keys = ["outcome", "systems", "panel", "measure", "approach"]
    wide = shown.pivot("size", index=keys, values="mean", maintain_order=True)
    outcomes = pl.col("outcome").replace_strict({name: n for n, name in enumerate(OUTCOMES)})
    return wide.sort(outcomes, maintain_order=True)


def find_baseline(findings: AwareFindings) -> str | None:
    """The merge of grades that merges of scores are set against."""
    merged = [contender.name for contender in findings.contenders if not contender.merges_scores]
    return USUAL_BASELINE if USUAL_BASELINE in merged else next(iter(merged), None)


def frame_contest(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """The best merge of scores less the baseline, by systems, panel, measure and size; empty where one is missing."""
    baseline = find_baseline(findings)
    scores = [k for k, contender in enumerate(findings.contenders) if contender.merges_scores]
    return compare_best(findings, scores, [] if baseline is None else [findings.approaches.index(baseline)], outcome)


def frame_own(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """The best estimator by the judge's own chance less the best of the paper's; empty where one is missing."""
    single = [(k, c.estimator) for k, c in enumerate(findings.contenders) if c.estimator and not c.measures]
    own, paper = ([k for k, estimator in single if estimator.own == which] for which in (True, False))
    return compare_best(findings, own, paper, outcome)


def compare_best(findings: AwareFindings, first: Sequence[int], second: Sequence[int], outcome: str) -> pl.DataFrame:
    """The best of some approaches less the best of others, over the same k-tuples.

    A difference above 0 favours the first, also for RMSE, whose sign is turned. Which are best is decided on the same
    k-tuples, which favours the larger group a little.
    """
    if not first or not second:
        return pl.DataFrame()
    ours, theirs = (findings.find_best(among, outcome=outcome) for among in (first, second))
    frame = findings.frame_differences(ours, theirs, outcome)
    if outcome == "rmse":
        frame = frame.with_columns(difference=-pl.col("difference"), low=-pl.col("high"), high=-pl.col("low"))
    return frame


def frame_leads(contest: pl.DataFrame) -> pl.DataFrame:
    """By systems, panel and measure: sizes at which scores or grades lead for sure, and the others."""
    if contest.is_empty():
        return contest
    low, high = pl.col("low").fill_null(pl.col("difference")), pl.col("high").fill_null(pl.col("difference"))
    state = pl.when(low > 0).then(pl.lit("scores")).when(high < 0).then(pl.lit("grades")).otherwise(pl.lit("open"))
    rows = []
    marked = contest.with_columns(state.alias("state"))
    for keys, group in marked.group_by(["systems", "panel", "measure"], maintain_order=True):
        sizes = {name: sorted(group.filter(state=name)["size"]) for name in ("scores", "grades", "open")}
        rows.append((*keys, *(list_ranges(found) for found in sizes.values())))
    names = ("systems", "panel", "measure", "scores_lead", "grades_lead", "undecided")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def add_correlation(contest: pl.DataFrame) -> pl.DataFrame:
    """The rows of panels simulated with a known correlation of errors, which becomes a column."""
    simulated = contest.filter(pl.col("panel").str.starts_with(CORRELATION)) if not contest.is_empty() else contest
    if simulated.is_empty():
        return pl.DataFrame()
    return simulated.with_columns(correlation=pl.col("panel").str.strip_prefix(CORRELATION).cast(pl.Float64))


def frame_crossings(contest: pl.DataFrame) -> pl.DataFrame:
    """Where the difference changes its sign, by linear interpolation between panels; the ends of its interval, too.

    Empty without two simulated panels at least.
    """
    frame = add_correlation(contest)
    if frame.is_empty() or frame["correlation"].n_unique() < 2:
        return pl.DataFrame()
    rows: list[Crossing] = []
    for _, group in frame.group_by(["systems", "measure", "size"], maintain_order=True):
        ordered = group.sort("correlation").with_columns(pl.col("low", "high").fill_null(pl.col("difference")))
        at = ordered["correlation"].to_list()
        value, low, high = (ordered[name].to_list() for name in ("difference", "low", "high"))
        crossing = find_crossing(at, value)
        # The upper end of the interval crosses first.
        ends = find_crossing(at, high), find_crossing(at, low)
        systems, measure, size = group.select("systems", "measure", "size").row(0)
        rows.append(Crossing(systems, measure, size, crossing, *ends, _judge(value, crossing)))
    types = (pl.String, pl.String, pl.Int32, pl.Float64, pl.Float64, pl.Float64, pl.String)
    return pl.DataFrame(rows, schema=dict(zip(Crossing._fields, types, strict=True)), orient="row")


def _judge(value: Sequence[float], crossing: float | None) -> str:
    if crossing is not None:
        return "scores overtake"
    return "scores ahead" if min(value) > 0 else "grades ahead" if max(value) <= 0 else "scores fall behind"


def find_crossing(at: Sequence[float], value: Sequence[float]) -> float | None:
    """The first place where `value` rises through 0, between the points given.

    >>> find_crossing([0.0, 0.5, 1.0], [-0.2, -0.1, 0.1])
    0.75
    """
    points = list(zip(at, value, strict=True))
    for (x, before), (y, after) in pairwise(points):
        if before <= 0 < after:
            return x + (y - x) * -before / (after - before)
    return None


def list_families(findings: AwareFindings) -> list[str]:
    """Families in the order of the charts: grades merged first."""
    found = dict.fromkeys(contender.family for contender in findings.contenders)
    return sorted(found, key=lambda name: (name != MERGED_GRADES, list(found).index(name)))


def choose_sizes(sizes: Sequence[int], most: int) -> list[int]:
    """At most so many of the sizes, the first and the last among them, the smaller ones closer together.

    >>> choose_sizes(range(2, 31), 6)
    [2, 3, 6, 10, 17, 30]
    """
    count = len(sizes)
    if count <= most:
        return list(sizes)
    ratio = sizes[-1] / sizes[0]
    wanted = [sizes[0] * ratio ** (n / max(most - 1, 1)) for n in range(most)]
    return sorted({min(sizes, key=lambda size: abs(size - aim)) for aim in wanted})
