"""How many topics and gold items a claim takes, [NOISY18] section 5; everything broadcasts.

The variance of a corrected difference is a sum of terms that each shrink with one number: topics / n, and for each gold
sample relevant / n_R and others / n_N. With one sample for both systems there is one of each, else one per system.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray

EVENLY = (1 / 3, 1 / 3, 1 / 3)
ROUNDING = 1e-12  # by which a number of items may exceed a whole one and still be it


class Terms(NamedTuple):
    """What the variance of a corrected difference is made of."""

    topics: FloatArray  # (...,)
    relevant: FloatArray  # (..., sample)
    others: FloatArray  # (..., sample)
    weight: FloatArray  # (..., sample) share of the variance allowed to each sample's system; 1 for a single sample


class Sizes(NamedTuple):
    """How many of each; infinite where no number is enough."""

    topics: FloatArray  # (...,) of each system
    relevant: FloatArray  # (..., sample)
    others: FloatArray  # (..., sample)


class UnitPrices(NamedTuple):
    """What one of each costs."""

    topic: float  # judged for both systems
    relevant: float
    other: float


def required_z(level: float, power: float | None = None) -> float:
    """How many standard errors a difference must be: z of level / 2, and z of the power on top.

    [NOISY18] stops at the first, so that half of all repetitions would fail to show a difference of just that size.
    """
    return NormalDist().inv_cdf(1 - level / 2) + (NormalDist().inv_cdf(power) if power is not None else 0.0)


def topics_without_errors(
    s_a: ArrayLike, s_b: ArrayLike, difference: ArrayLike, *, level: float = 0.05, power: float | None = None
) -> FloatArray:
    """[NOISY18] (26): topics for each system, were judges never wrong; for paired topics, `s_a` is the difference's.

    >>> float(topics_without_errors(0.240, 0.260, 0.527 - 0.513))
    2454.0
    """
    s_a, s_b, difference = (np.asarray(value, float) for value in (s_a, s_b, difference))
    return round_up(_divide(required_z(level, power) ** 2 * (s_a**2 + s_b**2), difference**2))


def independent_terms(
    j: ArrayLike, deviation: ArrayLike, m_r: ArrayLike, m_n: ArrayLike, paired: ArrayLike | None = None
) -> Terms:
    """[NOISY18] (7) and (10) for two systems (..., system) with separate gold samples.

    `paired` is the standard deviation of the difference between the two over the same topics, None for other topics.
    """
    j, s, m_r, m_n = (np.asarray(value, float) for value in (j, deviation, m_r, m_n))
    d = m_r + m_n - 1
    parts = s**2 / d**2
    topics = parts.sum(axis=-1)
    weight = np.where(topics[..., None] > 0, _divide(parts, topics[..., None]), 0.5)
    if paired is not None:
        both = (s**2).sum(axis=-1) - np.asarray(paired, float) ** 2  # twice the covariance
        topics = topics - both / d.prod(axis=-1)
    return Terms(topics, m_r * (1 - m_r) * (j - 1 + m_n) ** 2 / d**4, m_n * (1 - m_n) * (m_r - j) ** 2 / d**4, weight)


def shared_terms(difference: ArrayLike, v_difference: ArrayLike, m_r: ArrayLike, m_n: ArrayLike) -> Terms:
    """The same with one gold sample for both, whose errors then cancel except for a scaling of the difference.

    `difference` is gold's; `v_difference` is V_a + V_b, or on the same topics the variance of the judges' difference.
    """
    difference, v, m_r, m_n = (np.asarray(value, float) for value in (difference, v_difference, m_r, m_n))
    d = m_r + m_n - 1
    stretch = (difference / d)[..., None] ** 2
    relevant, others = (m_r * (1 - m_r))[..., None] * stretch, (m_n * (1 - m_n))[..., None] * stretch
    return Terms(v / d**2, relevant, others, np.ones_like(relevant))


def find_sizes(terms: Terms, variance: ArrayLike, split: ArrayLike = EVENLY) -> Sizes:
    """[NOISY18] (28)-(31): numbers, not rounded, with which the difference has `variance` in all.

    `split` (..., 3) are f1, f2, f3: the shares of it that go to topics, gold-relevant and other gold items.
    """
    allowed, f = np.asarray(variance, float), np.asarray(split, float)
    each = terms.weight * allowed[..., None]
    return Sizes(
        _divide(terms.topics, f[..., 0] * allowed),
        _divide(terms.relevant, f[..., 1, None] * each),
        _divide(terms.others, f[..., 2, None] * each),
    )


def find_variance(terms: Terms, sizes: Sizes) -> FloatArray:
    """[NOISY18] (7), (10) backwards: the variance of the difference with these numbers of each."""
    gold = _divide(terms.relevant, sizes.relevant) + _divide(terms.others, sizes.others)
    return np.asarray(_divide(terms.topics, sizes.topics) + gold.sum(axis=-1))


def spread_evenly(terms: Terms) -> FloatArray:
    """The split (..., 3) into equal shares for all terms that are not 0: for perfect judges, all to the topics."""
    needed = (_bundle(terms) > 0).astype(float)
    return _divide(needed, needed.sum(axis=-1, keepdims=True))


def cheapest_split(terms: Terms, prices: UnitPrices) -> FloatArray:
    """The split (..., 3) that costs least: the cost is a sum of price * term / share, so shares go as its roots."""
    root = np.sqrt(np.array(prices) * _bundle(terms))
    return _divide(root, root.sum(axis=-1, keepdims=True))


def afford(terms: Terms, prices: UnitPrices, budget: ArrayLike, split: ArrayLike) -> FloatArray:
    """The variance that `budget` buys with this split: costs go as 1 / variance."""
    return np.asarray(find_cost(find_sizes(terms, 1.0, split), prices) / np.asarray(budget, float))


def find_cost(sizes: Sizes, prices: UnitPrices) -> FloatArray:
    """What they cost together."""
    return np.asarray(
        prices.topic * sizes.topics
        + prices.relevant * sizes.relevant.sum(axis=-1)
        + prices.other * sizes.others.sum(axis=-1)
    )


def smallest_difference(terms: Terms, sizes: Sizes, z: float, shared_at: ArrayLike | None = None) -> FloatArray:
    """The smallest difference, by gold, that is `z` standard errors.

    With a shared gold sample its errors grow with the difference: `shared_at` is the one `terms` were made for. It is
    infinite where the sample is too small to distinguish the judges from random ones, for any difference.
    """
    if shared_at is None:
        return np.asarray(z * np.sqrt(find_variance(terms, sizes)))
    topics = _divide(terms.topics, sizes.topics)
    stretch = (find_variance(terms, sizes) - topics) / np.asarray(shared_at, float) ** 2
    return np.asarray(np.sqrt(_divide(z**2 * topics, np.maximum(1 - z**2 * stretch, 0.0))))


def gold_needed(
    variance_topics: ArrayLike,
    variance_gold: ArrayLike,
    gold: ArrayLike,
    difference: ArrayLike,
    *,
    level: float = 0.05,
    power: float | None = None,
) -> FloatArray:
    """Further gold items that would show `difference`; `gold` items leave `variance_gold`, which shrinks as 1 / gold.

    0 where there are enough, infinite where the topics alone leave too much variance.

    >>> float(gold_needed(0.0001, 0.0004, 200, 0.04, power=0.8))
    571.0
    """
    topics, seen, gold, difference = (
        np.asarray(value, float) for value in (variance_topics, variance_gold, gold, difference)
    )
    left = np.maximum((difference / required_z(level, power)) ** 2 - topics, 0.0)
    return np.asarray(np.maximum(round_up(_divide(seen * gold, left)) - gold, 0.0))


def round_up(number: FloatArray) -> FloatArray:
    """Whole numbers that are enough."""
    return np.asarray(np.ceil(number * (1 - ROUNDING)))


def _bundle(terms: Terms) -> FloatArray:
    """The terms (..., 3) as the split sees them, samples together."""
    gold = (_divide(term, terms.weight).sum(axis=-1) for term in (terms.relevant, terms.others))
    return np.stack(np.broadcast_arrays(terms.topics, *gold), axis=-1)


def _divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """The quotient; where nothing is divided nothing is left, even by 0."""
    above, below = np.broadcast_arrays(above, below)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / below)
