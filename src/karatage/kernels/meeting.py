"""What chosen pairs of judges said of the items they share, and judges whose grades are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.agreement import find_stratum
from karatage.kernels.compiling import kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
GradeArray = NDArray[np.int8]
KeyArray = NDArray[np.uint64]
OFFSET, PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)  # of the hash FNV-1a


@kernel
def meet_chosen(
    first: IntArray,
    second: IntArray,
    start: LongArray,
    item: IntArray,
    grade: GradeArray,
    group: IntArray,
    held: GradeArray,
    table: IntArray,
) -> None:
    """Count the grades that two judges gave to the same items, for each pair of `first` and `second`.

    `table` (pair, group of the item, first's grade, second's grade). Rows of judge j are `start[j]:start[j+1]`. `held`
    (item,) is room to work in, -1 before and after; pairs in order of `first` fill it once for each.
    """
    table[:] = 0
    for n in range(first.size):
        if n == 0 or first[n] != first[n - 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = grade[row]
        for row in range(start[second[n]], start[second[n] + 1]):
            own = held[item[row]]
            if own >= 0:
                table[n, group[item[row]], own, grade[row]] += 1
        if n + 1 == first.size or first[n] != first[n + 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = -1


@kernel
def meet_chosen_beside(
    first: IntArray,
    second: IntArray,
    start: LongArray,
    item: IntArray,
    grade: GradeArray,
    count: IntArray,
    gold: GradeArray,
    held: GradeArray,
    table: IntArray,
) -> None:
    """As `meet_chosen`, by what everybody else says of the item: strata as in `agreement.meet_beside`."""
    table[:] = 0
    for n in range(first.size):
        if n == 0 or first[n] != first[n - 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = grade[row]
        for row in range(start[second[n]], start[second[n] + 1]):
            i, own = item[row], held[item[row]]
            if own >= 0:
                stratum = find_stratum(count[i], gold[i], own, grade[row])
                if stratum >= 0:
                    table[n, stratum, own, grade[row]] += 1
        if n + 1 == first.size or first[n] != first[n + 1]:
            for row in range(start[first[n]], start[first[n] + 1]):
                held[item[row]] = -1


@kernel
def sketch_judges(
    order: LongArray, start: LongArray, judge: IntArray, grade: GradeArray, most: int, key: KeyArray, taken: LongArray
) -> None:
    """Hash the first `most` grades of each judge, items in `order`: equal keys are equal grades for the same items.

    Rows of item i are `start[i]:start[i+1]`. `key` and `taken` (judge,): the hash, and how many grades it has.
    """
    key[:], taken[:] = OFFSET, 0
    for i in order:
        for row in range(start[i], start[i + 1]):
            j = judge[row]
            if taken[j] < most:
                key[j] = ((key[j] ^ np.uint64(i)) * PRIME ^ np.uint64(grade[row])) * PRIME
                taken[j] += 1
