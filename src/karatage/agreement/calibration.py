"""Calibration of merged grades, and whether gold items are like the others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.estimate import Bounded, t_quantile, wilson_interval
from karatage.data.options import CONFIDENCE

BINS = 10  # of equal width
DRAWS = 2000
MOST_GROUPS = 200  # that items without topics are dealt into
AT_ONCE = 4_000_000  # numbers of a resample held in memory


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecasts:
    """Gold items, how probable it was called that each is relevant, and whether it is; (item,) each."""

    probability: FloatArray
    relevant: FloatArray  # 1 or 0
    weight: FloatArray  # how many items of the pool each stands for
    group: LongArray  # items with dependent errors: a topic's

    @property
    def bin(self) -> LongArray:
        """From 0; a probability of 1 belongs to the last."""
        return np.minimum((self.probability * BINS + 1e-9).astype(np.int64), BINS - 1)

    @property
    def excess(self) -> FloatArray:
        """By how much too probable each item was called."""
        return self.probability - self.relevant


def tabulate_bins(found: Forecasts) -> pl.DataFrame:
    """One row for each bin that has items: mean probability, and the share that is relevant with Wilson's interval.

    The interval counts as many items as the share is worth: fewer where weights are unequal [KIS65], or where items of
    a topic are alike [KORN98].
    """
    rows = []
    for b in np.unique(found.bin):
        here = found.bin == b
        weight = found.weight[here]
        share = float(np.average(found.relevant[here], weights=weight))
        size = _count_worth(share, found.relevant[here], weight, found.group[here])
        low, high = wilson_interval(share * size, size)
        rows.append(
            {
                "from": b / BINS,
                "to": (b + 1) / BINS,
                "items": int(here.sum()),
                "worth": size,
                "weight": float(weight.sum() / found.weight.sum()),
                "probability": float(np.average(found.probability[here], weights=weight)),
                "share": share,
                "low": float(low),
                "high": float(high),
            }
        )
    return pl.DataFrame(rows)


def _count_worth(share: float, relevant: FloatArray, weight: FloatArray, group: LongArray) -> float:
    """Items of equal weight, each by itself, that would tell a share as well as these do."""
    total = float(weight.sum())
    kish = total**2 / float((weight**2).sum())
    _, at = np.unique(group, return_inverse=True)
    groups = int(at.max()) + 1
    surprise = np.bincount(at, weight * (relevant - share), groups)
    if groups < 2 or not surprise.any():
        return kish
    variance = groups / (groups - 1) * float((surprise**2).sum()) / total**2
    return max(min(kish, share * (1 - share) / variance), 1.0)


def measure_calibration(
    found: Forecasts, others: Mapping[str, FloatArray], rng: np.random.Generator
) -> dict[str, Bounded]:
    """Brier score, expected calibration error, and means of `others` (item,), with intervals over groups.

    Means have percentile intervals, expanded for few groups [HES15]. The calibration error is the sum over bins of |G|,
    G the bin's part in the mean excess. As | |A| - |B| | <= |A - B|, its error is at most the sum of the bins' errors,
    so that the quantile of that sum bounds it. Where there is no error, the interval contains 0 as often as it should.
    """
    means = {"brier": found.excess**2, **others}
    columns = [*means.values(), *(np.where(found.bin == b, found.excess, 0.0) for b in range(BINS))]
    groups = int(found.group.max()) + 1
    sums = np.stack([_total(found.group, found.weight * column) for column in columns], axis=1)
    size = _total(found.group, found.weight)
    value = sums.sum(axis=0) / size.sum()
    error = float(np.abs(value[len(means) :]).sum())
    if groups < 2:
        alone = {name: Bounded(float(value[k]), math.nan, math.nan) for k, name in enumerate(means)}
        return {**alone, "ece": Bounded(error, math.nan, math.nan)}
    off = np.concatenate(list(_resample(sums, size, rng))) - value
    stretch = math.sqrt(groups / (groups - 1)) * t_quantile((1 + CONFIDENCE) / 2, groups - 1)
    stretch /= t_quantile((1 + CONFIDENCE) / 2, math.inf)
    low, high = np.quantile(off, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0) * stretch + value
    result = {name: Bounded(float(value[k]), float(low[k]), float(high[k])) for k, name in enumerate(means)}
    half = stretch * float(np.quantile(np.abs(off[:, len(means) :]).sum(axis=1), CONFIDENCE))
    return {**result, "ece": Bounded(error, max(error - half, 0.0), min(error + half, 1.0))}


def _total(group: LongArray, value: FloatArray) -> FloatArray:
    return np.bincount(group, value).astype(float)


def _resample(sums: FloatArray, size: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Means when groups are resampled, (draw, column), some draws at a time."""
    groups = len(size)
    step = max(AT_ONCE // groups, 1)
    for start in range(0, DRAWS, step):
        count = rng.multinomial(groups, np.full(groups, 1 / groups), size=min(step, DRAWS - start)).astype(float)
        yield (count @ sums) / (count @ size)[:, None]


def deal_groups(items: int, rng: np.random.Generator) -> LongArray:
    """Groups of items that have no topics, each by itself or, where they are many, dealt at random."""
    groups = min(items, MOST_GROUPS)
    return rng.permutation(np.arange(items) % groups)


WITHIN, BETWEEN, NOT_COMPARED = "within topics", "between topics", "none"
SHIFT_DRAWS = 2000
FEWEST = 6  # topics whose signs can be flipped in more than 20 different ways, up to the sign of all
LEAST_WAYS = 20  # to choose gold's topics among all
ROUNDING = 1e-12


class Separation(NamedTuple):
    """How far judges' grades of gold's items lie from those of the others: total variation, 0 alike, 1 apart."""

    value: float
    p_value: float
    way: str  # how items were compared


def compare_items(
    probability: FloatArray, known: BoolArray, topic: LongArray, rng: np.random.Generator
) -> tuple[Separation, ...]:
    """Compare the judges' grades of gold's items and of others, (item, grade), by permutations of topics.

    Within topics, where six at least have items of both kinds: their differences, weighted by gold items, against the
    same with random signs. Between topics with gold and topics without: their means, against random choices of as many
    topics. Where neither can be told, the distance alone.
    """
    if known.all() or not known.any():
        return ()
    topics = int(topic.max()) + 1
    count, rest = (np.bincount(topic[kind], minlength=topics) for kind in (known, ~known))
    gold, others = (_average(probability, kind.astype(float), topic, topics) for kind in (known, ~known))
    found = []
    both, without = (count > 0) & (rest > 0), (count == 0) & (rest > 0)
    if both.sum() >= FEWEST:
        share = count[both] / count[both].sum()
        found.append(_flip_signs(share[:, None] * (gold - others)[both], rng))
    touched = int((count > 0).sum())
    if without.any() and math.comb(touched + int(without.sum()), touched) >= LEAST_WAYS:
        means = _average(probability, np.ones(len(known)), topic, topics)
        found.append(_choose_topics(np.concatenate([means[count > 0], means[without]]), touched, rng))
    if found:
        return tuple(found)
    apart = probability[known].mean(axis=0) - probability[~known].mean(axis=0)
    return (Separation(float(_vary(apart)), math.nan, NOT_COMPARED),)


def _average(probability: FloatArray, weight: FloatArray, topic: LongArray, topics: int) -> FloatArray:
    """Weighted means (topic, grade), NaN for topics without weight."""
    sums = np.stack([np.bincount(topic, weight * column, topics) for column in probability.T], axis=1)
    total = np.bincount(topic, weight, topics)[:, None]
    return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)


def _flip_signs(parts: FloatArray, rng: np.random.Generator) -> Separation:
    signs = rng.integers(2, size=(SHIFT_DRAWS, len(parts))) * 2.0 - 1
    value = float(_vary(parts.sum(axis=0)))
    return Separation(value, _rank(value, _vary(signs @ parts)), WITHIN)


def _choose_topics(means: FloatArray, chosen: int, rng: np.random.Generator) -> Separation:
    """Means (topic, grade), gold's topics first."""
    pick = np.zeros((SHIFT_DRAWS + 1, len(means)), bool)
    pick[:, :chosen] = True
    pick[1:] = rng.permuted(pick[1:], axis=1)
    apart = pick @ means / chosen - ~pick @ means / (len(means) - chosen)
    found = _vary(apart)
    return Separation(float(found[0]), _rank(float(found[0]), found[1:]), BETWEEN)


def _vary(difference: FloatArray) -> FloatArray:
    half: FloatArray = np.abs(difference).sum(axis=-1) / 2
    return half


def _rank(value: float, drawn: FloatArray) -> float:
    return float((1 + (drawn >= value - ROUNDING).sum()) / (1 + len(drawn)))
