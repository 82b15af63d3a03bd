"""Measures that are weighted sums of gains: what a document counts depends on its rank and its own grade alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray
from karatage.measures.graded import gain_steps, rank_weights
from karatage.measures.spec import Measure

NAMES = ("DCG", "P", "RBP")


class WeightedSum(NamedTuple):
    """A topic's score is the sum over ranks of `weight[rank] * gain[grade]`."""

    weight: FloatArray  # (rank,)
    gain: FloatArray  # (grade,)


def as_weighted_sum(measure: Measure, depth: int, top_grade: int) -> WeightedSum | None:
    """The weights and gains over `depth` ranks and the grades up to `top_grade`; None for other measures."""
    if measure.name not in NAMES:
        return None
    ranks = min(measure.cutoff or depth, depth)
    if measure.name == "DCG":
        level, step = gain_steps(measure, top_grade)
        gain = np.array([step[level <= grade].sum() for grade in range(top_grade + 1)])
        return WeightedSum(rank_weights(measure, ranks), gain)
    gain = (np.arange(top_grade + 1) >= measure.level).astype(float)
    if measure.name == "RBP":
        return WeightedSum(rank_weights(measure, ranks), gain)
    assert measure.cutoff is not None
    return WeightedSum(np.full(ranks, 1 / measure.cutoff), gain)
