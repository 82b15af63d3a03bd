"""Whether gold's items are like the others, as far as judges can tell."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray

WITHIN, BETWEEN, NOT_COMPARED = "within topics", "between topics", "none"
DRAWS = 2000
FEWEST = 6  # topics whose signs can be flipped in more than 20 different ways, up to the sign of all
LEAST_WAYS = 20  # to choose gold's topics among all
ROUNDING = 1e-12


class Distance(NamedTuple):
    """How far judges' grades of gold's items lie from those of the others: total variation, 0 alike, 1 apart."""

    value: float
    p_value: float
    way: str  # how items were compared


def compare_items(
    probability: FloatArray, known: BoolArray, topic: LongArray, rng: np.random.Generator
) -> tuple[Distance, ...]:
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
    return (Distance(float(_vary(apart)), math.nan, NOT_COMPARED),)


def _average(probability: FloatArray, weight: FloatArray, topic: LongArray, topics: int) -> FloatArray:
    """Weighted means (topic, grade), NaN for topics without weight."""
    sums = np.stack([np.bincount(topic, weight * column, topics) for column in probability.T], axis=1)
    total = np.bincount(topic, weight, topics)[:, None]
    return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)


def _flip_signs(parts: FloatArray, rng: np.random.Generator) -> Distance:
    signs = rng.integers(2, size=(DRAWS, len(parts))) * 2.0 - 1
    value = float(_vary(parts.sum(axis=0)))
    return Distance(value, _rank(value, _vary(signs @ parts)), WITHIN)


def _choose_topics(means: FloatArray, chosen: int, rng: np.random.Generator) -> Distance:
    """Means (topic, grade), gold's topics first."""
    pick = np.zeros((DRAWS + 1, len(means)), bool)
    pick[:, :chosen] = True
    pick[1:] = rng.permuted(pick[1:], axis=1)
    apart = pick @ means / chosen - ~pick @ means / (len(means) - chosen)
    found = _vary(apart)
    return Distance(float(found[0]), _rank(float(found[0]), found[1:]), BETWEEN)


def _vary(difference: FloatArray) -> FloatArray:
    half: FloatArray = np.abs(difference).sum(axis=-1) / 2
    return half


def _rank(value: float, drawn: FloatArray) -> float:
    return float((1 + (drawn >= value - ROUNDING).sum()) / (1 + len(drawn)))
