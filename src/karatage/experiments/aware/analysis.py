"""Analyses of the AWARE experiment's means: variance [AWARE17] (28) and (31), tables 1 to 5, and comparisons."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.comparison.anova import Anova, anova
from karatage.comparison.tukey import Tukey, tukey
from karatage.data.checks import NUMBER, TEXT, Column, maybe
from karatage.data.note import Note
from karatage.errors import DataError
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.plan import MERGED_GRADES, label_measures
from karatage.experiments.engine import frame_rows
from karatage.experiments.notes import tell
from karatage.merging.estimators import CLASS_WEIGHTINGS, ESTIMATORS, GAPS, GRANULARITIES
from karatage.text import list_ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karatage.experiments.aware.findings import AwareFindings

SIZE, APPROACH, MEASURE, SYSTEMS = "k-tuple size", "approach", "measure", "systems"
GRANULARITY, GAP, WEIGHT = "granularity", "gap", "weight"
FIELDS = {GRANULARITY: "granularity", GAP: "gap", WEIGHT: "weighting"}  # of an estimator
RESPONSES = {"tau_ap": "tau_ap", "rmse": "RMSE / its maximum"}
EFFECTS = ((APPROACH, MEASURE), (APPROACH, SYSTEMS), (MEASURE, SYSTEMS))
PARTS = ((GRANULARITY, GAP), (GRANULARITY, WEIGHT), (GAP, WEIGHT))
CORRELATION = "correlation "  # what the names of simulated panels begin with
USUAL_BASELINE = "mv"
LEADS = ("systems", "panel", "measure", "scores_lead", "grades_lead", "undecided")
CROSSINGS = {"systems": TEXT, "measure": TEXT, "size": Column("int32", 1)}
CROSSINGS |= {**dict.fromkeys(("crossing", "low", "high"), maybe(NUMBER)), "verdict": TEXT}


@dataclass(frozen=True, eq=False)
class Analysis:
    """Analyses of variance of one outcome in one panel: by the factors of the design, and by parts of estimators."""

    panel: str
    outcome: str
    whole: Anova
    parts: Anova | None

    @cached_property
    def groups(self) -> tuple[Tukey, ...]:
        """Tukey's test for approaches, then for granularities, gaps and weights."""
        lower = self.outcome == "rmse"
        found = [tukey(self.whole, APPROACH, lower_is_better=lower)] if APPROACH in self.whole.design.factors else []
        if self.parts is not None:
            found += [tukey(self.parts, name, lower_is_better=lower) for name in (GRANULARITY, GAP, WEIGHT)]
        return tuple(found)


class Analyses(NamedTuple):
    """One analysis for each panel and outcome for which it is possible, and the reasons for the others."""

    found: tuple[Analysis, ...]
    notes: tuple[Note, ...]


def analyse(findings: AwareFindings) -> Analyses:
    """Analyse tau_ap, and RMSE as a share of its maximum by each measure."""
    found, notes = [], dict[Note, None]()
    for panel in findings.panels:
        for outcome in RESPONSES:
            try:
                analysis = _analyse(findings, panel, outcome)
            except DataError as problem:
                notes[tell("no-variance", outcome=RESPONSES[outcome], problem=str(problem))] = None
                continue
            found.append(analysis)
            notes |= dict.fromkeys(note.about("analysis of variance") for note in analysis.whole.notes)
    return Analyses(tuple(found), tuple(notes))


def _analyse(findings: AwareFindings, panel: str, outcome: str) -> Analysis:
    frame = _frame_means(findings, panel, outcome)
    response = RESPONSES[outcome]
    whole = anova(frame, response, factors=(SIZE, APPROACH, MEASURE, SYSTEMS), interactions=EFFECTS)
    thirty = frame.filter(pl.col(APPROACH).is_in([*ESTIMATORS]))
    if not set(ESTIMATORS) <= set(findings.approaches):
        return Analysis(panel, outcome, whole, None)
    parts = anova(
        _take_apart(thirty), response, factors=(SIZE, GRANULARITY, GAP, WEIGHT, MEASURE, SYSTEMS), interactions=PARTS
    )
    return Analysis(panel, outcome, whole, parts)


def _frame_means(findings: AwareFindings, panel: str, outcome: str) -> pl.DataFrame:
    """One row per systems, measure, size and approach."""
    frame = findings.frame.filter((pl.col("panel") == panel) & (pl.col("outcome") == outcome))
    value, labels = pl.col("mean"), label_measures(findings.measures)
    if outcome == "rmse":
        value = value / value.max().over("measure")
    return frame.select(
        value.alias(RESPONSES[outcome]),
        pl.col("size").alias(SIZE),
        pl.col("approach").cast(pl.Enum(findings.approaches)).alias(APPROACH),
        pl.col("measure").replace_strict(labels, return_dtype=pl.Enum([*labels.values()])).alias(MEASURE),
        pl.col("systems").cast(pl.Enum(findings.systems)).alias(SYSTEMS),
    )


def _take_apart(frame: pl.DataFrame) -> pl.DataFrame:
    def part(name: str, values: Sequence[str]) -> pl.Expr:
        words = {approach: getattr(estimator, FIELDS[name]) for approach, estimator in ESTIMATORS.items()}
        return pl.col(APPROACH).cast(pl.String).replace_strict(words, return_dtype=pl.Enum(values)).alias(name)

    return frame.with_columns(part(GRANULARITY, GRANULARITIES), part(GAP, GAPS), part(WEIGHT, CLASS_WEIGHTINGS))


def frame_tables(analyses: Analyses) -> pl.DataFrame:
    """[AWARE17] tables 1 to 4, one below the other."""
    parts = []
    for analysis in analyses.found:
        for design, table in ("factors", analysis.whole), ("parts", analysis.parts):
            if table is not None:
                keys = pl.lit(analysis.panel).alias("panel"), pl.lit(analysis.outcome).alias("outcome")
                parts.append(table.to_frame().select(*keys, pl.lit(design).alias("design"), pl.all()))
    return pl.concat(parts) if parts else pl.DataFrame()


def frame_top_groups(analyses: Analyses) -> pl.DataFrame:
    """[AWARE17] table 5: the best level of each factor, and those not significantly different from it."""
    rows = (
        (analysis.panel, analysis.outcome, test.factor, level, float(test.mean[test.levels.index(level)]))
        for analysis in analyses.found
        for test in analysis.groups
        for level in test.top_group
    )
    return frame_rows(rows, {**dict.fromkeys(("panel", "outcome", "factor", "level"), TEXT), "mean": NUMBER})


def frame_families(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """By systems, panel, measure, size and family: the mean over its members, and its best member."""
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
    """A row for each outcome, systems, panel, measure and approach, and a column for each size."""
    shown = findings.frame if sizes is None else findings.frame.filter(pl.col("size").is_in(sizes))
    keys = ["outcome", "systems", "panel", "measure", "approach"]
    wide = shown.pivot("size", index=keys, values="mean", maintain_order=True)
    outcomes = pl.col("outcome").replace_strict({name: n for n, name in enumerate(OUTCOMES)})
    return wide.sort(outcomes, maintain_order=True)


def find_baseline(findings: AwareFindings) -> str | None:
    """The merge of grades with which merges of scores are compared."""
    merged = [contender.name for contender in findings.contenders if not contender.merges_scores]
    return USUAL_BASELINE if USUAL_BASELINE in merged else next(iter(merged), None)


def frame_contest(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """The best merge of scores minus the baseline, by systems, panel, measure and size; empty if one is missing."""
    baseline = find_baseline(findings)
    scores = [k for k, contender in enumerate(findings.contenders) if contender.merges_scores]
    return compare_best(findings, scores, [] if baseline is None else [findings.approaches.index(baseline)], outcome)


def frame_own(findings: AwareFindings, *, outcome: str = "tau_ap") -> pl.DataFrame:
    """The best estimator with judges' own shuffled grades minus the best of the paper's; empty if one is missing."""
    single = [(k, c.estimator) for k, c in enumerate(findings.contenders) if c.estimator and not c.measures]
    own, paper = ([k for k, estimator in single if estimator.own == which] for which in (True, False))
    return compare_best(findings, own, paper, outcome)


def compare_best(findings: AwareFindings, first: Sequence[int], second: Sequence[int], outcome: str) -> pl.DataFrame:
    """The best of some approaches minus the best of others, over the same k-tuples.

    A difference above 0 favours the first, also for RMSE, whose sign is inverted. The best are selected on the same
    k-tuples, which slightly favours the larger group.
    """
    if not first or not second:
        return pl.DataFrame()
    ours, theirs = (findings.find_best(among, outcome=outcome) for among in (first, second))
    frame = findings.frame_differences(ours, theirs, outcome)
    if outcome == "rmse":
        frame = frame.with_columns(difference=-pl.col("difference"), low=-pl.col("high"), high=-pl.col("low"))
    return frame


def frame_leads(contest: pl.DataFrame) -> pl.DataFrame:
    """By systems, panel and measure: sizes at which scores or grades lead significantly, and the others."""
    if contest.is_empty():
        return contest
    low, high = pl.col("low").fill_null(pl.col("difference")), pl.col("high").fill_null(pl.col("difference"))
    state = pl.when(low > 0).then(pl.lit("scores")).when(high < 0).then(pl.lit("grades")).otherwise(pl.lit("open"))
    rows = []
    marked = contest.with_columns(state.alias("state"))
    for keys, group in marked.group_by(["systems", "panel", "measure"], maintain_order=True):
        sizes = {name: sorted(group.filter(state=name)["size"]) for name in ("scores", "grades", "open")}
        rows.append((*keys, *(list_ranges(found) for found in sizes.values())))
    return frame_rows(rows, dict.fromkeys(LEADS, TEXT))


def add_correlation(contest: pl.DataFrame) -> pl.DataFrame:
    """The rows of panels simulated with a known correlation of errors, with that as a column."""
    simulated = contest.filter(pl.col("panel").str.starts_with(CORRELATION)) if not contest.is_empty() else contest
    if simulated.is_empty():
        return pl.DataFrame()
    return simulated.with_columns(correlation=pl.col("panel").str.strip_prefix(CORRELATION).cast(pl.Float64))


def frame_crossings(contest: pl.DataFrame) -> pl.DataFrame:
    """The correlation at which the difference changes its sign, by linear interpolation, with its interval.

    Empty without two simulated panels at least.
    """
    frame = add_correlation(contest)
    if frame.is_empty() or frame["correlation"].n_unique() < 2:
        return pl.DataFrame()
    rows = []
    for _, group in frame.group_by(["systems", "measure", "size"], maintain_order=True):
        ordered = group.sort("correlation").with_columns(pl.col("low", "high").fill_null(pl.col("difference")))
        at = ordered["correlation"].to_list()
        value, low, high = (ordered[name].to_list() for name in ("difference", "low", "high"))
        crossing = find_crossing(at, value)
        # The upper end of the interval crosses first.
        ends = find_crossing(at, high), find_crossing(at, low)
        systems, measure, size = group.select("systems", "measure", "size").row(0)
        rows.append((systems, measure, size, crossing, *ends, _judge(value, crossing)))
    return frame_rows(rows, CROSSINGS)


def _judge(value: Sequence[float], crossing: float | None) -> str:
    if crossing is not None:
        return "scores overtake"
    return "scores ahead" if min(value) > 0 else "grades ahead" if max(value) <= 0 else "scores fall behind"


def find_crossing(at: Sequence[float], value: Sequence[float]) -> float | None:
    """The first place where `value` rises through 0, between the given points.

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
    """At most `most` of the sizes, with the first and the last, and more of the smaller ones.

    >>> choose_sizes(range(2, 31), 6)
    [2, 3, 6, 10, 17, 30]
    """
    count = len(sizes)
    if count <= most:
        return list(sizes)
    ratio = sizes[-1] / sizes[0]
    wanted = [sizes[0] * ratio ** (n / max(most - 1, 1)) for n in range(most)]
    return sorted({min(sizes, key=lambda size: abs(size - aim)) for aim in wanted})
