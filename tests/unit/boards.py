"""Differences of pairs as a test wants them, with standard errors and intervals that fit."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from karatage.data.axes import BoolArray, FloatArray
from karatage.data.board import Differences


def tell_apart(value: FloatArray, p_value: FloatArray, level: float, doubted: BoolArray | None = None) -> Differences:
    """Pairs with these differences and p-values of normal tests; those below `level` are claimed, unless doubted."""
    t = np.array([NormalDist().inv_cdf(1 - p / 2) for p in p_value])
    error = np.abs(value) / t
    half = NormalDist().inv_cdf(0.975) * error
    unsure = np.zeros(len(value), bool) if doubted is None else doubted
    return Differences(
        value=value,
        standard_error=error,
        low=value - half,
        high=value + half,
        p_value=p_value,
        claimed=(p_value < level) & ~unsure,
        doubted=unsure,
    )
