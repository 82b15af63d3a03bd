"""Judgment sets to score by: noisy copies of gold, then random judges of AWARE's three classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.setting import SEED, Size

if TYPE_CHECKING:
    from karatage import Judgments

GradeArray = NDArray[np.int8]
SHARES_RELEVANT = (0.05, 0.5, 0.95)
NOISE = 0.1
_SETS_AT_ONCE = 64


def count_sets(size: Size) -> int:
    """How many judgment sets there are."""
    return size.noisy_copies + len(SHARES_RELEVANT) * size.sets_per_class


def class_starts(size: Size) -> list[int]:
    """The first judgment set of each class of random judges."""
    return [size.noisy_copies + c * size.sets_per_class for c in range(len(SHARES_RELEVANT))]


def judgment_set(gold: Judgments, size: Size, number: int) -> GradeArray:
    """Grades (item,) of one set, whatever other sets are drawn."""
    draw = np.random.default_rng([SEED, number]).random(gold.grade.size, np.float32)
    if number < size.noisy_copies:
        return ((gold.grade > 0) ^ (draw < NOISE)).astype(np.int8)
    share = SHARES_RELEVANT[(number - size.noisy_copies) // size.sets_per_class]
    return (draw < share).astype(np.int8)


def judgment_sets(gold: Judgments, size: Size) -> GradeArray:
    """Grades (item, set) of all sets, filled block by block: no array is larger than the result."""
    sets = count_sets(size)
    grade = np.empty((gold.grade.size, sets), np.int8)
    for first in range(0, sets, _SETS_AT_ONCE):
        numbers = range(first, min(first + _SETS_AT_ONCE, sets))
        grade[:, first : numbers.stop] = np.stack([judgment_set(gold, size, k) for k in numbers]).T
    return grade
