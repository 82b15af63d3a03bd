"""How far the scores under a judge are from those under others: five gaps, over all topics and in each.

Every gap lies in [0, 1], and 0 is "the same": [AWARE17] 4.3 and 4.4.1, read as its section 4.2 says. The others may be
random judges, who are drawn here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray, freeze, settle_ties
from karatage.data.judgments import Judgments
from karatage.kernels.correlation import add_bumps, compare_orders, sum_cross_entropies, sum_squares
from karatage.memory import spread
from karatage.random_streams import stream

# `likeness` is the complement of `kld`, kept apart: far from random judges, 1 - kld would lose all digits.
Bits = NDArray[np.uint8]  # one for each item and replicate: (item, replicate / 8)
Gap = Literal["fro", "rmse", "kld", "tau", "apc", "likeness"]
POINTS = 100
BANDWIDTH = 0.015
FLOOR = float(np.finfo(np.float64).tiny)
CLASSES = {"und": 0.05, "uni": 0.5, "ovr": 0.95}  # of random judges: the chance of a grade above 0
_ITEMS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Gaps:
    """Distances of judges from classes of random ones, each the mean over the replicates of the class."""

    classes: tuple[str, ...]
    single: dict[Gap, FloatArray]  # (judge, class)
    by_topic: dict[Gap, FloatArray]  # (judge, topic, class), NaN where the judge has no scores


class Distance(NamedTuple):
    """How far judges are from others by one gap."""

    single: FloatArray  # (judge,)
    by_topic: FloatArray  # (judge, topic), NaN where the judge has no scores


def measure_gaps(
    value: FloatArray, present: BoolArray, others: FloatArray, gaps: Collection[Gap]
) -> dict[Gap, Distance]:
    """The mean distance of each judge from `others` (replicate, topic, system).

    `value` (judge, topic, system) holds scores in [0, 1], `present` (judge, topic) where there are any: a judge is
    compared on those topics.
    """
    found = {gap: Distance(np.full(len(value), np.nan), np.full(present.shape, np.nan)) for gap in gaps}
    topics = range(present.shape[1])
    densities = spread(lambda t: find_heights(others[:, t]), topics) if {"kld", "likeness"} & set(found) else None

    def compare_topic(t: int) -> None:
        who = np.flatnonzero(present[:, t])
        own = np.ascontiguousarray(value[who, t])
        for gap, distance in _compare_rows(own, np.ascontiguousarray(others[:, t]), gaps).items():
            found[gap].by_topic[who, t] = distance.mean(axis=1)
        if densities:
            for gap, distance in _saturate(find_divergence(find_heights(own), densities[t]), gaps).items():
                found[gap].by_topic[who, t] = distance.mean(axis=1)

    def compare_group(group: tuple[LongArray, LongArray]) -> None:
        who, where = group
        seen = densities and [densities[t] for t in where]
        for gap, distance in compare_scores(value[np.ix_(who, where)], others[:, where], gaps, seen).items():
            found[gap].single[who] = distance.mean(axis=1)

    spread(compare_topic, topics)
    spread(compare_group, group_by_topics(present))
    return found


def compare_scores(
    x: FloatArray, y: FloatArray, gaps: Collection[Gap], densities: Sequence[FloatArray] | None = None
) -> dict[Gap, FloatArray]:
    """Distances over all topics of every member of `x` (judge, topic, system) and of `y`: (member of x, member of y).

    `densities` are those of `y` in each topic, where they are known.
    """
    found = _compare_rows(x.mean(axis=1), y.mean(axis=1), gaps)
    if "fro" in gaps:  # of all scores in one row
        found["fro"] = _compare_rows(x.reshape(len(x), -1), y.reshape(len(y), -1), ["fro"])["fro"]
    if "kld" in gaps or "likeness" in gaps:  # the density of all topics together is the mean of the topics' densities
        topics = range(x.shape[1])
        ours = sum((find_heights(x[:, t]) for t in topics), np.zeros((len(x), POINTS)))
        theirs = sum(densities or (find_heights(y[:, t]) for t in topics), np.zeros((len(y), POINTS)))
        found |= _saturate(find_divergence(ours, theirs), gaps)
    return found


def group_by_topics(present: BoolArray) -> list[tuple[LongArray, LongArray]]:
    """Judges who have scores on the same topics, and these topics."""
    patterns, group = np.unique(present, axis=0, return_inverse=True)
    return [
        (np.flatnonzero(group.ravel() == n), np.flatnonzero(topics)) for n, topics in enumerate(patterns) if any(topics)
    ]


def _compare_rows(x: FloatArray, y: FloatArray, gaps: Collection[Gap]) -> dict[Gap, FloatArray]:
    """Distances of rows of `x` and rows of `y` without densities; in a single row `fro` and `rmse` are the same."""
    found: dict[Gap, FloatArray] = {}
    size = x.shape[1]
    if "fro" in gaps or "rmse" in gaps:
        squares = np.zeros((len(x), len(y)))
        sum_squares(x, y, squares)
        found |= dict.fromkeys([gap for gap in ("fro", "rmse") if gap in gaps], np.sqrt(squares / size))
    if "tau" in gaps or "apc" in gaps:
        plain, weighted = compare_orders(settle_ties(x), settle_ties(y))
        if "tau" in gaps:
            found["tau"] = 1 - np.abs(plain) / max(size * (size - 1) / 2, 1)
        if "apc" in gaps:
            found["apc"] = 1 - np.minimum(np.abs(weighted) / max(size - 1, 1), 1)
    return found


def find_heights(value: FloatArray) -> FloatArray:
    """Density of each row on the grid, up to a factor: [AWARE17] (10)."""
    out = np.zeros((len(value), POINTS))
    add_bumps(np.clip(value, 0.0, 1.0), BANDWIDTH, out)
    return out


def find_divergence(x: FloatArray, y: FloatArray) -> FloatArray:
    """[AWARE17] (11): the Kullback-Leibler divergence of the densities in rows of `x` from those in rows of `y`."""
    p, q = (np.maximum(density / density.sum(axis=1, keepdims=True), FLOOR) for density in (x, y))
    crossed = np.empty((len(x), len(y)))
    sum_cross_entropies(p, np.log(q), crossed)
    divergence: FloatArray = np.maximum((p * np.log(p)).sum(axis=1)[:, None] + crossed, 0.0)
    return divergence


def _saturate(divergence: FloatArray, gaps: Collection[Gap]) -> dict[Gap, FloatArray]:
    """[AWARE17] (22) with beta = 1, which is `likeness`, and its complement: 0 for the same density."""
    found: dict[Gap, FloatArray] = {}
    if "kld" in gaps:
        found["kld"] = -np.expm1(-divergence)
    if "likeness" in gaps:
        found["likeness"] = np.exp(-divergence)
    return found


@dataclass(frozen=True, eq=False)
class RandomJudges:
    """Replicates of classes of random judges, [AWARE17] 4.2: each item relevant or not, one bit each."""

    bits: dict[str, Bits]
    replicates: int

    @staticmethod
    def draw(
        items: int,
        replicates: int,
        rng: np.random.Generator,
        rates: Mapping[str, float | FloatArray] = MappingProxyType(CLASSES),
    ) -> RandomJudges:
        """Draw them for a pool; every item is relevant with the rate of the class, or of each of its replicates."""
        bits = {}
        for name, rate in rates.items():
            packed = np.empty((items, (replicates + 7) // 8), np.uint8)
            for first in range(0, items, _ITEMS_AT_ONCE):
                rows = slice(first, min(first + _ITEMS_AT_ONCE, items))
                chance = rng.random((rows.stop - rows.start, replicates), np.float32)
                packed[rows] = np.packbits(chance < np.float32(rate), axis=1)
            freeze(packed)
            bits[name] = packed
        return RandomJudges(bits, replicates)


def shuffle_grades(judgments: Judgments, judge: int, replicates: int, seed: int) -> GradeArray:
    """A judge's grades shuffled within each topic, (item, replicate); -1 for items the judge has not graded.

    The stream depends on the grades, so that neither the judge's name nor its place matters.
    """
    rows = np.flatnonzero(judgments.judge == judge)
    item, grade = judgments.item[rows], judgments.grade[rows]
    rng = stream(seed, hashlib.sha256(item.tobytes() + grade.tobytes()).hexdigest())
    out = np.full((len(judgments.item_topic), replicates), -1, np.int8)
    for own in _by_topic(judgments, item):
        shuffled = rng.permuted(np.broadcast_to(grade[own], (replicates, own.stop - own.start)), axis=1)
        out[item[own]] = shuffled.T
    return out


def _by_topic(judgments: Judgments, item: NDArray[np.int32]) -> Iterator[slice]:
    """Rows of each topic; items are sorted, and those of a topic stand together."""
    bounds = np.searchsorted(item, judgments.item_start)
    for first, last in pairwise(bounds):
        if last > first:
            yield slice(int(first), int(last))
