"""Where judges are expected to disagree first."""

from __future__ import annotations

from karatage.judging.orders.order import Order, pick_sorted
from karatage.judging.state import JudgingState, Picks


def _by_disagreement(state: JudgingState, n: int) -> Picks:
    """[COLLAB14] section 3.3: the greatest predicted chance of disagreement first."""
    assert state.disagreement is not None
    return pick_sorted(state, n, -state.disagreement)


DISAGREEMENT = Order("disagreement", _by_disagreement, needs=("disagreement",))
