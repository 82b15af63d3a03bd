"""Estimates with standard errors, intervals and p-values; how they were found; and the judges' error rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray, freeze
from karatage.data.checks import (
    NEAR,
    SLACK,
    require_equal,
    require_names,
    require_numbers,
    require_ordered,
    require_shape,
)
from karatage.data.display import Shown
from karatage.data.options import CONFIDENCE, check_confidence
from karatage.errors import DataError

MANY = 1e6  # degrees of freedom from which Student's t is the normal distribution


class Estimated(NamedTuple):
    """One estimate, or many in arrays: t distributions with `degrees` of freedom, infinite = normal."""

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
        """The estimate with its t interval, cut at the limits of the quantity."""
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
        """Two-sided, against 0; 0 where the value is exact and not 0."""
        if self.standard_error == 0:
            return 1.0 if self.value == 0 else 0.0
        return t_outside(self.value / self.standard_error, self.degrees)

    @property
    def exact(self) -> bool:
        """Whether the value is known exactly."""
        return self.standard_error == 0

    @property
    def significant(self) -> bool:
        """Whether the value differs from 0 significantly, at the level of the interval."""
        return self.p_value < 1 - self.confidence + 1e-12


def _cut(bound: float, within: tuple[float, float]) -> float:
    """NaN stays NaN."""
    return bound if math.isnan(bound) else min(max(bound, within[0]), within[1])


def require_intervals(
    what: str,
    value: ArrayLike,
    error: ArrayLike,
    bounds: tuple[ArrayLike, ArrayLike],
    confidence: float,
    *,
    cut: bool = True,
) -> None:
    """Refuse negative standard errors, and intervals that do not follow from them by any t distribution.

    Bounds may be `cut` at the limits of the quantity, so that an interval may be narrower on one side or on both. The
    limits of scores are 0 and a number above, those of differences are at the same distance from 0.
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
    """Refuse p-values that do not follow from t intervals, whose widths determine their degrees of freedom."""
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
    most = np.where(cut, few, follows)  # an interval that is cut on both sides was at least as wide
    p = found[known]
    wrong = ~((p >= follows * 0.99 - 1e-6) & (p <= most * 1.01 + 1e-6))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise DataError(f"{what} is {p[k]:g}, where {follows[k]:g} follows from the difference and its standard error")
    if (np.isnan(found) & ~np.isnan(error) & np.isfinite(error)).any():
        raise DataError(f"{what} is not known, where a difference and its standard error are")


def find_cuts(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The bounds (cut,) at which intervals are cut, because they are shorter there than on the other side."""
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
    """Bounds of a share, [WIL27]: accurate also for few trials and for shares of 0 and 1; NaN without trials.

    Without hits the lower bound is exactly 0; if all trials are hits, the upper one is exactly 1.

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
    """The quantile of Student's t distribution."""
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


@dataclass(frozen=True, kw_only=True)
class Method:
    """A description of a method that estimates scores and differences."""

    optional = ("on_average",)

    name: str
    label: str  # short, in tables
    about: str = ""  # what is unbiased, and under which assumption
    undone: str = "with their errors corrected"  # in sentences, before what is significant after correction
    same_order: str = ""  # why judges' and corrected orders agree by construction, if they do
    on_average: bool = False  # whether intervals hold on average over pairs, and not for a pair that is named

    def __post_init__(self) -> None:
        """Refuse empty texts."""
        for what, text in (("name", self.name), ("label", self.label), ("effect", self.undone)):
            if not text.strip():
                raise DataError(f"a method of correction has no {what}")


JUDGES = Method(
    name="judges",
    label="judges",
    about="The judges' scores are precise, but their intervals do not cover the judges' errors.",
)


class Bounded(NamedTuple):
    """A number with its interval; bounds are infinite where there are none, and NaN where they are unknown."""

    value: float
    low: float
    high: float

    def check(self, what: str, least: float = -np.inf, most: float = np.inf) -> None:
        """Refuse a value outside its range, and bounds in the wrong order."""
        require_numbers(what, self.value, least, most)
        require_numbers(f"a bound of {what}", (self.low, self.high), unknown=True, endless=True)
        if self.low > self.high:
            raise DataError(f"{what} has an interval from {self.low:g} to {self.high:g}, in the wrong order")


@dataclass(frozen=True, eq=False, kw_only=True)
class Accuracy(Shown):
    """Judges' grades of gold items by gold's grade, in kinds of grades with equal gain.

    Where items were drawn with known probabilities, `share` weights each by the inverse, and `size` is the effective
    number of items of a kind.
    """

    derived = ("condition", "rows")

    kinds: tuple[str, ...]  # lowest gain first
    count: FloatArray  # (gold, said) items
    share: FloatArray  # (gold, said) rows sum to one
    size: FloatArray  # (gold,)

    def __post_init__(self) -> None:
        """Refuse wrong counts and shares, and protect the arrays."""
        kinds = len(self.kinds)
        require_names("accuracy: kinds", self.kinds)
        for array in (self.count, self.share):
            require_shape("accuracy", array, kinds, kinds)
        require_shape("accuracy_sizes", self.size, kinds)
        require_numbers("accuracy: items", self.count, 0)
        require_numbers("accuracy: share", self.share, 0, 1, unknown=True)
        require_numbers("accuracy_sizes", self.size, 0)
        if (self.count % 1).any():
            raise DataError("accuracy: items are not whole numbers")
        items = self.count.sum(axis=1)
        require_equal("accuracy: the sum of shares", self.share.sum(axis=1), np.where(items > 0, 1.0, np.nan))
        if ((self.count == 0) & (self.share > SLACK)).any() or (self.size > items * (1 + NEAR)).any():
            raise DataError("accuracy: shares or sizes do not follow from the items")
        freeze(self.count, self.share, self.size)

    @property
    def items(self) -> int:
        """The number of gold items."""
        return int(self.count.sum())

    @property
    def binary(self) -> bool:
        """Whether there are only two kinds: relevant and not relevant."""
        return len(self.kinds) == 2

    @property
    def m_r(self) -> float:
        """How often judges are right about relevant items."""
        return float(self.share[-1, -1])

    @property
    def m_n(self) -> float:
        """How often judges are right about items that are not relevant."""
        return float(self.share[0, 0])

    @property
    def d(self) -> float:
        """[NOISY18]'s denominator: 1 for perfect judges, 0 for random ones."""
        return self.m_r + self.m_n - 1

    @property
    def condition(self) -> float:
        """The condition number of the confusion matrix: how much inverting it magnifies errors."""
        return float(np.linalg.cond(self.share))

    def to_frame(self, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
        """One row per pair of kinds: the share of one among judges' grades of the other, with Wilson's interval."""
        gold, said = np.indices(self.share.shape).reshape(2, -1)
        low, high = wilson_interval(self.share * self.size[:, None], self.size[:, None], confidence=confidence)
        names = pl.Series(self.kinds, dtype=pl.String)
        return pl.DataFrame(
            {
                "gold": names.gather(gold),
                "said": names.gather(said),
                "items": self.count.ravel().astype(np.int64),
                "share": self.share.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    @property
    def rows(self) -> pl.DataFrame:
        """The same, as it is written into JSON."""
        return self.to_frame()

    @property
    def sentence(self) -> str:
        """What to take away."""
        rows = self.count.sum(axis=1).astype(int)
        known = [g for g in range(len(self.kinds)) if rows[g]]
        if self.binary and len(known) == 2:
            low, high = wilson_interval(np.diag(self.share) * self.size, self.size)
            parts = [
                f"{self.share[g, g]:.1%} of {rows[g]:,} {self.kinds[g]} items ({low[g]:.1%} to {high[g]:.1%})"
                for g in (1, 0)
            ]
            return f"the judges are right about {parts[0]} and {parts[1]}"
        shown = ", ".join(f"{self.share[g, g]:.0%} of {rows[g]:,} items with {self.kinds[g]}" for g in known)
        return f"the judges are right about {shown}"


class JudgeAccuracy(NamedTuple):
    """Error rates of one judge, or of several judges together."""

    judges: tuple[str, ...]
    accuracy: Accuracy
