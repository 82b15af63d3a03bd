"""How good decided grades are: accuracy and F1 against gold, ties by their expectation, and a paired test.

A decision is a row of credits over the grades that sums to one: a sure grade has 1, each of m tied grades 1/m; over
several decisions, their mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from karatage.comparison.flipping import MOST_STEPS, all_flips, binomial, random_flips, signed_sum
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.errors import DataError, OptionError
from karatage.random_streams import generator

Quality = Literal["accuracy", "f1"]
NEGLIGIBLE = 1e-18
MOST_PARTS = 10_000  # of a credit


def credit_winners(winners: BoolArray) -> FloatArray:
    """Credits (item, grade) from the grades that share the first place in each item."""
    if winners.ndim != 2 or not winners.any(axis=1).all():
        raise DataError("every item needs a winning grade")
    credit: FloatArray = winners / winners.sum(axis=1, keepdims=True)
    return credit


def accuracy(credit: FloatArray, gold: GradeArray) -> float:
    """Expected share of items whose grade is gold's.

    >>> accuracy(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([0, 1], np.int8))
    0.75
    """
    _check(credit, gold)
    return float(credit[np.arange(len(gold)), gold].mean())


def f1(credit: FloatArray, gold: GradeArray) -> float:
    """Expected F1 over the ties: of grade 1 where there are two grades, else the mean over the grades gold has.

    Exact, since a grade's F1 depends only on two sums of independent events, its hits and its false alarms; the mean
    over grades is exact with it. NaN where gold has no item of the grade.
    """
    _check(credit, gold)
    found = [_expected_f1(credit[:, k], gold == k) for k in scored_grades(credit.shape[1], gold)]
    return float(np.mean(found)) if found else math.nan


def scored_grades(grades: int, gold: GradeArray) -> list[int]:
    """The grades whose F1 counts."""
    wanted = [1] if grades == 2 else range(grades)
    return [k for k in wanted if (gold == k).any()]


def permutation_test(
    first: FloatArray,
    second: FloatArray,
    gold: GradeArray,
    *,
    quality: Quality = "accuracy",
    resamples: int = 10_000,
    rng: int | np.random.Generator | None = None,
) -> float:
    """Two-tailed p-value of two decisions on the same items: in each item the two may be exchanged.

    Accuracy, and F1 with two grades, have the exact distribution over all exchanges; F1 over more grades is
    enumerated when it can be, else sampled, with (1 + hits) / (1 + resamples). Tied grades count by their credits.
    """
    if quality not in get_args(Quality):
        raise OptionError(f"quality '{quality}' is not one of {', '.join(get_args(Quality))}")
    if first.shape != second.shape:
        raise DataError(f"decisions of shape {first.shape} and {second.shape} are not about the same items")
    _check(first, gold)
    scored = scored_grades(first.shape[1], gold) if quality == "f1" else None
    if scored == []:
        return math.nan
    pair = _Pair.of(first, second, gold, scored)
    if not len(pair.gap):
        return 1.0
    exact = pair.exact()
    if exact is not None:
        return exact
    few = len(pair.gap) < 63 and 2 ** len(pair.gap) <= resamples
    flips = all_flips(len(pair.gap)) if few else random_flips(len(pair.gap), resamples, generator(rng))
    hits = sum(int(pair.extreme(*pair.signed_sums(signs)).sum()) for signs in flips)
    return hits / 2.0 ** len(pair.gap) if few else (1 + hits) / (1 + resamples)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Items where two decisions differ; exchanging them in an item turns the sign of its gap."""

    gap: FloatArray  # (item, grade) credit of the first minus that of the second
    gold: GradeArray  # (item,)
    total_hits: FloatArray  # (grade,) both decisions together, over all items
    total_said: FloatArray  # (grade,)
    total_gold: FloatArray  # (grade,)
    scored: list[int] | None  # grades whose F1 counts; None for accuracy
    unit: int  # gaps are whole multiples of 1 / unit

    @staticmethod
    def of(first: FloatArray, second: FloatArray, gold: GradeArray, scored: list[int] | None) -> _Pair:
        both, grades = first + second, first.shape[1]
        is_gold = gold[:, None] == np.arange(grades)
        differ = np.any(first != second, axis=1)
        gap = (first - second)[differ]
        shares = np.unique(np.concatenate([first, second])).tolist()
        units = [Fraction(share).limit_denominator(MOST_PARTS).denominator for share in shares]
        return _Pair(
            gap=gap,
            gold=gold[differ],
            total_hits=(both * is_gold).sum(axis=0),
            total_said=both.sum(axis=0),
            total_gold=is_gold.sum(axis=0).astype(float),
            scored=scored,
            unit=math.lcm(*units),
        )

    @property
    def hit_gap(self) -> FloatArray:
        """(item, grade) the part of the gap that is about gold's grade."""
        return np.where(self.gold[:, None] == np.arange(self.gap.shape[1]), self.gap, 0.0)

    def signed_sums(self, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gaps in hits and in answers, (flip, grade), under signs (flip, item)."""
        return signs @ self.hit_gap, signs @ self.gap

    def difference(self, hits: FloatArray, said: FloatArray) -> FloatArray:
        """What the test looks at, up to a constant factor: how far apart the two are, (flip,)."""
        if self.scored is None:
            return np.asarray(np.abs(hits.sum(axis=-1)))
        hits, said, k = hits[..., self.scored], said[..., self.scored], self.scored
        first = (self.total_hits[k] + hits) / ((self.total_said[k] + said) / 2 + self.total_gold[k])
        second = (self.total_hits[k] - hits) / ((self.total_said[k] - said) / 2 + self.total_gold[k])
        return np.asarray(np.abs((first - second).mean(axis=-1)))

    def extreme(self, hits: FloatArray, said: FloatArray) -> BoolArray:
        """Where the difference is at least the one seen; rounding must not turn a tie into a miss."""
        seen = float(self.difference(self.hit_gap.sum(axis=0), self.gap.sum(axis=0)))
        return np.asarray(self.difference(hits, said) >= seen * (1 - 1e-12) - 1e-12)

    def exact(self) -> float | None:
        """The p-value from the whole distribution, where that is small enough to write down."""
        if self.scored is None:
            found = signed_sum(self._steps(self.hit_gap.sum(axis=1)), MOST_STEPS)
            if found is None:
                return None
            hits = found[0][:, None] / self.unit
            return _total(found[1][self.extreme(hits, hits)])
        if self.gap.shape[1] != 2:
            return None
        positive = self.gold == 1
        true, false = (signed_sum(self._steps(self.gap[rows, 1]), MOST_STEPS) for rows in (positive, ~positive))
        if true is None or false is None or len(true[0]) * len(false[0]) > MOST_STEPS // 10:
            return None
        return self._join(true, false)

    def _join(self, true: tuple[LongArray, FloatArray], false: tuple[LongArray, FloatArray]) -> float:
        """Binary F1 over the grid of (gap in true positives, gap in false positives), row by row."""
        p_value = 0.0
        for value, mass in zip(true[0] / self.unit, true[1], strict=True):
            hits = np.zeros((len(false[0]), 2))
            said = np.zeros((len(false[0]), 2))
            hits[:, 1], said[:, 1] = value, value + false[0] / self.unit
            p_value += mass * _total(false[1][self.extreme(hits, said)])
        return min(p_value, 1.0)

    def _steps(self, gap: FloatArray) -> LongArray:
        steps: LongArray = np.round(np.abs(gap) * self.unit).astype(np.int64)
        return steps[steps > 0]


def _total(mass: FloatArray) -> float:
    return min(float(mass.sum()), 1.0)


def _expected_f1(credit: FloatArray, positive: BoolArray) -> float:
    """E[2 TP / (TP + FP + gold)], where each item is an independent event."""
    hits, hit_mass = _coin_sum(credit[positive])
    false, false_mass = _coin_sum(credit[~positive])
    gold = int(positive.sum())
    value = sum(
        mass * float((2 * hit / (hit + false + gold)) @ false_mass) for hit, mass in zip(hits, hit_mass, strict=True)
    )
    return float(value)


def _coin_sum(chance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of the number of events with these probabilities."""
    sure = int((chance == 1).sum())
    mass, start = np.ones(1), sure
    for p, n in zip(*np.unique(chance[(chance > 0) & (chance < 1)], return_counts=True), strict=True):
        heads = binomial(int(n), float(p))
        likely = np.flatnonzero(heads > NEGLIGIBLE)
        start += int(likely[0])
        mass = np.convolve(mass, heads[likely[0] : likely[-1] + 1])
    return start + np.arange(len(mass), dtype=float), mass / mass.sum()


def _check(credit: FloatArray, gold: GradeArray) -> None:
    if credit.ndim != 2 or len(credit) != len(gold) or not len(gold):
        raise DataError(f"credits of shape {credit.shape} do not fit {len(gold)} gold grades")
    if gold.min() < 0 or gold.max() >= credit.shape[1]:
        raise DataError(f"gold grades must lie in 0-{credit.shape[1] - 1}, found {gold.min()} to {gold.max()}")
