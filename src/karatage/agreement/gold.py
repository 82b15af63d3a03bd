"""Gold held against the judges: whether it is a copy of one of them, or turned round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import binomial_upper
from karatage.wording import list_names

ENOUGH = 50  # items in common, for equal grades to be called a copy
VARIED = 5  # of them with another grade than gold's commonest: equal grades of one kind are no copy
CHANCE = 0.001  # of calling gold inverted that is not
FEW = 10  # items of a kind, below which a judge's rate says nothing
INDEPENDENT_GOLD = (
    "have gold graded by someone who does not see these grades; if it was, grade more gold items: one on which the two "
    "differ shows that it is no copy"
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

    level: int  # the lowest relevant grade
    top: int  # the highest grade
    relevant: int
    right_relevant: int
    others: int
    right_others: int

    @property
    def finding(self) -> str:
        """What was seen."""
        return (
            f"gold agrees with no judge: the judges are right about {self.right_relevant / self.relevant:.0%} of "
            f"{self.relevant:,} relevant (grade {self.level} or more) and {self.right_others / self.others:.0%} of "
            f"{self.others:,} other gold grades, worse than a coin"
        )

    @property
    def advice(self) -> str:
        """What to do."""
        turned = ",".join(f"{grade}={self.top - grade}" for grade in range(self.top + 1))
        return (
            f"if gold's grades are inverted, say what they mean, e.g. --gold-grades {turned}; use --grades if those of "
            "the judges are inverted, and check that topics and documents of both files belong together"
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
    """Whether gold is turned round: for grades `said` (any,) where it says `gold` (any,), and for every single judge.

    At some lowest relevant grade both rates, among relevant and among other gold items, are below one half by more than
    chance, and no judge has both at or above it. `known` (item,) is gold's grade of what is judged. -1 = no grade.
    """
    both = (said >= 0) & (gold >= 0)
    heard, right = said[both], gold[both]
    top = int(max(heard.max(initial=0), right.max(initial=0)))
    for level in range(1, top + 1):
        counts = [_tally((right >= level) == kind, (heard >= level) == kind) for kind in (True, False)]
        below = [binomial_upper(n - hits, n, 0.5) < CHANCE / top for n, hits in counts]
        if all(below) and not _agrees(judgments, known, level).any():
            return Inversion(level, top, *counts[0], *counts[1])
    return None


def _tally(chosen: BoolArray, hit: BoolArray) -> tuple[int, int]:
    return int(chosen.sum()), int((chosen & hit).sum())


def _agrees(judgments: Judgments, known: GradeArray, level: int) -> BoolArray:
    """Judges (judge,) right about half or more of both kinds of gold items."""
    gold = known[judgments.item]
    agrees = np.ones(len(judgments.judges), bool)
    for kind in (True, False):
        chosen = (gold >= 0) & ((gold >= level) == kind)
        items = _count(judgments, chosen)
        right = _count(judgments, chosen & ((judgments.grade >= level) == kind))
        agrees &= (items >= FEW) & (2 * right >= items)
    return agrees


def _count(judgments: Judgments, chosen: BoolArray) -> LongArray:
    """How many of these rows each judge has, (judge,)."""
    return np.bincount(judgments.judge[chosen], minlength=len(judgments.judges))
