"""Figures from a paper or a report, where the scores and judgments behind them are not at hand."""

from __future__ import annotations

import math
from dataclasses import dataclass

from karatage.errors import DataError


@dataclass(frozen=True)
class Figures:
    """What is known of a system's scores: how many topics, their mean and their standard deviation.

    >>> Figures(topics=10278, mean=0.6260, deviation=0.414).variance_of_mean
    1.6676...e-05
    """

    topics: int
    mean: float
    deviation: float

    def __post_init__(self) -> None:
        """Refuse what no scores have."""
        if not (self.topics >= 2 and self.topics == int(self.topics)):
            raise DataError(f"{self.topics} topics: a standard deviation needs at least 2, and a whole number of them")
        if not math.isfinite(self.mean):
            raise DataError(f"a mean score of {self.mean} is none: give the mean over topics, such as 0.626")
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise DataError(
                f"a standard deviation of {self.deviation} is none: give that of the topics' scores, not below 0"
            )

    @property
    def variance_of_mean(self) -> float:
        """Of the mean over topics."""
        return self.deviation**2 / self.topics


@dataclass(frozen=True)
class RateCounts:
    """How often judges were right, on gold-relevant items and on the others.

    >>> rates = RateCounts(43, 59, 67, 84)
    >>> round(rates.m_r, 3), round(rates.m_n, 3), round(rates.d, 3)
    (0.729, 0.798, 0.526)
    """

    right_relevant: int
    relevant: int
    right_other: int
    others: int

    def __post_init__(self) -> None:
        """Refuse counts that cannot be, and kinds without gold."""
        for right, size, kind in (
            (self.right_relevant, self.relevant, "relevant"),
            (self.right_other, self.others, "not relevant"),
        ):
            if size < 1:
                raise DataError(
                    f"no gold item that is {kind}, so how judges treat such items is not known: check some of them"
                )
            if not 0 <= right <= size:
                raise DataError(
                    f"judges cannot be right about {right} of {size} gold items that are {kind}: "
                    "give the number judged rightly first, then the number of such items"
                )

    @property
    def m_r(self) -> float:
        """Share of gold-relevant items that judges call relevant."""
        return self.right_relevant / self.relevant

    @property
    def m_n(self) -> float:
        """Share of the other gold items that judges call not relevant."""
        return self.right_other / self.others

    @property
    def d(self) -> float:
        """[NOISY18]'s denominator: 1 for perfect judges, 0 for coins."""
        return self.m_r + self.m_n - 1


@dataclass(frozen=True)
class Prices:
    """What judgments cost, in any currency, and what may be spent.

    Gold is paid per item checked of a kind. Where relevant items cannot be picked out beforehand, finding one takes
    1 / prevalence checks: put that into the price.
    """

    judgment: float  # of one document of one system by the cheap judges
    gold_relevant: float  # of one gold-relevant item
    gold_other: float
    depth: int = 1  # documents judged per topic and system
    budget: float | None = None  # None: as much as it takes

    def __post_init__(self) -> None:
        """Refuse prices that nobody asks."""
        for name, price in (
            ("judgment", self.judgment),
            ("gold_relevant", self.gold_relevant),
            ("gold_other", self.gold_other),
        ):
            if not (math.isfinite(price) and price > 0):
                raise DataError(f"the price {name} is {price}: give more than 0, as free judgments have no best number")
        if self.depth < 1:
            raise DataError(f"a depth of {self.depth}: at least one document is judged per topic")
        if self.budget is not None and not (math.isfinite(self.budget) and self.budget > 0):
            raise DataError(f"a budget of {self.budget} buys nothing: give more than 0, or None for what it takes")

    @property
    def topic(self) -> float:
        """Of judging one topic for one system."""
        return self.judgment * self.depth


@dataclass(frozen=True)
class Goal:
    """What one wants to be able to claim.

    Args:
        level: Level of the test, two-sided.
        power: Chance to show the difference, e.g. 0.8; default: a half, as in [NOISY18].
        difference: Difference to be shown, by gold; default: the one that the figures show.
        split: Shares of the error allowed: topics, gold-relevant, other gold items; sums to 1.
    """

    level: float = 0.05
    power: float | None = None
    difference: float | None = None
    split: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse chances that are none."""
        if not 0 < self.level < 1:
            raise DataError(f"a level of {self.level}: give one between 0 and 1, such as 0.05")
        if self.power is not None and not 0.5 <= self.power < 1:
            raise DataError(f"a power of {self.power}: give a chance from 0.5 to below 1, such as 0.8")
        if self.difference is not None and not (math.isfinite(self.difference) and self.difference != 0):
            raise DataError(f"a difference of {self.difference} cannot be shown: give the smallest that matters")
        if self.split is not None and not (min(self.split) > 0 and math.isclose(sum(self.split), 1, abs_tol=1e-9)):
            raise DataError(
                f"a split of {self.split}: give three shares above 0 that sum to 1, such as 0.5, 0.25, 0.25"
            )
