"""How a queue is to be made, and when judging is to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

from karatage.aggregation.registry import parse_model
from karatage.data.disagreement import DisagreementModel
from karatage.data.prices import JudgingPrices
from karatage.errors import OptionError
from karatage.measures.linear import WEIGHTED
from karatage.measures.spec import Measure, parse_measure
from karatage.orders.orders import Order, parse_order


@dataclass(frozen=True, kw_only=True)
class QueueRules:
    """What is to be found out, in which order documents come, who judges them at what price, and when to stop.

    Documents that some system has in its first ranks, up to `depth`, are the pool. Judging may stop when no pair that
    matters is in the wrong order by more than `indifference` with more than `risk`.

    Args:
        prices: What a judgment by an expert and one by the crowd costs.
        measure: E.g. P@10, DCG@10, nDCG@20, AP, RBP(p=0.8).
        order: effect, meta-ap, average-rank, depth, disagreement, move-to-front, thompson; default: effect for measures
            that are weighted sums of grades, else thompson.
        expert_share: Share of the budget for experts; the rest goes to the crowd.
        depth: Depth of the pool.
        approach: How the crowd's grades are merged: mv, ds, ...
        disagreement: A model for the order disagreement.
        indifference: A difference in the measure that does not matter.
        risk: Probability of a wrong order at which judging may stop.
        best: Only pairs with one of so many best systems matter; default: all pairs.
        systems: Only these two systems matter.
        seed: Seed of everything that is drawn at random.
    """

    prices: JudgingPrices
    measure: str | Measure = "P@10"
    order: str | None = None
    expert_share: float = 0.5
    depth: int = 100
    approach: str = "mv"
    disagreement: DisagreementModel | None = None
    indifference: float = 0.01
    risk: float = 0.05
    best: int | None = None
    systems: tuple[str, str] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options."""
        if not isinstance(self.prices, JudgingPrices):
            raise OptionError("prices must be kt.JudgingPrices, such as kt.parse_prices('A') gives")
        self._check_measure()
        if self.order is not None:
            parse_order(self.order)
        if parse_model(self.approach).needs_gold:
            raise OptionError(f"{self.approach} can do nothing without gold on the crowd's documents; choose mv or ds")
        if not 0 <= self.expert_share <= 1:
            raise OptionError(f"the experts' share of the budget is {self.expert_share:g}; give one from 0 to 1")
        if not (math.isfinite(self.indifference) and self.indifference >= 0):
            raise OptionError(
                f"an indifference of {self.indifference:g}: give the difference that does not matter, 0 or more"
            )
        if not 0 < self.risk < 0.5:
            raise OptionError(f"a risk of {self.risk:g}: give a probability above 0 and below 0.5, such as 0.05")
        if self.best is not None and self.systems is not None:
            raise OptionError("either two systems matter or the best ones; give one of the two")

    def _check_measure(self) -> None:
        if not (isinstance(self.depth, Integral) and self.depth >= 1):
            raise OptionError(f"a pool of depth {self.depth} is empty; give a whole number from 1")
        if not (isinstance(self.seed, Integral) and self.seed >= 0):
            raise OptionError(f"a seed is a whole number from 0, not {self.seed}")
        if self.parsed.name == "Judged":
            raise OptionError("Judged counts what was judged, not what is relevant; order systems by another measure")
        if self.parsed.cutoff is not None and self.depth < self.parsed.cutoff:
            raise OptionError(
                f"a pool of depth {self.depth} leaves out documents that {self.parsed} looks at; give a depth of "
                f"{self.parsed.cutoff} at least"
            )

    @cached_property
    def parsed(self) -> Measure:
        """The measure."""
        return parse_measure(self.measure)

    @cached_property
    def parsed_order(self) -> Order:
        """The order: the one asked for, or one that suits the measure."""
        return parse_order(self.order or ("effect" if self.parsed.name in WEIGHTED else "thompson"))
