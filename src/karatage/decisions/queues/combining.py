"""One grade for each item from experts, whose word stands, and a crowd, whose grades are merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from karatage.aggregation.registry import aggregate
from karatage.data.alignment import find_items, match_gold
from karatage.data.axes import BoolArray, FloatArray, GradeArray, freeze
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.text import counted


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
