"""The best judge alone against every merge, without choosing and scoring on the same gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.agreement.habits import Panel
from karatage.agreement.intervals import NOTHING, Interval, measure_means, share_intervals
from karatage.data.axes import FloatArray, GradeArray, IntArray
from karatage.data.estimate import wilson_interval

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
