"""Whether more judging could still change the order of systems, and which documents would."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karatage.correction.choosing import choose_sizes
from karatage.correction.ideal import measure_ideals
from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.settling import Settling
from karatage.decisions.queues.belief import Belief
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.drawing import FLOOR
from karatage.measures.linear import NAMES, WEIGHTED, WeightedSum, as_weighted_sum
from karatage.measures.scoring import score_grades
from karatage.measures.spec import Measure

DRAWS = (250, 1000)  # least and most
WORK = 50_000_000  # items x draws
AT_ONCE = 250  # draws scored together, which bounds memory by items x this
IDEALS = 32  # draws of grades, of whose ideal gains the mean is taken


def settle(
    alignment: Alignment,
    belief: Belief,
    measure: Measure,
    *,
    margin: float,
    risk: float,
    rng: np.random.Generator,
) -> Settling:
    """Draw worlds from what is believed, score every system in each, and see how often two change places.

    All pairs matter; `Settling` with fewer comes from `limit_pairs`.
    """
    value = _score_draws(alignment, belief, measure, rng)
    score = value.mean(axis=0)
    wrong = np.empty((value.shape[1], value.shape[1]))
    for a in range(len(wrong)):
        wrong[a] = (value - value[:, a, None] > margin).mean(axis=0)
    order = np.empty(len(score), np.int64)
    order[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return Settling(
        measure=str(measure),
        systems=alignment.systems,
        score=score,
        spread=value.std(axis=0, ddof=1),
        wrong=wrong,
        counts=order[:, None] < order[None, :],
        margin=margin,
        risk=risk,
        draws=len(value),
    )


def _score_draws(alignment: Alignment, belief: Belief, measure: Measure, rng: np.random.Generator) -> FloatArray:
    kept = alignment.retrieved_topics
    top = len(belief.stages)
    if measure.name in NAMES and measure.cutoff is not None:  # nothing below counts, not even in a recall base
        first = alignment.ranked[:, :, : measure.cutoff]
        needed = np.zeros(len(belief.grade), bool)
        needed[first[first >= 0]] = True
        belief = belief.limit(needed)
    draws = int(np.clip(WORK // max(len(belief.unsure), 1), *DRAWS))
    parts = []
    for done in range(0, draws, AT_ONCE):
        drawn = belief.draw(min(AT_ONCE, draws - done), rng)
        scored = score_grades(alignment, drawn, [measure], top_grade=top)
        (scores,) = scored.values()
        parts.append(scores.value[:, kept].mean(axis=1))
    return np.concatenate(parts)


def choose_pairs(found: Settling, *, best: int | None, systems: Sequence[str] | None) -> BoolArray:
    """The pairs that matter: of two systems named, those with one of the `best` systems, or all."""
    if systems is not None:
        return _name_pair(found, systems)
    if best is None:
        return found.counts
    if best < 1:
        raise OptionError(f"the best {best} systems are none; give 1 at least")
    first = np.zeros(len(found.systems), bool)
    first[np.argsort(-found.score, kind="stable")[:best]] = True
    chosen: BoolArray = found.counts & (first[:, None] | first[None, :])
    return chosen


def _name_pair(found: Settling, systems: Sequence[str]) -> BoolArray:
    unknown = [name for name in systems if name not in found.systems]
    if unknown:
        raise UnknownNameError("system", unknown[0], found.systems)
    if len(systems) != 2 or systems[0] == systems[1]:
        raise DataError("name two different systems, or none for a leaderboard of all")
    chosen = np.zeros_like(found.counts)
    a, b = (found.systems.index(name) for name in systems)
    chosen[a, b], chosen[b, a] = found.counts[a, b], found.counts[b, a]
    return chosen


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
            f"weighted sum of grades; choose {', '.join(WEIGHTED)} with a depth, or another order"
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
