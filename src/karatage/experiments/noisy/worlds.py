"""Drawing what judges say of systems whose true P@k is known, [NOISY18] Algorithm 2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from karatage.correction.precision import CLEAR_OF_CHANCE, share_variance
from karatage.data.axes import BoolArray, FloatArray
from karatage.experiments.noisy.plan import NoisyPlan, World

RANK_SPREAD = 0.09  # the first of ten ranks at .49, the last at .31, where P@10 is .4
AT_ONCE = 50_000  # topics of all simulations that are drawn together: few enough to stay in the cache


class Rates(NamedTuple):
    """What gold samples of `size` items of each kind say about judges, (simulation,)."""

    m_r: FloatArray
    m_n: FloatArray
    size: int

    @property
    def clear(self) -> BoolArray:
        """Where judges are clearly better than chance; else karatage refuses to correct."""
        error = np.sqrt(share_variance(self.m_r, self.size) + share_variance(self.m_n, self.size))
        return np.asarray(self.m_r + self.m_n - 1 > CLEAR_OF_CHANCE * error)


class Seen(NamedTuple):
    """Means over topics and their variances, of one system or of a difference, (simulation,)."""

    mean: FloatArray
    variance: FloatArray

    @staticmethod
    def of(scores: FloatArray) -> Seen:
        """From scores (simulation, topic)."""
        return Seen(scores.mean(axis=1), scores.var(axis=1, ddof=1) / scores.shape[1])


def list_batches(plan: NoisyPlan, topics: int) -> Iterator[int]:
    """How many simulations are drawn at once; the same for the same plan, so that a seed gives the same."""
    most = max(AT_ONCE // topics, 1)
    for first in range(0, plan.simulations, most):
        yield min(most, plan.simulations - first)


def draw_luck(plan: NoisyPlan, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """How hard topics are, from -1 to 1, (simulation, topic); all alike unless the plan spreads them."""
    return rng.uniform(-1, 1, shape) if plan.topic_spread else np.zeros(shape)


def spread_topics(precision: float, luck: FloatArray, spread: float) -> FloatArray:
    """True P@k of topics around the mean, as far as `luck` takes them, (simulation, topic)."""
    return precision + min(spread, precision, 1 - precision) * luck


def judge_topics(quality: FloatArray, rates: tuple[float, float], depth: int, rng: np.random.Generator) -> FloatArray:
    """P@k by the judges for topics of true P@k `quality`, (simulation, topic).

    Lines 2 to 11 of the algorithm, with truth and error in one draw: all that matters is whether a judge says relevant.
    """
    m_r, m_n = rates
    room = np.minimum(RANK_SPREAD, np.minimum(quality, 1 - quality))
    middle, reach = quality * (m_r + m_n - 1) + 1 - m_n, room * (m_r + m_n - 1)
    count, chance = np.zeros(quality.shape), np.empty(quality.shape)
    draw, relevant = np.empty(quality.shape, np.float32), np.empty(quality.shape, bool)
    for tilt in np.linspace(1, -1, depth) if depth > 1 else (0.0,):
        np.multiply(reach, tilt, out=chance)
        chance += middle
        rng.random(out=draw, dtype=np.float32)
        count += np.less(draw, chance, out=relevant)
    return count / depth


def sample_gold(world: World, rates: tuple[float, float], simulations: int, rng: np.random.Generator) -> Rates:
    """Rates as gold samples show them, lines 13 and 14."""
    size = world.gold_size
    m_r, m_n = (rng.binomial(size, rate, simulations) / size for rate in rates)
    return Rates(m_r, m_n, size)


def join_degrees(variance: FloatArray, *parts: tuple[FloatArray, int]) -> FloatArray:
    """Welch's degrees of freedom of a sum of variances, each with its own; infinite where there is no variance."""
    doubt = np.sum([part**2 / max(degrees, 1) for part, degrees in parts], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(doubt > 0, variance**2 / doubt, np.inf))
