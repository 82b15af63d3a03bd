"""A number that is not known for sure: its standard error, interval and p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray
from karatage.data.checks import SLACK, require_numbers, require_ordered
from karatage.data.choices import CONFIDENCE
from karatage.errors import DataError, OptionError

MANY = 1e6  # degrees of freedom from which Student's t is the normal distribution


class Estimated(NamedTuple):
    """What the array layer knows of one estimate or of many: t with `degrees` of freedom, infinite = normal."""

    value: FloatArray | float
    variance: FloatArray | float
    degrees: FloatArray | float = math.inf


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its uncertainty."""

    derived = ("p_value",)

    value: float
    standard_error: float
    degrees: float  # of freedom, infinite = normal
    low: float
    high: float
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        """Refuse an interval that does not follow from the standard error."""
        require_numbers("value", self.value, unknown=True)
        if self.degrees <= 0:
            raise DataError(f"degrees_of_freedom is {self.degrees:g}, not a number above 0")
        require_intervals("value", self.value, self.standard_error, (self.low, self.high), self.confidence)
        if self.standard_error > 0 and self.degrees > 0:
            width = 2 * t_quantile((1 + self.confidence) / 2, self.degrees) * self.standard_error
            if self.high - self.low > width * (1 + 1e-6) + SLACK:
                raise DataError(f"an interval from {self.low:g} to {self.high:g} is too wide for its standard error")

    @staticmethod
    def of(
        value: float,
        variance: float,
        *,
        degrees: float = math.inf,
        confidence: float = CONFIDENCE,
        within: tuple[float, float] = (-math.inf, math.inf),
    ) -> Estimate:
        """The estimate with its t interval, cut where the quantity cannot be."""
        error = math.sqrt(variance)
        half = 0.0 if error == 0 else t_quantile((1 + check_confidence(confidence)) / 2, degrees) * error
        return Estimate(
            value=value,
            standard_error=error,
            degrees=degrees,
            low=_cut(value - half, within),
            high=_cut(value + half, within),
            confidence=confidence,
        )

    @property
    def p_value(self) -> float:
        """Two-sided, against 0; 0 where the value is known for sure and is not 0."""
        if self.standard_error == 0:
            return 1.0 if self.value == 0 else 0.0
        return t_outside(self.value / self.standard_error, self.degrees)

    @property
    def exact(self) -> bool:
        """Whether nothing about the value is left to chance."""
        return self.standard_error == 0

    @property
    def significant(self) -> bool:
        """Whether 0 is ruled out at the level of the interval."""
        return self.p_value < 1 - self.confidence + 1e-12


def _cut(bound: float, within: tuple[float, float]) -> float:
    """NaN stays NaN."""
    return bound if math.isnan(bound) else min(max(bound, within[0]), within[1])


def check_confidence(confidence: float) -> float:
    """A confidence level, or an error."""
    if not 0 < confidence < 1:
        raise OptionError(f"confidence lies between 0 and 1, not at {confidence}")
    return confidence


def require_intervals(
    what: str,
    value: ArrayLike,
    error: ArrayLike,
    bounds: tuple[ArrayLike, ArrayLike],
    confidence: float,
    *,
    cut: bool = True,
) -> None:
    """Refuse negative standard errors, and values and intervals that no t distribution goes with.

    Bounds may be `cut` where the quantity cannot be, so that an interval may be narrower on one side or on both: scores
    at 0 and somewhere above, differences as far below 0 as above.
    """
    require_numbers("standard_error", error, 0, unknown=True, endless=True)
    low, high = (np.asarray(bound, float) for bound in bounds)
    for bound in (low, high):
        require_numbers(f"a bound of {what}", bound, unknown=True, endless=True)
    require_ordered(what, low, value, high)
    half, least = _find_half(value, low, high), NormalDist().inv_cdf((1 + check_confidence(confidence)) / 2)
    most = math.tan(math.pi * confidence / 2)  # of t with one degree of freedom
    size = np.asarray(error, float)
    with np.errstate(invalid="ignore"):
        wide = half > most * size * (1 + 1e-6) + SLACK
        even = np.isclose(high + low, 2 * np.asarray(value, float), rtol=1e-9, atol=SLACK)
        whole = even & ((low != 0) & (low != -high) | (not cut))
        narrow = whole & np.isfinite(size) & (half < least * size * (1 - 1e-6) - SLACK)
    if (wide | narrow).any():
        raise DataError(f"an interval of {what} does not follow from its standard error")


def require_p_values(
    what: str,
    found: FloatArray,
    value: FloatArray,
    error: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    confidence: float,
) -> None:
    """Refuse p-values that do not follow from t intervals, whose widths tell their degrees of freedom."""
    from scipy.special import stdtr, stdtridf

    require_numbers(what, found, 0, 1, unknown=True)
    known = (error > 0) & np.isfinite(error) & np.isfinite(value)
    size, t = error[known], np.abs(value[known]) / error[known]
    width = _find_half(value, *bounds)[known] / size
    few, many = 2 * stdtr(1, -t), 2 * stdtr(1e9, -t)
    narrow = width < NormalDist().inv_cdf((1 + confidence) / 2) * (1 + 1e-6)  # normal, or cut on both sides
    degrees = stdtridf((1 + confidence) / 2, np.where(narrow, 12.0, width))
    follows = np.where(narrow | ~np.isfinite(degrees), many, 2 * stdtr(np.maximum(degrees, 1e-9), -t))
    low, high = (bound[known] for bound in bounds)
    cut = (low == -high) | (narrow & ~np.isclose(low + high, 2 * value[known], rtol=1e-9, atol=SLACK))
    most = np.where(cut, few, follows)  # of an interval that is cut on both sides the width tells the least there was
    p = found[known]
    wrong = ~((p >= follows * 0.99 - 1e-6) & (p <= most * 1.01 + 1e-6))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise DataError(f"{what} is {p[k]:g}, where {follows[k]:g} follows from the difference and its standard error")
    if (np.isnan(found) & ~np.isnan(error) & np.isfinite(error)).any():
        raise DataError(f"{what} is not known, where a difference and its standard error are")


def find_cuts(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The bounds at which intervals are cut, as they are shorter there than on the other side; (cut,)."""
    with np.errstate(invalid="ignore"):
        below, above = value - low, high - value
        uneven = np.abs(below - above) > SLACK + 1e-9 * np.maximum(np.abs(low), np.abs(high))
    cuts: FloatArray = np.where(below < above, low, high)[uneven]
    return cuts


def _find_half(value: ArrayLike, low: FloatArray, high: FloatArray) -> FloatArray:
    """Half the width of an interval, on the side where it is not cut."""
    half: FloatArray = np.maximum(np.asarray(value, float) - low, high - np.asarray(value, float))
    return half


def wilson_interval(
    hits: ArrayLike, size: ArrayLike, *, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """Bounds of a share, [WIL27]: sensible also for few trials and for shares of 0 and 1; NaN for none.

    Without hits the lower bound is exactly 0, with nothing but hits the upper one exactly 1.

    >>> low, high = wilson_interval(8, 10)
    >>> float(low.round(4)), float(high.round(4))
    (0.4902, 0.9433)
    """
    z = NormalDist().inv_cdf((1 + check_confidence(confidence)) / 2)
    n = np.asarray(size, float)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.asarray(hits, float) / n
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    return np.where(share == 0, 0.0, low), np.where(share == 1, 1.0, high)


def t_quantile(probability: float, degrees: float) -> float:
    """Where Student's t reaches `probability`."""
    if degrees >= MANY:
        return NormalDist().inv_cdf(probability)
    from scipy.special import stdtrit

    return float(stdtrit(degrees, probability))


def t_outside(t: float, degrees: float) -> float:
    """P(|T| >= |t|)."""
    if degrees >= MANY:
        return 2 * NormalDist().cdf(-abs(t))
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t)))
