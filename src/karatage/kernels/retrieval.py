"""How runs retrieve each item: sums over systems of what its rank is worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@kernel
def sum_ranks(
    ranked: IntArray, weight: FloatArray, points: LongArray, items: int
) -> tuple[FloatArray, LongArray, LongArray]:
    """Per item over all systems: the sum of `weight[rank]`, of `points[rank]`, and of ranks.

    Ranks count from 0 here, and ones beyond the end of `weight` are not looked at; a system that has the item nowhere
    above adds nothing to the first two and `len(weight) + 1` to the last.
    """
    depth = min(ranked.shape[2], weight.size)
    worth = np.zeros(items, np.float64)
    score = np.zeros(items, np.int64)
    total = np.full(items, ranked.shape[1] * (weight.size + 1), np.int64)
    for topic in range(ranked.shape[0]):
        for system in range(ranked.shape[1]):
            for rank in range(depth):
                item = ranked[topic, system, rank]
                if item >= 0:
                    worth[item] += weight[rank]
                    score[item] += points[rank]
                    total[item] += rank - weight.size
    return worth, score, total
