"""Small made-up states of judging: shared documents, gaps, some judged, some closed."""

from __future__ import annotations

import numpy as np

from karatage.orders.state import JudgingState


def make_state(
    seed: int,
    *,
    topics: int = 3,
    systems: int = 4,
    documents: int = 9,
    depth: int = 6,
    judged: float = 0.3,
    closed: float = 0.15,
) -> JudgingState:
    """Topics have from no document to `documents`; rankings have gaps, and some end early or are empty."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0 if topics > 1 else 1, documents + 1, topics)
    start = np.concatenate([[0], np.cumsum(sizes)])
    ranked = np.full((topics, systems, depth), -1, np.int32)
    for t in range(topics):
        for s in range(systems):
            length = min(int(rng.integers(0, depth + 1)), sizes[t])
            places = np.sort(rng.permutation(depth)[:length])
            ranked[t, s, places] = start[t] + rng.permutation(sizes[t])[:length]
    items = int(start[-1])
    chance = rng.random(items)
    graded = chance < judged
    return JudgingState(
        ranked=ranked,
        item_start=start,
        grade=np.where(graded, rng.integers(0, 4, items), -1).astype(np.int8),
        open=chance >= judged + closed,
        level=2,
        disagreement=rng.random(items).round(1),
        effect=np.where(rng.random(items) < 0.2, 0.0, rng.exponential(size=items)),
        seed=seed,
    )


def runs_of(state: JudgingState, topic: int) -> list[list[int]]:
    """The rankings of a topic as lists of items."""
    return [[int(i) for i in run if i >= 0] for run in state.ranked[topic]]
