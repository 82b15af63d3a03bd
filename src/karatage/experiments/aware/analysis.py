"""Analyses of variance over the AWARE experiment's means: [AWARE17] (28) and (31), tables 1 to 5."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.comparison.anova import Anova, anova
from karatage.comparison.tukey import Tukey, tukey
from karatage.errors import DataError
from karatage.merging.estimators import CLASS_WEIGHTINGS, ESTIMATORS, GAPS, GRANULARITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from karatage.experiments.aware.findings import AwareFindings

SIZE, APPROACH, MEASURE, SYSTEMS = "k-tuple size", "approach", "measure", "systems"
GRANULARITY, GAP, WEIGHT = "granularity", "gap", "weight"
FIELDS = {GRANULARITY: "granularity", GAP: "gap", WEIGHT: "weighting"}  # of an estimator
RESPONSES = {"tau_ap": "tau_ap", "rmse": "RMSE / its maximum"}
EFFECTS = ((APPROACH, MEASURE), (APPROACH, SYSTEMS), (MEASURE, SYSTEMS))
PARTS = ((GRANULARITY, GAP), (GRANULARITY, WEIGHT), (GAP, WEIGHT))


@dataclass(frozen=True, eq=False)
class Analysis:
    """What explains one outcome in one panel: the factors of the design, and the parts of the 30 estimators."""

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
    """One analysis for each panel and outcome that have one, and why others have none."""

    found: tuple[Analysis, ...]
    notes: tuple[str, ...]


def analyse(findings: AwareFindings) -> Analyses:
    """Explain tau_ap, and RMSE as a share of its maximum by each measure."""
    found, notes = [], dict[str, None]()
    for panel in findings.panels:
        for outcome in RESPONSES:
            try:
                analysis = _analyse(findings, panel, outcome)
            except DataError as problem:
                notes[f"no analysis of variance of {RESPONSES[outcome]}: {problem}"] = None
                continue
            found.append(analysis)
            notes |= dict.fromkeys(f"analysis of variance: {note}" for note in analysis.whole.notes)
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


def label_measures(measures: Sequence[str]) -> dict[str, str]:
    """Short names, as papers print them, where these tell all measures apart.

    >>> label_measures(["AP", "nDCG(dcg=jk,base=2)@20"])
    {'AP': 'AP', 'nDCG(dcg=jk,base=2)@20': 'nDCG@20'}
    """
    short = {measure: re.sub(r"\(.*\)", "", measure) for measure in measures}
    return short if len(set(short.values())) == len(short) else {measure: measure for measure in measures}


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
    """[AWARE17] table 5: the best level of each factor, and those that cannot be told from it."""
    rows = list(_list_top_groups(analyses))
    names = {"panel": pl.String, "outcome": pl.String, "factor": pl.String, "level": pl.String, "mean": pl.Float64}
    return pl.DataFrame(rows, schema=names, orient="row")


def _list_top_groups(analyses: Analyses) -> Iterator[tuple[str, str, str, str, float]]:
    for analysis in analyses.found:
        for test in analysis.groups:
            mean = dict(zip(test.levels, test.mean.tolist(), strict=True))
            for level in test.top_group:
                yield analysis.panel, analysis.outcome, test.factor, level, mean[level]
