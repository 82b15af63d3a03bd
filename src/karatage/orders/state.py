"""The state of judging: runs, what has been judged, and features of how documents are retrieved."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray, freeze
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.kernels.walking import sum_ranks


class Picks(NamedTuple):
    """Items to judge next, the most urgent first."""

    item: LongArray  # (pick,)
    pi: FloatArray  # (pick,) chance to be drawn; NaN where a rule picked, so that no chance is known


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgingState:
    """Rankings, and what is known so far of the items in them."""

    ranked: IntArray  # (topic, system, rank) item number, -1 = not in the pool or beyond the ranking's end
    item_start: LongArray  # (topic + 1,) items of topic t are item_start[t]:item_start[t+1]
    grade: GradeArray  # (item,) by experts, or what the crowd's grades were merged into; -1 = not graded
    open: BoolArray  # (item,) whether an order may pick it
    level: int = 1  # grade from which on a document is relevant
    disagreement: FloatArray | None = None  # (item,) predicted chance that judges disagree
    effect: FloatArray | None = None  # (item,) how much its gold would tell about undecided pairs of systems
    seed: int = 0

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.ranked, self.item_start, self.grade, self.open)

    @property
    def items(self) -> int:
        """How many items there are, open or not."""
        return len(self.grade)

    @cached_property
    def item_topic(self) -> IntArray:
        """The topic of each item."""
        return np.repeat(np.arange(len(self.item_start) - 1, dtype=np.int32), np.diff(self.item_start))


DEPTH: Final = 1000  # N: ranks below do not count as retrieved
BANDS: Final = ((10, 10), (100, 5), (1000, 1))  # weighted retrieval: (last rank, points for a run that has it there)


class Features(NamedTuple):
    """How the runs retrieve each item; items that no run has in its first N ranks get 0, 0 and N + 1."""

    meta_ap: FloatArray  # (item,) mean over all runs of 1 + H_N - H_rank, 0 where the run does not have it
    weighted_retrieval: FloatArray  # (item,) 10 per run with it at ranks 1-10, 5 at 11-100, 1 at 101-1000
    average_rank: FloatArray  # (item,) mean over all runs, N + 1 where the run does not have it


class VoteFeatures(NamedTuple):
    """The grades of each item so far, with one pseudo-grade spread evenly over the scale."""

    mean_grade: FloatArray  # (item,) as a share of the top grade; .5 where it was not judged
    doubt: FloatArray  # (item,) chance that two grades drawn like those so far differ


def find_features(ranked: IntArray, items: int) -> Features:
    """[COLLAB14] section 3.3's two features and the average rank, of items 0 to `items` - 1.

    `ranked` (topic, system, rank) holds item numbers, -1 for none. A run that lacks a topic retrieves none of it.
    """
    systems = ranked.shape[1]
    if not systems:
        raise DataError("there are no runs to order documents by; give at least one run")
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(DEPTH, 1, -1))][::-1]  # H_N - H_rank, summed from the small end
    rank = np.arange(1, DEPTH + 1)
    points = np.array([points for _, points in BANDS])[np.searchsorted([last for last, _ in BANDS], rank)]
    worth, score, total = sum_ranks(ranked, 1 + harmonic, points, items)
    return Features(worth / systems, score.astype(np.float64), total / systems)


def find_vote_features(judgments: Judgments) -> VoteFeatures:
    """How high and how divided the grades of each item are; repeated grades of a judge count once, the last."""
    items, grades = len(judgments.item_topic), judgments.top_grade + 1
    cell = judgments.item.astype(np.int64) * grades + judgments.grade
    share = np.bincount(cell, minlength=items * grades).reshape(items, grades) + 1 / grades
    share /= share.sum(axis=1, keepdims=True)
    mean_grade, same = np.zeros(items), np.zeros(items)
    for grade in range(grades):
        mean_grade += share[:, grade] * (grade / max(judgments.top_grade, 1))
        same += share[:, grade] ** 2
    return VoteFeatures(mean_grade, 1 - same)
