"""The demo's story: what cheap judges like is not always better."""

from __future__ import annotations

import numpy as np

from karatage.simulation.collection import JudgeProfile, SystemProfile, World, simulate_collection
from karatage.simulation.shape import CollectionShape

SYSTEMS = (SystemProfile("old"), SystemProfile("new", taste=0.35), SystemProfile("newer", quality=1.9))
JUDGES = (
    JudgeProfile("llm-a", noise=0.4, leniency=0.2),
    JudgeProfile("llm-b", noise=0.5, leniency=0.4),
    JudgeProfile("llm-c", noise=0.6, leniency=0.3),
)
SHAPE = CollectionShape(documents=100, pool=10, shared=0.4)
TOPICS, DEPTH = 60, 20


def simulate_story(rng: int | np.random.Generator | None = None) -> World:
    """Three versions of a search, three LLM-like judges who share a taste, and the truth.

    `new` ranks as well as `old` does, and finds more of what the judges overrate; `newer` ranks better.

    Args:
        rng: Seed or generator.
    """
    return simulate_collection(systems=SYSTEMS, topics=TOPICS, depth=DEPTH, judges=JUDGES, shape=SHAPE, rng=rng)
