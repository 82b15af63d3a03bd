"""Sums over sampled gold for all systems at once, in a fixed order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@kernel
def add_items(weight: FloatArray, gain: FloatArray, topic: IntArray, out: FloatArray) -> None:
    """Add `weight` (item, system) times `gain` (item,) to the row of `out` (topic, system) of the item's topic."""
    for i in range(weight.shape[0]):
        row = topic[i]
        for s in range(weight.shape[1]):
            out[row, s] += weight[i, s] * gain[i]


@kernel
def sum_gaps(weight: FloatArray, a: IntArray, b: IntArray, out: FloatArray) -> None:
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
def count_gaps(weight: FloatArray, counted: BoolArray, out: IntArray) -> None:
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
