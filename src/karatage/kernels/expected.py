"""Expected measures of rankings under a block of judgment sets at once, items being independent.

The layout is that of `kernels.ranking`, with numbers instead of grades: `ranked` (system, rank) holds item numbers,
negative = outside the pool; `chance` or `gain` (item, set) has sets contiguous; `out` (system, set) receives the sums.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]

NEGLIGIBLE = 1e-20  # a chance to be counted for the first time; what is left out adds up to less than rounding


@kernel
def sum_items(chance: FloatArray, out: FloatArray) -> None:
    """Sum over items, for each set; in the same order however many sets there are."""
    for i in range(chance.shape[0]):
        for j in range(chance.shape[1]):
            out[j] += chance[i, j]


@kernel
def sum_expected_gains(ranked: IntArray, gain: FloatArray, weight: FloatArray, out: FloatArray) -> None:
    """Sum of weight x expected gain along ranks."""
    depth = min(ranked.shape[1], weight.size)
    for s in range(ranked.shape[0]):
        total = out[s]
        for n in range(depth):
            i = ranked[s, n]
            if i < 0:
                continue
            row = gain[i]
            share = weight[n]
            for j in range(total.size):
                total[j] += share * row[j]


@kernel
def sum_expected_precisions(ranked: IntArray, chance: FloatArray, depth: int, out: FloatArray) -> None:
    """Expected sum of the precisions at the ranks of relevant documents: p_n (1 + sum of p above) / n."""
    sets = chance.shape[1]
    hits = np.empty(sets)
    for s in range(ranked.shape[0]):
        hits[:] = 1.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = chance[i]
            share = 1.0 / (n + 1)
            for j in range(sets):
                total[j] += row[j] * hits[j] * share
                hits[j] += row[j]


@kernel
def sum_expected_cascade(ranked: IntArray, stop: FloatArray, depth: int, out: FloatArray) -> None:
    """Expected reciprocal of the rank at which a reader stops, who stops at an item with chance `stop` (item, set)."""
    sets = stop.shape[1]
    going = np.empty(sets)
    for s in range(ranked.shape[0]):
        going[:] = 1.0
        total = out[s]
        for n in range(min(ranked.shape[1], depth)):
            i = ranked[s, n]
            if i < 0:
                continue
            row = stop[i]
            share = 1.0 / (n + 1)
            for j in range(sets):
                stops = going[j] * row[j]
                total[j] += stops * share
                going[j] -= stops


@kernel
def add_ideal_gains(chance: FloatArray, step: float, weight: FloatArray, out: FloatArray) -> None:
    """Add step x the sum over ranks of weight x P(at least so many items of the pool count), for each set.

    `chance` (item, set) is that of an item to count. Where one more item counts with chance p,
    P(at least n) becomes (1 - p) P(at least n) + p P(at least n - 1), so nothing beyond the last rank is needed.
    """
    depth = weight.size
    at_least = np.empty(depth + 1)
    for j in range(chance.shape[1]):
        at_least[:] = 0.0
        at_least[0] = 1.0
        high = 0
        for i in range(chance.shape[0]):
            p = chance[i, j]
            # Chances that only grow smaller would under-flow, and such numbers are slow.
            if high < depth and (high == 0 or p * at_least[high] > NEGLIGIBLE):
                high += 1
            for n in range(high, 0, -1):
                at_least[n] += p * (at_least[n - 1] - at_least[n])
        for n in range(high):
            out[j] += step * weight[n] * at_least[n + 1]
