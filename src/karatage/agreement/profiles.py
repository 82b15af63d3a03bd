"""Items by how often each grade was given: all that agreement over a panel depends on.

Items with the same counts are the same to every coefficient, so they are kept once with their number. Resampling
items is then a multinomial draw over few profiles, and no resample counts grades again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.data.judgments import Judgments
from karatage.errors import DataError

AT_ONCE = 4_000_000
LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Profiles:
    """Distinct ways in which items with at least two grades were graded."""

    grade: FloatArray  # (grade,) the grades that occur
    count: FloatArray  # (profile, grade) how often each was given
    items: LongArray  # (profile,) items of this kind

    @property
    def size(self) -> FloatArray:
        """Grades given to an item, (profile,)."""
        size: FloatArray = self.count.sum(axis=1)
        return size

    def resample(self, resamples: int, source: np.random.Generator) -> Iterator[FloatArray]:
        """How often each profile occurs when items are drawn with replacement, (resample, profile), in pieces."""
        total, profiles = int(self.items.sum()), len(self.items)
        piece = max(1, AT_ONCE // max(profiles, 1))
        for begin in range(0, resamples, piece):
            rows = min(piece, resamples - begin)
            if 4 * profiles < total:
                yield source.multinomial(total, self.items / total, size=rows).astype(float)
            else:  # drawing the items one by one is cheaper than a binomial for each profile
                profile_of = np.repeat(np.arange(profiles), self.items)
                draws = (profile_of[source.integers(total, size=total)] for _ in range(rows))
                yield np.stack([np.bincount(drawn, minlength=profiles) for drawn in draws]).astype(float)


def profile(judgments: Judgments) -> Profiles:
    """Count each item's grades; of repeated grades by one judge the last counts, items with a single grade do not."""
    settled = judgments.settle()
    used = np.flatnonzero(np.bincount(settled.grade))
    code = np.zeros(int(used[-1]) + 1, np.int64)
    code[used] = np.arange(len(used))
    items = len(settled.item_topic)
    flat = np.bincount(settled.item * np.int64(len(used)) + code[settled.grade], minlength=items * len(used))
    count = flat.reshape(items, len(used))
    count = count[count.sum(axis=1) > 1]
    key = _encode(count)
    if key is None:
        return Profiles(used.astype(float), count.astype(float), np.ones(len(count), np.int64))
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    return Profiles(used.astype(float), count[first].astype(float), number.astype(np.int64))


def require_pairs(profiles: Profiles) -> Profiles:
    """The same, or an error where no item has two grades."""
    if len(profiles.items) == 0:
        raise DataError("no item was graded by two judges, so there is no agreement to measure")
    return profiles


def _encode(count: LongArray) -> LongArray | None:
    """One number for each row of counts, where it fits."""
    base = int(count.max(initial=0)) + 1
    if base ** count.shape[1] > LARGEST_KEY:
        return None
    key = np.zeros(len(count), np.int64)
    for column in count.T:
        key *= base
        key += column
    return key
