"""Judges compared with gold: copies of gold, inverted gold, accuracy, and which of two judges is better."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.agreement.habits import Panel
from karatage.agreement.intervals import NOTHING, Interval, measure_means, share_intervals
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.estimate import wilson_interval
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import binomial_upper
from karatage.text import list_names

ENOUGH = 50  # items in common, for equal grades to be called a copy
VARIED = 5  # of them with another grade than gold's commonest: equal grades of one kind are no copy
CHANCE = 0.001  # of calling gold inverted, for a random judge; EACH is the same for one of its two rates
EACH = 0.05
FEW = 10  # items of a kind, below which a rate says nothing
INDEPENDENT_GOLD = (
    "have gold graded by someone who does not see these grades; if it was, grade more gold items until the two differ "
    "on one, which shows that gold is not a copy"
)


class Copy(NamedTuple):
    """A judge who says the same as gold."""

    judge: int
    items: int
    contested: bool  # whether these are the items on which judges differ, rather than all in common

    @property
    def where(self) -> str:
        """On which items."""
        return f"all {self.items:,} gold items {'on which judges differ' if self.contested else 'they have in common'}"


class Inversion(NamedTuple):
    """How often judges agree with gold, by gold's kind of item: below one half for both."""

    level: int  # gold's lowest relevant grade
    judged: int  # the judges'
    top: int  # the highest grade
    relevant: int
    right_relevant: int
    others: int
    right_others: int

    @property
    def finding(self) -> str:
        """What was seen."""
        return (
            f"gold agrees with no judge: the judges say {self.judged} or more of "
            f"{self.right_relevant / self.relevant:.0%} of {self.relevant:,} items that gold grades {self.level} or "
            f"more, and less of {self.right_others / self.others:.0%} of {self.others:,} others, worse than chance"
        )

    @property
    def advice(self) -> str:
        """What to do."""
        turned = ",".join(f"{grade}={self.top - grade}" for grade in range(self.top + 1))
        return (
            f"if gold's grades are inverted, map them, e.g. --gold-grades {turned}; use --grades if those of "
            "the judges are inverted, and check that topics and documents mean the same in both files"
        )


def tell_copies(found: Sequence[Copy], judgments: Judgments) -> str:
    """The finding in words."""
    names = list_names([judgments.judges[copy.judge] for copy in found])
    return f"gold looks like a copy of {names}: same grade on {found[0].where}"


def find_copies_of_gold(judgments: Judgments, known: GradeArray) -> list[Copy]:
    """Judges equal to gold on every item in common, or on every such item on which some judges differ.

    `known` (item,) is gold's grade, -1 = none.
    """
    rows = judgments.settle()
    lowest, highest = np.full(len(known), 127), np.full(len(known), -1)
    np.minimum.at(lowest, rows.item, rows.grade)
    np.maximum.at(highest, rows.item, rows.grade)
    gold = known[rows.item]
    shared, contested = gold >= 0, (gold >= 0) & (lowest < highest)[rows.item]
    found: dict[int, Copy] = {}
    for chosen, only in ((contested, True), (shared, False)):
        items, alike = (_count(rows, which) for which in (chosen, chosen & (rows.grade == gold)))
        for j in np.flatnonzero((items >= ENOUGH) & (alike == items)):
            grades = np.bincount(gold[chosen & (rows.judge == j)])
            if items[j] - grades.max() >= VARIED:
                found[int(j)] = Copy(int(j), int(items[j]), only)
    return [found[j] for j in sorted(found)]


def find_inversion(said: GradeArray, gold: GradeArray, judgments: Judgments, known: GradeArray) -> Inversion | None:
    """Whether gold is inverted: for grades `said` (any,) where it says `gold` (any,), and for every single judge.

    There must be lowest relevant grades, of gold and of the judges, for which two rates are below one half by more than
    chance: the rates among relevant and among other gold items. No judge may have both at or above it. The two grades
    may differ; else the many 1s would be right if 0, 1, 2 were inverted. `known` (item,) is gold's grade of the judged
    items. -1 = no grade.
    """
    both = (said >= 0) & (gold >= 0)
    heard, right = said[both], gold[both]
    top = int(max(heard.max(initial=0), right.max(initial=0)))
    joint = np.bincount(right.astype(np.int64) * (top + 1) + heard, minlength=(top + 1) ** 2).reshape(top + 1, top + 1)
    above = joint[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1]  # (gold, said) at least so high
    relevant = above[:, :1]
    others, right_others = above[0, 0] - relevant, above[0, 0] - relevant - above[:1] + above
    below = (2 * above < relevant) & (2 * right_others < others) & (np.minimum(relevant, others) >= FEW)
    below[0] = below[:, 0] = False
    for level, judged in sorted(np.argwhere(below).tolist(), key=lambda pair: abs(pair[0] - pair[1])):
        kinds = [(relevant[level, 0], above[level, judged]), (others[level, 0], right_others[level, judged])]
        chance = [binomial_upper(int(n - hits), int(n), 0.5) for n, hits in kinds]
        unlikely = max(chance) < EACH and math.prod(chance) < CHANCE / top**2
        if unlikely and not _agrees(judgments, known, level, judged).any():
            return Inversion(level, judged, top, *(int(count) for kind in kinds for count in kind))
    return None


def _agrees(judgments: Judgments, known: GradeArray, level: int, judged: int) -> BoolArray:
    """Judges (judge,) right about half or more of both kinds of gold items."""
    gold = known[judgments.item]
    agrees = np.ones(len(judgments.judges), bool)
    for kind in (True, False):
        chosen = (gold >= 0) & ((gold >= level) == kind)
        items = _count(judgments, chosen)
        right = _count(judgments, chosen & ((judgments.grade >= judged) == kind))
        agrees &= (items >= FEW) & (2 * right >= items)
    return agrees


def _count(judgments: Judgments, chosen: BoolArray) -> LongArray:
    """How many of these rows each judge has, (judge,)."""
    return np.bincount(judgments.judge[chosen], minlength=len(judgments.judges))


FOLDS = 5


@dataclass(frozen=True, eq=False)
class Picked:
    """Who was picked on the other folds, and how the pick did on each gold item of its fold."""

    names: tuple[str, ...]  # most often picked first
    right: FloatArray  # (item,) 1 = as gold, NaN = no gold, or not graded by the pick
    grade: GradeArray  # (item,) what the pick said, -1 where it said nothing


class Gain(NamedTuple):
    """How much more often one is right than another."""

    items: int  # that both have
    topics: int  # that the interval counts, 0 = it counts items
    interval: Interval


def share_right(right: FloatArray, topic: IntArray) -> Interval:
    """Mean of `right` (item,) over the items that have a value, with Wilson bounds that count topics."""
    at = np.flatnonzero(np.isfinite(right))
    if at.size == 0:
        return NOTHING
    share, low, high = share_intervals(np.zeros(at.size, np.int32), right[at], 1, topic[at])
    return Interval(float(share[0]), float(low[0]), float(high[0]))


def pick_judge(panel: Panel, fold: IntArray) -> Picked:
    """On each fold the judge that is best on the others, by the lower Wilson bound.

    Only those who graded at least half as many gold items as the most active judge can replace a panel.
    """
    rows, gold = panel.judgments, panel.gold
    at = np.flatnonzero(gold >= 0)
    right = (rows.grade[at] == gold[at]).astype(float)
    folds = int(fold.max(initial=0)) + 1
    key = rows.judge[at] * np.int64(folds) + fold[rows.item[at]]
    hits: FloatArray = np.bincount(key, right, panel.judges * folds).reshape(-1, folds).astype(float)
    size = np.bincount(key, minlength=panel.judges * folds).reshape(-1, folds).astype(float)
    active = size.sum(axis=1, keepdims=True) >= size.sum(axis=1).max(initial=0) / 2
    chosen = _choose(hits * active, size * active)
    outcome, said = np.full(len(panel.known), np.nan), np.full(len(panel.known), -1, np.int8)
    of_chosen = rows.judge[at] == chosen[fold[rows.item[at]]]
    outcome[rows.item[at[of_chosen]]] = right[of_chosen]
    said[rows.item[at[of_chosen]]] = rows.grade[at[of_chosen]]
    return Picked(_rank(chosen, rows.judges), outcome, said)


def pick_merge(right: dict[str, FloatArray], said: dict[str, GradeArray], fold: IntArray) -> Picked:
    """On each fold the merge that is best on the others; for each, `right` (NaN = no gold) and the grade `said`."""
    names, table = tuple(right), np.stack(list(right.values()))
    folds = int(fold.max(initial=0)) + 1
    seen = np.isfinite(table)
    hits = np.stack([np.bincount(fold[s], row[s], folds) for row, s in zip(table, seen, strict=True)]).astype(float)
    size = np.stack([np.bincount(fold[s], minlength=folds) for s in seen]).astype(float)
    chosen = _choose(hits, size)
    at = chosen[fold], np.arange(table.shape[1])
    return Picked(_rank(chosen, names), table[at], np.stack(list(said.values()))[at])


def _choose(hits: FloatArray, size: FloatArray) -> IntArray:
    """For each fold, the best on the other folds, (contender, fold) counts; -1 where no contender has any."""
    others = size.sum(axis=1, keepdims=True) - size
    low, _ = wilson_interval(hits.sum(axis=1, keepdims=True) - hits, others)
    low = np.where(others > 0, low, -1.0)
    chosen: IntArray = np.where(low.max(axis=0) >= 0, low.argmax(axis=0), -1).astype(np.int32)
    return chosen


def _rank(chosen: IntArray, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name, _ in Counter(names[c] for c in chosen if c >= 0).most_common())


def compare_right(ours: FloatArray, theirs: FloatArray, topic: IntArray) -> Gain:
    """The mean of ours less theirs, (item,) each, over the items that both have, with a t interval."""
    at = np.flatnonzero(np.isfinite(ours) & np.isfinite(theirs))
    if at.size == 0:
        return Gain(0, 0, NOTHING)
    found = measure_means(np.zeros(at.size, np.int32), ours[at] - theirs[at], 1, topic[at])
    low, high = found.bounds
    return Gain(int(at.size), int(found.topics[0]), Interval(float(found.value[0]), float(low[0]), float(high[0])))
