"""Do nominal 95 % intervals of one system's P@k cover? [NOISY18] section 6."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import polars as pl

from karatage.correction.precision import bias, correct, correct_variance
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.estimate import CONFIDENCE, MANY
from karatage.experiments.engine import Fact, Finding
from karatage.experiments.noisy.plan import NoisyPlan, World
from karatage.experiments.noisy.worlds import (
    Seen,
    draw_luck,
    join_degrees,
    judge_topics,
    list_batches,
    sample_gold,
    spread_topics,
)
from karatage.random_streams import stream

NAIVE, CORRECTED = "naive", "corrected"
BINS = 60
SHOWN = (-0.5, 1.5)  # what a histogram shows at most: judges near a coin give estimates beyond all bounds
HISTOGRAM = {"estimate": pl.String, "low": pl.Float64, "high": pl.Float64, "simulations": pl.Int64}
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def rate_intervals(world: World, plan: NoisyPlan) -> Finding:
    """A histogram of naive and corrected estimates, and how often their intervals cover the true P@k.

    The corrected interval is the value +- z times the root of [NOISY18] (7); `covered_t` is with t instead, and Welch's
    degrees of freedom, as `compare` does it. Shares are of simulations in which correction was not refused.
    """
    from scipy.special import stdtrit

    rng = stream(plan.seed, f"intervals {world.name}")
    rates = world.right_relevant, world.right_other
    parts = []
    for simulations in list_batches(plan, world.topics):
        luck = draw_luck(plan, (simulations, world.topics), rng)
        scores = judge_topics(spread_topics(world.precision, luck, plan.topic_spread), rates, plan.depth, rng)
        seen, known = Seen.of(scores), sample_gold(world, rates, simulations, rng)
        clear = known.clear
        m_r, m_n = np.where(clear, known.m_r, 1.0), np.where(clear, known.m_n, 1.0)  # no division by 0
        value = correct(seen.mean, m_r, m_n)
        variance, degrees = _doubt(seen, m_r, m_n, known.size, world.topics)
        parts.append(np.stack([seen.mean, seen.variance, value, variance, degrees, clear]))
    j, v_j, value, variance, degrees, clear = np.concatenate(parts, axis=1)
    kept = clear.astype(bool)
    value, error = value[kept], np.sqrt(variance[kept])
    wide = stdtrit(np.minimum(degrees[kept], MANY), (1 + CONFIDENCE) / 2)
    facts: dict[str, Fact] = {
        "naive": float(j.mean()),
        "naive_covered": _cover(j, Z * np.sqrt(v_j), world.precision),
        "refused": 1 - float(kept.mean()),
        "corrected": _mean(value),
        "covered": _cover(value, Z * error, world.precision),
        "covered_t": _cover(value, wide * error, world.precision),
        "bias": float(bias(world.seen, *rates, world.gold_size, world.gold_size)),
        "outside": _mean((value < 0) | (value > 1)),
        "spread": float(value.std(ddof=1)) if len(value) > 1 else None,
        "standard_error": float(np.median(error)) if len(error) else None,
    }
    return Finding(_count({NAIVE: j, CORRECTED: value}, 1 / (plan.depth * world.topics)), facts)


def _doubt(seen: Seen, m_r: FloatArray, m_n: FloatArray, size: int, topics: int) -> tuple[FloatArray, FloatArray]:
    """The variance (7), and its degrees of freedom from those of its three parts."""
    none = np.zeros_like(seen.variance)
    by_topics = correct_variance(seen.variance, seen.mean, m_r, m_n, math.inf, math.inf)
    by_relevant = correct_variance(none, seen.mean, m_r, m_n, size, math.inf)
    by_others = correct_variance(none, seen.mean, m_r, m_n, math.inf, size)
    variance = by_topics + by_relevant + by_others
    return variance, join_degrees(variance, (by_topics, topics - 1), (by_relevant, size - 1), (by_others, size - 1))


def _cover(value: FloatArray, half: FloatArray, true: float) -> float | None:
    return _mean(np.abs(value - true) <= half)


def _mean(values: FloatArray | BoolArray) -> float | None:
    return float(values.mean()) if len(values) else None


def _count(estimates: dict[str, FloatArray], step: float) -> pl.DataFrame:
    """Histograms over the same bins, whole steps of the judges' P@k wide, or some would hold more steps than others."""
    every = np.clip(np.concatenate(list(estimates.values())), *SHOWN)
    low, high = float(every.min()), float(every.max())
    width = max(math.ceil((high - low) / BINS / step), 1) * step
    start = (math.floor(low / step) - 0.5) * step
    edges = start + width * np.arange(math.ceil((high - start) / width) + 1)
    rows = [
        (name, float(edges[k]), float(edges[k + 1]), int(count))
        for name, values in estimates.items()
        for k, count in enumerate(np.histogram(values, edges)[0])
    ]
    return pl.DataFrame(rows, schema=HISTOGRAM, orient="row")
