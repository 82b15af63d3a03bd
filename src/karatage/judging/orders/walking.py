"""Orders that walk down the runs, guided by the answers on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from karatage.data.axes import BoolArray, GradeArray, IntArray, LongArray
from karatage.errors import DataError
from karatage.judging.orders.order import Order, by_rule
from karatage.judging.state import JudgingState, Picks
from karatage.wording import counted

# topic, its runs (system, rank), answers and open flags of its items, where picks and their turns go -> how many
Walk = Callable[[int, IntArray, GradeArray, BoolArray, LongArray, LongArray], int]


def walk_topics(state: JudgingState, n: int, walk: Walk) -> Picks:
    """Walk every topic from the start; topics take turns, one document each, judged or picked.

    So a topic that has fewer judged documents within the walk's reach gets more of the picks, and asking for one item
    at a time, or for all when answers are known, gives the same order.
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
