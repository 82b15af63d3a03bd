"""The paper's worked examples: figures and a conclusion for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.correction.graded import correct_topics, judge_gains
from karatage.correction.planning import plan_sizes
from karatage.correction.precision import (
    bootstrap,
    compare_independent,
    compare_shared,
    constrain,
    correct,
    correct_variance,
)
from karatage.data.checks import TEXT, Column, maybe
from karatage.data.estimate import Estimate, Estimated
from karatage.data.options import Figures, RateCounts
from karatage.experiments.engine import Finding, frame_rows
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.random_streams import stream

WORKED = {
    "example": TEXT,
    "quantity": TEXT,
    "by": TEXT,  # equation or section of the paper
    "of": TEXT,  # system, pair or topic
    "value": Column("float", empty=True, endless=True),
    "digits": Column("int32", 0, 20),
    "text": maybe(TEXT),  # shown instead of the value
}
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
