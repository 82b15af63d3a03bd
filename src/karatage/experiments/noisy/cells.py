"""The cells of the noisy experiment: intervals and tests in simulated worlds [NOISY18], and its worked examples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.correction.precision import (
    CLEAR_OF_CHANCE,
    bias,
    compare_independent,
    compare_shared,
    correct,
    correct_variance,
    share_variance,
)
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.checks import AMOUNT, COUNT, NUMBER, SHARE, TEXT, maybe
from karatage.data.estimate import MANY, Estimated
from karatage.data.options import CONFIDENCE
from karatage.experiments.engine import Cell, Fact, Finding, Key, TableRule, frame_rows
from karatage.experiments.noisy.examples import WORKED, work_out
from karatage.experiments.noisy.plan import SIMULATED, NoisyPlan, World
from karatage.random_streams import stream

RANK_SPREAD = 0.09  # the first of ten ranks at .49, the last at .31, where P@10 is .4
AT_ONCE = 50_000  # topics of all simulations that are drawn together: few enough to stay in the cache
NAIVE, CORRECTED = "naive", "corrected"
BINS = 60
SHOWN = (-0.5, 1.5)  # limits of a histogram: the estimates of almost random judges have no limits
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
ONE, TWO = "one", "two"  # gold samples: one for both systems' judges, or one for each system's judges
GOLD_SAMPLES = (ONE, TWO)
PAIRED = "naive, paired"
INDEPENDENT, SHARED, SHARED_PAIRED = "independent", "shared", "shared, paired"
TESTS = (NAIVE, PAIRED, INDEPENDENT, SHARED, SHARED_PAIRED)
WORLD = World._fields
_WORLD = {"right_relevant": SHARE, "right_other": SHARE, "gold_size": COUNT, "topics": COUNT, "precision": SHARE}
INTERVALS = {
    **dict.fromkeys(("naive", "naive_covered", "refused"), SHARE),
    "corrected": maybe(NUMBER),
    **dict.fromkeys(("covered", "covered_t"), maybe(SHARE)),
    "bias": maybe(NUMBER),
    "outside": maybe(SHARE),
    **dict.fromkeys(("spread", "standard_error"), maybe(AMOUNT)),
}
HISTOGRAM = {"estimate": TEXT, "low": NUMBER, "high": NUMBER, "simulations": COUNT}
TRIED = {
    "difference": NUMBER,
    "test": TEXT,
    "rejected": maybe(SHARE),
    "wrong": maybe(SHARE),  # rejected in favour of the worse system
    "covered": maybe(SHARE),
    "estimate": maybe(NUMBER),
    "refused": SHARE,
}
TABLES = {
    "intervals": TableRule({**_WORLD, **INTERVALS}, WORLD),
    "histogram": TableRule({**_WORLD, **HISTOGRAM}, (*WORLD, "estimate", "low")),
    "tests": TableRule({**_WORLD, "gold_samples": TEXT, **TRIED}, (*WORLD, "gold_samples", "difference", "test")),
    "worked": TableRule(WORKED, ("example", "quantity", "of")),
}
Tried = tuple[Estimated, BoolArray]  # and where it was not refused


class Rates(NamedTuple):
    """Judges' rates in gold samples of `size` items of each kind, (simulation,)."""

    m_r: FloatArray
    m_n: FloatArray
    size: int

    @property
    def clear(self) -> BoolArray:
        """Where judges are clearly better than random; otherwise karatage refuses to correct."""
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
    """How many simulations are drawn at once; this depends on the plan alone, so that seeds reproduce results."""
    most = max(AT_ONCE // topics, 1)
    for first in range(0, plan.simulations, most):
        yield min(most, plan.simulations - first)


def draw_ease(plan: NoisyPlan, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """How easy topics are, from -1 to 1, (simulation, topic); all equal unless the plan spreads them."""
    return rng.uniform(-1, 1, shape) if plan.topic_spread else np.zeros(shape)


def spread_topics(precision: float, ease: FloatArray, spread: float) -> FloatArray:
    """True P@k of topics around the mean, (simulation, topic)."""
    return precision + min(spread, precision, 1 - precision) * ease


def judge_topics(quality: FloatArray, rates: tuple[float, float], depth: int, rng: np.random.Generator) -> FloatArray:
    """P@k by the judges for topics of true P@k `quality`, (simulation, topic).

    Lines 2 to 11 of the algorithm, with truth and error in one draw, since only the judge's grade is used.
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
    """Rates in gold samples, lines 13 and 14."""
    size = world.gold_size
    m_r, m_n = (rng.binomial(size, rate, simulations) / size for rate in rates)
    return Rates(m_r, m_n, size)


def join_degrees(variance: FloatArray, *parts: tuple[FloatArray, int]) -> FloatArray:
    """Welch's degrees of freedom of a sum of variances, each with its own; infinite where there is no variance."""
    spread = np.sum([part**2 / max(degrees, 1) for part, degrees in parts], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(spread > 0, variance**2 / spread, np.inf))


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
        ease = draw_ease(plan, (simulations, world.topics), rng)
        scores = judge_topics(spread_topics(world.precision, ease, plan.topic_spread), rates, plan.depth, rng)
        seen, known = Seen.of(scores), sample_gold(world, rates, simulations, rng)
        m_r, m_n = _where(known.clear, known)
        value = correct(seen.mean, m_r, m_n)
        variance, degrees = _find_variance(seen, m_r, m_n, known.size, world.topics)
        parts.append(np.stack([seen.mean, seen.variance, value, variance, degrees, known.clear]))
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


def _find_variance(
    seen: Seen, m_r: FloatArray, m_n: FloatArray, size: int, topics: int
) -> tuple[FloatArray, FloatArray]:
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
    """Histograms over the same bins; all have the same number of steps of the judges' P@k."""
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
    return frame_rows(rows, HISTOGRAM)


def rate_tests(world: World, samples: str, plan: NoisyPlan) -> Finding:
    """Shares of simulations in which each test rejects at 5%, and in which its 95% interval covers the difference.

    With two gold samples, the second system's judges have the two rates exchanged. The shared form, which is then
    wrong, uses the rates of both samples pooled. Shares leave out simulations in which correction was refused.
    """
    rows = []
    for difference in plan.differences:
        rng = stream(plan.seed, f"tests {samples} {world.name} {difference:g}")
        batches = [_try_tests(world, difference, samples, plan, n, rng) for n in list_batches(plan, world.topics)]
        rows += [(difference, test, *_rate([batch[test] for batch in batches], difference)) for test in TESTS]
    return Finding(frame_rows(rows, TRIED))


def _try_tests(
    world: World, difference: float, samples: str, plan: NoisyPlan, simulations: int, rng: np.random.Generator
) -> dict[str, Tried]:
    rates = world.right_relevant, world.right_other
    others = rates if samples == ONE else (rates[1], rates[0])
    ease = draw_ease(plan, (simulations, world.topics), rng)  # the same for both systems
    scores = [
        judge_topics(spread_topics(precision, ease, plan.topic_spread), right, plan.depth, rng)
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
    pooled = gold_a
    if gold_a is not gold_b:
        rates = (gold_a.m_r + gold_b.m_r) / 2, (gold_a.m_n + gold_b.m_n) / 2
        pooled = Rates(*rates, gold_a.size + gold_b.size)
    clear, everywhere = gold_a.clear & gold_b.clear, np.ones(len(both), bool)
    first, second = (_correct(seen, gold, clear) for seen, gold in ((a, gold_a), (b, gold_b)))
    return {
        NAIVE: (Estimated(paired.mean, both, join_degrees(both, *own_topics)), everywhere),
        PAIRED: (Estimated(paired.mean, paired.variance, topics - 1.0), everywhere),
        INDEPENDENT: (compare_independent(first, second), clear),
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


def _where(clear: BoolArray, gold: Rates) -> tuple[FloatArray, FloatArray]:
    """Rates, but 1 where correction is refused, which prevents divisions by 0."""
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


def list_cells(plan: NoisyPlan) -> Iterator[Cell]:
    """A cell for each example, and for intervals and tests of each world."""
    drawn: Key = {name: getattr(plan, name) for name in ("topic_spread", "depth", "simulations", "seed")}
    for study in plan.studies:
        if study not in SIMULATED:
            yield Cell(name=study, key={"study": study, "seed": plan.seed}, work=partial(work_out, study))
            continue
        for world in plan.list_worlds():
            here: Key = {"study": study, **drawn, **world._asdict()}
            if study == "intervals":
                yield Cell(name=f"intervals {world.name}", key=here, work=partial(rate_intervals, world))
                continue
            for samples in GOLD_SAMPLES:
                key = {**here, "gold_samples": samples, "differences": repr(plan.differences)}
                work = partial(rate_tests, world, samples)
                yield Cell(name=f"tests gold={samples} {world.name}", key=key, work=work)
