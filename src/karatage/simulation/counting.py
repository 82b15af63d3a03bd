"""Counts of a crowd's answers by gold grade, and judges' confusion from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from karatage.data.axes import FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments, match_gold
from karatage.errors import DataError


@dataclass(frozen=True, eq=False)
class Evidence:
    """Judges with gold, renumbered, and their rows on items with gold."""

    judge: IntArray  # (row,)
    item: IntArray  # (row,)
    topic: IntArray  # (row,)
    gold: GradeArray  # (row,)
    said: GradeArray  # (row,)
    grades: int
    has_topics: bool
    names: tuple[str, ...]  # (judge,)
    contribution: FloatArray  # (judge,) share of the items of the topics worked on, with gold or not
    unknown: int  # judges without any item that has gold

    @staticmethod
    def of(judgments: Judgments, gold: Judgments) -> Evidence:
        """Meet judgments and gold."""
        settled = judgments.settle()
        known = match_gold(settled, gold)
        rows = np.flatnonzero(known[settled.item] >= 0)
        if not rows.size:
            raise DataError("judgments and gold share no item: check that items are written alike in both")
        truth = known[settled.item[rows]]
        for relevant, what in (True, "relevant"), (False, "not relevant"):
            if not ((truth > 0) == relevant).any():
                raise DataError(
                    f"no judged item is {what} by gold, so one of the two rates of judges cannot be learned; "
                    "add gold items of that kind"
                )
        present, judge = np.unique(settled.judge[rows], return_inverse=True)
        return Evidence(
            judge=judge.astype(np.int32),
            item=settled.item[rows],
            topic=settled.item_topic[settled.item[rows]],
            gold=truth,
            said=settled.grade[rows],
            grades=max(settled.top_grade, gold.top_grade, 1) + 1,
            has_topics=settled.has_topics,
            names=tuple(settled.judges[k] for k in present),
            contribution=_find_contributions(settled)[present],
            unknown=len(settled.judges) - len(present),
        )

    @property
    def judges(self) -> int:
        """How many."""
        return len(self.names)

    @cached_property
    def relevant(self) -> LongArray:
        """Whether gold says so, (row,) 0 or 1."""
        return (self.gold > 0).astype(np.int64)

    @cached_property
    def right(self) -> LongArray:
        """Whether the judge agrees with gold on relevance, (row,) 0 or 1."""
        found: LongArray = ((self.said > 0) == (self.gold > 0)).astype(np.int64)
        return found

    @cached_property
    def seen(self) -> LongArray:
        """Items that are not relevant and that are, (judge, 2)."""
        return _count(self.judge * 2 + self.relevant, self.judges * 2).reshape(-1, 2)

    @cached_property
    def agreed(self) -> LongArray:
        """Of these, the ones where the judge agrees with gold, (judge, 2)."""
        return _count((self.judge * 2 + self.relevant)[self.right > 0], self.judges * 2).reshape(-1, 2)


def _count(key: LongArray, size: int) -> LongArray:
    return np.bincount(key, minlength=size).astype(np.int64)


def _find_contributions(judgments: Judgments) -> FloatArray:
    """Items that each judge graded, over the items of the topics it worked on."""
    topic = judgments.item_topic[judgments.item].astype(np.int64)
    graded = np.unique(judgments.item)
    size = _count(judgments.item_topic[graded].astype(np.int64), len(judgments.topics))
    pair = np.unique(judgments.judge * np.int64(len(judgments.topics)) + topic)
    offered = np.bincount(pair // len(judgments.topics), weights=size[pair % len(judgments.topics)])
    done = _count(judgments.judge.astype(np.int64), len(offered))
    found: FloatArray = done / np.maximum(offered, 1)
    return np.pad(found, (0, len(judgments.judges) - len(found)))


_LEAST: Final = 1.0  # concentrations
_MOST: Final = 10_000.0
_KNOWN: Final = 2.0  # judges' worth of the crowd's own spread in that of a kind


def learn_confusion(evidence: Evidence, judge: LongArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean confusion (archetype, gold, said), and the concentration (archetype,) of the Dirichlet around its rows.

    A judge's rows are shrunk to the crowd's by one judgment each. The concentration follows from how far judges' rows
    are
    from the mean beyond what chance explains: the variances of a Dirichlet are m (1 - m) / (1 + concentration).

    Args:
        evidence: Who said what.
        judge: The judges that count.
        weight: How far each belongs to each archetype, (judge, archetype).
    """
    size = evidence.grades
    key = (evidence.judge.astype(np.int64) * size + evidence.gold) * size + evidence.said
    count = np.bincount(key, minlength=evidence.judges * size * size).reshape(-1, size, size).astype(float)
    crowd = count.sum(axis=0) + np.eye(size) * 0.5 + 0.5 / size
    crowd /= crowd.sum(axis=1, keepdims=True)
    count = count[judge]
    number = count.sum(axis=2)
    row = (count + crowd) / (number[:, :, None] + 1)
    whole = weight.sum(axis=0)
    mean = np.stack([(weight[:, [k]] * row.reshape(len(row), -1)).sum(axis=0) / whole[k] for k in range(len(whole))])
    mean = mean.reshape(-1, size, size)
    excess, room = np.empty(len(whole)), np.empty(len(whole))
    for k in range(len(whole)):
        seen = weight[:, k, None] * (number > 1)  # (judge, gold)
        free = np.clip(1 - (weight[:, k] ** 2).sum() / whole[k] ** 2, 0, 1)  # the mean is the judges' own
        spread = ((row - mean[k]) ** 2).sum(axis=2)
        chance = (row * (1 - row)).sum(axis=2) / np.maximum(number - 1, 1)
        excess[k] = (seen * (spread - free * chance)).sum()
        room[k] = free * (seen * (mean[k] * (1 - mean[k])).sum(axis=1)).sum()
    overall = max(float(excess.sum()) / max(float(room.sum()), 1e-9), 1 / (1 + _MOST))
    known = _KNOWN * float((mean * (1 - mean)).sum(axis=2).mean()) * size
    share = np.clip((excess + known * overall) / (room + known), 1 / (1 + _MOST), 1 / (1 + _LEAST))
    return mean, 1 / share - 1
