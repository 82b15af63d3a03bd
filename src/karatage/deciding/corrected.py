"""What every correction returns: all systems and all pairs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.data.accuracy import Accuracy
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.comparison import Opinion
from karatage.data.estimate import Estimate

ALARM = 2.0  # standard errors
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class Pairs:
    """Differences of all pairs of systems; [a, b] is b - a."""

    value: FloatArray  # (system, system)
    variance: FloatArray  # (system, system)
    degrees: FloatArray  # (system, system) of freedom
    least_p: float = 0.0  # of a difference that is the same in every topic

    @property
    def p_value(self) -> FloatArray:
        """Two-sided, against no difference; 1 where two systems cannot differ, NaN where nothing tells of chance."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(self.value) / np.sqrt(self.variance)
            chance = 2 * stdtr(np.minimum(self.degrees, 1e9), -t)
        known = np.where(self.value == 0, 1.0, self.least_p)
        return np.where(self.variance == 0, known, chance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Corrected:
    """Scores with judge errors undone."""

    way: str
    value: FloatArray  # (system,)
    variance: FloatArray  # (system,)
    degrees: FloatArray  # (system,)
    pairs: Pairs
    gold_variance: FloatArray  # (system, system) the part of the pairs' that more gold would make smaller
    gold_items: int
    luck_variance: FloatArray | float = 0.0  # (system, system) due to judges' slips on these very documents
    within: tuple[float, float]  # where intervals of scores are cut
    possible: tuple[float, float] = (-np.inf, np.inf)  # what the measure can be: scores outside are not shown
    accuracy: Accuracy | None = None
    per_topic: FloatArray | None = None  # (topic, system) whose means the values are, where gold is a drawn sample
    assumed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> BoolArray:
        """Systems (system,) whose score can be one."""
        low, high = self.possible
        return (self.value >= low - ROUNDING) & (self.value <= high + ROUNDING)

    def estimate(self, system: int, confidence: float) -> Estimate | None:
        """One system's score; None where it cannot be one."""
        if not self.shown[system]:
            return None
        return Estimate.of(
            float(self.value[system]),
            float(self.variance[system]),
            degrees=float(self.degrees[system]),
            confidence=confidence,
            within=self.within,
        )

    def compare(self, a: int, b: int, confidence: float) -> Opinion:
        """The difference of two systems."""
        width = self.within[1] - self.within[0]
        found = Estimate.of(
            float(self.pairs.value[a, b]),
            float(self.pairs.variance[a, b]),
            degrees=float(self.pairs.degrees[a, b]),
            confidence=confidence,
            within=(-width, width),
        )
        return Opinion(way=self.way, a=self.estimate(a, confidence), b=self.estimate(b, confidence), difference=found)


class Gap(NamedTuple):
    """How far two corrections are apart, (system, system), and how far chance would bring them."""

    value: FloatArray
    error: FloatArray

    @property
    def wide(self) -> BoolArray:
        """Where chance hardly explains it."""
        return np.abs(self.value) > ALARM * self.error


def find_gap(rates: Corrected, sampled: Corrected) -> Gap:
    """Both see the same topics, so these cancel. Gold's chance is in each, the judges' slips are in the rates alone."""
    variance = rates.gold_variance + rates.luck_variance + sampled.gold_variance
    return Gap(rates.pairs.value - sampled.pairs.value, np.sqrt(variance))
