"""What is known of a pool's items: sure where experts spoke, else guessed, with the doubt about the guess."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karatage.aggregation.registry import aggregate
from karatage.data.alignment import Alignment, find_items, match_gold
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray, freeze
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.orders.features import find_features
from karatage.orders.relevance import Evidence, Prior, Relevance, fit_relevance
from karatage.text import counted

# Before anything is judged: about one document in eight is relevant, perhaps 2 % or 50 %; topics differ by a factor,
# and so does what the systems retrieve. The crowd's odds are added as it states them, but may be off by a factor of e.
PRIOR = Prior(
    mean=(-2.0, 0.0, 0.0, 0.0, 0.0, 1.0),
    spread=(2.0, 2.0, 2.0, 2.0, 1.0, 0.5),
    topics=1.0,
    slopes=0.5,
    systems=1.0,
    within=1.0,
)
USUAL = (-2.0, 0.0)  # log odds of relevance, and of each higher grade, given the one below it
MOST = 0.98  # chance that a crowd of one mind may claim


@dataclass(frozen=True, eq=False, kw_only=True)
class Combined:
    """What is known of a pool's items; rows of items that nobody graded hold no probability."""

    grade: GradeArray  # (item,) -1 = nobody graded it
    probability: FloatArray  # (item, grade)
    expert: BoolArray  # (item,) graded by an expert
    crowd: BoolArray  # (item,) graded by the crowd, perhaps by an expert too
    crowd_probability: FloatArray  # (item, grade) by the crowd alone, never told what experts said
    crowd_top: int  # the crowd's highest grade
    notes: tuple[str, ...] = ()

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
        experts: The experts' grades; where they and the crowd share items, the model learns from that too.
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


def _tell_outside(pool: Judgments, crowd: Judgments | None, experts: Judgments | None) -> Iterator[str]:
    """Documents that no system retrieved within the pool, of which nothing is lost but nothing is gained."""
    for who, judgments in ("the crowd", crowd), ("experts", experts):
        outside = count_outside(pool, judgments, who)
        if outside:
            yield f"{counted(outside, 'document')} that {who} judged are outside the pool and are left out"


def count_outside(pool: Judgments, judgments: Judgments | None, who: str) -> int:
    """How many documents were judged that the pool lacks; all of them would be a slip."""
    if judgments is None or not len(judgments.grade):
        return 0
    graded = np.unique(judgments.item)
    outside = int((find_items(judgments, pool)[graded] < 0).sum())
    if outside == len(graded):
        raise DataError(
            f"none of the {counted(len(graded), 'document')} that {who} judged is in the pool of these runs: are "
            "topics and documents written alike in both, and is the pool deep enough?"
        )
    return outside


class Stage(NamedTuple):
    """Whether an item of one grade has the next one, too."""

    relevance: Relevance
    evidence: Evidence  # of the items that are unsure


@dataclass(frozen=True, eq=False, kw_only=True)
class Belief:
    """Chances of grades for every item of a pool, from which whole sets of grades are drawn."""

    grade: GradeArray  # (item,) by experts, else -1
    unsure: LongArray  # items that experts have not judged
    stages: tuple[Stage, ...]  # one for each grade above 0

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.grade, self.unsure)

    @property
    def probability(self) -> FloatArray:
        """Of each grade, (item, grade)."""
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
        """Grades (item, draw): each column another world that what is known leaves possible."""
        drawn = np.repeat(self.grade[:, None], draws, axis=1)
        total = reached = self.stages[0].relevance.draw(self.stages[0].evidence, draws, rng)
        for stage in self.stages[1:]:
            reached = reached * stage.relevance.draw(stage.evidence, draws, rng)
            total = total + reached
        drawn[self.unsure] = total
        return drawn

    def limit(self, needed: BoolArray) -> Belief:
        """The same where only some items (item,) count: of the others, what no expert has judged is worth nothing."""
        kept = needed[self.unsure]
        rows = np.flatnonzero(kept)
        return replace(
            self,
            grade=np.where((self.grade < 0) & ~needed, 0, self.grade).astype(np.int8),
            unsure=self.unsure[kept],
            stages=tuple(Stage(stage.relevance, stage.evidence.take(rows)) for stage in self.stages),
        )


def form_belief(alignment: Alignment, combined: Combined) -> Belief:
    """Learn from experts' grades what is relevant, and how far the crowd is right where they have checked it.

    The crowd's word is evidence, but teaches nothing: what it errs on would be learnt too.
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


def _gather(alignment: Alignment, items: int) -> Evidence:
    """How the runs rank each item, and which systems have it.

    A system's load falls with the rank; squares of an item's loads sum to 1.
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
    return Evidence(
        x=np.column_stack([np.ones(items), scaled]),
        start=np.searchsorted(item, np.arange(items + 1)),
        system=system[order].astype(np.int32),
        load=load / norm[item],
        topic=np.repeat(topics, np.diff(alignment.item_start)),
    )


def _append_word(evidence: Evidence, combined: Combined, grade: int) -> Evidence:
    """The same with what the crowd says of a grade, given the one below: whether it says anything, and its log odds."""
    below = combined.crowd_probability[:, grade - 1 :].sum(axis=1)
    told = combined.crowd & (below > 0) & (grade <= combined.crowd_top)
    share = combined.crowd_probability[:, grade:].sum(axis=1) / np.where(below > 0, below, 1.0)
    held = np.clip(share, 1 - MOST, MOST)
    odds = np.where(told, np.log(held / (1 - held)), 0.0)
    return evidence._replace(x=np.column_stack([evidence.x, told, odds]))
