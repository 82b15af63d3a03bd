"""Uncertainty of agreement: rows of grades by pair of judges, resampled topics or items, and intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.estimate import wilson_interval
from karatage.data.judgments import Judgments
from karatage.data.options import CONFIDENCE
from karatage.kernels.agreement import meet_chosen, sketch_judges
from karatage.kernels.ordering import group_rows


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

    @property
    def items(self) -> int:
        """How many there are."""
        return len(self.start) - 1

    @cached_property
    def size(self) -> LongArray:
        """How many grades each judge gave, (judge,)."""
        return np.bincount(self.judge, minlength=self.judges)

    @property
    def meetings(self) -> float:
        """How often two judges graded the same item."""
        graded = np.diff(self.start).astype(float)
        return float((graded * (graded - 1)).sum()) / 2

    def by_judge(self) -> Iterator[tuple[int, LongArray]]:
        """Each judge's rows, in the order of items."""
        order, start = group_rows(self.judge.astype(np.int64), self.judges)
        for a in range(self.judges):
            yield a, order[start[a] : start[a + 1]]

    def turn(self) -> tuple[LongArray, IntArray, GradeArray]:
        """The same sorted by judge, then item: where each judge's rows start, their items and their grades."""
        order, start = group_rows(self.judge.astype(np.int64), self.judges)
        return start, self.item[order], self.grade[order]


MOST_PAIRS = 1_000_000  # that are all looked at
MOST_MEETINGS = 3e8  # of two judges over an item, if all pairs are looked at
DRAWS = 300_000  # partners that are drawn for all judges together, if not; at least one for each judge
MOST_WORK = 3e8  # items looked up, and cells of tables filled, for them
HELD_CELLS = 4_000_000  # of tables, in memory at once
SKETCHES, SKETCHED = 16, 24  # how often judges are grouped by this many of their grades


@dataclass(frozen=True, eq=False)
class PairSample:
    """Pairs of judges in order of the first; the second has no more grades than the first."""

    first: IntArray  # (pair,)
    second: IntArray  # (pair,)
    draws: IntArray  # (pair,) how often it was drawn
    factor: FloatArray  # (pair,) how many pairs it stands for: times drawn over times expected

    def __len__(self) -> int:
        return len(self.first)

    @property
    def pairs(self) -> float:
        """How many pairs of judges share an item, estimated without bias; exact where all judges graded everything."""
        return float(self.factor.sum())

    def blocks(self, cells: int) -> Iterator[PairSample]:
        """A few pairs at a time, whose tables fit in memory."""
        step = max(1, HELD_CELLS // cells)
        for at in range(0, len(self), step):
            part = slice(at, at + step)
            yield PairSample(self.first[part], self.second[part], self.draws[part], self.factor[part])

    def thin(self, most: int) -> PairSample:
        """Every n-th, so that no more than `most` are left."""
        part = slice(None, None, max(1, -(-len(self) // max(most, 1))))
        return PairSample(self.first[part], self.second[part], self.draws[part], self.factor[part])


def are_few(rows: Rows) -> bool:
    """Whether all pairs of judges can be looked at in reasonable time and room."""
    meetings = rows.meetings
    return min(rows.judges * (rows.judges - 1) / 2, meetings) <= MOST_PAIRS and meetings <= MOST_MEETINGS


def draw_pairs(rows: Rows, cells: int, source: np.random.Generator) -> PairSample:
    """Equally many partners for every judge that shares an item with another; `cells` has a pair's table.

    A pair that shares s items is expected k s (1/a + 1/b) times, where k partners are drawn and the two judges share
    items with others a and b times. Each draw represents the inverse of that number of pairs. Whichever judge drew it,
    and however unequal the two are, sums over the sample are so unbiased.
    """
    order, start = group_rows(rows.judge.astype(np.int64), rows.judges)
    others = np.diff(rows.start)[rows.item[order]] - 1
    until = np.cumsum(others)
    met = np.diff(np.r_[0, until][start])  # (judge,) how often it meets another
    able = np.flatnonzero(met > 0)
    rounds = max(1, DRAWS // max(len(able), 1))
    before = np.r_[0, until][start[able]]
    drawn = source.integers(0, met[able], (rounds, len(able))) + before
    at = np.searchsorted(until, drawn, side="right")
    row = order[at]
    first = rows.start[rows.item[row]]
    other = first + drawn - (until[at] - others[at])  # any of the item's rows but the last ...
    other += other >= row  # ... or but this one
    one, two = np.broadcast_to(able, drawn.shape), rows.judge[other]
    work = (np.minimum(rows.size[one], rows.size[two]) + cells).sum(axis=1, dtype=float)
    kept = max(1, int(np.searchsorted(np.cumsum(work), MOST_WORK, side="right")))
    found = _arrange(rows, one[:kept].ravel(), two[:kept].ravel())
    expected = kept * (1 / met[found.first] + 1 / met[found.second]) * _count_shared(rows, found)
    return PairSample(found.first, found.second, found.draws, found.draws / expected)


def find_equal(rows: Rows, least: int, source: np.random.Generator) -> PairSample:
    """Judges with equal grades for all their items, or for several of them chosen at random, next to each other.

    Of many that are equal each is paired with the next. Judges with fewer than `least` items are left out.
    """
    key, taken = np.empty(rows.judges, np.uint64), np.empty(rows.judges, np.int64)
    able = np.flatnonzero(rows.size >= least)
    one, two = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for most in (rows.items, *[SKETCHED] * SKETCHES):
        sketch_judges(source.permutation(rows.items), rows.start, rows.judge, rows.grade, most, key, taken)
        near = able[np.argsort(key[able], kind="stable")]
        same = key[near[1:]] == key[near[:-1]]
        one.append(near[:-1][same])
        two.append(near[1:][same])
    return _arrange(rows, np.concatenate(one), np.concatenate(two))


def join(samples: list[PairSample], rows: Rows) -> PairSample:
    """The pairs of all, each once."""
    return _arrange(rows, np.concatenate([s.first for s in samples]), np.concatenate([s.second for s in samples]))


def _arrange(rows: Rows, one: LongArray, two: LongArray) -> PairSample:
    """Each pair once, the judge with more grades first, since the other's are looked up among these."""
    size = rows.size
    turned: BoolArray = (size[two] > size[one]) | ((size[two] == size[one]) & (two < one))
    owner, guest = np.where(turned, two, one), np.where(turned, one, two)
    key, draws = np.unique(owner * np.int64(rows.judges) + guest, return_counts=True)
    first, second = np.divmod(key, rows.judges)
    return PairSample(first.astype(np.int32), second.astype(np.int32), draws.astype(np.int32), np.ones(len(key)))


def _count_shared(rows: Rows, sample: PairSample) -> LongArray:
    """Items that both judges graded, (pair,)."""
    start, item, _ = rows.turn()
    nothing, held = np.zeros(len(item), np.int8), np.full(rows.items, -1, np.int8)
    table = np.empty((len(sample), 1, 1, 1), np.int32)
    belongs = np.zeros(rows.items, np.int32)
    meet_chosen(sample.first, sample.second, start, item, nothing, belongs, held, table)
    return table.ravel().astype(np.int64)


ENOUGH_TOPICS = 5  # for an interval to count topics instead of items


class Interval(NamedTuple):
    """A value and the bounds of its confidence interval; NaN where there is none."""

    value: float
    low: float
    high: float


NOTHING = Interval(np.nan, np.nan, np.nan)


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches `probability`."""
    return NormalDist().inv_cdf(probability)


def normal_upper(z: FloatArray) -> FloatArray:
    """P(Z >= z)."""
    return np.array([NormalDist().cdf(-float(x)) if x == x else np.nan for x in np.ravel(z)]).reshape(np.shape(z))


def t_quantile(probability: float, freedom: ArrayLike) -> FloatArray:
    """Student's t by its expansion in 1/freedom, [AS64] 26.7.5: within 1 % from 4 degrees of freedom on at 0.975."""
    z, v = normal_quantile(probability), np.asarray(freedom, float)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(z + sum(term / v**k for k, term in enumerate(terms, 1)))


class Means(NamedTuple):
    """Means over items and how sure they are, (group,) each.

    Items of a topic are alike, so where a group has enough topics the variance is the one between topics, not items.
    """

    size: FloatArray  # items
    value: FloatArray
    variance: FloatArray  # of the mean; NaN with fewer than two items
    topics: LongArray  # that the variance counts, 0 = it counts items
    degrees: FloatArray  # of freedom

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Of the t interval; NaN with fewer than two items."""
        half = t_quantile((1 + CONFIDENCE) / 2, self.degrees) * np.sqrt(self.variance)
        return self.value - half, self.value + half


def measure_means(group: IntArray, value: FloatArray, groups: int, topic: IntArray) -> Means:
    """Mean of `value` (item,) in each group, its variance that of a ratio: items by topic."""
    size = np.bincount(group, minlength=groups).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, value, groups) / size
        surprise = value - mean[group]
        of, total = _sum_by_topic(group, surprise, groups, topic)
        topics = np.bincount(of, minlength=groups)
        topics[topics < ENOUGH_TOPICS] = 0
        by_topic = np.bincount(of, total**2, groups)
        squares = np.where(topics > 0, by_topic, np.bincount(group, surprise**2, groups))
        units = np.where(topics > 0, topics, size)
        variance = np.where(units > 1, units / (units - 1) * squares / size**2, np.nan)
    return Means(size, mean, variance, topics, np.maximum(units - 1, 1))


def _sum_by_topic(group: IntArray, value: FloatArray, groups: int, topic: IntArray) -> tuple[LongArray, FloatArray]:
    """The group of each (group, topic) that has items, and its sum of `value` (item,)."""
    topics = int(topic.max(initial=0)) + 1
    key: LongArray = group * np.int64(topics) + topic
    if groups * topics <= len(key):  # no need to sort
        found = np.flatnonzero(np.bincount(key, minlength=groups * topics)).astype(np.int64)
        total: FloatArray = np.bincount(key, value, groups * topics)[found].astype(float)
        return found // topics, total
    distinct, at = np.unique(key, return_inverse=True)
    return distinct // topics, np.bincount(at, value, len(distinct)).astype(float)


def share_intervals(
    group: IntArray, right: FloatArray, groups: int, topic: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Share of `right` in each group with Wilson's interval, for as many items as the share is worth [KORN98].

    That is fewer where topics differ in it, or are few (by the square of normal over t quantile), and never more.
    """
    found = measure_means(group, right, groups, topic)
    few = normal_quantile((1 + CONFIDENCE) / 2) / t_quantile((1 + CONFIDENCE) / 2, found.degrees)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = np.where(found.variance > 0, found.value * (1 - found.value) / found.variance, np.inf)
    worth = np.where(found.topics > 0, np.minimum(found.size, alone) * few**2, found.size)
    return found.value, *wilson_interval(found.value * worth, worth)


def adjust(p_value: FloatArray, tests: int | None = None) -> FloatArray:
    """Benjamini and Hochberg's [BH95] adjusted p-values; NaN was not tested. `tests` counts those left out with p = 1.

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    tested: BoolArray = np.isfinite(p_value)
    found = p_value[tested]
    order = np.argsort(found, kind="stable")
    scaled = found[order] * (len(found) if tests is None else tests) / np.arange(1, len(found) + 1)
    rising = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    out = np.full(p_value.shape, np.nan)
    settled = np.empty(len(found))
    settled[order] = rising
    out[tested] = settled
    return out
