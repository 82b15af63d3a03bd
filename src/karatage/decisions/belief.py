"""Probabilities of grades for a pool's items, and whether more judging could change the order of systems.

Grades by experts are certain; other grades have probabilities from a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karatage.aggregation.registry import aggregate
from karatage.correction.ideal import measure_ideals
from karatage.correction.sampled import choose_sizes
from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray, freeze
from karatage.data.judgments import Judgments, find_items, match_gold
from karatage.data.note import Note
from karatage.data.queue import Settling
from karatage.decisions.notes import tell
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.kernels.sampling import FLOOR
from karatage.measures.registry import WEIGHTED_SUMS, as_weighted_sum, find_family
from karatage.measures.scoring import score_grades
from karatage.measures.spec import Measure, WeightedSum
from karatage.orders.relevance import Predictors, Prior, Relevance, fit_relevance
from karatage.orders.state import find_features
from karatage.text import counted

# Prior: about one document in eight is relevant, perhaps 2 % or 50 %; odds of topics and systems vary by a factor of e.
# The crowd's log odds have weight 1 with a standard deviation of 0.5, and an offset with a standard deviation of 1.
PRIOR = Prior(
    mean=(-2.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    spread=(2.0, 2.0, 2.0, 2.0, 1.0, 0.5),
    topics=1.0,
    slopes=0.5,
    systems=1.0,
    within=1.0,
)
USUAL = (-2.0, 0.0)  # log odds of relevance, and of each higher grade, given the one below it
MOST = 0.98  # largest probability from a unanimous crowd
DRAWS = (250, 1000)  # minimum and maximum
WORK = 50_000_000  # items x draws
AT_ONCE = 250  # draws scored together, which bounds memory by items x this
IDEALS = 32  # draws of grades for mean ideal gains


@dataclass(frozen=True, eq=False, kw_only=True)
class Combined:
    """Grades and probabilities of a pool's items; rows of unjudged items contain zeros."""

    grade: GradeArray  # (item,) -1 = unjudged
    probability: FloatArray  # (item, grade)
    expert: BoolArray  # (item,) graded by an expert
    crowd: BoolArray  # (item,) graded by the crowd, possibly also by an expert
    crowd_probability: FloatArray  # (item, grade) by the crowd alone, without the experts' grades
    crowd_top: int  # the crowd's highest grade
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.grade, self.probability, self.expert, self.crowd, self.crowd_probability)


def combine_judgments(
    pool: Judgments,
    crowd: Judgments | None,
    experts: Judgments | None,
    approach: str = "mv",
    *,
    rng: int | np.random.Generator | None = None,
) -> Combined:
    """Merge the crowd's grades by a consensus model, with experts' grades fixed, over the items of a pool.

    Args:
        pool: The items; its own grades do not count.
        crowd: The crowd's grades.
        experts: The experts' grades; items shared with the crowd are also used to fit the model.
        approach: A consensus model such as `mv`, `ds` or `ry`.
        rng: Seed for models that draw at random.
    """
    items = len(pool.item_topic)
    top = max(1, *(j.top_grade for j in (crowd, experts) if j is not None), 1)
    grade: GradeArray = np.full(items, -1, np.int8)
    probability, alone = np.zeros((items, top + 1)), np.zeros((items, top + 1))
    told, notes = np.zeros(items, bool), list(_tell_outside(pool, crowd, experts))
    if crowd is not None and len(crowd.grade):
        place = find_items(crowd, pool)
        inside = (place >= 0) & (np.diff(crowd.row_start) > 0)
        gold = experts if experts is not None and (match_gold(crowd, experts) >= 0).any() else None
        merged = aggregate(crowd, approach, gold=gold, rng=rng)
        unaided = merged if gold is None else aggregate(crowd, approach, rng=rng)
        grades = merged.probability.shape[1]
        probability[place[inside], :grades] = merged.probability[inside]
        alone[place[inside], : unaided.probability.shape[1]] = unaided.probability[inside]
        grade[place[inside]] = merged.grades[inside]
        told[place[inside]] = True
        notes += merged.notes
    expert = np.zeros(items, bool)
    if experts is not None:
        place = find_items(experts, pool)[experts.item]
        inside = place >= 0
        at, given = place[inside], experts.grade[inside]
        grade[at], expert[at] = given, True
        probability[expert] = np.eye(top + 1)[grade[expert]]
    return Combined(
        grade=grade,
        probability=probability,
        expert=expert,
        crowd=told,
        crowd_probability=alone,
        crowd_top=0 if crowd is None else crowd.top_grade,
        notes=tuple(dict.fromkeys(notes)),
    )


def _tell_outside(pool: Judgments, crowd: Judgments | None, experts: Judgments | None) -> Iterator[Note]:
    """Notes on judged documents outside the pool, which are not used."""
    for who, judgments in ("the crowd", crowd), ("experts", experts):
        outside = count_outside(pool, judgments, who)
        yield from tell.when(outside, "outside-pool", documents=outside, who=who)


def count_outside(pool: Judgments, judgments: Judgments | None, who: str) -> int:
    """The number of judged documents outside the pool; a refusal if all of them are."""
    if judgments is None or not len(judgments.grade):
        return 0
    graded = np.unique(judgments.item)
    outside = int((find_items(judgments, pool)[graded] < 0).sum())
    if outside == len(graded):
        raise DataError(
            f"none of the {counted(len(graded), 'document')} judged by {who} is in the pool of these runs; check that "
            f"topics and documents are written in the same way in both, and that the pool is deep enough (--depth)"
        )
    return outside


class Stage(NamedTuple):
    """The probability that an item with at least one grade has at least the next."""

    relevance: Relevance
    evidence: Predictors  # of the items without an expert's grade


@dataclass(frozen=True, eq=False, kw_only=True)
class Belief:
    """Probabilities of grades for every item of a pool, from which joint grades are drawn."""

    grade: GradeArray  # (item,) by experts, else -1
    unsure: LongArray  # items without an expert's grade
    stages: tuple[Stage, ...]  # one for each grade above 0

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.grade, self.unsure)

    @property
    def probability(self) -> FloatArray:
        """The probability of each grade, (item, grade)."""
        probability = np.zeros((len(self.grade), len(self.stages) + 1))
        known = np.flatnonzero(self.grade >= 0)
        probability[known, self.grade[known]] = 1.0
        left = np.ones(len(self.unsure))
        for k, stage in enumerate(self.stages):
            chance = stage.relevance.chance(stage.evidence)
            probability[self.unsure, k] = left * (1 - chance)
            left = left * chance
        probability[self.unsure, -1] = left
        return probability

    def draw(self, draws: int, rng: np.random.Generator) -> GradeArray:
        """Grades (item, draw): each column is one joint draw of all unknown grades."""
        drawn = np.repeat(self.grade[:, None], draws, axis=1)
        total = reached = self.stages[0].relevance.draw(self.stages[0].evidence, draws, rng)
        for stage in self.stages[1:]:
            reached = reached * stage.relevance.draw(stage.evidence, draws, rng)
            total = total + reached
        drawn[self.unsure] = total
        return drawn

    def limit(self, needed: BoolArray) -> Belief:
        """The same where only some items (item,) count: others without an expert's grade get grade 0."""
        kept = needed[self.unsure]
        rows = np.flatnonzero(kept)
        return replace(
            self,
            grade=np.where((self.grade < 0) & ~needed, 0, self.grade).astype(np.int8),
            unsure=self.unsure[kept],
            stages=tuple(Stage(stage.relevance, stage.evidence.take(rows)) for stage in self.stages),
        )


def form_belief(alignment: Alignment, combined: Combined) -> Belief:
    """Fit a model of relevance to experts' grades; the crowd's grades are features of it.

    The crowd's grades are not used as labels, since the model would then learn the crowd's errors.
    """
    plain = _gather(alignment, len(combined.grade))
    unsure, stages = np.flatnonzero(~combined.expert), []
    for grade in range(1, combined.probability.shape[1]):
        evidence = _append_word(plain, combined, grade)
        asked = np.flatnonzero(combined.expert & (combined.grade >= grade - 1))
        usual = USUAL[min(grade, len(USUAL)) - 1]
        relevance = fit_relevance(
            evidence.take(asked),
            (combined.grade[asked] >= grade).astype(np.int8),
            replace(PRIOR, mean=(usual, *PRIOR.mean[1:])),
            systems=len(alignment.systems),
            topics=len(alignment.topics),
        )
        stages.append(Stage(relevance, evidence.take(unsure)))
    return Belief(
        grade=np.where(combined.expert, combined.grade, -1).astype(np.int8), unsure=unsure, stages=tuple(stages)
    )


def _gather(alignment: Alignment, items: int) -> Predictors:
    """Features of each item: its ranks, and the systems that retrieved it.

    A system's load decreases with rank; squared loads of an item sum to 1.
    """
    found = find_features(alignment.ranked, items)
    columns = np.stack(
        [np.log(0.01 + found.meta_ap), np.log1p(found.weighted_retrieval), -np.log(found.average_rank)], axis=1
    )
    spread = columns.std(axis=0)
    scaled = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    topics = np.arange(len(alignment.topics), dtype=np.int32)
    _, system, rank = np.nonzero(alignment.ranked >= 0)
    item = alignment.ranked[alignment.ranked >= 0]
    order = np.lexsort((system, item))
    item, load = item[order], 1 / np.log2(2.0 + rank[order])
    norm = np.sqrt(np.bincount(item, load**2, minlength=items))
    return Predictors(
        x=np.column_stack([np.ones(items), scaled]),
        start=np.searchsorted(item, np.arange(items + 1)),
        system=system[order].astype(np.int32),
        load=load / norm[item],
        topic=np.repeat(topics, np.diff(alignment.item_start)),
    )


def _append_word(evidence: Predictors, combined: Combined, grade: int) -> Predictors:
    """The same with the crowd's log odds of a grade given the one below, and whether the crowd judged the item."""
    below = combined.crowd_probability[:, grade - 1 :].sum(axis=1)
    told = combined.crowd & (below > 0) & (grade <= combined.crowd_top)
    share = combined.crowd_probability[:, grade:].sum(axis=1) / np.where(below > 0, below, 1.0)
    held = np.clip(share, 1 - MOST, MOST)
    odds = np.where(told, np.log(held / (1 - held)), 0.0)
    return evidence._replace(x=np.column_stack([evidence.x, told, odds]))


def settle(
    alignment: Alignment,
    belief: Belief,
    measure: Measure,
    *,
    indifference: float,
    risk: float,
    rng: np.random.Generator,
) -> Settling:
    """Draw grades, score every system with each draw, and count how often two systems change places.

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
    weights = find_family(measure).weights
    if (
        measure.cutoff is not None and weights and not weights.normalised
    ):  # lower ranks do not count, and there is no ideal gain
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
        raise OptionError(f"best is {best}; give at least 1")
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
    """The weight of an item for each of these systems, or all, (item, system)."""
    weight = np.zeros((int(alignment.item_start[-1]), len(alignment.systems)))
    ranked = alignment.ranked[:, :, : len(measure.weight)]
    _, system, rank = np.nonzero(ranked >= 0)
    weight[ranked[ranked >= 0], system] = measure.weight[rank]
    if measure.normalised:
        weight *= _find_scale(alignment, measure, belief, rng)[:, None]
    return weight if systems is None else weight[:, [alignment.systems.index(name) for name in systems]]


def _find_scale(alignment: Alignment, measure: WeightedSum, belief: Belief, rng: np.random.Generator) -> FloatArray:
    """1 over the ideal gain of an item's topic (item,), the mean over draws; never 0."""
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
            f"the order 'effect' uses the weights of documents in the measure, and {measure} is not a "
            f"weighted sum of grades; choose {', '.join(WEIGHTED_SUMS)} with a depth, or another order"
        )
    return linear


def find_effect(weight: FloatArray, measure: WeightedSum, belief: Belief, undecided: BoolArray) -> FloatArray:
    """An item's weight in the undecided pairs (system, system), times the standard deviation of its gain, (item,).

    Items on which only other systems differ keep a small effect; otherwise gold drawn by it would be biased for those.
    """
    pairs = [(int(a), int(b)) for a, b in np.argwhere(undecided)]
    size = choose_sizes(weight, pairs or None)
    probability = belief.probability
    gain = np.einsum("ig,g->i", probability, measure.gain)
    square = np.einsum("ig,g->i", probability, measure.gain**2)
    spread = np.sqrt(np.maximum(square - gain**2, 0.0))
    effect: FloatArray = size * np.maximum(spread, FLOOR * float(spread.max(initial=0.0)))
    return effect
