"""The best of some levels against the best of others, with an interval that allows for the choice of the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray

CONFIDENCE = 0.95
ROUNDING = 1e-12  # differences that are not more than this are 0


class Bounds(NamedTuple):
    """A difference with its interval; NaN where the data do not give one."""

    difference: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the difference is above 0: yes, no, or open."""
        return "yes" if self.low > ROUNDING else "no" if self.high < -ROUNDING else "open"


def add_variances(variance: FloatArray, df: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The sum of independent estimates of variance (part, ...), and its degrees of freedom by Satterthwaite [SAT46].

    >>> [float(part) for part in add_variances(np.array([1.0, 1.0]), [4, 4])]
    [2.0, 8.0]
    """
    each = np.asarray(df, float).reshape(-1, *[1] * (variance.ndim - 1))
    total = variance.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = total**2 / (variance**2 / np.maximum(each, 1)).sum(axis=0)
    return total, np.where(total == 0, np.inf, freedom)


def reach(variance: FloatArray, df: FloatArray, tests: int) -> FloatArray:
    """Half-widths of 95% intervals of differences, with Bonferroni's allowance for the number of tests."""
    from scipy.special import stdtrit

    spread = np.sqrt(variance)
    with np.errstate(invalid="ignore"):
        half: FloatArray = -stdtrit(df, (1 - CONFIDENCE) / 2 / tests) * spread
    return np.where(spread == 0, 0.0, half)


def bound_best(
    difference: FloatArray,
    variance: FloatArray,
    df: FloatArray,
    first: Sequence[int],
    second: Sequence[int],
    *,
    tests: int = 1,
) -> Bounds:
    """The highest mean of the `first` levels minus the highest of the `second`, with a 95% interval.

    That the best of the first exceeds all of the second is shown if one of the first exceeds each of the second: no
    allowance is needed for the second [BER82], and Bonferroni's for the first. The upper end is the same the other way
    round. With one level on each side the interval is Student's.

    Args:
        difference: (level, level) of means, row minus column.
        variance: (level, level) of these differences.
        df: (level, level) degrees of freedom of the variances.
        first: Numbers of levels.
        second: Numbers of other levels.
        tests: How many upper ends are compared with 0 together.
    """
    at = np.ix_(list(first), list(second))
    found, spread, freedom = difference[at], variance[at], df[at]
    return Bounds(
        difference=float(found.min(axis=1).max()),
        low=float((found - reach(spread, freedom, len(first))).min(axis=1).max()),
        high=float((found + reach(spread, freedom, len(second) * tests)).max(axis=0).min()),
    )
