"""Orders of judging: which documents come next. An order is one function and one line in ORDERS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.sampling import draw_items, find_chances
from karatage.kernels.walking import move_to_front, sample_runs
from karatage.orders.state import JudgingState, Picks, find_features
from karatage.random_streams import stream
from karatage.text import counted

NEEDED = {
    "disagreement": "the predicted chance that judges disagree on an item; learn it from items with several judges",
    "effect": "how informative an item's gold is about undecided pairs; give judgments so far and a measure",
}


@dataclass(frozen=True)
class Order:
    """A way to pick the next items; it keeps nothing, so that the same state gives the same picks."""

    name: str
    pick: Callable[[JudgingState, int], Picks]  # as `next_items`; 1 item at least, and no more than are open
    needs: tuple[str, ...] = ()  # fields of the state that must be there
    dynamic: bool = False  # whether answers so far change what comes next

    def next_items(self, state: JudgingState, n: int) -> Picks:
        """The next `n` open items, fewer where there are no more within reach."""
        if n < 0:
            raise OptionError(f"{n} items to judge next: give 0 or more")
        for field in self.needs:
            _check_values(self.name, field, getattr(state, field), state.items)
        n = min(n, int(state.open.sum()))
        return self.pick(state, n) if n else by_rule(np.zeros(0, np.int64))


def pick_sorted(state: JudgingState, n: int, *keys: FloatArray | LongArray) -> Picks:
    """The first `n` open items by `keys` (item,), ascending, the first key first; ties by item number."""
    order = np.lexsort(keys[::-1])
    item = order[state.open[order]][:n]
    return by_rule(item)


def by_rule(item: LongArray) -> Picks:
    """Items that no chance was involved in."""
    return Picks(item, np.full(len(item), np.nan))


def _check_values(order: str, field: str, value: FloatArray | None, items: int) -> None:
    if value is None:
        raise DataError(f"the order '{order}' needs {NEEDED[field]}; or choose another order")
    if value.shape != (items,):
        raise DataError(f"the state's {field} has the shape {value.shape} for {counted(items, 'item')}; give one each")
    if not (np.isfinite(value) & (value >= 0)).all():
        raise DataError(f"the state's {field} has values that are not numbers from 0 on; leave none out")


DIGITS = 9  # sums over runs differ in the last bits when runs come in another order, which must not decide a tie


def _by_average_rank(state: JudgingState, n: int) -> Picks:
    return pick_sorted(state, n, find_features(state.ranked, state.items).average_rank)


def _by_meta_ap(state: JudgingState, n: int) -> Picks:
    return pick_sorted(state, n, -_find_meta_ap(state))


def _by_depth(state: JudgingState, n: int) -> Picks:
    """By the best rank that any run gives: a depth-k pool, then what depth k + 1 adds; topics take turns in each."""
    best, topic = _find_best_rank(state), state.item_topic.astype(np.int64)
    order = np.lexsort((-_find_meta_ap(state), topic, best))
    first = (np.diff(best[order], prepend=-1) != 0) | (np.diff(topic[order], prepend=-1) != 0)
    number = np.arange(len(order))
    turn = np.empty(len(order), np.int64)
    turn[order] = number - np.maximum.accumulate(np.where(first, number, 0))
    return pick_sorted(state, n, best, turn, topic)


def _find_best_rank(state: JudgingState) -> LongArray:
    """From 0; one more than any rank for a document that no run retrieved."""
    depth = state.ranked.shape[2]
    best = np.full(state.items + 1, depth)
    for rank in reversed(range(depth)):
        best[state.ranked[:, :, rank]] = rank  # -1 writes behind the last item
    return best[:-1]


def _find_meta_ap(state: JudgingState) -> FloatArray:
    meta_ap: FloatArray = find_features(state.ranked, state.items).meta_ap.round(DIGITS)
    return meta_ap


AVERAGE_RANK = Order("average-rank", _by_average_rank)
META_AP = Order("meta-ap", _by_meta_ap)
DEPTH = Order("depth", _by_depth)


def _by_disagreement(state: JudgingState, n: int) -> Picks:
    """[COLLAB14] section 3.3: the greatest predicted chance of disagreement first."""
    assert state.disagreement is not None
    return pick_sorted(state, n, -state.disagreement)


DISAGREEMENT = Order("disagreement", _by_disagreement, needs=("disagreement",))


def _by_effect(state: JudgingState, n: int) -> Picks:
    """Items drawn with chances in proportion to their effect, which are recorded, so that gold stays unbiased."""
    assert state.effect is not None
    size = np.where(state.open, state.effect, 0.0)
    pi = find_chances(size, n)
    # The chance given earlier batches is right only if the draw is independent of theirs.
    rng = stream(state.seed, f"effect after {int((~state.open).sum())}")
    item = np.flatnonzero(draw_items(pi, rng))
    item = item[np.argsort(-size[item], kind="stable")]
    return Picks(item, pi[item])


EFFECT = Order("effect", _by_effect, needs=("effect",), dynamic=True)


# topic, its runs (system, rank), answers and open flags of its items, where picks and their turns go -> how many
Walk = Callable[[int, IntArray, GradeArray, BoolArray, LongArray, LongArray], int]


def walk_topics(state: JudgingState, n: int, walk: Walk) -> Picks:
    """Walk every topic from the start; topics take turns, one document each, judged or picked.

    So a topic that has fewer judged documents within the walk's reach gets more of the picks. Requests for one item at
    a time, or for all when answers are known, give the same order.
    """
    answer = np.where(state.grade < 0, -1, state.grade >= state.level).astype(np.int8)
    items, turns, topics = [], [], []
    for topic, (low, high) in enumerate(zip(state.item_start[:-1], state.item_start[1:], strict=True)):
        own = slice(low, high)
        room = min(n, int(state.open[own].sum()))
        item, turn = np.empty(room, np.int64), np.empty(room, np.int64)
        ranked = np.where(state.ranked[topic] < 0, -1, state.ranked[topic] - low).astype(np.int32)
        count = walk(topic, ranked, answer[own], state.open[own], item, turn) if room else 0
        items.append(item[:count] + low)
        turns.append(turn[:count])
        topics.append(np.full(count, topic))
    order = np.lexsort((np.concatenate(topics), np.concatenate(turns)))[:n]
    return by_rule(np.concatenate(items)[order])


def list_all(order: Order, state: JudgingState, answer: GradeArray) -> LongArray:
    """All open items as they would be judged one at a time, each answer (item,) being known at once.

    Items beyond the order's reach are left out, such as documents that no run has retrieved.
    """
    if answer.shape != (state.items,) or (answer[state.open] < 0).any():
        raise DataError(f"give an answer for each open item, among {counted(state.items, 'item')} in all")
    known = replace(state, grade=np.where(state.open, answer, state.grade).astype(np.int8))
    return order.next_items(known, state.items).item


def _by_move_to_front(state: JudgingState, n: int) -> Picks:
    """[CPC98]'s local version: each topic has its own priorities."""

    def walk(
        _: int, ranked: IntArray, answer: GradeArray, may_pick: BoolArray, item: LongArray, turn: LongArray
    ) -> int:
        return move_to_front(ranked, answer, may_pick, item, turn)

    return walk_topics(state, n, walk)


MOVE_TO_FRONT = Order("move-to-front", _by_move_to_front, dynamic=True)


def _by_thompson(state: JudgingState, n: int) -> Picks:
    """[LPB16]: a run's chance to be relevant next is Beta(1 + relevant, 1 + not relevant), per topic."""

    def walk(
        topic: int, ranked: IntArray, answer: GradeArray, may_pick: BoolArray, item: LongArray, turn: LongArray
    ) -> int:
        rng = stream(state.seed, f"thompson {topic}")  # its own, so that answers elsewhere change nothing here
        return sample_runs(ranked, answer, may_pick, rng, item, turn)

    return walk_topics(state, n, walk)


THOMPSON = Order("thompson", _by_thompson, dynamic=True)


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
