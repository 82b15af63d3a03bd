"""Pairs of judges that are looked at where there are too many to look at all.

A sample, for averages: for each judge partners are drawn, each by one of the judge's items and another judge of that
item. A pair is so drawn in proportion to the items it shares, which is what it counts for in the mean over pairs.
Judges with equal grades, for copies: they are found by hashing, however many pairs there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karatage.agreement.rows import Rows
from karatage.data.axes import BoolArray, FloatArray, IntArray, LongArray
from karatage.kernels.meeting import meet_chosen, sketch_judges
from karatage.kernels.ordering import group_rows

MOST_PAIRS = 1_000_000  # that are all looked at
MOST_MEETINGS = 3e8  # of two judges over an item, if all pairs are looked at
DRAWS = 300_000  # partners that are drawn for all judges together, if not; at least one for each judge
MOST_WORK = 3e8  # items looked up, and cells of tables filled, for them
HELD_CELLS = 4_000_000  # of tables, in memory at once
SKETCHES, SKETCHED = 16, 24  # how often judges are put together by so many of their grades


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

    A pair that shares s items is expected k s (1/a + 1/b) times, where k partners are drawn and the two judges meet
    others a and b times; each time it is drawn it stands for the inverse of that many pairs. Whichever judge drew it,
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
