"""The design of the noisy experiment: which studies, and the worlds that they simulate [NOISY18]."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from karatage.errors import OptionError
from karatage.experiments.plans import check_lists
from karatage.random_streams import settle_seed

Study = Literal["intervals", "tests", "ebay", "trec", "dcg"]
SIMULATED: tuple[Study, ...] = ("intervals", "tests")
LEAST = 10  # simulations


class World(NamedTuple):
    """Judges and systems of a simulation; rates and P@k are the true ones, from which samples are drawn."""

    right_relevant: float  # how often judges are right about relevant documents
    right_other: float
    gold_size: int  # gold items of each kind
    topics: int
    precision: float  # of the system, or of the first of two

    @property
    def seen(self) -> float:
        """P@k by the judges, [NOISY18] (3)."""
        return self.precision * self.right_relevant + (1 - self.precision) * (1 - self.right_other)

    @property
    def name(self) -> str:
        """Its name in cells."""
        rates = f"{self.right_relevant:g},{self.right_other:g}"
        return f"right={rates} gold={self.gold_size} topics={self.topics} precision={self.precision:g}"


@dataclass(frozen=True, kw_only=True)
class NoisyPlan:
    """Studies, and their worlds: every combination of rates, gold sizes, topics and true P@k.

    `right_relevant` and `right_other` are pairs. The precision of ranks is up to .09 above and below the true P@k.

    Args:
        studies: What to study; may be repeated.
        right_relevant: How often judges are right about relevant documents: 0.9, or 0.9,0.7.
        right_other: The same for other documents, one for each of the former.
        gold_sizes: Gold items of each of these two kinds: 250, or 50,100.
        topics: How many topics: 50, or 25,50.
        precision: True P@k, of the worse system in tests: 0.4, or 0.2,0.4.
        differences: Differences between the two systems, in tests: 0,0.05,0.1.
        topic_spread: Largest deviation of a topic from the mean.
        depth: Ranks looked at.
        simulations: Simulations of each world.
        seed: Seed of all random numbers.
    """

    studies: tuple[Study, ...] = ("intervals",)
    right_relevant: tuple[float, ...] = (0.9,)
    right_other: tuple[float, ...] = (0.8,)
    gold_sizes: tuple[int, ...] = (250,)
    topics: tuple[int, ...] = (50,)
    precision: tuple[float, ...] = (0.4,)
    differences: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.15)
    topic_spread: float = 0.0
    depth: int = 10
    simulations: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        check_lists(study=self.studies, gold_size=self.gold_sizes, number_of_topics=self.topics)
        check_lists(precision=self.precision, difference=self.differences)
        self._check_rates()
        _check_range("precision", self.precision, 0, 1)
        _check_range("topic spread", (self.topic_spread,), 0, 1)
        if min(self.gold_sizes) < 1 or self.depth < 1:
            raise OptionError("gold sizes and depth are whole numbers from 1")
        if min(self.topics) < 2:
            raise OptionError(f"{min(self.topics)} topic has no variance over topics; give 2 at least")
        if min(self.differences) < 0:
            raise OptionError(f"difference {min(self.differences):g} is below 0; b is the better system")
        if "tests" in self.studies and max(self.precision) + max(self.differences) > 1:
            reach = f"{max(self.precision):g} + {max(self.differences):g}"
            raise OptionError(f"P@{self.depth} of the better system, {reach}, must be at most 1; give less of one")
        if self.simulations < LEAST:
            raise OptionError(f"{self.simulations} simulations are too few; give at least {LEAST}")
        settle_seed(self.seed)

    def _check_rates(self) -> None:
        if len(self.right_relevant) != len(self.right_other):
            raise OptionError(
                f"{len(self.right_relevant)} rates for relevant documents and {len(self.right_other)} for others; "
                "they are pairs, so give as many of each"
            )
        if not self.right_relevant or len(set(self.rates)) < len(self.rates):
            raise OptionError("give one pair of rates at least, and none twice")
        _check_range("rate", (*self.right_relevant, *self.right_other), 0, 1)
        low = next((pair for pair in self.rates if sum(pair) <= 1), None)
        if low is not None:
            rates = f"{low[0]:g} and {low[1]:g}"
            raise OptionError(f"judges with rates {rates} are no better than chance; their sum must exceed 1")

    @property
    def rates(self) -> tuple[tuple[float, float], ...]:
        """Of judges: (relevant, other)."""
        return tuple(zip(self.right_relevant, self.right_other, strict=True))

    def list_worlds(self) -> Iterator[World]:
        """All combinations."""
        for rates, size, topics, precision in itertools.product(
            self.rates, self.gold_sizes, self.topics, self.precision
        ):
            yield World(*rates, size, topics, precision)


def _check_range(what: str, values: tuple[float, ...], low: float, high: float) -> None:
    bad = next((value for value in values if not low <= value <= high), None)
    if bad is not None:
        raise OptionError(f"{what} {bad:g} must lie between {low:g} and {high:g}")
