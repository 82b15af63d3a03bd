"""The cells of the noisy experiment: intervals and tests in simulated worlds [NOISY18], and its worked examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.correction.graded import correct_topics, judge_gains
from karatage.correction.planning import plan_sizes
from karatage.correction.precision import (
    CLEAR_OF_CHANCE,
    bias,
    bootstrap,
    compare_independent,
    compare_shared,
    constrain,
    correct,
    correct_variance,
    share_variance,
)
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.checks import AMOUNT, COUNT, NUMBER, SHARE, TEXT, Column, maybe
from karatage.data.estimate import MANY, Estimate, Estimated
from karatage.data.options import CONFIDENCE, Figures, RateCounts
from karatage.experiments.engine import Cell, Fact, Finding, Key, TableRule, frame_rows
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
WORKED = {
    "example": TEXT,
    "quantity": TEXT,
    "by": TEXT,  # equation or section of the paper
    "of": TEXT,  # system, pair or topic
    "value": Column("float", empty=True, endless=True),
    "digits": Column("int32", 0, 20),
    "text": maybe(TEXT),  # shown instead of the value
}
TABLES = {
    "intervals": TableRule({**_WORLD, **INTERVALS}, WORLD),
    "histogram": TableRule({**_WORLD, **HISTOGRAM}, (*WORLD, "estimate", "low")),
    "tests": TableRule({**_WORLD, "gold_samples": TEXT, **TRIED}, (*WORLD, "gold_samples", "difference", "test")),
    "worked": TableRule(WORKED, ("example", "quantity", "of")),
}
Tried = tuple[Estimated, BoolArray]  # and where it was not refused
DRAWS = 10_000  # of Algorithm 1
PAIR, BOTH = "a - b", "both"  # the paper's differences are a minus b
EBAY = {"a": Figures(10278, 0.6260, 0.414), "b": Figures(20604, 0.6385, 0.402)}
EBAY_RATES = RateCounts(43, 59, 67, 84)
TREC = {"DocRun02": Figures(50, 0.527, 0.240), "york07ed4": Figures(50, 0.513, 0.260)}
TREC_RATES = {"DocRun02": RateCounts(17, 38, 216, 262), "york07ed4": RateCounts(14, 50, 230, 285)}
# Grades 0, 1, 2 for not, partly and highly relevant; the paper counts downwards.
DCG_GAIN = (0.0, 0.5, 1.0)
DCG_CONFUSION = ((0.8, 0.15, 0.05), (0.1, 0.8, 0.1), (0.05, 0.15, 0.8))
DCG_LISTS = ((0, 2), (1, 0))  # (topic, rank)
Figured = dict[tuple[str, str], float]  # (quantity, of) -> value


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


class Row(NamedTuple):
    """A figure of an example."""

    quantity: str
    by: str
    of: str
    value: float
    digits: int = 4
    text: str | None = None


class Example(NamedTuple):
    """How an example is computed, and its conclusion."""

    work: Callable[[NoisyPlan], Iterator[Row]]
    tell: Callable[[Figured], str]


def work_out(example: str, plan: NoisyPlan) -> Finding:
    """All figures of an example."""
    rows = [(example, *row) for row in EXAMPLES[example].work(plan)]
    return Finding(frame_rows(rows, WORKED))


def tell_example(example: str, figures: pl.DataFrame) -> str:
    """The conclusion of an example."""
    found = {(row["quantity"], row["of"]): row["value"] for row in figures.iter_rows(named=True)}
    return EXAMPLES[example].tell(found)


def _work_ebay(plan: NoisyPlan) -> Iterator[Row]:
    rates = EBAY_RATES.m_r, EBAY_RATES.m_n
    sizes = EBAY_RATES.relevant, EBAY_RATES.others
    for name, system in EBAY.items():
        yield Row("P@3 by the judges", "(13)", name, system.mean)
    a, b = EBAY.values()
    difference, both = a.mean - b.mean, a.variance_of_mean + b.variance_of_mean
    yield Row("P@3 by the judges", "(13)", PAIR, difference)
    yield from _tell_rates(EBAY_RATES, BOTH)
    estimates = {}
    for name, system in EBAY.items():
        value = float(correct(system.mean, *rates))
        variance = float(correct_variance(system.variance_of_mean, system.mean, *rates, *sizes))
        estimates[name] = Estimated(value, variance)
        yield Row("corrected P@3", "(15)", name, value)
        yield Row("standard error", "(7)", name, math.sqrt(variance))
    for name, system in EBAY.items():
        rng = stream(plan.seed, f"bootstrap {name}")
        drawn = bootstrap(system.mean, system.variance_of_mean, (*rates, *sizes), draws=DRAWS, rng=rng)
        yield Row("standard error, bootstrap", "Alg. 1", name, float(np.nanstd(drawn, ddof=1)))
    parts = (system.variance_of_mean**2 / (system.topics - 1) for system in (a, b))
    degrees = both**2 / sum(parts)  # Welch's
    shared = compare_shared(difference, both, *rates, *sizes)._replace(degrees=degrees)
    yield Row("corrected P@3", "(15)", PAIR, float(shared.value))
    tests = {
        "naive": ("(9)", Estimated(difference, both, degrees)),
        "independent judges": ("(11)", compare_independent(estimates["b"], estimates["a"])),
        "shared judges": ("", shared),
    }
    for name, (by, found) in tests.items():
        estimate = Estimate.of(float(found.value), float(found.variance), degrees=float(found.degrees))
        yield Row(f"{name}: z" if by != "(9)" else f"{name}: t", by, PAIR, estimate.value / estimate.standard_error, 3)
        yield Row(f"{name}: p", by, PAIR, estimate.p_value)
        yield Row(f"{name}: from", by, PAIR, estimate.low)
        yield Row(f"{name}: to", by, PAIR, estimate.high)


def _tell_rates(rates: RateCounts, of: str) -> Iterator[Row]:
    yield Row("right about relevant", "(8)", of, rates.m_r, 3, f"{rates.m_r:.3f} of {rates.relevant}")
    yield Row("right about others", "(8)", of, rates.m_n, 3, f"{rates.m_n:.3f} of {rates.others}")


def _tell_ebay(found: Figured) -> str:
    value = {quantity: figure for (quantity, of), figure in found.items() if of == PAIR}
    return (
        f"eBay: the judges' difference is {value['P@3 by the judges']:+.4f} (t {value['naive: t']:.3f}, "
        f"p = {value['naive: p']:.4f}). Corrected, P@3 is {found['corrected P@3', 'a']:.4f} and "
        f"{found['corrected P@3', 'b']:.4f}, with standard errors {found['standard error', 'a']:.4f} and "
        f"{found['standard error', 'b']:.4f}. If these were independent, the difference would not be significant "
        f"(p = {value['independent judges: p']:.3f}). But both use one gold sample and share most of their error: "
        f"{value['corrected P@3']:+.4f} [{value['shared judges: from']:+.4f}, {value['shared judges: to']:+.4f}],"
        f" z {value['shared judges: z']:.3f}, p = {value['shared judges: p']:.3f}."
    )


def _work_trec(_: NoisyPlan) -> Iterator[Row]:
    for name, system in TREC.items():
        rates = TREC_RATES[name]
        yield Row("P@20 by the judges", "(13)", name, system.mean, 3)
        yield from _tell_rates(rates, name)
        kept = "kept" if system.mean <= rates.m_r else f"{system.mean:.3f} > {rates.m_r:.3f}"
        yield Row("P@20 at most that rate", "(17)", name, system.mean - rates.m_r, 3, kept)
    for name, system in TREC.items():
        rates = TREC_RATES[name]
        worth = system.mean * (1 - system.mean) / system.variance_of_mean
        held = constrain(
            np.array([system.mean]), np.array([worth]), (rates.m_r, rates.m_n), (rates.relevant, rates.others)
        )
        yield Row("estimate that keeps (17)", "3.6", name, float(correct(held.share, held.m_r, held.m_n)[0]), 3)
    first, second = TREC.values()
    plan = plan_sizes(first, second, (TREC_RATES["DocRun02"], TREC_RATES["york07ed4"]))
    yield Row("topics, judges never wrong", "(26)", BOTH, plan.topics_without_errors, 0)
    yield Row("topics", "(31)", BOTH, plan.topics, 0)
    for name, relevant, others in zip(TREC, plan.gold_relevant, plan.gold_other, strict=True):
        yield Row("gold items, relevant", "(31)", name, relevant, 0)
        yield Row("gold items, others", "(31)", name, others, 0)


def _tell_trec(found: Figured) -> str:
    broken = " and ".join(
        f"{found['P@20 by the judges', name]:.3f} > {found['right about relevant', name]:.3f}" for name in TREC
    )
    held = " and ".join(f"{found['estimate that keeps (17)', name]:g}" for name in TREC)
    return (
        f"TREC: with judges without errors, {found['topics, judges never wrong', BOTH]:.0f} topics would show a "
        "significant difference (26). The correction is refused: the share of documents judged relevant is larger than "
        f"the rate at which judges recognise relevant documents, {broken} (17), so the rates do not belong to these "
        f"judgments. The estimates that satisfy (17) are {held}: there is no difference, and no number of topics is "
        "enough (31). Draw gold from the documents judged."
    )


def _work_dcg(_: NoisyPlan) -> Iterator[Row]:
    said = np.array(DCG_LISTS)
    discount = 1 / np.log2(np.arange(2, said.shape[1] + 2))
    mass = ((said[:, :, None] == np.arange(len(DCG_GAIN))) * discount[:, None]).sum(axis=1)  # (topic, said)
    gains = {"DCG@2 by the judges": np.array(DCG_GAIN), "corrected DCG@2": judge_gains(DCG_CONFUSION, DCG_GAIN)}
    for quantity, gain in gains.items():
        scores, by = correct_topics(mass, gain), "(25)" if "corrected" in quantity else "4.2"
        yield Row(quantity, by, "mean", float(scores.mean()), 6)
        for topic, score in enumerate(scores, 1):
            yield Row(quantity, by, f"topic {topic}", float(score), 6)


def _tell_dcg(found: Figured) -> str:
    naive, corrected = found["DCG@2 by the judges", "mean"], found["corrected DCG@2", "mean"]
    rows = "; ".join(
        f"gold {gain:g}: {', '.join(f'{share:g}' for share in row)}"
        for gain, row in zip(DCG_GAIN, DCG_CONFUSION, strict=True)
    )
    grades = ", ".join(f"{gain:g}" for gain in DCG_GAIN)
    return (
        f"Figure 1: DCG@2 is {naive:.6f} by the judges, {corrected:.6f} with their confusion corrected (25). The paper "
        f"gives no confusion matrix; in this one, shares of the judges' grades {grades} are, with {rows}."
    )


EXAMPLES = {
    "ebay": Example(_work_ebay, _tell_ebay),
    "trec": Example(_work_trec, _tell_trec),
    "dcg": Example(_work_dcg, _tell_dcg),
}


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
