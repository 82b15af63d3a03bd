"""Sums over all pairs of rows in a group, from sums over its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]


@kernel
def sum_pair_products(order: LongArray, start: LongArray, kind: LongArray, factor: FloatArray, out: FloatArray) -> None:
    """Add to `out` (term,) the products of two rows' factors, over all pairs of rows in the same group.

    Rows of group g are `order[start[g]:start[g+1]]`, and row r has the factors `factor[kind[r]]` (kind, term).
    """
    terms = factor.shape[1]
    for g in range(len(start) - 1):
        for t in range(terms):
            whole, square = 0.0, 0.0
            for k in range(start[g], start[g + 1]):
                value = factor[kind[order[k]], t]
                whole += value
                square += value * value
            out[t] += (whole * whole - square) / 2
