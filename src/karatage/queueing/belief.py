"""What each item of a pool may be worth: sure where experts spoke, else guessed, with the doubt about the guess."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray, freeze
from karatage.judging.features import find_features
from karatage.judging.relevance import Evidence, Prior, Relevance, fit_relevance
from karatage.queueing.combining import Combined

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
MOST = 0.98  # chance that a crowd of one mind may claim


@dataclass(frozen=True, eq=False, kw_only=True)
class Belief:
    """Chances of grades for every item of a pool, from which whole sets of grades are drawn."""

    grade: GradeArray  # (item,) by experts, else -1
    unsure: LongArray  # items that experts have not judged
    relevance: Relevance
    evidence: Evidence  # of the items that are unsure
    given: FloatArray  # (item, grade) chance of each grade where relevant; the first column is 0

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.grade, self.unsure, self.given)

    @property
    def chance(self) -> FloatArray:
        """That each item is relevant, (item,)."""
        chance = (self.grade > 0).astype(float)
        chance[self.unsure] = self.relevance.chance(self.evidence)
        return chance

    def draw(self, draws: int, rng: np.random.Generator) -> GradeArray:
        """Grades (item, draw): each column another world that what is known leaves possible."""
        drawn = np.repeat(self.grade[:, None], draws, axis=1)
        relevant = self.relevance.draw(self.evidence, draws, rng)
        drawn[self.unsure] = relevant if self.given.shape[1] == 2 else relevant * self._draw_grades(draws, rng)
        return drawn

    def limit(self, needed: BoolArray) -> Belief:
        """The same where only some items (item,) count: of the others, what no expert has judged is worth nothing."""
        kept = needed[self.unsure]
        return replace(
            self,
            grade=np.where((self.grade < 0) & ~needed, 0, self.grade).astype(np.int8),
            unsure=self.unsure[kept],
            evidence=self.evidence.take(np.flatnonzero(kept)),
        )

    def _draw_grades(self, draws: int, rng: np.random.Generator) -> GradeArray:
        grades = np.ones((len(self.unsure), draws), np.int8)
        bound = np.cumsum(self.given[self.unsure], axis=1)
        luck = rng.random(grades.shape)
        for k in range(1, bound.shape[1] - 1):
            grades += luck >= bound[:, k, None]
        return grades


def form_belief(alignment: Alignment, combined: Combined) -> Belief:
    """Learn from experts' grades what is relevant, and how far the crowd is right where they have checked it."""
    evidence = _gather(alignment, combined)
    grade = np.where(combined.expert, combined.grade, -1).astype(np.int8)
    judged = np.flatnonzero(combined.expert)  # the crowd's word is evidence, but what it errs on must not teach
    relevance = fit_relevance(
        evidence.take(judged), grade[judged], PRIOR, systems=len(alignment.systems), topics=len(alignment.topics)
    )
    unsure = np.flatnonzero(~combined.expert)
    left = evidence.take(unsure)
    return Belief(
        grade=grade,
        unsure=unsure,
        relevance=relevance,
        evidence=left,
        given=_share_grades(combined, unsure, relevance.chance(left)),
    )


def _gather(alignment: Alignment, combined: Combined) -> Evidence:
    """How the runs rank each item, what the crowd said of it, and which systems have it.

    A system's load falls with the rank; squares of an item's loads sum to 1.
    """
    items = len(combined.grade)
    found = find_features(alignment.ranked, items)
    columns = np.stack(
        [np.log(0.01 + found.meta_ap), np.log1p(found.weighted_retrieval), -np.log(found.average_rank)], axis=1
    )
    spread = columns.std(axis=0)
    scaled = (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    held = np.clip(1 - combined.crowd_probability[:, 0], 1 - MOST, MOST)
    odds = np.where(combined.crowd, np.log(held / (1 - held)), 0.0)
    topics = np.arange(len(alignment.topics), dtype=np.int32)
    _, system, rank = np.nonzero(alignment.ranked >= 0)
    item = alignment.ranked[alignment.ranked >= 0]
    order = np.lexsort((system, item))
    item, load = item[order], 1 / np.log2(2.0 + rank[order])
    norm = np.sqrt(np.bincount(item, load**2, minlength=items))
    return Evidence(
        x=np.column_stack([np.ones(items), scaled, combined.crowd, odds]),
        start=np.searchsorted(item, np.arange(items + 1)),
        system=system[order].astype(np.int32),
        load=load / norm[item],
        topic=np.repeat(topics, np.diff(alignment.item_start)),
    )


def _share_grades(combined: Combined, unsure: LongArray, chance: FloatArray) -> FloatArray:
    """Which grade a relevant item has: as the crowd says, or as relevant items have on the whole."""
    grades = combined.probability.shape[1]
    told = combined.crowd[unsure]
    inner = combined.crowd_probability[unsure[told]][:, 1:]
    total = inner.sum(axis=1, keepdims=True)
    inner = inner / np.where(total > 0, total, 1.0)
    count = np.ones(grades - 1)  # one of each, as long as nothing is known
    count += np.bincount(combined.grade[combined.expert], minlength=grades)[1:]
    count += (chance[told, None] * inner).sum(axis=0)
    given = np.zeros((len(combined.grade), grades))
    given[:, 1:] = count / count.sum()
    given[unsure[told], 1:] = np.where(total > 0, inner, count / count.sum())
    return given
