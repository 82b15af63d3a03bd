"""A number that is not known for sure: its standard error, interval and p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.as_json import Plain, plain_number
from karatage.data.axes import FloatArray
from karatage.errors import OptionError

CONFIDENCE = 0.95
MANY = 1e6  # degrees of freedom from which Student's t is the normal distribution


class Estimated(NamedTuple):
    """What the array layer knows of one estimate or of many: t with `degrees` of freedom, infinite = normal."""

    value: FloatArray | float
    variance: FloatArray | float
    degrees: FloatArray | float = math.inf


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A value with its uncertainty."""

    value: float
    standard_error: float
    degrees: float  # of freedom, infinite = normal
    low: float
    high: float
    confidence: float = CONFIDENCE

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

    def to_dict(self) -> dict[str, Plain]:
        """Ready for JSON."""
        numbers = {
            "value": self.value,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "degrees_of_freedom": self.degrees,
            "p_value": self.p_value,
        }
        return {name: plain_number(number) for name, number in numbers.items()}


def _cut(bound: float, within: tuple[float, float]) -> float:
    """NaN stays NaN."""
    return bound if math.isnan(bound) else min(max(bound, within[0]), within[1])


def check_confidence(confidence: float) -> float:
    """A confidence level, or an error."""
    if not 0 < confidence < 1:
        raise OptionError(f"confidence lies between 0 and 1, not at {confidence}")
    return confidence


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
