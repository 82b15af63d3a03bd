"""CUBAM in one dimension: items lie on a line, judges differ in where they cut it and how sharply [CUBAM10]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import Progress, Rng, VoteModel, Votes, normalise
from karatage.data.axes import FloatArray, IntArray, LongArray
from karatage.data.posterior import Posterior
from karatage.errors import DataError, OptionError
from karatage.kernels.cubam import move_items, move_judges

ITEM_VARIANCE = 0.8**2
JUDGE_VARIANCE = (1.0, 3.0**2)  # of weight, about 1, and of threshold, about 0
SMOOTHING = 5.0  # items added to each side of gold: a few of them say little about all
NODES = 24  # for averages over a normal distribution


class _Rows(NamedTuple):
    """The same rows by item and by judge; `said` is 1 for the upper grade, 0 for the lower."""

    item_start: LongArray
    judge: IntArray
    said: IntArray
    judge_start: LongArray
    item: IntArray
    said_by_judge: IntArray


class _Place(NamedTuple):
    """Where the search stands."""

    x: FloatArray  # (item,)
    curvature: FloatArray  # (item,) of the log posterior, with the sign changed
    weight: FloatArray  # (judge,)
    threshold: FloatArray  # (judge,)


@dataclass(frozen=True, kw_only=True)
class Cubam(VoteModel):
    """Maximum a posteriori by turns: all items, then all judges, each by Newton's method. Two grades only."""

    name: ClassVar[str] = "cubam"
    knows_two_grades: ClassVar[bool] = True
    slow: ClassVar[bool] = True

    max_steps: int = 30
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Check the options."""
        if self.max_steps < 1 or not self.tolerance >= 0:
            raise OptionError("max_steps must be at least 1 and tolerance at least 0")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Climb from equal judges."""
        low, high = _two_grades(votes)
        lean = _lean(votes, high)
        place, trace, converged = self._climb(votes, _arrange(votes, high), lean, progress)
        probability = np.zeros((votes.items, max(votes.grades, 2)))
        probability[:, high] = _believe(place, lean)
        probability[:, low] = 1 - probability[:, high]
        return votes.posterior(
            "cubam",
            normalise(probability[:, : votes.grades], 1),
            parameters=_describe(place.weight, place.threshold),
            trace=trace,
            converged=converged,
            notes=tell.when(not converged, "not-converged-rounds", model="cubam", rounds=len(trace)),
        )

    def _climb(
        self, votes: Votes, rows: _Rows, lean: FloatArray, progress: Progress | None
    ) -> tuple[_Place, FloatArray, bool]:
        spread = np.array(JUDGE_VARIANCE)
        place = _Place(np.zeros(votes.items), np.ones(votes.items), np.ones(votes.judges), np.zeros(votes.judges))
        x, curvature, weight, threshold = place
        trace: list[float] = []
        log_prior, converged = 0.0, False
        by_item, by_judge = rows[:3], rows[3:]
        for step in range(self.max_steps):
            heights = move_items(*by_item, lean, ITEM_VARIANCE, weight, threshold, x, curvature)
            trace.append(heights + log_prior)
            if progress is not None:
                progress(step + 1, trace[-1])
            converged = step > 0 and trace[-1] - trace[-2] <= self.tolerance * abs(trace[-2])
            if converged:
                break
            if step + 1 < self.max_steps:
                log_prior = move_judges(*by_judge, x, spread, weight, threshold)
        return place, np.array(trace), converged


def _two_grades(votes: Votes) -> tuple[int, int]:
    """The lower and the upper grade: 0 and 1, or the only two that occur."""
    occurs = (votes.rows.answered.sum(axis=0) + votes.gold_classes + votes.gold_answers.sum(axis=(0, 1))) > 0
    if votes.grades <= 2 or not occurs[1:].any():
        return 0, 1
    occurs[0] |= occurs.sum() < 2
    if occurs.sum() > 2:
        shown = ", ".join(map(str, np.flatnonzero(occurs)))
        raise DataError(
            f"cubam tells two grades apart, but these judgments and gold have {shown}; draw a line with --grades, such "
            "as '0=0,1=0,2=1,3=1', or use a model for many grades: ordinal, ds"
        )
    low, high = (int(grade) for grade in np.flatnonzero(occurs))
    return low, high


def _lean(votes: Votes, high: int) -> FloatArray:
    """Log-odds of the upper component, (item,): even, or as in gold; certain where the grade is fixed."""
    upper = votes.gold_classes[high] if high < votes.grades else 0.0
    lower = votes.gold_classes.sum() - upper
    lean = np.full(votes.items, math.log((upper + SMOOTHING) / (lower + SMOOTHING)))
    known = votes.rows.known
    lean[known >= 0] = np.where(known[known >= 0] == high, np.inf, -np.inf)
    return lean


def _arrange(votes: Votes, high: int) -> _Rows:
    start, judge, said, *_ = votes.rows
    upper = (said == high).astype(np.int32)
    item = np.repeat(np.arange(votes.items, dtype=np.int32), np.diff(start))
    order = np.argsort(judge, kind="stable")
    judge_start = np.r_[0, np.cumsum(np.bincount(judge, minlength=votes.judges))].astype(np.int64)
    return _Rows(start, judge, upper, judge_start, item[order], upper[order])


def _believe(place: _Place, lean: FloatArray) -> FloatArray:
    """The probability of the upper component, averaged over x: its posterior is taken as normal about its peak.

    With even components this is above one half exactly where x > 0, the authors' rule.
    """
    node, mass = np.polynomial.hermite_e.hermegauss(NODES)
    deviation = 1 / np.sqrt(np.maximum(place.curvature, 1e-3))
    total = np.zeros(len(place.x))
    for z, m in zip(node, mass / mass.sum(), strict=True):
        odds = 2 * (place.x + z * deviation) / ITEM_VARIANCE + lean
        total += m / (1 + np.exp(-np.clip(odds, -500, 500)))
    return total


def _describe(weight: FloatArray, threshold: FloatArray) -> dict[str, FloatArray]:
    """The judges' parameters, and how often they recognise each grade: x integrated out."""
    noise = np.sqrt(1 + ITEM_VARIANCE * weight**2)
    return {
        "weight": weight,
        "threshold": threshold,
        "sensitivity": _below((weight - threshold) / noise),
        "specificity": _below((weight + threshold) / noise),
    }


def _below(z: FloatArray) -> FloatArray:
    return np.array([0.5 * math.erfc(-value * math.sqrt(0.5)) for value in z])
