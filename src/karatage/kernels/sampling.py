"""Drawing items: sampling probabilities and draws; sums over the items of pairs of systems."""

from __future__ import annotations

import numpy as np

from karatage.errors import OptionError
from karatage.kernels.compiling import BoolArray, FloatArray, LongArray, kernel

FLOOR = 0.1


def find_chances(size: FloatArray, count: int, *, floor: float = FLOOR) -> FloatArray:
    """The chance of each item (item,) to be among `count` drawn: proportional to its size, at most 1, 0 for size 0.

    A size below `floor` times the mean counts as that much, so that no item that matters has a chance near 0.
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

    Systematic sampling in random order [MADOW49]: items are laid end to end in random order, each as long as its
    chance. Points at distance 1, the first of them random, choose the items.
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


@kernel
def add_items(weight: FloatArray, gain: FloatArray, topic: LongArray, out: FloatArray) -> None:
    """Add `weight` (item, system) times `gain` (item,) to the row of `out` (topic, system) of the item's topic."""
    for i in range(weight.shape[0]):
        row = topic[i]
        for s in range(weight.shape[1]):
            out[row, s] += weight[i, s] * gain[i]


@kernel
def sum_gaps(weight: FloatArray, a: LongArray, b: LongArray, out: FloatArray) -> None:
    """Add to each item the squares of its gaps in `weight` (item, system) over the pairs of systems a, b (pair,)."""
    for i in range(weight.shape[0]):
        if weight[i].max() == weight[i].min():
            continue
        total = 0.0
        for k in range(len(a)):
            gap = weight[i, a[k]] - weight[i, b[k]]
            total += gap * gap
        out[i] += total


@kernel
def sum_square_gaps(value: FloatArray, out: FloatArray) -> None:
    """Sum over rows of (value[row, a] - value[row, b])^2, for all pairs of columns; 0 where the columns are equal."""
    for row in range(value.shape[0]):
        for a in range(value.shape[1]):
            for b in range(value.shape[1]):
                gap = value[row, a] - value[row, b]
                out[a, b] += gap * gap


@kernel
def count_gaps(weight: FloatArray, counted: BoolArray, out: LongArray) -> None:
    """Count the items to which two systems give different `weight` (item, system), of those `counted` (item,).

    `out` has one system more than `weight`, one that gives no weight to any item.
    """
    last = weight.shape[1]
    for i in range(weight.shape[0]):
        if counted[i]:
            for a in range(last):
                for b in range(last):
                    out[a, b] += weight[i, a] != weight[i, b]
                out[a, last] += weight[i, a] != 0.0
                out[last, a] += weight[i, a] != 0.0


@kernel
def share_weights(weight: FloatArray, variance: FloatArray, least: FloatArray, product: FloatArray) -> None:
    """Add to each pair of systems the smaller of an item's two weights, and their product times its `variance`."""
    systems = weight.shape[1]
    shown = np.empty(systems, np.int64)
    for i in range(weight.shape[0]):
        count = 0
        for s in range(systems):
            if weight[i, s] != 0.0:
                shown[count] = s
                count += 1
        for x in range(count):
            a = shown[x]
            for y in range(count):
                b = shown[y]
                least[a, b] += min(weight[i, a], weight[i, b])
                product[a, b] += variance[i] * weight[i, a] * weight[i, b]
