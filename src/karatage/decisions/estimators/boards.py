"""Leaderboards by judges and corrected, with topics drawn anew."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, LongArray


class Boards(NamedTuple):
    """Leaderboards (board, system) by judges and corrected, and the scores that tell the slope."""

    naive: FloatArray
    corrected: FloatArray
    judge: FloatArray  # on the topics that gold knows
    gold: FloatArray  # the same by gold, or corrected
    noise: FloatArray  # (board,) what gold's chance adds to the sum of squares of all pairs' differences in `gold`
    topics: int  # that are drawn anew


def draw_topics(topics: int, draws: int, rng: np.random.Generator) -> LongArray:
    """How often each topic counts (draw, topic)."""
    times: LongArray = rng.multinomial(topics, np.full(topics, 1 / topics), size=draws)
    return times


def average_topics(times: LongArray, scores: FloatArray) -> FloatArray:
    """Means over topics that count so many `times` (draw, topic), of scores (topic, system)."""
    mean: FloatArray = np.einsum("dt,ts->ds", times.astype(float), scores) / len(scores)  # BLAS sums depend on threads
    return mean
