"""Putting people together, so that each item is graded at most once by each of a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


@kernel
def fill_slots(order: LongArray, start: LongArray, item: IntArray, limit: LongArray, items: int) -> IntArray:
    """The slot of each row, so that no item is twice in a slot.

    Groups of rows `order[start[g]:start[g+1]]`, whose items differ, are placed in turn, each into the slot below
    `limit[g]` where most of its items are free, the first of equals; what finds its place taken goes on likewise.
    An item must not have more rows than its groups have slots.
    """
    taken = np.zeros((items, limit.max()), np.bool_)
    slot = np.full(item.size, -1, np.int32)
    for g in range(start.size - 1):
        left = start[g + 1] - start[g]
        while left > 0:
            best, most = 0, 0
            for s in range(limit[g]):
                free = 0
                for at in range(start[g], start[g + 1]):
                    row = order[at]
                    free += slot[row] < 0 and not taken[item[row], s]
                if free > most:
                    best, most = s, free
                if free == left:
                    break
            for at in range(start[g], start[g + 1]):
                row = order[at]
                if slot[row] < 0 and not taken[item[row], best]:
                    slot[row] = best
                    taken[item[row], best] = True
            left -= most
    return slot
