"""How a gold sample was drawn, as far as its items tell, and whether it huddles in too few topics.

A judge errs more in some topics than in others. Gold drawn from all topics averages that out; gold from a few of them
does not, so that formulas which count items promise too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.errors import DataError
from karatage.text import counted

Kind = Literal["sampled", "census", "topics", "items"]

NEARLY_ALL = 0.95  # of a topic's pool, for the topic to count as judged whole
FEW_TOPICS = 10  # with fewer the intra-class correlation cannot be seen
CROWDED = 2.0  # random samples of 50 to 1,000 items of DL 2021 stay below 1.6, 3 items each of 8 topics reach 2.4
WASTEFUL = 2.0  # a design effect at which half of the gold items add nothing


@dataclass(frozen=True, kw_only=True)
class GoldDesign:
    """Where gold's items lie in the pool, and how alike the judge's errors are within topics."""

    kind: Kind
    items: int  # gold items in the pool
    outside: int  # gold items that are not in the pool
    topics: int  # with gold
    pool_items: int
    pool_topics: int
    items_per_topic: float  # as the mean gold item sees it: sum m^2 / sum m
    crowding: float  # the same in excess of an even spread over the pool's topics: 1 for a random sample
    icc: float  # intra-class correlation of the judge's errors, NaN where no topic has two gold items
    clustered: bool  # whether formulas that count items would promise too much

    @property
    def design_effect(self) -> float:
        """Variance of a mean over gold items, in units of what a random sample of as many items from the pool has."""
        return 1 + (self.crowding - 1) * self.icc

    @property
    def variance_factor(self) -> float:
        """What to multiply the item-level variance due to gold with; never less than 1."""
        return variance_factor(self.crowding, self.icc)

    @property
    def sentence(self) -> str:
        """The design in plain words."""
        if not self.items:
            return f"gold: no item is a judged document{self._tell_outside()}"
        said = f"gold: {counted(self.items, 'item')} of {counted(self.topics, 'topic')}"
        if self.kind != "census" and self.topics < self.pool_topics:
            said += f" (the pool has {self.pool_topics:,})"
        said += {
            "sampled": ", drawn with known probabilities pi",
            "census": ", the whole pool",
            "topics": ", all judged documents graded",
            "items": ", without sampling probabilities (pi)",
        }[self.kind]
        if math.isfinite(self.icc) and self.kind != "census":
            mean = self.items / self.topics
            said += f"; {mean:.1f} items per topic, correlation of errors within topics {self.icc:.2f}"
            said += f", design effect {self.design_effect:.1f} relative to a simple random sample of the pool"
        return said + self._tell_outside()

    def _tell_outside(self) -> str:
        return f"; {counted(self.outside, 'gold item')} not among the judged documents" if self.outside else ""


def read_design(
    topic: NDArray[np.integer], error: ArrayLike, pool: NDArray[np.integer], *, pi: ArrayLike | None = None
) -> GoldDesign:
    """The design of gold items with the given `topic` (item,), -1 = outside the pool; `pool` (topic,) counts its items.

    `error` (item,) is what the judge got wrong, such as `errors_given_gold`; its values outside the pool do not count.
    """
    place, wrong, size = np.asarray(topic), np.asarray(error, float), np.asarray(pool)
    _check(place, wrong, size, pi)
    inside = place >= 0
    place, wrong = place[inside], wrong[inside]
    count = np.bincount(place, minlength=len(size))
    whole, touched, existing = find_whole_topics(count, size), count > 0, size > 0
    crowding, icc = _crowding(count, size), intraclass_correlation(place, wrong)
    if pi is not None:
        kind: Kind = "sampled"
    elif place.size and whole[existing].all():
        kind = "census"
    else:
        kind = "topics" if place.size and whole[touched].all() else "items"
    few = int(touched.sum()) < FEW_TOPICS and crowding > CROWDED
    return GoldDesign(
        kind=kind,
        items=int(place.size),
        outside=int((~inside).sum()),
        topics=int(touched.sum()),
        pool_items=int(size.sum()),
        pool_topics=int(existing.sum()),
        items_per_topic=float((count**2).sum() / place.size) if place.size else math.nan,
        crowding=crowding,
        icc=icc,
        clustered=kind in ("topics", "items") and (kind == "topics" or few or 1 + (crowding - 1) * icc > WASTEFUL),
    )


def find_whole_topics(count: NDArray[np.integer], pool: NDArray[np.integer]) -> BoolArray:
    """Topics (topic,) of which gold has nearly all of the pool's items; `count` (topic,) are gold's."""
    return (pool > 0) & (count >= NEARLY_ALL * pool)


def errors_given_gold(gold: NDArray[np.integer], said: ArrayLike) -> FloatArray:
    """The judge's grade of each gold item (item,), minus its mean for items of that gold grade.

    What the judge does to one grade is its error rates, which are corrected; how that varies over topics is what makes
    gold from few topics misleading.
    """
    value, grade = np.asarray(said, float), np.unique(gold, return_inverse=True)[1]
    mean: FloatArray = np.bincount(grade, value) / np.maximum(np.bincount(grade), 1)
    return value - mean[grade]


def intraclass_correlation(topic: NDArray[np.integer], error: ArrayLike) -> float:
    """Correlation of two items' errors in the same topic: the one-way analysis of variance, topics of any size.

    NaN where no topic has two items or all are of one topic; 0 where all errors are equal.

    >>> round(intraclass_correlation(np.array([0, 0, 1, 1]), [1, 2, 4, 5]), 4)
    0.8947
    """
    wrong, place = np.asarray(error, float), np.unique(topic, return_inverse=True)[1]
    count: LongArray = np.bincount(place)
    topics, items = len(count), len(wrong)
    if topics < 2 or items <= topics:
        return math.nan
    mean = np.bincount(place, wrong) / count
    between = float((count * (mean - wrong.mean()) ** 2).sum()) / (topics - 1)
    within = float(((wrong - mean[place]) ** 2).sum()) / (items - topics)
    size = (items - float((count**2).sum()) / items) / (topics - 1)
    total = between + (size - 1) * within
    return (between - within) / total if total > 0 else 0.0


def variance_factor(crowding: float, icc: float) -> float:
    """The design effect where it is above 1, else 1; also where no correlation could be estimated.

    >>> variance_factor(6.5, 0.2), variance_factor(0.9, 0.2)
    (2.1, 1.0)
    """
    effect = 1 + (crowding - 1) * icc
    return effect if effect > 1 else 1.0


def _crowding(count: LongArray, pool: NDArray[np.integer]) -> float:
    """M sum_t (m_t / M - q_t)^2, where q_t is a topic's share of the pool, or the same for all: what is nearer.

    It takes the place of m in the design effect 1 + (m - 1) ICC, which is made for topics drawn from very many. Here
    they are drawn from the pool's: where all of them have their share of gold, topics add nothing to the variance.
    """
    items = int(count.sum())
    if not items:
        return math.nan
    share, even = pool / pool.sum(), (pool > 0) / (pool > 0).sum()
    return items * min(float(((count / items - q) ** 2).sum()) for q in (share, even))


def _check(topic: NDArray[np.integer], error: FloatArray, pool: NDArray[np.integer], pi: ArrayLike | None) -> None:
    if topic.ndim != 1 or error.shape != topic.shape or pool.ndim != 1:
        raise DataError(
            f"gold's topics {topic.shape} and errors {error.shape} must be one per item, and pool sizes {pool.shape} "
            "one per topic"
        )
    if topic.size and not -1 <= topic.min() <= topic.max() < len(pool):
        raise DataError(f"gold's topics are numbered to {topic.max()}, but the pool has {len(pool)} topics")
    inside = topic[topic >= 0]
    if not np.isfinite(error[topic >= 0]).all():
        raise DataError(
            "the judge's errors on gold items must be finite; leave out items that the judge has not graded"
        )
    over = np.flatnonzero(np.bincount(inside, minlength=len(pool)) > pool)
    if over.size:
        raise DataError(f"gold has more items than the pool in topic number {over[0]}; give each item once")
    if pi is not None:
        chance = np.asarray(pi, float)
        if chance.shape != topic.shape or not ((chance > 0) & (chance <= 1)).all():
            raise DataError("pi must be given for each gold item, above 0 and at most 1")
