"""Judges two by two: Cohen's kappa, plain and weighted, percent, and the items they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from karatage.agreement.intervals import NOTHING, Interval, t_quantile
from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.estimate import CONFIDENCE
from karatage.data.judgments import Judgments
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.agreement import meet_judges, sum_kappas, weigh_table
from karatage.kernels.ordering import group_rows

Weights = Literal["linear", "quadratic"]
Statistic = Literal["kappa", "linear", "quadratic", "percent", "shared"]
# Fills, from counts (pair, group, grade, grade), three numbers for each pair, and adds to the sums of the mean.
Summary = Callable[[IntArray, FloatArray, FloatArray], None]
MOST_JUDGES = 5_000  # of a matrix
MOST_CELLS = 100_000_000  # of a table of counts
MOST_MEETINGS = 3e9  # of two judges over an item


@dataclass(frozen=True, eq=False)
class Rows:
    """Grades sorted by item, then judge, one for each judge and item; and where each judge's stand."""

    judge: IntArray  # (row,)
    item: IntArray  # (row,)
    grade: GradeArray  # (row,)
    start: LongArray  # (item + 1,)
    judges: int
    grades: int

    @staticmethod
    def of(judgments: Judgments) -> Rows:
        """All of the judgments; of repeated grades the last."""
        kept = judgments.settle()
        return Rows(
            kept.judge, kept.item, kept.grade, kept.row_start, len(kept.judges), int(kept.grade.max(initial=0)) + 1
        )

    def by_judge(self) -> Iterator[tuple[int, LongArray]]:
        """Each judge's rows, in the order of items."""
        order, start = group_rows(self.judge.astype(np.int64), self.judges)
        for a in range(self.judges):
            yield a, order[start[a] : start[a + 1]]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of judges who share items, and the mean over pairs, weighted by the items they share."""

    first: IntArray  # (pair,)
    second: IntArray  # (pair,)
    shared: LongArray  # (pair,) items that both graded
    alike: LongArray  # (pair,) of these, with the same grade
    value: FloatArray  # (pair,) kappa or correlation, NaN where it has none
    mean: Interval

    def average(self, judges: int) -> tuple[FloatArray, FloatArray]:
        """Each judge's mean value and mean share of alike grades over its pairs, weighted by shared items."""
        has = np.isfinite(self.value)
        value, share = np.zeros(judges), np.zeros(judges)
        weighed, shared = np.zeros(judges), np.zeros(judges)
        for side in (self.first, self.second):
            value += np.bincount(side[has], (self.value * self.shared)[has], judges)
            weighed += np.bincount(side[has], self.shared[has], judges)
            share += np.bincount(side, self.alike, judges)
            shared += np.bincount(side, self.shared, judges)
        with np.errstate(invalid="ignore", divide="ignore"):
            return value / weighed, share / shared


def cohen_kappa(judgments: Judgments, a: str, b: str, *, weights: Weights | None = None) -> float:
    """Cohen's kappa [COH60] of two judges over the items that both graded.

    Args:
        judgments: What the judges said; of repeated grades the last counts.
        a: One judge.
        b: The other.
        weights: None (grades are alike or not), or how far grades lie apart: `linear` or `quadratic` [COH68].

    Returns:
        1 = perfect, 0 = as by chance; NaN where both gave one and the same grade throughout.
    """
    for name in (a, b):
        if name not in judgments.judges:
            raise UnknownNameError("judge", name, judgments.judges)
    rows = Rows.of(judgments)
    grade = np.full((2, len(rows.start) - 1), -1, np.int64)
    for side, name in enumerate((a, b)):
        own = rows.judge == judgments.judges.index(name)
        grade[side, rows.item[own]] = rows.grade[own]
    left, right = grade[:, (grade >= 0).all(axis=0)]
    if left.size == 0:
        raise DataError(f"judges '{a}' and '{b}' share no item, so they have no kappa")
    return kappa_of(count_joint(left, right, rows.grades), weights)


def agreement_matrix(judgments: Judgments, statistic: Statistic = "kappa") -> FloatArray:
    """Every judge against every other, (judge, judge), over the items that both graded; NaN where there is no value.

    Args:
        judgments: What the judges said; of repeated grades the last counts.
        statistic: Cohen's `kappa`, with `linear` or `quadratic` weights, `percent` (share of equal grades), or `shared`
            (number of items that both graded).
    """
    if statistic not in get_args(Statistic):
        raise OptionError(f"statistic '{statistic}' is none of {', '.join(get_args(Statistic))}")
    rows = Rows.of(judgments)
    if rows.judges > MOST_JUDGES:
        raise OptionError(f"a matrix of {rows.judges:,} judges is too large; choose {MOST_JUDGES:,} or fewer")
    found = compare_pairs(rows, next((weights for weights in get_args(Weights) if weights == statistic), None))
    own = np.bincount(rows.judge, minlength=rows.judges)
    value = {"percent": found.alike / found.shared, "shared": found.shared}.get(statistic, found.value)
    matrix = np.full((rows.judges, rows.judges), 0.0 if statistic == "shared" else np.nan)
    matrix[found.first, found.second] = matrix[found.second, found.first] = value
    np.fill_diagonal(matrix, own if statistic == "shared" else np.where(own > 0, 1.0, np.nan))
    return matrix


def compare_pairs(rows: Rows, weights: Weights | None = None, *, group: IntArray | None = None) -> Pairs:
    """Cohen's kappa of all pairs of judges who share items.

    `group` (item,) puts items into groups; leaving each out in turn gives the interval of the mean.
    """
    weight = disagreement(rows.grades, weights)
    return meet_all(rows, group, lambda table, out, share: sum_kappas(table, weight, out, share))


def meet_all(rows: Rows, group: IntArray | None, summarise: Summary, *, strata: int = 1) -> Pairs:
    """Summarise what each pair of judges said of the items they share.

    `group` (item,) counts in steps of `strata`, where every group is divided into strata.
    """
    belongs = np.zeros(len(rows.start) - 1, np.int32) if group is None else group
    groups = int(belongs.max(initial=0)) // strata + 1
    table = make_table(rows, groups * strata)
    slot, partner = np.full(rows.judges, -1, np.int32), np.empty(rows.judges, np.int32)
    share = np.zeros((groups + 1, 2))
    found, first, second = [np.empty((0, 3))], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for a, own in rows.by_judge():
        pairs = meet_judges(own, rows.start, rows.item, rows.judge, rows.grade, belongs, slot, partner, table)
        out = np.empty((pairs, 3))
        summarise(table[:pairs], out, share)
        found.append(out)
        first.append(np.full(pairs, a, np.int32))
        second.append(partner[:pairs].copy())
    result = np.concatenate(found)
    return Pairs(
        np.concatenate(first),
        np.concatenate(second),
        result[:, 0].astype(np.int64),
        result[:, 1].astype(np.int64),
        result[:, 2],
        jackknife(share, groups),
    )


def fits(rows: Rows, strata: int) -> bool:
    """Whether judges can be compared pairwise in reasonable time and room."""
    meetings = float((np.diff(rows.start).astype(float) ** 2).sum()) / 2
    return rows.judges * strata * rows.grades**2 <= MOST_CELLS and meetings <= MOST_MEETINGS


def make_table(rows: Rows, strata: int) -> IntArray:
    """Room for counts (judge, stratum, grade, grade)."""
    if not fits(rows, strata):
        raise DataError(
            f"{rows.judges:,} judges with {rows.grades} grades are too many to compare pairwise; "
            "map grades to fewer, or choose fewer judges"
        )
    return np.empty((rows.judges, strata, rows.grades, rows.grades), np.int32)


def disagreement(grades: int, weights: Weights | None) -> FloatArray:
    """How much it counts that two grades differ, (grade, grade)."""
    if weights is not None and weights not in get_args(Weights):
        raise OptionError(f"weights are {' or '.join(get_args(Weights))}, or None, not '{weights}'")
    apart = np.abs(np.subtract.outer(np.arange(grades), np.arange(grades))).astype(float)
    return {"linear": apart, "quadratic": apart**2}.get(weights or "", (apart > 0).astype(float))


def count_joint(own: LongArray, other: LongArray, grades: int) -> LongArray:
    """How often each pair of grades met, (own grade, other's grade)."""
    return np.bincount(own * grades + other, minlength=grades**2).reshape(grades, grades).astype(np.int64)


def kappa_of(joint: LongArray, weights: Weights | None = None) -> float:
    """Cohen's kappa of a table (grade, grade)."""
    return float(weigh_table(joint, disagreement(len(joint), weights), np.empty(len(joint)))[1])


def jackknife(share: FloatArray, groups: int) -> Interval:
    """The mean, and its interval from the means without each group of items in turn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = share[:, 0] / share[:, 1]
    if not np.isfinite(mean[0]):
        return NOTHING
    left = mean[1:]
    if groups < 2 or not np.isfinite(left).all():
        return Interval(float(mean[0]), np.nan, np.nan)
    error = np.sqrt((groups - 1) / groups * ((left - left.mean()) ** 2).sum())
    half = float(t_quantile((1 + CONFIDENCE) / 2, groups - 1) * error)
    return Interval(float(mean[0]), float(mean[0]) - half, float(mean[0]) + half)
