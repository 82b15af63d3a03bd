"""Intervals for shares and means, tail probabilities, and many tests at once."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.estimate import CONFIDENCE


class Interval(NamedTuple):
    """A value and the bounds of its confidence interval; NaN where there is none."""

    value: float
    low: float
    high: float


NOTHING = Interval(np.nan, np.nan, np.nan)


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches `probability`."""
    return NormalDist().inv_cdf(probability)


def normal_upper(z: FloatArray) -> FloatArray:
    """P(Z >= z)."""
    return np.array([NormalDist().cdf(-float(x)) if x == x else np.nan for x in np.ravel(z)]).reshape(np.shape(z))


def t_quantile(probability: float, freedom: ArrayLike) -> FloatArray:
    """Student's t by its expansion in 1/freedom, [AS64] 26.7.5: within 1 % from 4 degrees of freedom on at 0.975."""
    z, v = normal_quantile(probability), np.asarray(freedom, float)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(z + sum(term / v**k for k, term in enumerate(terms, 1)))


def mean_intervals(group: LongArray, value: FloatArray, groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean of `value` in each group, and its t interval (NaN with fewer than two values)."""
    size = np.bincount(group, minlength=groups).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, value, groups) / size
        squares = np.bincount(group, (value - mean[group]) ** 2, groups)
        error = np.where(size > 1, np.sqrt(squares / (size - 1) / size), np.nan)
    half = t_quantile((1 + CONFIDENCE) / 2, np.maximum(size - 1, 1)) * error
    return mean, mean - half, mean + half


def adjust(p_value: FloatArray, tests: int | None = None) -> FloatArray:
    """Benjamini and Hochberg's [BH95] adjusted p-values; NaN was not tested. `tests` counts those left out with p = 1.

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    tested: BoolArray = np.isfinite(p_value)
    found = p_value[tested]
    order = np.argsort(found, kind="stable")
    scaled = found[order] * (len(found) if tests is None else tests) / np.arange(1, len(found) + 1)
    rising = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    out = np.full(p_value.shape, np.nan)
    settled = np.empty(len(found))
    settled[order] = rising
    out[tested] = settled
    return out
