"""How soon an order finds what is relevant, and a budget spent on experts and crowd."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.options import JudgingPrices, Money, parse_money
from karatage.errors import DataError, OptionError
from karatage.text import counted, percent


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """How many documents of a queue go to experts and how many to the crowd; the rest is not judged."""

    experts: int
    labels: int  # crowd labels, of several judgments each
    cost: Decimal
    rest: Decimal = Decimal(0)  # of the budget, that bought nothing

    @property
    def sentence(self) -> str:
        """In words."""
        rest = f"; {self.rest} of the budget is left" if self.rest else ""
        return (
            f"{counted(self.experts, 'document')} to experts and {counted(self.labels, 'document')} to the crowd "
            f"for {self.cost}{rest}."
        )


def cost_of(experts: int, labels: int, prices: JudgingPrices) -> Decimal:
    """The cost of these numbers of expert judgments and crowd labels.

    >>> cost_of(3, 4, JudgingPrices(Decimal(10), Decimal(1)))
    Decimal('34')
    """
    return experts * prices.expert + labels * prices.label


def cost_share(experts: int, labels: int, items: int, prices: JudgingPrices) -> float:
    """The cost as a share of what it costs to have experts judge all `items`.

    >>> cost_share(32, 64, 100, JudgingPrices(Decimal(10), Decimal(1)))
    0.384
    """
    if items < 1:
        raise OptionError("a pool without items costs nothing, so no cost is a share of it; give 1 item at least")
    return float(Fraction(cost_of(experts, labels, prices)) / Fraction(cost_of(items, 0, prices)))


def allocate(
    total: Money,
    prices: JudgingPrices,
    *,
    expert_share: float,
    expert_items: int,
    crowd_items: int,
    items: int | None = None,
) -> Allocation:
    """Split a budget between experts and the crowd, never above it.

    What one side cannot spend goes to the other: where it has no more items, and the rest that buys no judgment.

    Args:
        total: The budget.
        prices: Of an expert judgment and a crowd label.
        expert_share: Share of the money for experts, from 0 to 1.
        expert_items: Items that may go to experts.
        crowd_items: Items that may go to the crowd.
        items: How many different ones these are, since an item goes to one side only. Default: no item is in both.
    """
    budget = parse_money(total, "the budget")
    check_share(expert_share, "the experts' share of the budget")
    if min(expert_items, crowd_items, 0 if items is None else items) < 0:
        raise OptionError("the number of items to judge is below 0; give 0 or more")
    _check_affords(budget, prices, expert_items, crowd_items)
    every = expert_items + crowd_items if items is None else items
    experts = min(expert_items, every, _buy(budget * Decimal(str(expert_share)), prices.expert))
    left = budget - cost_of(experts, 0, prices)
    labels = min(crowd_items, every - experts, _buy(left, prices.label))
    left -= cost_of(0, labels, prices)
    experts += min(expert_items - experts, every - experts - labels, _buy(left, prices.expert))
    cost = cost_of(experts, labels, prices)
    return Allocation(experts=experts, labels=labels, cost=cost, rest=budget - cost)


def split_queue(items: int, prices: JudgingPrices, *, expert_share: float, crowd_share: float) -> Allocation:
    """Give a share of a queue to experts and the next one to the crowd, as [COLLAB14] does."""
    check_share(expert_share, "the experts' share of the queue")
    check_share(crowd_share, "the crowd's share of the queue")
    both = Decimal(str(expert_share)) + Decimal(str(crowd_share))
    if both > 1:
        raise OptionError(
            f"experts judge {percent(expert_share)} and the crowd {percent(crowd_share)} of the queue, "
            "which is more than there is; give shares that sum to 1 at most"
        )
    experts = round(items * Decimal(str(expert_share)))
    labels = round(items * both) - experts
    return Allocation(experts=experts, labels=labels, cost=cost_of(experts, labels, prices))


def check_share(share: float, what: str) -> None:
    """Refuse what is no share."""
    if not 0 <= share <= 1:
        raise OptionError(f"{what} is {share:g}; give a share from 0 to 1, such as 0.2")


def _buy(money: Decimal, price: Decimal) -> int:
    return int(money // price)


def _check_affords(budget: Decimal, prices: JudgingPrices, expert_items: int, crowd_items: int) -> None:
    asked = [prices.expert] * bool(expert_items) + [prices.label] * bool(crowd_items)
    told = [f"an expert's judgment costs {prices.expert}"] * bool(expert_items)
    told += [f"a label by {counted(prices.judgments, 'crowd judge')} costs {prices.label}"] * bool(crowd_items)
    if asked and budget < min(asked):
        raise OptionError(
            f"a budget of {budget} buys nothing: {' and '.join(told)}; give more, or other prices or shares"
        )


def find_curve(order: LongArray, relevant: BoolArray) -> FloatArray:
    """The share of relevant items found after judging 0, 1, 2, ... items (item + 1,).

    `order` lists items as judged; where it ends early, nothing more is found.

    >>> find_curve(np.array([2, 0, 1]), np.array([True, False, True])).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    if not relevant.any():
        raise DataError("no item is relevant, so there is nothing to find; check the grade that counts as relevant")
    found = np.zeros(len(relevant) + 1)
    found[1 : len(order) + 1] = relevant[order]
    share: FloatArray = found.cumsum() / relevant.sum()
    return share


def find_area(curve: FloatArray) -> float:
    """The area under a curve over the share of items judged: 0.5 for a random order on average, 1 at the very best.

    >>> round(find_area(np.array([0.0, 0.5, 1.0, 1.0])), 3)
    0.667
    """
    return float((curve[1:] + curve[:-1]).mean() / 2)
