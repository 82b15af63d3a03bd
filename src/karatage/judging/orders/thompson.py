"""Runs are the arms of a bandit: each is drawn as often as it is likely to be the best."""

from __future__ import annotations

from karatage.data.axes import BoolArray, GradeArray, IntArray, LongArray
from karatage.judging.orders.order import Order
from karatage.judging.orders.walking import walk_topics
from karatage.judging.state import JudgingState, Picks
from karatage.kernels.walking import sample_runs
from karatage.seeding import stream


def _by_thompson(state: JudgingState, n: int) -> Picks:
    """[LPB16]: a run's chance to be relevant next is Beta(1 + relevant, 1 + not relevant), per topic."""

    def walk(
        topic: int, ranked: IntArray, answer: GradeArray, may_pick: BoolArray, item: LongArray, turn: LongArray
    ) -> int:
        rng = stream(state.seed, f"thompson {topic}")  # its own, so that answers elsewhere change nothing here
        return sample_runs(ranked, answer, may_pick, rng, item, turn)

    return walk_topics(state, n, walk)


THOMPSON = Order("thompson", _by_thompson, dynamic=True)
