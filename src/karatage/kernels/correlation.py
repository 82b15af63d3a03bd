"""How alike two rankings are, for all pairs of vectors at once.

Both Kendall's tau and AP correlation are sums over pairs of entries of a sign in one vector times a sign or a
weight in the other, so that all rows of `x` against all rows of `y` is one matrix product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
SignArray = NDArray[np.int8]
_SIGNS_AT_ONCE = 4_000_000


def count_above(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each entry of each row: how many are larger, and how many are equal, itself included."""
    order = np.sort(x, axis=1)
    above, tied = np.empty_like(x), np.empty_like(x)
    for row, (values, ascending) in enumerate(zip(x, order, strict=True)):
        left = np.searchsorted(ascending, values, "left")
        right = np.searchsorted(ascending, values, "right")
        above[row] = x.shape[1] - right
        tied[row] = right - left
    return above, tied


def concordance(x: FloatArray, y: FloatArray) -> FloatArray:
    """Concordant minus discordant pairs of entries, (row of x, row of y)."""
    out = np.empty((len(x), len(y)))
    for i in _pieces(x):
        signs = pair_signs(x[i])
        for j in _pieces(y):
            sum_products(signs, pair_signs(y[j]), out[i, j])
    return out


def untied_pairs(x: FloatArray) -> FloatArray:
    """Pairs of entries that differ, per row."""
    _, tied = count_above(x)
    size = x.shape[1]
    untied: FloatArray = (size * (size - 1) - (tied - 1).sum(axis=1)) / 2
    return untied


def ap_concordance(reference: FloatArray, estimate: FloatArray) -> FloatArray:
    """Sum over entries, ranked by the estimate, of (agreeing - disagreeing above it) / (number above it).

    The expectation over random orders of tied entries, [YAR08] (5): an entry with `a` above its group of `g` meets
    one above the group with weight (H(a+g-1) - H(a-1)) / g; entries of the same group cancel out.
    """
    out = np.empty((len(reference), len(estimate)))
    for i in _pieces(reference):
        signs = pair_signs(reference[i]).astype(np.float64)
        for j in _pieces(estimate):
            out[i, j] = signs @ _ap_weights(estimate[j]).T
    return out


def _pieces(x: FloatArray) -> list[slice]:
    """Rows in pieces that bound the memory for their pairs of entries."""
    rows = max(1, _SIGNS_AT_ONCE // max(1, x.shape[1] ** 2))
    return [slice(first, first + rows) for first in range(0, len(x), rows)]


def pair_signs(x: FloatArray) -> SignArray:
    """Sign of every difference entry i - entry j, i < j: (row, pair)."""
    size = x.shape[1]
    out = np.empty((len(x), size * (size - 1) // 2), np.int8)
    _fill_signs(x, out)
    return out


@kernel
def _fill_signs(x: FloatArray, out: SignArray) -> None:
    for row in range(x.shape[0]):
        pair = 0
        for i in range(x.shape[1]):
            for j in range(i + 1, x.shape[1]):
                out[row, pair] = np.int8(x[row, i] > x[row, j]) - np.int8(x[row, i] < x[row, j])
                pair += 1


@kernel
def sum_products(a: SignArray, b: SignArray, out: FloatArray) -> None:
    """Inner products of all rows of `a` with all rows of `b`, in whole numbers."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = np.int32(0)
            for pair in range(a.shape[1]):
                total += np.int32(a[i, pair]) * np.int32(b[j, pair])
            out[i, j] = total


def _ap_weights(x: FloatArray) -> FloatArray:
    """What each pair of entries weighs when the one ranked above is right: (row, pair), i < j."""
    above, tied = (counts.astype(np.int64) for counts in count_above(x))
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, x.shape[1] + 1))]
    mean = (harmonic[above + tied - 1] - harmonic[np.maximum(above - 1, 0)]) / tied
    weight = np.where(tied == 1, 1 / np.maximum(above, 1), mean)  # the same, without rounding
    out = np.empty((len(x), x.shape[1] * (x.shape[1] - 1) // 2))
    _fill_weights(x, weight, out)
    return out


@kernel
def _fill_weights(x: FloatArray, weight: FloatArray, out: FloatArray) -> None:
    for row in range(x.shape[0]):
        pair = 0
        for i in range(x.shape[1]):
            for j in range(i + 1, x.shape[1]):
                below = weight[row, j] if x[row, i] > x[row, j] else 0.0
                out[row, pair] = -weight[row, i] if x[row, i] < x[row, j] else below
                pair += 1
