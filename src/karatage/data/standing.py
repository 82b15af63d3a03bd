"""Scores of many systems and differences of all their pairs, found in one way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.checks import require_numbers, require_shape
from karatage.data.choices import Adjust
from karatage.data.estimate import find_cuts, require_intervals, require_p_values
from karatage.data.scores import settle_ties
from karatage.errors import DataError
from karatage.kernels.multiplicity import benjamini_hochberg, holm


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to find scores and differences, in words."""

    name: str
    label: str  # short, in tables
    about: str = ""  # what is right under which assumption
    undone: str = "with their errors corrected"  # what it does to the judges' verdicts
    same_order: str = ""  # why the judges' order and the corrected one agree by construction, where they do

    def __post_init__(self) -> None:
        """Refuse what cannot be shown."""
        for what, text in (("name", self.name), ("label", self.label), ("effect", self.undone)):
            if not text.strip():
                raise DataError(f"a way to find scores has no {what}")


JUDGES = Method(
    name="judges",
    label="judges",
    about="The judges' scores are precise, and may be wrong in a way that no interval of theirs shows.",
)


class Bounded(NamedTuple):
    """A number with its interval; bounds are infinite where there are none and NaN where they are not known."""

    value: float
    low: float
    high: float

    def check(self, what: str, least: float = -np.inf, most: float = np.inf) -> None:
        """Refuse a value that cannot be, and bounds that have changed places."""
        require_numbers(what, self.value, least, most)
        require_numbers(f"a bound of {what}", (self.low, self.high), unknown=True, endless=True)
        if self.low > self.high:
            raise DataError(f"{what} has an interval from {self.low:g} to {self.high:g}, which is none")


@dataclass(frozen=True, eq=False, kw_only=True)
class Standing:
    """Every system's score, found in one way; (system,) each. Systems whose score is not shown (NaN) stand in order."""

    derived = ("way",)

    method: Method
    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high)

    @property
    def way(self) -> str:
        """The method's name."""
        return self.method.name

    def check(self, systems: int, confidence: float, *, cut: bool) -> None:
        """Refuse what is not about so many systems, and intervals that do not follow from the standard errors.

        They may be `cut` where scores end.
        """
        for array in (self.value, self.standard_error, self.low, self.high):
            require_shape(f"the scores by {self.way}", array, systems)
        require_intervals("score", self.value, self.standard_error, (self.low, self.high), confidence)
        cuts = find_cuts(self.value, self.low, self.high)
        ends = (cuts == 0) | (cuts == np.max(self.high, initial=0, where=~np.isnan(self.high)))
        if not (ends & cut).all():
            raise DataError(f"an interval of a score by {self.way} is longer on one side than on the other")

    @cached_property
    def rank(self) -> LongArray:
        """From 1 = best; equal scores share the best of their ranks."""
        hidden = np.isnan(self.value)
        steps = settle_ties(np.where(hidden, 0.0, self.value))
        if hidden.any():  # beyond what the measure can be: above all that are shown, or below
            above = np.cumsum(~hidden) == 0
            place = np.arange(len(steps))
            span = 1 + np.abs(steps).max() + len(steps)
            steps = np.where(hidden, np.where(above, span, -span) - place, steps)
        rank: LongArray = 1 + (steps[None, :] > steps[:, None]).sum(axis=1)
        return rank

    def columns(self, name: str) -> dict[str, pl.Series]:
        """For a table, under names that begin with `name`."""
        numbers = {"score": self.value, "standard_error": self.standard_error, "low": self.low, "high": self.high}
        return {f"{name}_rank": pl.Series(self.rank)} | _name_columns(numbers, name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Differences:
    """Every pair's difference, b - a, found in one way; (pair,) each. Intervals are for one pair on its own."""

    derived = ("count",)

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray  # two-sided, against no difference
    claimed: BoolArray  # whether the adjustment that was chosen lets a difference be claimed
    doubted: BoolArray  # where gold contradicts the correction, so that nothing is said

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high, self.p_value, self.claimed, self.doubted)

    def check(self, pairs: int, confidence: float, adjust: Adjust) -> None:
        """Refuse what is not about so many pairs, and intervals, p-values and claims that do not follow."""
        for array in (self.value, self.standard_error, self.low, self.high, self.p_value, self.claimed, self.doubted):
            require_shape("the differences of pairs", array, pairs)
        bounds = self.low, self.high
        require_intervals("difference", self.value, self.standard_error, bounds, confidence)
        cuts = find_cuts(self.value, *bounds)
        if (np.abs(cuts) != max(np.abs(self.low).max(initial=0), np.abs(self.high).max(initial=0))).any():
            raise DataError("an interval of a difference is longer on one side than on the other")
        require_p_values("p_value", self.p_value, self.value, self.standard_error, bounds, confidence)
        follows = find_claims(self.p_value, adjust, confidence) & ~self.doubted
        if (follows != self.claimed).any():
            raise DataError("the pairs that are claimed to differ do not follow from their p-values")

    @cached_property
    def holm(self) -> FloatArray:
        """The p-values, adjusted for the number of pairs."""
        return holm(self.p_value)

    @cached_property
    def bh(self) -> FloatArray:
        """The same by Benjamini and Hochberg."""
        return benjamini_hochberg(self.p_value)

    @property
    def sign(self) -> FloatArray:
        """1 where b is claimed to be better, -1 where a is, 0 where nothing is claimed."""
        return np.where(self.claimed, np.sign(self.value), 0.0)

    @property
    def count(self) -> int:
        """Pairs told apart."""
        return int(self.claimed.sum())

    def columns(self, name: str) -> dict[str, pl.Series]:
        """For a table, under names that begin with `name`."""
        numbers = {
            "difference": self.value,
            "standard_error": self.standard_error,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "p_holm": self.holm,
            "p_bh": self.bh,
        }
        return _name_columns(numbers, name)


def find_claims(p_value: FloatArray, adjust: Adjust, confidence: float) -> BoolArray:
    """The pairs (pair,) that may be claimed to differ."""
    adjusted = {"none": p_value, "holm": holm(p_value), "bh": benjamini_hochberg(p_value)}
    claims: BoolArray = adjusted[adjust] < 1 - confidence + 1e-12
    return claims


def find_flips(before: Differences, after: Differences) -> dict[str, BoolArray]:
    """The pairs (pair,) whose verdict falls, arises or turns around; of doubted ones there is none."""
    old, new = np.where(after.doubted, 0.0, before.sign), after.sign
    return {"turns": old * new < 0, "falls": (old != 0) & (new == 0), "arises": (old == 0) & (new != 0)}


def _name_columns(numbers: dict[str, FloatArray], name: str) -> dict[str, pl.Series]:
    return {f"{name}_{column}": pl.Series(value).fill_nan(None) for column, value in numbers.items()}
