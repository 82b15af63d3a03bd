"""Uninformative judges: three random classes, and each judge's own grades shuffled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from karatage.data.axes import GradeArray, freeze
from karatage.data.judgments import Judgments
from karatage.random_streams import stream

CLASSES = {"und": 0.05, "uni": 0.5, "ovr": 0.95}
_ITEMS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class RandomJudges:
    """Replicates of the three classes of [AWARE17] 4.2: each item relevant or not, one bit each."""

    bits: dict[str, NDArray[np.uint8]]  # class -> (item, replicate / 8)
    replicates: int

    @staticmethod
    def draw(items: int, replicates: int, rng: np.random.Generator) -> RandomJudges:
        """Draw them for a pool; every item is relevant with the probability of the class."""
        bits = {}
        for name, probability in CLASSES.items():
            packed = np.empty((items, (replicates + 7) // 8), np.uint8)
            for first in range(0, items, _ITEMS_AT_ONCE):
                rows = slice(first, min(first + _ITEMS_AT_ONCE, items))
                chance = rng.random((rows.stop - rows.start, replicates), np.float32)
                packed[rows] = np.packbits(chance < np.float32(probability), axis=1)
            freeze(packed)
            bits[name] = packed
        return RandomJudges(bits, replicates)


def shuffle_grades(judgments: Judgments, judge: int, replicates: int, seed: int) -> GradeArray:
    """A judge's grades shuffled within each topic, (item, replicate); -1 for items the judge has not graded.

    The stream depends on the grades, so that neither the judge's name nor its place matters.
    """
    rows = np.flatnonzero(judgments.judge == judge)
    item, grade = judgments.item[rows], judgments.grade[rows]
    rng = stream(seed, hashlib.sha256(item.tobytes() + grade.tobytes()).hexdigest())
    out = np.full((len(judgments.item_topic), replicates), -1, np.int8)
    for own in _by_topic(judgments, item):
        shuffled = rng.permuted(np.broadcast_to(grade[own], (replicates, own.stop - own.start)), axis=1)
        out[item[own]] = shuffled.T
    return out


def _by_topic(judgments: Judgments, item: NDArray[np.int32]) -> Iterator[slice]:
    """Rows of each topic; items are sorted, and those of a topic stand together."""
    bounds = np.searchsorted(item, judgments.item_start)
    for first, last in pairwise(bounds):
        if last > first:
            yield slice(int(first), int(last))
