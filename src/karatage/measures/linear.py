"""Measures that are weighted sums of gains: what a document counts depends on its rank and its own grade alone.

nDCG is one once the ideal gain of each topic is known, by which it divides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.data.axes import FloatArray
from karatage.measures.graded import gain_steps, rank_weights
from karatage.measures.spec import Measure

NAMES = ("DCG", "P", "RBP")
NORMALISED = "nDCG"
WEIGHTED = (*NAMES, NORMALISED)  # whose documents have weights, so that gold on single ones corrects them


class WeightedSum(NamedTuple):
    """A topic's score is the sum over ranks of `weight[rank] * gain[grade]`."""

    weight: FloatArray  # (rank,)
    gain: FloatArray  # (grade,)
    normalised: bool = False  # divided by the topic's ideal sum, which depends on all its documents


def as_weighted_sum(measure: Measure, depth: int, top_grade: int) -> WeightedSum | None:
    """The weights and gains over `depth` ranks and the grades up to `top_grade`; None for other measures."""
    if measure.name not in WEIGHTED:
        return None
    ranks = min(measure.cutoff or depth, depth)
    if measure.name in ("DCG", NORMALISED):
        level, step = gain_steps(measure, top_grade)
        gain = np.array([step[level <= grade].sum() for grade in range(top_grade + 1)])
        return WeightedSum(rank_weights(measure, ranks), gain, measure.name == NORMALISED)
    gain = (np.arange(top_grade + 1) >= measure.level).astype(float)
    if measure.name == "RBP":
        return WeightedSum(rank_weights(measure, ranks), gain)
    assert measure.cutoff is not None
    return WeightedSum(np.full(ranks, 1 / measure.cutoff), gain)
