"""Items on a latent line: judges cut it into two grades (CUBAM [CUBAM10]), or see grades on it with bias and spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import (
    Counts,
    Fit,
    Progress,
    Rng,
    Scope,
    Tables,
    VoteModel,
    Votes,
    iterate,
    log,
    normalise,
)
from karatage.data.axes import FloatArray, IntArray, LongArray
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.errors import DataError, OptionError
from karatage.kernels.latent import move_cuts, move_items, move_scales, tabulate

ITEM_VARIANCE = 0.8**2
JUDGE_VARIANCE = (1.0, 3.0**2)  # of weight, about 1, and of threshold, about 0
SMOOTHING = 5.0  # items added to each side of gold: a few of them say little about all
NODES = 24  # for averages over a normal distribution
BIAS, SPREAD = 0.0, 0.7  # prior means: a judge is right about half of the middle grades
MANY = 10  # times the number of grades: who said that much without a high grade does not use it


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
                log_prior = move_cuts(*by_judge, x, spread, weight, threshold)
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
            f"cubam needs two grades, but these judgments and gold have {shown}; draw a line with --grades, such "
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


class _Judges:
    """Bias and log spread of every judge; each step starts where the last one ended, so that it can only rise."""

    def __init__(self, top: LongArray, mean: FloatArray, variance: FloatArray) -> None:
        self.top, self.mean, self.variance = top, mean, variance
        self.bias, self.log_spread = np.full(len(top), mean[0]), np.full(len(top), mean[1])

    def learn(self, answers: FloatArray) -> tuple[FloatArray, float]:
        """From expected counts (judge, said, grade) to log tables of the same shape, and the log prior."""
        counts = np.ascontiguousarray(answers)
        density = move_scales(counts, self.top, self.mean, self.variance, self.bias, self.log_spread)
        table = np.empty(answers.shape)
        tabulate(self.top, self.bias, self.log_spread, table)
        return table, density


@dataclass(frozen=True, kw_only=True)
class Ordinal(VoteModel):
    """EM; judge j sees an item of grade k about k + bias_j, with normal noise, and says the nearest grade.

    `prior` are the standard deviations of the judges' biases and of the logarithms of their spreads. `even` shrinks the
    shares of the grades towards equal ones (with gold: towards gold's): this many pseudo-items for each real one.
    """

    name: ClassVar[str] = "ordinal"

    prior: tuple[float, float] = (0.5, 0.5)
    even: float = 1.0
    scope: Scope = "all"
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        if len(self.prior) != 2 or not all(0 < deviation < math.inf for deviation in self.prior):
            raise OptionError(f"prior {self.prior} must be two standard deviations above 0, like (0.5,0.5)")
        if not 0 <= self.even < math.inf or self.max_steps < 1 or not self.tolerance >= 0:
            raise OptionError("even and tolerance must be at least 0 and max_steps at least 1")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM from the share of votes."""
        top = _own_tops(votes)
        judges = _Judges(top, self._typical(votes, top), np.square(self.prior))
        fit = self._iterate(votes, judges, progress)
        return fit.posterior(
            votes, self.name, {"bias": judges.bias, "spread": np.exp(judges.log_spread)}, _tell_scales(votes, top)
        )

    def _typical(self, votes: Votes, top: LongArray) -> FloatArray:
        """The prior of a judge: where there is gold, as its judges are taken together."""
        highest = votes.grades - 1
        typical = _Judges(np.array([highest]), np.array([BIAS, math.log(SPREAD)]), np.square(self.prior))
        typical.learn(votes.gold_answers[top == highest].sum(axis=0).T[None])
        return np.array([typical.bias[0], typical.log_spread[0]])

    def _iterate(self, votes: Votes, judges: _Judges, progress: Progress | None) -> Fit:
        toward = normalise(votes.gold_classes + 1, 0)

        def maximise(counts: Counts) -> Tables:
            imagined = self.even * counts.classes.sum(axis=1, keepdims=True) * toward
            prior = log(normalise(counts.classes + imagined, 1))
            answer, density = judges.learn(counts.answers)
            return Tables(prior, answer, density + float((imagined * prior).sum()))

        return iterate(
            votes, maximise, votes.share(), max_steps=self.max_steps, tolerance=self.tolerance, progress=progress
        )


def _own_tops(votes: Votes) -> LongArray:
    """The highest grade each judge uses, at least 1; the scale's, for judges with too few grades."""
    answered = votes.rows.answered
    own = ((answered > 0) * np.arange(votes.grades)).max(axis=1)
    heard = answered.sum(axis=1) >= MANY * votes.grades
    tops: LongArray = np.where(heard, np.maximum(own, min(1, votes.grades - 1)), votes.grades - 1).astype(np.int64)
    return tops


def _tell_scales(votes: Votes, top: LongArray) -> tuple[Note, ...]:
    lower = tuple(dict.fromkeys(votes.judge_names[j] for j in np.flatnonzero(top < votes.grades - 1)))
    return tell.when(lower, "short-scales", model="ordinal", judges=lower)
