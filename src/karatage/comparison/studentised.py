"""The studentised range: how far apart the highest and the lowest of several means lie by chance alone.

It is the range of as many standard normal variables as there are groups, over an independent estimate of their
standard deviation with `df` degrees of freedom.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray
from karatage.errors import OptionError
from karatage.kernels.studentised import AROUND, EDGE, FARTHEST, range_above, studentised_above

STEP = 0.1
LEAST = -42.0  # log of the chance that the highest lies below the first point
NODES = 513
NIL = 1e-100  # a table calls what is less likely 0
LARGEST = 1e150


def survival(q: ArrayLike, groups: int, df: float) -> FloatArray:
    """P(Q > q) for each q, to about 1e-13 of its value; `df` may be infinite.

    >>> survival([3.5, 5.0], 3, 10).round(6).tolist()
    [0.077103, 0.013616]
    """
    _check(groups, df)
    values = np.asarray(q, float)
    if not (values >= 0).all():
        raise OptionError("a studentised range is a number from 0")
    flat = np.minimum(values.ravel(), LARGEST)
    out = np.empty(flat.shape)
    point, below, weight = _highest(groups)
    if math.isinf(df):
        for i, x in enumerate(flat):
            out[i] = range_above(float(x), groups, point, below, weight)
    else:
        studentised_above(flat, groups, float(df), point, below, weight, out)
    return np.where(np.isinf(values), 0.0, out.reshape(values.shape))


@lru_cache(maxsize=256)
def quantile(level: float, groups: int, df: float) -> float:
    """The q that is exceeded with probability `level`: the critical value of a test at that level.

    >>> round(quantile(0.05, 3, 10), 4)
    3.8768
    """
    from scipy.optimize import brentq

    if not NIL <= level < 1:
        raise OptionError(f"a level lies between 0 and 1, not at {level}")

    def excess(stretched: float) -> float:
        return math.log(max(float(survival(math.sinh(stretched), groups, df)), 1e-300)) - math.log(level)

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return math.sinh(brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14))


def survival_of_many(q: ArrayLike, groups: int, df: float) -> FloatArray:
    """The same as `survival`, for thousands of q, from a table: within 1e-7 of its value, falling in q, 0 below 1e-100.

    A cubic through the logs, its slopes held to where it cannot turn [FC80].
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    values = np.asarray(q, float)
    largest = float(values.max(initial=0.0))
    if survival(largest, groups, df) < NIL:
        largest = quantile(NIL, groups, df)
    if largest == 0:
        return np.ones(values.shape)
    place = np.linspace(0.0, math.asinh(largest), NODES)
    height = np.log(survival(np.sinh(place), groups, df))
    secant = np.diff(height) / np.diff(place)
    steepest = 3 * np.maximum(np.append(secant, secant[-1]), np.insert(secant, 0, secant[0]))
    slope = CubicSpline(place, height)(place, 1).clip(steepest, 0.0)
    found = np.exp(CubicHermiteSpline(place, height, slope)(np.arcsinh(np.minimum(values, largest))))
    return np.where(values > largest, 0.0, np.minimum(found, 1.0))


def _highest(groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points, the normal distribution function, and the density of the highest of the groups times the step."""
    from scipy.special import log_ndtr, ndtr

    z = np.arange(round(-EDGE / STEP), round((FARTHEST / 2 + AROUND) / STEP) + 1) * STEP
    z = z[groups * log_ndtr(z) > LEAST]
    log_density = math.log(groups) - z * z / 2 - math.log(2 * math.pi) / 2 + (groups - 1) * log_ndtr(z)
    return z, ndtr(z), np.exp(log_density) * STEP


def _check(groups: int, df: float) -> None:
    if groups < 2 or not df >= 1:
        raise OptionError(f"a studentised range is of 2 groups and 1 degree of freedom at least, not {groups} and {df}")
