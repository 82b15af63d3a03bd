"""What is known of an item before it is judged, or judged again: how runs retrieve it, what judges said so far."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, IntArray
from karatage.data.judgments import Judgments
from karatage.errors import DataError
from karatage.kernels.retrieval import sum_ranks

DEPTH: Final = 1000  # N: ranks below do not count as retrieved
BANDS: Final = ((10, 10), (100, 5), (1000, 1))  # weighted retrieval: (last rank, points for a run that has it there)


class Features(NamedTuple):
    """How the runs retrieve each item; items that no run has in its first N ranks get 0, 0 and N + 1."""

    meta_ap: FloatArray  # (item,) mean over all runs of 1 + H_N - H_rank, 0 where the run does not have it
    weighted_retrieval: FloatArray  # (item,) 10 per run with it at ranks 1-10, 5 at 11-100, 1 at 101-1000
    average_rank: FloatArray  # (item,) mean over all runs, N + 1 where the run does not have it


class VoteFeatures(NamedTuple):
    """The grades of each item so far, with one pseudo-grade spread evenly over the scale."""

    mean_grade: FloatArray  # (item,) as a share of the top grade; .5 where nobody judged it
    doubt: FloatArray  # (item,) chance that two grades drawn like those so far differ


def find_features(ranked: IntArray, items: int) -> Features:
    """[COLLAB14] section 3.3's two features and the average rank, of items 0 to `items` - 1.

    `ranked` (topic, system, rank) holds item numbers, -1 for none. A run that lacks a topic retrieves none of it.
    """
    systems = ranked.shape[1]
    if not systems:
        raise DataError("there are no runs, so nothing tells which documents to judge first; give at least one run")
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
