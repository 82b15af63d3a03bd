"""Figures and error rates without files, and how many topics and gold items they call for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from karatage.data.note import Note
from karatage.data.result import Result, list_versions
from karatage.errors import DataError

if TYPE_CHECKING:
    import polars as pl


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


KINDS = ("topics", "gold relevant", "gold not relevant")


@dataclass(frozen=True)
class Need:
    """So many of one kind."""

    derived = ("cost",)

    kind: str  # topics, gold relevant, gold not relevant
    judges: str  # whose judges, where each system has its own
    size: float  # whole, or infinite
    have: int
    share: float  # of the error allowed
    price: float | None  # of one

    @property
    def cost(self) -> float | None:
        """Of all, those at hand among them."""
        return None if self.price is None else self.size * self.price


@dataclass(frozen=True, kw_only=True)
class SizePlan(Result, kind="size-plan"):
    """Numbers of topics and gold items, and what they can show."""

    derived = ("sentence", "cost", "rows")

    judges: str  # shared or independent
    paired: bool  # whether both systems have the same topics
    level: float
    power: float | None  # None: no more than the level is asked for, as in [NOISY18]
    estimates: tuple[float, float]  # corrected means; NaN where judges are no better than chance
    difference: float  # to be shown, by gold, second less first
    needs: tuple[Need, ...]
    topics_without_errors: float  # were judges never wrong, [NOISY18] (26)
    standard_error: float  # of the difference, with these numbers
    half_width: float  # of its interval
    detectable: float  # the smallest difference that these numbers would show
    budget: float | None
    refusal: str | None  # which figures forbid a plan, and what to do
    notes: tuple[Note, ...]
    versions: Mapping[str, str] = field(default_factory=list_versions, compare=False)

    def __post_init__(self) -> None:
        """Refuse what no plan says."""
        from karatage.data.checks import require_equal, require_known, require_numbers
        from karatage.data.estimate import t_quantile

        require_known("judges", (self.judges,), ("shared", "independent"), "ways to judge two systems")
        require_numbers("level", self.level, 0, 1)
        if self.power is not None:
            require_numbers("power", self.power, 0.5, 1)
        if self.budget is not None:
            require_numbers("budget", self.budget, 0)
        require_numbers("estimates", self.estimates, 0, 1, unknown=True)
        require_numbers("difference", self.difference, unknown=True)
        for name in ("topics_without_errors", "standard_error", "half_width", "detectable"):
            require_numbers(name, getattr(self, name), 0, unknown=True, endless=True)
        require_equal("half_width", self.half_width, t_quantile(1 - self.level / 2, math.inf) * self.standard_error)
        kinds = [need.kind for need in self.needs]
        samples = 1 if self.judges == "shared" else 2
        if kinds != [KINDS[0], *KINDS[1:] * samples]:
            raise DataError(f"needs are not those of {', '.join(KINDS)}")
        require_numbers("needs: size", [need.size for need in self.needs], 0, endless=True)
        require_numbers("needs: have", [need.have for need in self.needs], 0)
        require_numbers("needs: share", [need.share for need in self.needs], 0, 1)
        require_equal("the sum of needs: share", sum(self.split), 1.0)
        require_numbers("needs: price", [need.price for need in self.needs if need.price is not None], 0)

    @property
    def topics(self) -> float:
        """For each system."""
        return self.needs[0].size

    @property
    def gold_relevant(self) -> tuple[float, ...]:
        """Gold-relevant items to check, per sample."""
        return tuple(need.size for need in self.needs if need.kind == "gold relevant")

    @property
    def gold_other(self) -> tuple[float, ...]:
        """Other gold items to check, per sample."""
        return tuple(need.size for need in self.needs if need.kind == "gold not relevant")

    @property
    def split(self) -> tuple[float, float, float]:
        """[NOISY18]'s f1, f2, f3."""
        share = {need.kind: need.share for need in self.needs}
        return share["topics"], share["gold relevant"], share["gold not relevant"]

    @property
    def cost(self) -> float | None:
        """Of everything, where prices are known."""
        costs = [need.cost for need in self.needs]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    @property
    def sentence(self) -> str:
        """What to take away."""
        free = f"were the judges never wrong, {_number(self.topics_without_errors)} topics would do"
        if self.refusal is not None:
            ending = f"; {free}" if math.isfinite(self.topics_without_errors) else ""
            return f"No number of topics or gold items can be given: {self.refusal}{ending}."
        power = f" with {self.power:.0%} power" if self.power is not None else ""
        gold = f"{_number(sum(self.gold_relevant))} relevant and {_number(sum(self.gold_other))} other gold items"
        if self.budget is not None:
            shows = "no difference" if math.isinf(self.detectable) else f"a difference of {self.detectable:.3g}"
            return (
                f"A budget of {self.budget:,g} buys {_number(self.topics)} topics, {gold}: an interval of ± "
                f"{self.half_width:.3g}, which shows {shows}{power} at level {self.level:g}."
            )
        return (
            f"To show a difference of {self.difference:+.3g} at level {self.level:g}{power} takes "
            f"{_number(self.topics)} topics, {gold}; {free}."
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per kind: need, judges, size (null: no number is enough), have, more, share of the error, cost."""
        import polars as pl

        sizes = [int(need.size) if math.isfinite(need.size) else None for need in self.needs]
        haves = [need.have for need in self.needs]
        return pl.DataFrame(
            {
                "need": [need.kind for need in self.needs],
                "judges": [need.judges for need in self.needs],
                "size": pl.Series(sizes, dtype=pl.Int64),
                "have": pl.Series(haves, dtype=pl.Int64),
                "more": pl.Series(
                    [None if size is None else max(size - have, 0) for size, have in zip(sizes, haves, strict=True)],
                    dtype=pl.Int64,
                ),
                "share": pl.Series([need.share for need in self.needs], dtype=pl.Float64),
                "cost": pl.Series([_finite(need.cost) for need in self.needs], dtype=pl.Float64),
            }
        )


def _number(size: float) -> str:
    return f"{int(size):,}" if math.isfinite(size) else "infinitely many"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
