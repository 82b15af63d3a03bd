"""How alike two rankings are, for all pairs of vectors at once.

Both Kendall's tau and AP correlation are bilinear in the signs of pairwise differences, so that all rows of `x`
against all rows of `y` is one matrix product over pairs of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
PairArray = NDArray[np.floating[Any]]
_PAIRS_AT_ONCE = 4_000_000


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
    """Concordant minus discordant pairs of entries, (row of x, row of y); exact in single precision."""
    return _product(x, y, _signs, _signs)


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
    return _product(reference, estimate, _signs, _ap_weights)


def _product(
    x: FloatArray,
    y: FloatArray,
    left: Callable[[FloatArray], PairArray],
    right: Callable[[FloatArray], PairArray],
) -> FloatArray:
    """left(x) times right(y) transposed, in pieces that bound memory."""
    rows = max(1, _PAIRS_AT_ONCE // max(1, x.shape[1] ** 2))
    out = np.empty((len(x), len(y)))
    for j in range(0, len(y), rows):
        piece = right(y[j : j + rows]).T
        for i in range(0, len(x), rows):
            out[i : i + rows, j : j + rows] = left(x[i : i + rows]).astype(piece.dtype, copy=False) @ piece
    return out


def _signs(x: FloatArray) -> NDArray[np.float32]:
    """Sign of every difference entry i - entry j, i < j: (row, pair)."""
    i, j = np.triu_indices(x.shape[1], 1)
    first, second = x[:, i], x[:, j]
    return (first > second).astype(np.float32) - (first < second).astype(np.float32)


def _ap_weights(x: FloatArray) -> FloatArray:
    i, j = np.triu_indices(x.shape[1], 1)
    above, tied = (counts.astype(np.int64) for counts in count_above(x))
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, x.shape[1] + 1))]
    mean = (harmonic[above + tied - 1] - harmonic[np.maximum(above - 1, 0)]) / tied
    weight = np.where(tied == 1, 1 / np.maximum(above, 1), mean)  # the same, without rounding
    first, second = x[:, i], x[:, j]
    return np.where(first > second, weight[:, j], np.where(first < second, -weight[:, i], 0.0))
