"""What the AWARE experiment found: how near approaches come to gold, by size of the k-tuple."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
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
from karatage.data.result import Result, list_versions
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.experiments.aware.analysis import Analyses, analyse, frame_tables, frame_top_groups
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.contenders import Contender
from karatage.experiments.aware.families import (
    frame_by_size,
    frame_contest,
    frame_crossings,
    frame_families,
    frame_leads,
    frame_own,
)
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.aware.telling import conclude, frame_claims
from karatage.measures.registry import parse_measure

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False, kw_only=True)
class AwareFindings(Result, kind="aware"):
    """tau, tau_ap and RMSE of leaderboards against gold's, over k-tuples of judges.

    Intervals are about the mean over all k-tuples of these judges, of which `samples` were tried; they say nothing of
    other judges or topics. Where all k-tuples were tried, they have no width.
    """

    derived = ("sentence", "rows", "tables")
    unsaved = ("log",)

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
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    log: tuple[str, ...] = ()  # of this run: what an earlier one had done, files that were damaged

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit their names or hold what cannot be, and protect them."""
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
        require_equal("measures", self.measures, [str(parse_measure(name)) for name in self.plan.measures])
        freeze(self.samples, self.mean, self.covariance)

    @cached_property
    def contenders(self) -> tuple[Contender, ...]:
        """What was tried."""
        return self.plan.find_contenders()

    @property
    def approaches(self) -> tuple[str, ...]:
        """By name."""
        return tuple(contender.name for contender in self.contenders)

    @property
    def ends(self) -> tuple[str, ...]:
        """The first and the last panel, which say enough where there are many."""
        return self.panels if len(self.panels) < 3 else (self.panels[0], self.panels[-1])

    @property
    def families(self) -> dict[str, str]:
        """What each approach is shown together with."""
        return {contender.name: contender.family for contender in self.contenders}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per systems, panel, measure, size, approach and outcome: samples, mean, sd, and 95 % interval."""
        variance = np.diagonal(self.covariance, axis1=-2, axis2=-1)
        half = self._half_width(variance, "smkzxa")
        order = (0, 1, 2, 3, 5, 4)  # outcome last
        value, spread, margin = (np.transpose(part, order).ravel() for part in (self.mean, np.sqrt(variance), half))
        axes = np.indices([self.mean.shape[k] for k in order], dtype=np.int32).reshape(6, -1)
        families = list(self.families.values())
        return pl.DataFrame(
            {
                "systems": _gather(self.systems, axes[0]),
                "panel": _gather(self.panels, axes[1]),
                "measure": _gather(self.measures, axes[2]),
                "size": pl.Series(self.sizes, dtype=pl.Int32).gather(axes[3]),
                "approach": _gather(self.approaches, axes[4]),
                "family": _gather(families, axes[4]),
                "outcome": _gather(OUTCOMES, axes[5]),
                "samples": self.samples[axes[3]],
                "mean": value,
                "sd": spread,
                "low": value - margin,
                "high": value + margin,
            }
        ).with_columns(pl.col("sd", "low", "high").fill_nan(None))

    def compare(self, first: str, second: str, *, outcome: str = "tau_ap") -> pl.DataFrame:
        """The mean difference of two approaches over the same k-tuples, first less second, with 95 % intervals.

        One row per systems, panel, measure and size.
        """
        a, b = (self._find(name) for name in (first, second))
        return self.frame_differences(np.full(self.mean.shape[:4], a), np.full(self.mean.shape[:4], b), outcome)

    def frame_differences(self, first: LongArray, second: LongArray, outcome: str) -> pl.DataFrame:
        """The same for approaches, by number, that differ from place to place: (systems, panel, measure, size)."""
        o = _check_outcome(outcome)
        mean, covariance = self.mean[..., o, :], self.covariance[..., o, :, :]
        at = np.ogrid[tuple(slice(n) for n in first.shape)]
        value = mean[(*at, first)] - mean[(*at, second)]
        shared = covariance[(*at, first, second)]
        variance = covariance[(*at, first, first)] + covariance[(*at, second, second)] - 2 * shared
        half = self._half_width(np.maximum(variance, 0.0), "smkz")
        axes = np.indices(first.shape, dtype=np.int32).reshape(4, -1)
        return pl.DataFrame(
            {
                "systems": _gather(self.systems, axes[0]),
                "panel": _gather(self.panels, axes[1]),
                "measure": _gather(self.measures, axes[2]),
                "size": pl.Series(self.sizes, dtype=pl.Int32).gather(axes[3]),
                "first": _gather(self.approaches, first.ravel()),
                "second": _gather(self.approaches, second.ravel()),
                "difference": value.ravel(),
                "low": (value - half).ravel(),
                "high": (value + half).ravel(),
            }
        ).with_columns(pl.col("low", "high").fill_nan(None))

    def _half_width(self, variance: FloatArray, axes: str) -> FloatArray:
        """Of 95 % intervals of means over k-tuples drawn without replacement; `z` among `axes` is the size's."""
        from scipy.special import stdtrit

        n = self.samples.astype(float)
        every = np.array([float(math.comb(len(self.judges), size)) for size in self.sizes])
        unit = stdtrit(np.maximum(n - 1, 1), (1 + CONFIDENCE) / 2) * np.sqrt((1 - n / every) / n)
        half: FloatArray = np.sqrt(variance) * unit.reshape([-1 if axis == "z" else 1 for axis in axes])
        return half

    def find_best(self, among: Sequence[int], *, outcome: str = "tau_ap") -> LongArray:
        """The best of some approaches (by number) in each systems, panel, measure and size."""
        value = self.mean[..., _check_outcome(outcome), :][..., list(among)]
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
        found = {
            "by-size": frame_by_size(self),
            "anova": frame_tables(self.analyses),
            "top-groups": frame_top_groups(self.analyses),
            "claims": frame_claims(self),
            "families": self._frame_families(),
            "contest": self.contest,
            "own": frame_own(self),
            "leads": frame_leads(self.contest),
            "crossings": self.crossings,
        }
        return {name: frame for name, frame in found.items() if not frame.is_empty()}

    def _frame_families(self) -> pl.DataFrame:
        parts = [(outcome, frame_families(self, outcome=outcome)) for outcome in OUTCOMES]
        return pl.concat([frame.select(pl.lit(outcome).alias("outcome"), pl.all()) for outcome, frame in parts])

    @cached_property
    def sentence(self) -> str:
        """What to take away."""
        return conclude(self)

    def __repr__(self) -> str:
        return f"AwareFindings({self.sentence})"

    def to_frame(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame


def _gather(names: Sequence[str], at: np.ndarray) -> pl.Series:
    return pl.Series(list(names), dtype=pl.String).gather(at)


def _check_outcome(outcome: str) -> int:
    if outcome not in OUTCOMES:
        raise OptionError(f"outcome '{outcome}' is none of {', '.join(OUTCOMES)}")
    return OUTCOMES.index(outcome)
