"""Intervals for shares and means, tail probabilities, and many tests at once."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import BoolArray, FloatArray, IntArray, LongArray
from karatage.data.estimate import CONFIDENCE, wilson_interval

ENOUGH_TOPICS = 5  # for an interval to count topics instead of items


class Interval(NamedTuple):
    """A value and the bounds of its confidence interval; NaN where there is none."""

    value: float
    low: float
    high: float


NOTHING = Interval(np.nan, np.nan, np.nan)


def normal_quantile(probability: float) -> float:
    """Where the standard normal distribution reaches `probability`."""
    return NormalDist().inv_cdf(probability)


def normal_upper(z: FloatArray) -> FloatArray:
    """P(Z >= z)."""
    return np.array([NormalDist().cdf(-float(x)) if x == x else np.nan for x in np.ravel(z)]).reshape(np.shape(z))


def t_quantile(probability: float, freedom: ArrayLike) -> FloatArray:
    """Student's t by its expansion in 1/freedom, [AS64] 26.7.5: within 1 % from 4 degrees of freedom on at 0.975."""
    z, v = normal_quantile(probability), np.asarray(freedom, float)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(z + sum(term / v**k for k, term in enumerate(terms, 1)))


class Means(NamedTuple):
    """Means over items and how sure they are, (group,) each.

    Items of a topic are alike, so where a group has enough topics the variance is the one between topics, not items.
    """

    size: FloatArray  # items
    value: FloatArray
    variance: FloatArray  # of the mean; NaN with fewer than two items
    topics: LongArray  # that the variance counts, 0 = it counts items
    degrees: FloatArray  # of freedom

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Of the t interval; NaN with fewer than two items."""
        half = t_quantile((1 + CONFIDENCE) / 2, self.degrees) * np.sqrt(self.variance)
        return self.value - half, self.value + half


def measure_means(group: IntArray, value: FloatArray, groups: int, topic: IntArray) -> Means:
    """Mean of `value` (item,) in each group, its variance that of a ratio: items by topic."""
    size = np.bincount(group, minlength=groups).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, value, groups) / size
        surprise = value - mean[group]
        of, total = _sum_by_topic(group, surprise, groups, topic)
        topics = np.bincount(of, minlength=groups)
        topics[topics < ENOUGH_TOPICS] = 0
        by_topic = np.bincount(of, total**2, groups)
        squares = np.where(topics > 0, by_topic, np.bincount(group, surprise**2, groups))
        units = np.where(topics > 0, topics, size)
        variance = np.where(units > 1, units / (units - 1) * squares / size**2, np.nan)
    return Means(size, mean, variance, topics, np.maximum(units - 1, 1))


def _sum_by_topic(group: IntArray, value: FloatArray, groups: int, topic: IntArray) -> tuple[LongArray, FloatArray]:
    """The group of each (group, topic) that has items, and its sum of `value` (item,)."""
    topics = int(topic.max(initial=0)) + 1
    key: LongArray = group * np.int64(topics) + topic
    if groups * topics <= len(key):  # no need to sort
        found = np.flatnonzero(np.bincount(key, minlength=groups * topics)).astype(np.int64)
        total: FloatArray = np.bincount(key, value, groups * topics)[found].astype(float)
        return found // topics, total
    distinct, at = np.unique(key, return_inverse=True)
    return distinct // topics, np.bincount(at, value, len(distinct)).astype(float)


def share_intervals(
    group: IntArray, right: FloatArray, groups: int, topic: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Share of `right` in each group with Wilson's interval, for as many items as the share is worth [KORN98].

    That is fewer where topics differ in it, or are few (by the square of normal over t quantile), and never more.
    """
    found = measure_means(group, right, groups, topic)
    few = normal_quantile((1 + CONFIDENCE) / 2) / t_quantile((1 + CONFIDENCE) / 2, found.degrees)
    with np.errstate(invalid="ignore", divide="ignore"):
        alone = np.where(found.variance > 0, found.value * (1 - found.value) / found.variance, np.inf)
    worth = np.where(found.topics > 0, np.minimum(found.size, alone) * few**2, found.size)
    return found.value, *wilson_interval(found.value * worth, worth)


def adjust(p_value: FloatArray, tests: int | None = None) -> FloatArray:
    """Benjamini and Hochberg's [BH95] adjusted p-values; NaN was not tested. `tests` counts those left out with p = 1.

    >>> adjust(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    tested: BoolArray = np.isfinite(p_value)
    found = p_value[tested]
    order = np.argsort(found, kind="stable")
    scaled = found[order] * (len(found) if tests is None else tests) / np.arange(1, len(found) + 1)
    rising = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    out = np.full(p_value.shape, np.nan)
    settled = np.empty(len(found))
    settled[order] = rising
    out[tested] = settled
    return out
