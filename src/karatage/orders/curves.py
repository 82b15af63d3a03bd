"""How soon an order finds what is relevant."""

from __future__ import annotations

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.errors import DataError


def find_curve(order: LongArray, relevant: BoolArray) -> FloatArray:
    """The share of relevant items found after judging 0, 1, 2, ... items (item + 1,).

    `order` lists items as judged; where it ends early, nothing more is found.

    >>> find_curve(np.array([2, 0, 1]), np.array([True, False, True])).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    if not relevant.any():
        raise DataError("no item is relevant, so there is nothing to find; check the grade that counts as relevant")
    found = np.zeros(len(relevant) + 1)
    found[1 : len(order) + 1] = relevant[order]
    share: FloatArray = found.cumsum() / relevant.sum()
    return share


def find_area(curve: FloatArray) -> float:
    """The area under a curve over the share of items judged: 0.5 for a random order on average, 1 at the very best.

    >>> round(find_area(np.array([0.0, 0.5, 1.0, 1.0])), 3)
    0.667
    """
    return float((curve[1:] + curve[:-1]).mean() / 2)
