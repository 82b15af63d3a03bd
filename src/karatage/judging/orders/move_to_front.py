"""Runs take turns in front, and stay there while their documents are relevant."""

from __future__ import annotations

from karatage.data.axes import BoolArray, GradeArray, IntArray, LongArray
from karatage.judging.orders.order import Order
from karatage.judging.orders.walking import walk_topics
from karatage.judging.state import JudgingState, Picks
from karatage.kernels.walking import move_to_front


def _by_move_to_front(state: JudgingState, n: int) -> Picks:
    """[CPC98]'s local version: each topic has priorities of its own."""

    def walk(
        _: int, ranked: IntArray, answer: GradeArray, may_pick: BoolArray, item: LongArray, turn: LongArray
    ) -> int:
        return move_to_front(ranked, answer, may_pick, item, turn)

    return walk_topics(state, n, walk)


MOVE_TO_FRONT = Order("move-to-front", _by_move_to_front, dynamic=True)
