"""How much a document's gold would tell about the pairs of systems that are still undecided."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karatage.correction.choosing import choose_sizes
from karatage.correction.ideal import measure_ideals
from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray
from karatage.decisions.queues.belief import Belief
from karatage.errors import DataError
from karatage.kernels.drawing import FLOOR
from karatage.measures.registry import WEIGHTED_SUMS, as_weighted_sum
from karatage.measures.spec import Measure, WeightedSum

IDEALS = 32  # draws of grades, of whose ideal gains the mean is taken


def find_weights(
    alignment: Alignment, measure: WeightedSum, belief: Belief, systems: Sequence[str] | None, rng: np.random.Generator
) -> FloatArray:
    """What an item counts for each of these systems, or all, (item, system)."""
    weight = np.zeros((int(alignment.item_start[-1]), len(alignment.systems)))
    ranked = alignment.ranked[:, :, : len(measure.weight)]
    _, system, rank = np.nonzero(ranked >= 0)
    weight[ranked[ranked >= 0], system] = measure.weight[rank]
    if measure.normalised:
        weight *= _find_scale(alignment, measure, belief, rng)[:, None]
    return weight if systems is None else weight[:, [alignment.systems.index(name) for name in systems]]


def _find_scale(alignment: Alignment, measure: WeightedSum, belief: Belief, rng: np.random.Generator) -> FloatArray:
    """1 over the ideal gain of an item's topic (item,), on average over what is possible; never 0."""
    topic = np.repeat(np.arange(len(alignment.topics)), np.diff(alignment.item_start))
    drawn = belief.draw(IDEALS, rng)
    counts = np.zeros((IDEALS, len(alignment.topics), len(measure.gain)), np.int64)
    for draw in range(IDEALS):
        np.add.at(counts[draw], (topic, drawn[:, draw]), 1)
    ideal = measure_ideals(counts, measure.gain, measure.weight)
    inverse: FloatArray = np.where(ideal > 0, 1 / np.where(ideal > 0, ideal, 1.0), 0.0).mean(axis=0)
    usual = float(np.median(inverse[inverse > 0])) if inverse.any() else 1.0
    return np.where(inverse > 0, inverse, usual)[topic]


def require_weights(alignment: Alignment, measure: Measure, top_grade: int) -> WeightedSum:
    """The measure as a weighted sum, or a refusal."""
    linear = as_weighted_sum(measure, alignment.ranked.shape[2], top_grade)
    if linear is None:
        raise DataError(
            f"the order 'effect' weighs documents by what they count in the measure, and {measure} is not a "
            f"weighted sum of grades; choose {', '.join(WEIGHTED_SUMS)} with a depth, or another order"
        )
    return linear


def find_effect(weight: FloatArray, measure: WeightedSum, belief: Belief, undecided: BoolArray) -> FloatArray:
    """An item's weight in the undecided pairs (system, system), times how unsure its gain is, (item,).

    Items on which only other systems differ keep a small effect, or gold drawn by it would be biased for those.
    """
    pairs = [(int(a), int(b)) for a, b in np.argwhere(undecided)]
    size = choose_sizes(weight, pairs or None)
    probability = belief.probability
    gain = np.einsum("ig,g->i", probability, measure.gain)
    square = np.einsum("ig,g->i", probability, measure.gain**2)
    spread = np.sqrt(np.maximum(square - gain**2, 0.0))
    effect: FloatArray = size * np.maximum(spread, FLOOR * float(spread.max(initial=0.0)))
    return effect
