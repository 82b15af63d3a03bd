"""Each judge's habits: how much, how leniently and how steadily it grades, and how often it is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.agreement.intervals import measure_means, share_intervals
from karatage.agreement.pairs import kappas_of
from karatage.data.audit import ItemCount
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import hear_others

ENOUGH_ABOVE = 5  # gold items above all that a judge ever said, for its scale to be called short


@dataclass(frozen=True, eq=False)
class Panel:
    """Settled judgments with the grades of the others and of gold for each row's item."""

    judgments: Judgments  # one grade for each judge and item
    grades: int  # of the judges and of gold
    known: GradeArray  # (item,) gold's grade, -1 = none
    choice: GradeArray  # (row,) the commonest grade of the other judges, -1 = tied or none
    others: FloatArray  # (row,) mean grade of the other judges, NaN = none

    @staticmethod
    def of(judgments: Judgments, known: GradeArray) -> Panel:
        """Find, for each grade, what the other judges of that item say."""
        settled = judgments.settle()
        grades = int(max(settled.grade.max(initial=0), known.max(initial=0))) + 1
        choice = np.empty(len(settled.grade), np.int8)
        others = np.empty(len(settled.grade))
        hear_others(settled.row_start, settled.grade, grades, choice, others)
        return Panel(settled, grades, known, choice, others)

    @property
    def gold(self) -> GradeArray:
        """Gold's grade of each row's item, -1 = none."""
        return self.known[self.judgments.item]

    @property
    def topic(self) -> IntArray:
        """The topic of each row's item."""
        return self.judgments.item_topic[self.judgments.item]

    @property
    def judges(self) -> int:
        """How many there are."""
        return len(self.judgments.judges)

    @property
    def graded(self) -> bool:
        """Whether there are more than two grades, so that it counts how far a grade is off."""
        return self.grades > 2

    @property
    def gold_items(self) -> int:
        """Graded items with gold."""
        return int(((np.diff(self.judgments.row_start) > 0) & (self.known >= 0)).sum())

    @property
    def has_gold(self) -> bool:
        """Whether any of the items has gold."""
        return self.gold_items > 0

    def count_grades(self) -> LongArray:
        """How often each item was given each grade, (item, grade)."""
        key = self.judgments.item * np.int64(self.grades) + self.judgments.grade
        return np.bincount(key, minlength=len(self.known) * self.grades).reshape(-1, self.grades)

    def count_items(self) -> tuple[ItemCount, ...]:
        """Items by the number of their judges, and on how many of them all judges agree."""
        grade, start = self.judgments.grade, self.judgments.row_start
        heard = np.diff(start)
        differs = np.r_[False, grade[1:] != grade[:-1]]  # from the row before, which may be of another item
        differs[start[:-1][heard > 0]] = False
        alike = np.bincount(self.judgments.item, differs, len(heard)) == 0
        items, agreed = np.bincount(heard), np.bincount(heard[alike], minlength=int(heard.max()) + 1)
        return tuple(
            ItemCount(int(judges), int(items[judges]), int(agreed[judges]) if judges > 1 else None)
            for judges in np.flatnonzero(items)
        )

    def count_against(self, reference: GradeArray) -> LongArray:
        """What each judge said where `reference` (row,) says something: (judge, reference's grade, said)."""
        at = np.flatnonzero(reference >= 0)
        key = self.judgments.judge[at] * np.int64(self.grades) + reference[at]
        flat = np.bincount(key * self.grades + self.judgments.grade[at], minlength=self.judges * self.grades**2)
        return flat.reshape(self.judges, self.grades, self.grades).astype(np.int64)


@dataclass(frozen=True, eq=False)
class GoldAccuracy:
    """Judges against gold: (judge,) each, NaN where there is no gold."""

    panel: Panel
    table: LongArray  # (judge, gold's grade, said)

    @staticmethod
    def of(panel: Panel) -> GoldAccuracy:
        """Every judge of the panel."""
        return GoldAccuracy(panel, panel.count_against(panel.gold))

    @property
    def items(self) -> LongArray:
        """Gold items graded."""
        items: LongArray = self.table.sum(axis=(1, 2))
        return items

    @property
    def right(self) -> LongArray:
        """Gold items graded as gold did."""
        right: LongArray = np.trace(self.table, axis1=1, axis2=2)
        return right

    @property
    def share(self) -> FloatArray:
        """The share of gold items graded as gold did."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.right / self.items

    def kappa(self, *, weighted: bool = False) -> FloatArray:
        """Cohen's kappa with gold, plain or with quadratic weights."""
        return kappas_of(self.table, "quadratic" if weighted else None)

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """Wilson bounds of the share, that count topics."""
        _, low, high = self._bound(self.panel.gold >= 0)
        return low, high

    def recall(self, grade: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How often gold's `grade` is recognised, with Wilson bounds: TPR for grade 1 of 2, TNR for grade 0."""
        return self._bound(self.panel.gold == grade)

    def precision(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The share of a judge's grades 1 that gold has too, with Wilson bounds; for two grades."""
        return self._bound((self.panel.gold >= 0) & (self.panel.judgments.grade == 1))

    def _bound(self, chosen: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        rows, at = self.panel.judgments, np.flatnonzero(chosen)
        right = (rows.grade[at] == self.panel.gold[at]).astype(float)
        return share_intervals(rows.judge[at], right, self.panel.judges, self.panel.topic[at])


def grade_shares(panel: Panel) -> FloatArray:
    """How often a judge gives each grade, (judge, grade)."""
    key = panel.judgments.judge * np.int64(panel.grades) + panel.judgments.grade
    count = np.bincount(key, minlength=panel.judges * panel.grades).reshape(panel.judges, panel.grades)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: FloatArray = count / count.sum(axis=1, keepdims=True)
    return shares


def share_alike(panel: Panel) -> FloatArray:
    """How often another judge of an item gives it the judge's own grade, over all others of all its items, (judge,).

    That is the mean over its pairs, weighted by shared items, and needs no pairs.
    """
    rows = panel.judgments
    alike = panel.count_grades()[rows.item, rows.grade] - 1
    others = np.diff(rows.row_start)[rows.item] - 1
    with np.errstate(invalid="ignore", divide="ignore"):
        share: FloatArray = np.bincount(rows.judge, alike, panel.judges) / np.bincount(rows.judge, others, panel.judges)
    return share


def leniency(panel: Panel, *, gold: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A judge's grade less the mean of the others on the same items (or less gold's), with t bounds."""
    reference = np.where(panel.gold >= 0, panel.gold, np.nan) if gold else panel.others
    at = np.flatnonzero(np.isfinite(reference))
    gap: FloatArray = panel.judgments.grade[at].astype(float) - reference[at]
    found = measure_means(panel.judgments.judge[at], gap, panel.judges, panel.topic[at])
    return found.value, *found.bounds


def self_agreement(judgments: Judgments) -> tuple[LongArray, FloatArray]:
    """Items that a judge graded more than once, and the share of pairs of its grades for them that are alike."""
    every = judgments.every
    pair = every.item.astype(np.int64) * len(every.judges) + every.judge
    fresh = np.r_[True, pair[1:] != pair[:-1]]
    group = np.cumsum(fresh) - 1
    size = np.bincount(group)
    judge = every.judge[fresh]
    again = np.flatnonzero(size[group] > 1)
    grades = int(every.grade.max()) + 1
    said, times = np.unique(group[again] * np.int64(grades) + every.grade[again], return_counts=True)
    judges = len(every.judges)
    alike = np.bincount(judge[said // grades], times * (times - 1), judges)
    pairs = np.bincount(judge, size * (size - 1), judges)
    repeated = np.bincount(judge[size > 1], minlength=judges)
    with np.errstate(invalid="ignore", divide="ignore"):
        return repeated, np.where(pairs > 0, alike / pairs, np.nan)


def find_below_gold(panel: Panel) -> dict[int, int]:
    """Judges who never go as high as gold does on several of their items: {judge: highest grade}.

    Who only ever said 0 has no short scale, but said nothing.
    """
    judge, top = panel.judgments.judge, _highest_grades(panel)
    above = np.bincount(judge[panel.gold > top[judge]], minlength=panel.judges)
    return {int(j): int(top[j]) for j in np.flatnonzero((above >= ENOUGH_ABOVE) & (top > 0))}


def _highest_grades(panel: Panel) -> LongArray:
    top = np.full(panel.judges, -1)
    np.maximum.at(top, panel.judgments.judge, panel.judgments.grade)
    return top
