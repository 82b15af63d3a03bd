"""Findings of the AWARE experiment: how close approaches are to gold, by size of the k-tuple."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, LongArray, freeze
from karatage.data.checks import (
    NEAR,
    SLACK,
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
    RESPONSES,
    Analyses,
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
from karatage.experiments.aware.verdicts import frame_verdicts, pool_places, scale_rmse
from karatage.experiments.collection import Collection
from karatage.experiments.engine import Execution, Experiment, Findings, Results, run_experiment
from karatage.experiments.notes import tell
from karatage.experiments.tuples import check_outcome
from karatage.io.files import PathLike
from karatage.text import counted, list_ranges, short

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AwareFindings(Findings, Result, kind="aware"):
    """tau, tau_ap and RMSE of leaderboards against gold's, over k-tuples of judges.

    Intervals describe the mean over all k-tuples of these judges, from the `samples` that were drawn. They do not
    describe other judges or topics. If all k-tuples were used, they have no width.
    """

    derived = ("sentence", "rows", "tables")
    optional = ("pooled",)

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
    # (panel, size, response, approach, approach) the same for means over systems and measures, if there are several
    pooled: FloatArray | None = None

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
        _check_covariance("covariance", self.covariance)
        if self.pooled is not None:
            require_shape("pooled", self.pooled, len(self.panels), len(self.sizes), len(RESPONSES), width, width)
            _check_covariance("pooled", self.pooled)
            freeze(self.pooled)
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
            "verdicts": frame_verdicts(self),
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


def _check_covariance(what: str, covariance: FloatArray) -> None:
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    require_numbers(what, variance, 0, unknown=True)
    require_equal(what, covariance, np.swapaxes(covariance, -1, -2))
    spread = np.sqrt(np.maximum(variance, 0))
    limit = spread[..., :, None] * spread[..., None, :] * (1 + NEAR) + SLACK
    require_ordered(what, -limit, covariance, limit)


def _gather(names: Sequence[str], at: np.ndarray) -> pl.Series:
    return pl.Series(list(names), dtype=pl.String).gather(at)


def _average(findings: AwareFindings, panel: str) -> FloatArray:
    """Mean tau_ap over systems and measures, (size, approach)."""
    found: FloatArray = findings.mean[:, findings.panels.index(panel), :, :, 1].mean(axis=(0, 1))
    return found


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
    mean, covariance, pooled = _average_tuples(ground, results)
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
        pooled=pooled,
        notes=(*ground.notes, *tell.when(dull, "same-scores", times=dull), *_tell_tuples(ground)),
    )
    return replace(findings, notes=(*findings.notes, *findings.analyses.notes))


def _average_tuples(ground: AwareGround, results: Results) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """Means over k-tuples (systems, panel, measure, size, outcome, approach), and covariances (..., approach).

    Also the covariances of means over systems and measures, if there are several.
    """
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
    # (systems, measure, outcome, sample, approach)
    whole = {
        (panels.index(panel), sizes.index(size)): np.concatenate(found, axis=3)
        for (panel, size), found in parts.items()
    }
    for (p, k), value in whole.items():
        centre = value.mean(axis=3)
        mean[:, p, :, k] = centre
        if value.shape[3] > 1:
            rest = value - centre[:, :, :, None]
            covariance[:, p, :, k] = np.einsum("smonx,smony->smoxy", rest, rest) / (value.shape[3] - 1)
    if lead[0] * lead[2] == 1:
        return mean, covariance, None
    pooled = np.full((lead[1], lead[3], len(RESPONSES), len(names), len(names)), np.nan)
    for (p, k), value in whole.items():
        if value.shape[3] > 1:
            pooled[p, k] = pool_places(value, scale_rmse(mean[:, p]))
    return mean, covariance, pooled


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
