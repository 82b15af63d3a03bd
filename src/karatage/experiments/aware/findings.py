"""Findings of the AWARE experiment: how close approaches are to gold, by size of the k-tuple."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, LongArray, freeze
from karatage.data.checks import (
    FLAG,
    NEAR,
    SLACK,
    TEXT,
    maybe,
    require_equal,
    require_names,
    require_numbers,
    require_ordered,
    require_shape,
)
from karatage.data.note import Note
from karatage.data.options import CONFIDENCE
from karatage.data.result import Result
from karatage.errors import DataError, UnknownNameError
from karatage.experiments.aware.analysis import (
    APPROACH,
    GAP,
    GRANULARITY,
    SIZE,
    WEIGHT,
    Analyses,
    Analysis,
    analyse,
    find_baseline,
    frame_by_size,
    frame_contest,
    frame_crossings,
    frame_families,
    frame_leads,
    frame_own,
    frame_tables,
    frame_top_groups,
)
from karatage.experiments.aware.cells import OUTCOMES, AwareGround, list_cells, list_weighings
from karatage.experiments.aware.plan import AwarePlan, Contender
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Execution, Experiment, Findings, Results, frame_rows, run_experiment
from karatage.experiments.notes import tell
from karatage.experiments.tuples import check_outcome
from karatage.io.files import PathLike
from karatage.text import counted, list_ranges, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from karatage.comparison.tukey import Tukey

STATE_OF_THE_ART = ("mv", "emmv", "emneu")
# [AWARE17] table 5: the top groups that it found.
TOP = {
    ("tau_ap", APPROACH): "sgl_tau_msd",
    ("rmse", APPROACH): "sgl_rmse_med",
    ("tau_ap", GRANULARITY): "sgl and tpc",
    ("rmse", GRANULARITY): "sgl",
    ("tau_ap", GAP): "apc and tau",
    ("rmse", GAP): "fro and kld",
    ("tau_ap", WEIGHT): "md and med",
    ("rmse", WEIGHT): "med",
}
MOST_NAMED = 5
LEVEL = 0.05


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AwareFindings(Findings, Result, kind="aware"):
    """tau, tau_ap and RMSE of leaderboards against gold's, over k-tuples of judges.

    Intervals describe the mean over all k-tuples of these judges, from the `samples` that were drawn. They do not
    describe other judges or topics. If all k-tuples were used, they have no width.
    """

    derived = ("sentence", "rows", "tables")

    plan: AwarePlan
    collection: str
    judges: tuple[str, ...]
    systems: tuple[str, ...]
    panels: tuple[str, ...]
    measures: tuple[str, ...]
    sizes: tuple[int, ...]
    samples: LongArray  # (size,)
    mean: FloatArray  # (systems, panel, measure, size, outcome, approach)
    covariance: FloatArray  # (systems, panel, measure, size, outcome, approach, approach) over k-tuples

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit their names or have impossible values, and protect them."""
        for axis in ("judges", "systems", "panels", "measures"):
            require_names(axis, getattr(self, axis))
        require_names("sizes", [str(size) for size in self.sizes])
        require_numbers("sizes", self.sizes, 1, len(self.judges))
        if self.sizes != self.plan.find_sizes(len(self.judges)):
            raise DataError("sizes are not those of the plan")
        require_shape("samples", self.samples, len(self.sizes))
        every = [float(math.comb(len(self.judges), size)) for size in self.sizes]
        require_ordered("samples", 1.0, self.samples, every)
        shape = len(self.systems), len(self.panels), len(self.measures), len(self.sizes), len(OUTCOMES)
        width = len(self.contenders)
        require_shape("mean", self.mean, *shape, width)
        require_shape("covariance", self.covariance, *shape, width, width)
        for o, outcome in enumerate(OUTCOMES):
            least, most = (0, math.inf) if outcome == "rmse" else (-1, 1)
            require_numbers(f"mean: {outcome}", self.mean[..., o, :], least, most, unknown=True)
        variance = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        require_numbers("covariance", variance, 0, unknown=True)
        require_equal("covariance", self.covariance, np.swapaxes(self.covariance, -1, -2))
        spread = np.sqrt(np.maximum(variance, 0))
        limit = spread[..., :, None] * spread[..., None, :] * (1 + NEAR) + SLACK
        require_ordered("covariance", -limit, self.covariance, limit)
        require_equal("measures", self.measures, self.plan.names)
        freeze(self.samples, self.mean, self.covariance)

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """The approaches."""
        return self.plan.find_contenders()

    @property
    def approaches(self) -> tuple[str, ...]:
        """By name."""
        return tuple(contender.name for contender in self.contenders)

    @property
    def ends(self) -> tuple[str, ...]:
        """The first and the last panel, if there are more than two."""
        return self.panels if len(self.panels) < 3 else (self.panels[0], self.panels[-1])

    @property
    def families(self) -> dict[str, str]:
        """The family of each approach."""
        return {contender.name: contender.family for contender in self.contenders}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per systems, panel, measure, size, approach and outcome: samples, mean, sd, and 95% interval."""
        variance = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        half = self._half_width(variance, "smkzxa")
        order = (0, 1, 2, 3, 5, 4)  # outcome last
        value, spread, margin = (np.transpose(part, order).ravel() for part in (self.mean, np.sqrt(variance), half))
        axes = np.indices([self.mean.shape[k] for k in order], dtype=np.int32).reshape(6, -1)
        return pl.DataFrame(
            {
                **self._name_places(axes),
                "approach": _gather(self.approaches, axes[4]),
                "family": _gather([*self.families.values()], axes[4]),
                "outcome": _gather(OUTCOMES, axes[5]),
                "samples": self.samples[axes[3]],
                "mean": value,
                "sd": spread,
                "low": value - margin,
                "high": value + margin,
            }
        ).with_columns(pl.col("sd", "low", "high").fill_nan(None))

    def _name_places(self, axes: np.ndarray) -> dict[str, pl.Series]:
        """Columns for the first four axes (systems, panel, measure, size)."""
        names = {"systems": self.systems, "panel": self.panels, "measure": self.measures}
        found = {name: _gather(values, at) for (name, values), at in zip(names.items(), axes, strict=False)}
        return {**found, "size": pl.Series(self.sizes, dtype=pl.Int32).gather(axes[3])}

    def compare(self, first: str, second: str, *, outcome: str = "tau_ap") -> pl.DataFrame:
        """The mean difference of two approaches over the same k-tuples, first minus second, with 95% intervals.

        One row per systems, panel, measure and size.
        """
        a, b = (self._find(name) for name in (first, second))
        return self.frame_differences(np.full(self.mean.shape[:4], a), np.full(self.mean.shape[:4], b), outcome)

    def frame_differences(self, first: LongArray, second: LongArray, outcome: str) -> pl.DataFrame:
        """The same for approaches, by number, that differ from place to place: (systems, panel, measure, size)."""
        o = OUTCOMES.index(check_outcome(outcome, OUTCOMES))
        mean, covariance = self.mean[..., o, :], self.covariance[..., o, :, :]
        at = np.ogrid[tuple(slice(n) for n in first.shape)]
        value = mean[(*at, first)] - mean[(*at, second)]
        shared = covariance[(*at, first, second)]
        variance = covariance[(*at, first, first)] + covariance[(*at, second, second)] - 2 * shared
        half = self._half_width(np.maximum(variance, 0.0), "smkz")
        axes = np.indices(first.shape, dtype=np.int32).reshape(4, -1)
        return pl.DataFrame(
            {
                **self._name_places(axes),
                "first": _gather(self.approaches, first.ravel()),
                "second": _gather(self.approaches, second.ravel()),
                "difference": value.ravel(),
                "low": (value - half).ravel(),
                "high": (value + half).ravel(),
            }
        ).with_columns(pl.col("low", "high").fill_nan(None))

    def _half_width(self, variance: FloatArray, axes: str) -> FloatArray:
        """Of 95% intervals of means over k-tuples drawn without replacement; `z` among `axes` is the size."""
        from scipy.special import stdtrit

        n = self.samples.astype(float)
        every = np.array([float(math.comb(len(self.judges), size)) for size in self.sizes])
        unit = stdtrit(np.maximum(n - 1, 1), (1 + CONFIDENCE) / 2) * np.sqrt((1 - n / every) / n)
        half: FloatArray = np.sqrt(variance) * unit.reshape([-1 if axis == "z" else 1 for axis in axes])
        return half

    def find_best(self, among: Sequence[int], *, outcome: str = "tau_ap") -> LongArray:
        """The best of some approaches (by number) in each systems, panel, measure and size."""
        value = self.mean[..., OUTCOMES.index(check_outcome(outcome, OUTCOMES)), :][..., list(among)]
        best = np.argmin(value, axis=-1) if outcome == "rmse" else np.argmax(value, axis=-1)
        chosen: LongArray = np.asarray(among)[best]
        return chosen

    def _find(self, name: str) -> int:
        if name not in self.approaches:
            raise UnknownNameError("approach", name, self.approaches)
        return self.approaches.index(name)

    @cached_property
    def analyses(self) -> Analyses:
        """Analyses of variance and Tukey's tests, for each panel and for tau_ap and RMSE: [AWARE17] 6 and 7."""
        return analyse(self)

    @cached_property
    def contest(self) -> pl.DataFrame:
        """The best merge of scores against merged grades (mv), in tau_ap, by systems, panel, measure and size."""
        return frame_contest(self)

    @cached_property
    def crossings(self) -> pl.DataFrame:
        """The correlation of errors from which merging scores is better; empty without two simulated panels."""
        return frame_crossings(self.contest)

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """All tables by name; those that do not apply are left out."""
        families = [
            frame_families(self, outcome=name).select(pl.lit(name).alias("outcome"), pl.all()) for name in OUTCOMES
        ]
        found = {
            "by-size": frame_by_size(self),
            "anova": frame_tables(self.analyses),
            "top-groups": frame_top_groups(self.analyses),
            "claims": frame_claims(self),
            "families": pl.concat(families),
            "contest": self.contest,
            "own": frame_own(self),
            "leads": frame_leads(self.contest),
            "crossings": self.crossings,
        }
        return {name: frame for name, frame in found.items() if not frame.is_empty()}

    @cached_property
    def sentence(self) -> str:
        """The conclusion."""
        return conclude(self)


def _gather(names: Sequence[str], at: np.ndarray) -> pl.Series:
    return pl.Series(list(names), dtype=pl.String).gather(at)


class Claim(NamedTuple):
    """A finding of the paper, and whether it holds here, too."""

    panel: str
    outcome: str
    claim: str
    holds: bool | None  # None: not significantly different from the opposite
    here: str


CLAIMS = {**dict.fromkeys(Claim._fields, TEXT), "holds": maybe(FLAG)}


def frame_claims(findings: AwareFindings) -> pl.DataFrame:
    """The paper's claims about the order of approaches, on this collection."""
    return frame_rows((c for found in findings.analyses.found for c in _list_claims(findings, found)), CLAIMS)


def _list_claims(findings: AwareFindings, analysis: Analysis) -> Iterator[Claim]:
    panel, outcome = analysis.panel, analysis.outcome
    for test in analysis.groups:
        here = f"top group: {_name_some(test.top_group)}"
        paper = TOP[outcome, test.factor]
        if test.factor != APPROACH:
            holds = set(paper.split(" and ")) == set(test.top_group)
            yield Claim(panel, outcome, f"the top group of {test.factor} is {paper}", holds, here)
            continue
        if paper in test.levels:
            yield Claim(panel, outcome, f"{paper} is in the top group", paper in test.top_group, here)
        merged = [name for name in STATE_OF_THE_ART if name in test.levels]
        if merged:
            inside = [name for name in merged if name in test.top_group]
            found = f"in it: {_name_some(inside)}" if inside else "none is in it"
            yield Claim(panel, outcome, f"not in the top group: {_name_some(merged)}", not inside, found)
        yield from _compare_means(panel, outcome, test)
    if outcome == "tau_ap" and len(findings.sizes) > 1:
        table = analysis.whole.to_frame()
        p = table.filter(pl.col("source") == SIZE)["p_value"].to_list()
        yield from _compare_sizes(findings, panel, sure=bool(p) and p[0] is not None and p[0] < LEVEL)


def _compare_means(panel: str, outcome: str, test: Tukey) -> Iterator[Claim]:
    mean = dict(zip(test.levels, test.mean.tolist(), strict=True))
    order = test.levels.index
    if set(STATE_OF_THE_ART) <= set(mean):
        here = ", ".join(f"{name} {short(mean[name])}" for name in STATE_OF_THE_ART)
        best = min(STATE_OF_THE_ART, key=order)
        second = sorted(STATE_OF_THE_ART, key=order)[1]
        sure = bool(test.differs[order(best), order(second)])
        yield Claim(panel, outcome, "mv is the best of mv, emmv and emneu", best == "mv" if sure else None, here)
    if {"uniform", "mv"} <= set(mean):
        here = f"uniform {short(mean['uniform'])}, mv {short(mean['mv'])}"
        sure = bool(test.differs[order("uniform"), order("mv")])
        yield Claim(panel, outcome, "uniform is better than mv", order("uniform") < order("mv") if sure else None, here)


def _compare_sizes(findings: AwareFindings, panel: str, *, sure: bool) -> Iterator[Claim]:
    by_size = _average(findings, panel)  # (size, approach)
    whole = by_size.mean(axis=1)
    here = f"{short(whole[0])} with {findings.sizes[0]}, {short(whole[-1])} with {findings.sizes[-1]}"
    yield Claim(panel, "tau_ap", "larger k-tuples are better", bool(whole[-1] > whole[0]) if sure else None, here)
    if {"uniform", "mv"} <= set(findings.approaches):
        uniform, vote = (by_size[:, findings.approaches.index(name)] for name in ("uniform", "mv"))
        ahead = [size for size, lead in zip(findings.sizes, uniform > vote, strict=True) if lead]
        holds = findings.sizes[0] in ahead and findings.sizes[-1] not in ahead
        here = f"uniform is better at {list_ranges(ahead)}" if ahead else "mv is better at all sizes"
        yield Claim(panel, "tau_ap", "uniform is better for small k-tuples, mv for large ones", holds, here)


def _average(findings: AwareFindings, panel: str) -> FloatArray:
    """Mean tau_ap over systems and measures, (size, approach)."""
    found: FloatArray = findings.mean[:, findings.panels.index(panel), :, :, 1].mean(axis=(0, 1))
    return found


def _name_some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def conclude(findings: AwareFindings) -> str:
    """Which approach is closest to gold's ranking, and how merging scores compares with merging grades."""
    sizes, several = list_ranges(findings.sizes), len(findings.measures) > 1
    start = f"tau_ap to gold with k-tuples of {sizes} out of {counted(len(findings.judges), 'judge')}"
    start += f", mean over {len(findings.measures)} measures" if several else f" ({findings.measures[0]})"
    named = {panel: f"{panel}: " if len(findings.panels) > 1 else "" for panel in findings.ends}
    said = "; ".join(f"{name}{_say_best(findings, panel)}" for panel, name in named.items())
    return f"{start}: {said}.{_say_crossings(findings)}"


def _say_best(findings: AwareFindings, panel: str) -> str:
    value = _average(findings, panel).mean(axis=0)
    best = int(np.argmax(value))
    said = f"best is {findings.approaches[best]} with {short(value[best])}"
    baseline = find_baseline(findings)
    scores = [k for k, contender in enumerate(findings.contenders) if contender.merges_scores]
    if baseline is None or not scores:
        return said
    if best not in scores:
        merge = max(scores, key=lambda k: value[k])
        said += f", best merge of scores {findings.approaches[merge]} with {short(value[merge])}"
    if findings.approaches[best] != baseline:
        said += f", {baseline} {short(value[findings.approaches.index(baseline)])}"
    return said


def _say_crossings(findings: AwareFindings) -> str:
    """The correlation of errors from which merging scores is better, if several were simulated."""
    found = findings.crossings
    if found.is_empty():
        return ""
    crossing = found.filter(verdict="scores overtake")
    baseline = find_baseline(findings)
    if crossing.is_empty():
        counts = found["verdict"].value_counts().sort("count", descending=True)
        return f" There is no crossing: against {baseline}, most measures and sizes have '{counts['verdict'][0]}'."
    places = sorted(crossing["crossing"])
    share = f"{len(crossing)} of {len(found)} measures and sizes"
    between = f"{short(places[0])} and {short(places[-1])}"
    return f" Merging scores becomes better than {baseline} at an error correlation between {between}, in {share}."


def experiment_aware(
    collection: Collection,
    plan: AwarePlan | None = None,
    *,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> AwareFindings:
    """Try approaches on k-tuples of a collection's judges, the same ones for all approaches.

    Args:
        collection: Systems, panels of judges and gold, as `read_collection` returns them.
        plan: The design; default: the paper's with fewer samples.
        output: A folder in which each cell's result is stored as Parquet, for the next run.
        execution: How many processes, whether to ignore stored results, and a callback for progress.
    """
    return run_experiment(AWARE, collection, plan=plan, output=output, execution=execution)


def _sum_up(ground: AwareGround, results: Results) -> AwareFindings:
    mean, covariance = _average_tuples(ground, results)
    dull = sum(int(outcome.facts.get("dull") or 0) for _, outcome in results)
    findings = AwareFindings(
        plan=ground.plan,
        collection=ground.collection,
        judges=ground.judges,
        systems=tuple(ground.alignments),
        panels=tuple(ground.panels),
        measures=ground.measures,
        sizes=tuple(ground.tuples),
        samples=np.array([len(members) for members in ground.tuples.values()]),
        mean=mean,
        covariance=covariance,
        notes=(*ground.notes, *tell.when(dull, "same-scores", times=dull), *_tell_tuples(ground)),
    )
    return replace(findings, notes=(*findings.notes, *findings.analyses.notes))


def _average_tuples(ground: AwareGround, results: Results) -> tuple[FloatArray, FloatArray]:
    """Means over k-tuples (systems, panel, measure, size, outcome, approach), and covariances (..., approach)."""
    panels, sizes = list(ground.panels), list(ground.tuples)
    names = [contender.name for contender in ground.contenders]
    lead = len(ground.alignments), len(panels), len(ground.measures), len(sizes), len(OUTCOMES)
    mean = np.empty((*lead, len(names)))
    covariance = np.full((*lead, len(names), len(names)), np.nan)
    parts: dict[tuple[str, int], list[FloatArray]] = {}
    for cell, outcome in results:
        if "size" in cell.key:
            place = str(cell.key["panel"]), int(cell.key["size"] or 0)
            shape = lead[0], lead[2], lead[4], -1, len(names)
            parts.setdefault(place, []).append(outcome.table.select(names).to_numpy().reshape(shape))
    for (panel, size), found in parts.items():
        value = np.concatenate(found, axis=3)  # (systems, measure, outcome, sample, approach)
        p, k, count = panels.index(panel), sizes.index(size), value.shape[3]
        centre = value.mean(axis=3)
        mean[:, p, :, k] = centre
        if count > 1:
            rest = value - centre[:, :, :, None]
            covariance[:, p, :, k] = np.einsum("smonx,smony->smoxy", rest, rest) / (count - 1)
    return mean, covariance


def _tell_tuples(ground: AwareGround) -> tuple[Note, ...]:
    judges = len(ground.judges)
    every = [size for size, members in ground.tuples.items() if len(members) == math.comb(judges, size)]
    return tell.when(every, "every-tuple", sizes=list_ranges(every))


AWARE = Experiment(
    kind="aware",
    plan=AwarePlan,
    prepare=AwareGround.of,
    list_first=list_weighings,
    absorb=AwareGround.with_weights,
    list_cells=list_cells,
    sum_up=_sum_up,
)
