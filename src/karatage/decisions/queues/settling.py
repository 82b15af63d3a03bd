"""Whether more judging could still change the order of systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.settling import Settling
from karatage.decisions.queues.belief import Belief
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.linear import NAMES
from karatage.measures.scoring import score_grades
from karatage.measures.spec import Measure

DRAWS = (250, 1000)  # least and most
WORK = 50_000_000  # items x draws
AT_ONCE = 250  # draws scored together, which bounds memory by items x this


def settle(
    alignment: Alignment,
    belief: Belief,
    measure: Measure,
    *,
    indifference: float,
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
        wrong[a] = (value - value[:, a, None] > indifference).mean(axis=0)
    order = np.empty(len(score), np.int64)
    order[np.argsort(-score, kind="stable")] = np.arange(len(score))
    return Settling(
        measure=str(measure),
        systems=alignment.systems,
        score=score,
        spread=value.std(axis=0, ddof=1),
        wrong=wrong,
        counts=order[:, None] < order[None, :],
        indifference=indifference,
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
