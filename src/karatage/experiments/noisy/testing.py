"""How often do tests call two systems different? One gold sample for both, or judges and gold of their own."""

from __future__ import annotations

import numpy as np
import polars as pl

from karatage.correction.precision import compare_independent, compare_shared, correct, correct_variance
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.estimate import CONFIDENCE, MANY, Estimated
from karatage.experiments.engine import Finding
from karatage.experiments.noisy.plan import NoisyPlan, World
from karatage.experiments.noisy.worlds import (
    Rates,
    Seen,
    draw_luck,
    join_degrees,
    judge_topics,
    list_batches,
    sample_gold,
    spread_topics,
)
from karatage.random_streams import stream

ONE, TWO = "one", "two"  # gold samples: for both systems' judges, or one for each system's own
GOLD_SAMPLES = (ONE, TWO)
NAIVE, PAIRED = "naive", "naive, paired"
INDEPENDENT, SHARED, SHARED_PAIRED = "independent", "shared", "shared, paired"
TESTS = (NAIVE, PAIRED, INDEPENDENT, SHARED, SHARED_PAIRED)
SCHEMA = {
    "difference": pl.Float64,
    "test": pl.String,
    "rejected": pl.Float64,
    "wrong": pl.Float64,  # rejected in favour of the worse system
    "covered": pl.Float64,
    "estimate": pl.Float64,
    "refused": pl.Float64,
}
Tried = tuple[Estimated, BoolArray]  # and where it was not refused


def rate_tests(world: World, samples: str, plan: NoisyPlan) -> Finding:
    """Shares of simulations in which each test rejects at 5 %, and in which its 95 % interval covers the difference.

    With two gold samples, the second system's judges have the two rates exchanged; the shared form, which is wrong
    there, then takes rates from both samples thrown together. Shares leave out simulations in which it was refused.
    """
    rows = []
    for difference in plan.differences:
        rng = stream(plan.seed, f"tests {samples} {world.name} {difference:g}")
        batches = [_try_tests(world, difference, samples, plan, n, rng) for n in list_batches(plan, world.topics)]
        rows += [(difference, test, *_rate([batch[test] for batch in batches], difference)) for test in TESTS]
    return Finding(pl.DataFrame(rows, schema=SCHEMA, orient="row"))


def _try_tests(
    world: World, difference: float, samples: str, plan: NoisyPlan, simulations: int, rng: np.random.Generator
) -> dict[str, Tried]:
    rates = world.right_relevant, world.right_other
    others = rates if samples == ONE else (rates[1], rates[0])
    luck = draw_luck(plan, (simulations, world.topics), rng)  # topics are as hard for one system as for the other
    scores = [
        judge_topics(spread_topics(precision, luck, plan.topic_spread), right, plan.depth, rng)
        for precision, right in ((world.precision, rates), (world.precision + difference, others))
    ]
    known = [sample_gold(world, rates, simulations, rng)]
    known.append(known[0] if samples == ONE else sample_gold(world, others, simulations, rng))
    return run_tests(scores[0], scores[1], known[0], known[1])


def run_tests(scores_a: FloatArray, scores_b: FloatArray, gold_a: Rates, gold_b: Rates) -> dict[str, Tried]:
    """All tests of b - a, from the judges' scores (simulation, topic) and gold samples, which may be the same one."""
    topics = scores_a.shape[1]
    a, b, paired = Seen.of(scores_a), Seen.of(scores_b), Seen.of(scores_b - scores_a)
    both = a.variance + b.variance
    own_topics = ((a.variance, topics - 1), (b.variance, topics - 1))
    same_topics = ((paired.variance, topics - 1),)
    pooled = gold_a if gold_a is gold_b else _pool(gold_a, gold_b)
    clear, everywhere = gold_a.clear & gold_b.clear, np.ones(len(both), bool)
    own = [_correct(seen, gold, clear) for seen, gold in ((a, gold_a), (b, gold_b))]
    return {
        NAIVE: (Estimated(paired.mean, both, join_degrees(both, *own_topics)), everywhere),
        PAIRED: (Estimated(paired.mean, paired.variance, topics - 1.0), everywhere),
        INDEPENDENT: (compare_independent(own[0], own[1]), clear),
        SHARED: (_share(paired.mean, own_topics, pooled), pooled.clear),
        SHARED_PAIRED: (_share(paired.mean, same_topics, pooled), pooled.clear),
    }


def _share(difference: FloatArray, topics: tuple[tuple[FloatArray, int], ...], gold: Rates) -> Estimated:
    """The shared form, with degrees of freedom from those of topics and gold."""
    m_r, m_n = _where(gold.clear, gold)
    parts = [(compare_shared(0.0, variance, m_r, m_n, np.inf, np.inf).variance, n) for variance, n in topics]
    sizes = ((gold.size, np.inf), (np.inf, gold.size))
    parts += [(compare_shared(difference, 0.0, m_r, m_n, *size).variance, gold.size - 1) for size in sizes]
    total = sum(variance for variance, _ in topics)
    found = compare_shared(difference, total, m_r, m_n, gold.size, gold.size)
    degrees = join_degrees(np.asarray(found.variance), *((np.asarray(part), n) for part, n in parts))
    return found._replace(degrees=degrees)


def _pool(first: Rates, second: Rates) -> Rates:
    return Rates((first.m_r + second.m_r) / 2, (first.m_n + second.m_n) / 2, first.size + second.size)


def _where(clear: BoolArray, gold: Rates) -> tuple[FloatArray, FloatArray]:
    """Rates that can be divided by, also where correction is refused."""
    return np.where(clear, gold.m_r, 1.0), np.where(clear, gold.m_n, 1.0)


def _correct(seen: Seen, gold: Rates, clear: BoolArray) -> Estimated:
    m_r, m_n = _where(clear, gold)
    variance = correct_variance(seen.variance, seen.mean, m_r, m_n, gold.size, gold.size)
    return Estimated(correct(seen.mean, m_r, m_n), variance)


def _rate(tried: list[Tried], difference: float) -> tuple[float | None, ...]:
    """(rejected, wrong, covered, estimate, refused) of all batches."""
    from scipy.special import stdtrit

    value, half, clear = [], [], []
    for estimated, allowed in tried:
        degrees = np.minimum(estimated.degrees, MANY)
        value.append(np.asarray(estimated.value))
        half.append(stdtrit(degrees, (1 + CONFIDENCE) / 2) * np.sqrt(estimated.variance))
        clear.append(allowed)
    kept = np.concatenate(clear)
    found, reach = np.concatenate(value)[kept], np.concatenate(half)[kept]
    refused = 1 - float(kept.mean())
    if not len(found):
        return None, None, None, None, refused
    rejected = np.abs(found) > reach
    wrong = float((rejected & (found < 0)).mean()) if difference > 0 else None
    covered = np.abs(found - difference) <= reach
    return float(rejected.mean()), wrong, float(covered.mean()), float(found.mean()), refused
