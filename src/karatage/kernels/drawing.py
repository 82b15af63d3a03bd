"""Drawing items with chances that are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.errors import OptionError

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
FLOOR = 0.1


def find_chances(size: FloatArray, count: int, *, floor: float = FLOOR) -> FloatArray:
    """The chance of each item (item,) to be among `count` drawn: proportional to its size, at most 1, 0 for size 0.

    A size below `floor` times the mean counts as that much, so that no item that matters is nearly out of reach.
    Chances sum to `count`, or all are 1 where there are no more items than that.
    """
    if count < 1:
        raise OptionError(f"draw at least 1 item, not {count}")
    if not 0 <= floor <= 1:
        raise OptionError(f"the floor is a share of the mean size, from 0 to 1, not {floor:g}")
    matters = size > 0
    if count >= matters.sum():
        return matters.astype(float)
    size = np.where(matters, np.maximum(size, floor * mean_positive(size)), 0.0)
    pi, certain = np.zeros(len(size)), np.zeros(len(size), np.bool_)
    while True:  # an item capped at 1 leaves more to the others, which may cap another; at most one round per item
        rest = ~certain
        pi[rest] = size[rest] * ((count - int(certain.sum())) / size[rest].sum())
        over = rest & (pi >= 1)
        if not over.any():
            return pi
        pi[over] = 1.0
        certain |= over


def draw_items(pi: FloatArray, rng: np.random.Generator) -> BoolArray:
    """Draw items with exactly the chances `pi` (item,); as many as these sum to, if that is a whole number.

    Systematic sampling in random order [MADOW49]: items laid end to end in random order, each as long as its chance,
    under a comb of teeth one apart that starts at random.
    """
    chosen = pi >= 1
    order = rng.permutation(np.flatnonzero((pi > 0) & ~chosen))
    if order.size:
        ends = np.cumsum(pi[order])
        whole = round(ends[-1])
        if abs(ends[-1] - whole) < 1e-6:
            ends[-1] = whole  # rounding must not lose the last item
        tooth = np.floor(ends + rng.random())
        chosen[order[np.diff(tooth, prepend=0.0) > 0]] = True
    return chosen


def mean_positive(size: FloatArray) -> float:
    """The mean of the sizes above 0; 0 where there are none."""
    return float(size[size > 0].mean()) if (size > 0).any() else 0.0
