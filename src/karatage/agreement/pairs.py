"""Judges two by two: Cohen's kappa, plain and weighted, percent, and the items they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from karatage.agreement.intervals import NOTHING, Interval, PairSample, Rows, are_few, draw_pairs, t_quantile
from karatage.data.alignment import require_data
from karatage.data.axes import BoolArray, FloatArray, IntArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.options import CONFIDENCE
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.agreement import meet_chosen, meet_judges, sum_kappas, weigh_tables

Weights = Literal["linear", "quadratic"]
Statistic = Literal["kappa", "linear", "quadratic", "percent", "shared"]
# Fills, from counts (pair, group, grade, grade), three numbers for each pair, and adds to the sums of the mean, where a
# pair stands for as many as its factor says.
Summary = Callable[[IntArray, FloatArray, FloatArray, FloatArray], None]
MOST_JUDGES = 5_000  # of a matrix
MOST_CELLS = 100_000_000  # of a table of counts
MOST_MEETINGS = 3e9  # of two judges over an item
MOST_FILLED = 1e9  # cells of the tables of a sample


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of judges who share items, and the mean over pairs, weighted by the items they share."""

    first: IntArray  # (pair,)
    second: IntArray  # (pair,)
    shared: LongArray  # (pair,) items that both graded
    alike: LongArray  # (pair,) of these, with the same grade
    value: FloatArray  # (pair,) kappa or correlation, NaN where it has none
    weight: FloatArray  # (pair,) shared items; in a sample those of all pairs that it stands for
    mean: Interval
    error: float = 0.0  # standard error of the mean that comes from looking at a sample of the pairs

    def average(self, judges: int) -> FloatArray:
        """Each judge's mean value over its pairs, weighted by shared items."""
        value, weight = self._sum(self.value, judges)
        with np.errstate(invalid="ignore", divide="ignore"):
            return value / weight

    def average_error(self, judges: int) -> FloatArray:
        """Standard error of each judge's mean if its pairs are a sample; NaN with fewer than two."""
        mean = self.average(judges)
        has = np.isfinite(self.value)
        squares, pairs = np.zeros(judges), np.zeros(judges)
        for side in (self.first[has], self.second[has]):
            squares += np.bincount(side, (self.weight[has] * (self.value[has] - mean[side])) ** 2, judges)
            pairs += np.bincount(side, minlength=judges)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(squares * pairs / (pairs - 1)) / self._sum(self.value, judges)[1]

    def _sum(self, value: FloatArray, judges: int) -> tuple[FloatArray, FloatArray]:
        has = np.isfinite(value)
        total, weight = np.zeros(judges), np.zeros(judges)
        for side in (self.first, self.second):
            total += np.bincount(side[has], (value * self.weight)[has], judges)
            weight += np.bincount(side[has], self.weight[has], judges)
        return total, weight


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
    require_data(judgments=judgments)
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
        raise DataError(f"judges '{a}' and '{b}' have no item in common, so their kappa cannot be computed")
    return kappa_of(count_joint(left, right, rows.grades), weights)


def agreement_matrix(judgments: Judgments, statistic: Statistic = "kappa") -> FloatArray:
    """Every judge against every other, (judge, judge), over the items that both graded; NaN where there is no value.

    Args:
        judgments: What the judges said; of repeated grades the last counts.
        statistic: Cohen's `kappa`, with `linear` or `quadratic` weights, `percent` (share of equal grades), or `shared`
            (number of items that both graded).
    """
    require_data(judgments=judgments)
    if statistic not in get_args(Statistic):
        raise OptionError(f"statistic '{statistic}' is not one of {', '.join(get_args(Statistic))}")
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


def choose_pairs(rows: Rows, cells: int, source: np.random.Generator) -> PairSample | None:
    """A sample where there are too many pairs to look at all, else None; a pair's table has so many `cells`."""
    return None if fits(rows, 1) and are_few(rows) else draw_pairs(rows, cells, source)


def compare_pairs(
    rows: Rows,
    weights: Weights | None = None,
    *,
    group: IntArray | None = None,
    sample: PairSample | None = None,
) -> Pairs:
    """Cohen's kappa of all pairs of judges who share items, or of a sample of them.

    `group` (item,) puts items into groups; leaving each out in turn gives the interval of the mean.
    """
    weight = disagreement(rows.grades, weights)
    return meet_all(
        rows, group, lambda table, factor, out, share: sum_kappas(table, weight, factor, out, share), sample=sample
    )


def meet_all(
    rows: Rows,
    group: IntArray | None,
    summarise: Summary,
    *,
    strata: int = 1,
    least: int = 1,
    sample: PairSample | None = None,
) -> Pairs:
    """Summarise the grades of each pair of judges on the items they share.

    `group` (item,) counts in steps of `strata`, where every group is divided into strata. Pairs with fewer than `least`
    shared items do not count in the mean.
    """
    belongs = np.zeros(rows.items, np.int32) if group is None else group
    groups = int(belongs.max(initial=0)) // strata + 1
    share = np.zeros((groups + 1, 2))
    found, first, second = [np.empty((0, 3))], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    meetings = _meet_every if sample is None else _meet_sample
    for one, other, factor, table in meetings(rows, belongs, groups * strata, sample):
        out = np.empty((len(one), 3))
        summarise(table, factor, out, share)
        found.append(out)
        first.append(one)
        second.append(other)
    result = np.concatenate(found)
    shared, value, weight = result[:, 0].astype(np.int64), result[:, 2], result[:, 0]
    error = 0.0
    if sample is not None:
        weight = weight * sample.factor
        error = _sampling_error(value, weight, sample, np.isfinite(value) & (shared >= least))
    return Pairs(
        np.concatenate(first),
        np.concatenate(second),
        shared,
        result[:, 1].astype(np.int64),
        value,
        weight,
        jackknife(share, groups, error),
        error,
    )


Meeting = tuple[IntArray, IntArray, FloatArray, IntArray]  # of pairs: who, with whom, for how many, and their tables


def _meet_every(rows: Rows, belongs: IntArray, strata: int, _: PairSample | None) -> Iterator[Meeting]:
    table = make_table(rows, strata)
    slot, partner = np.full(rows.judges, -1, np.int32), np.empty(rows.judges, np.int32)
    for a, own in rows.by_judge():
        pairs = meet_judges(own, rows.start, rows.item, rows.judge, rows.grade, belongs, slot, partner, table)
        yield np.full(pairs, a, np.int32), partner[:pairs].copy(), np.ones(pairs), table[:pairs]


def _meet_sample(rows: Rows, belongs: IntArray, strata: int, sample: PairSample | None) -> Iterator[Meeting]:
    assert sample is not None
    turned, held = rows.turn(), np.full(rows.items, -1, np.int8)
    for part in sample.blocks(strata * rows.grades**2):
        table = np.empty((len(part), strata, rows.grades, rows.grades), np.int32)
        meet_chosen(part.first, part.second, *turned, belongs, held, table)
        yield np.minimum(part.first, part.second), np.maximum(part.first, part.second), part.factor, table


def _sampling_error(value: FloatArray, weight: FloatArray, sample: PairSample, counts: BoolArray) -> float:
    """Of the weighted mean as a ratio of two sums over draws, which are independent."""
    if not counts.any():
        return 0.0
    value, weight, draws = value[counts], weight[counts], sample.draws[counts]
    surprise = weight * (value - np.average(value, weights=weight))
    return float(np.sqrt((surprise**2 / draws).sum()) / weight.sum())


def fits(rows: Rows, strata: int, sample: PairSample | None = None) -> bool:
    """Whether judges can be compared pairwise, or those of a sample, in reasonable time and room."""
    cells = strata * rows.grades**2
    if sample is not None:
        return len(sample) * cells <= MOST_FILLED
    return rows.judges * cells <= MOST_CELLS and rows.meetings <= MOST_MEETINGS


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
    return float(kappas_of(joint[None], weights)[0])


def kappas_of(table: LongArray, weights: Weights | None = None) -> FloatArray:
    """Cohen's kappa of many tables, (table, grade, grade)."""
    found = np.empty(len(table))
    weigh_tables(table, disagreement(table.shape[1], weights), found)
    return found


def jackknife(share: FloatArray, groups: int, also: float = 0.0) -> Interval:
    """The mean, and its interval from the means without each group of items in turn, and a standard error beside."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = share[:, 0] / share[:, 1]
    if not np.isfinite(mean[0]):
        return NOTHING
    left = mean[1:]
    if groups < 2 or not np.isfinite(left).all():
        return Interval(float(mean[0]), np.nan, np.nan)
    error = np.sqrt((groups - 1) / groups * ((left - left.mean()) ** 2).sum())
    half = float(t_quantile((1 + CONFIDENCE) / 2, groups - 1) * np.hypot(error, also))
    return Interval(float(mean[0]), float(mean[0]) - half, float(mean[0]) + half)
