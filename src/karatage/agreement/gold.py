"""Gold held against the judges: whether it is a copy of one of them, or turned round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.kernels.agreement import binomial_upper
from karatage.text import list_names

ENOUGH = 50  # items in common, for equal grades to be called a copy
VARIED = 5  # of them with another grade than gold's commonest: equal grades of one kind are no copy
CHANCE = 0.001  # of calling gold inverted, for a judge who is a coin; EACH is the same of one of its two rates
EACH = 0.05
FEW = 10  # items of a kind, below which a rate says nothing
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

    With some lowest relevant grades both rates, among relevant and among other gold items, are below one half by more
    than chance, and no judge has both at or above it. Gold's lowest relevant grade need not be the judges', or turning
    0, 1, 2 round would leave the many 1s right. `known` (item,) is gold's grade of what is judged. -1 = no grade.
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
