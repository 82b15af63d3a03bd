"""Scores of many systems and differences of all their pairs, found in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.as_json import Plain, plain_number
from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze


class Bounded(NamedTuple):
    """A number with its interval; bounds are infinite where there are none and NaN where they are not known."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Plain]:
        """Ready for JSON."""
        return {name: plain_number(value) for name, value in self._asdict().items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Standing:
    """Every system's score, found in one way; (system,) each."""

    way: str  # judges, rates, sampled, census, topics
    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    rank: LongArray  # from 1 = best, equal scores share the best of their ranks

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high, self.rank)

    def columns(self, name: str) -> dict[str, pl.Series]:
        """For a table, under names that begin with `name`."""
        numbers = {"score": self.value, "standard_error": self.standard_error, "low": self.low, "high": self.high}
        return {f"{name}_rank": pl.Series(self.rank)} | _name_columns(numbers, name)


@dataclass(frozen=True, eq=False, kw_only=True)
class Differences:
    """Every pair's difference, b - a, found in one way; (pair,) each. Intervals are for one pair on its own."""

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray  # two-sided, against no difference
    holm: FloatArray  # the same, adjusted for the number of pairs
    bh: FloatArray
    claimed: BoolArray  # whether the adjustment that was chosen lets a difference be claimed
    doubted: BoolArray  # where gold speaks against the correction, so that nothing is said

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.value, self.standard_error, self.low, self.high, self.p_value, self.holm, self.bh)
        freeze(self.claimed, self.doubted)

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


def find_flips(before: Differences, after: Differences) -> dict[str, BoolArray]:
    """The pairs (pair,) whose verdict falls, arises or turns around; of doubted ones there is none."""
    old, new = np.where(after.doubted, 0.0, before.sign), after.sign
    return {"turns": old * new < 0, "falls": (old != 0) & (new == 0), "arises": (old == 0) & (new != 0)}


def _name_columns(numbers: dict[str, FloatArray], name: str) -> dict[str, pl.Series]:
    return {f"{name}_{column}": pl.Series(value).fill_nan(None) for column, value in numbers.items()}
