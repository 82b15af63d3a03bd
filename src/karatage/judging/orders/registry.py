"""Every order by name."""

from __future__ import annotations

from collections.abc import Mapping

from karatage.errors import UnknownNameError
from karatage.judging.orders.disagreement import DISAGREEMENT
from karatage.judging.orders.effect import EFFECT
from karatage.judging.orders.move_to_front import MOVE_TO_FRONT
from karatage.judging.orders.order import Order
from karatage.judging.orders.retrieval import AVERAGE_RANK, DEPTH, META_AP
from karatage.judging.orders.thompson import THOMPSON
from karatage.judging.state import JudgingState, Picks

ORDERS: Mapping[str, Order] = {
    order.name: order
    for order in (
        AVERAGE_RANK,
        DEPTH,
        DISAGREEMENT,
        EFFECT,
        META_AP,
        MOVE_TO_FRONT,
        THOMPSON,
    )
}


def parse_order(name: str) -> Order:
    """The order of that name.

    >>> parse_order("thompson").dynamic
    True
    """
    if name not in ORDERS:
        raise UnknownNameError("order", name, ORDERS)
    return ORDERS[name]


def list_orders() -> tuple[str, ...]:
    """The names of all orders of judging.

    >>> list_orders()[:3]
    ('average-rank', 'depth', 'disagreement')
    """
    return tuple(sorted(ORDERS))


def next_items(order: str | Order, state: JudgingState, n: int) -> Picks:
    """The next `n` items to judge, the most urgent first.

    Args:
        order: A name, such as `thompson`, or an order.
        state: Rankings, and what has been judged so far.
        n: How many; fewer are picked where no more are open, or none within reach of the order.
    """
    return (parse_order(order) if isinstance(order, str) else order).next_items(state, n)
