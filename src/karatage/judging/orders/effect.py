"""Drawn by what gold would tell about comparisons that are still undecided."""

from __future__ import annotations

import numpy as np

from karatage.judging.orders.order import Order
from karatage.judging.state import JudgingState, Picks
from karatage.kernels.drawing import draw_items, find_chances
from karatage.seeding import stream


def _by_effect(state: JudgingState, n: int) -> Picks:
    """Items drawn with chances in proportion to their effect, which are recorded, so that gold stays unbiased."""
    assert state.effect is not None
    size = np.where(state.open, state.effect, 0.0)
    pi = find_chances(size, n)
    # A chance given earlier batches is one only if the draw shares no luck with theirs.
    rng = stream(state.seed, f"effect after {int((~state.open).sum())}")
    item = np.flatnonzero(draw_items(pi, rng))
    item = item[np.argsort(-size[item], kind="stable")]
    return Picks(item, pi[item])


EFFECT = Order("effect", _by_effect, needs=("effect",), dynamic=True)
