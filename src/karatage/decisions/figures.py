"""Comparison of two systems by figures, as papers and reports give them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from karatage.correction import precision
from karatage.correction.precision import count_accuracy, require_gold, require_informed
from karatage.data.axes import FloatArray
from karatage.data.comparison import Comparison, Opinion
from karatage.data.estimate import JUDGES, Accuracy, Estimate, Estimated, Method, t_quantile
from karatage.data.note import Note
from karatage.data.options import CONFIDENCE, Figures, RateCounts, show_options
from karatage.data.result import list_versions
from karatage.decisions.correct import keep_possible
from karatage.decisions.notes import tell
from karatage.decisions.question import Judges
from karatage.errors import DataError, JudgeError, OptionError
from karatage.random_streams import stream

DRAWS = 10_000
ROUNDED = 0.0005  # figures are given to three digits or so
UNIT = (0.0, 1.0)
EITHER_WAY = (-1.0, 1.0)
TINY = 1e-12
ALONE = Method(
    name="independent judges",
    label="independent judges",
    about="Error rates corrected, each system with separate judges and gold ([NOISY18] (10), (11)).",
)
SHARED = Method(
    name="shared judges", label="shared judges", about="Error rates corrected, from one gold sample for both."
)
BOOTSTRAP = Method(name="bootstrap", label="bootstrap", about="Shares and rates resampled ([NOISY18] Algorithm 1).")


@show_options()
def compare_figures(
    a: Figures,
    b: Figures,
    rates: RateCounts,
    *,
    rates_b: RateCounts | None = None,
    judges: Judges = "shared",
    confidence: float = CONFIDENCE,
) -> Comparison:
    """Compare two systems' P@k on separate topics, from its mean and deviation and the judges' error rates.

    Args:
        a: Figures of one system.
        b: Figures of the other; differences are b - a.
        rates: How many gold items the judges graded correctly.
        rates_b: The same for b, if other judges graded it; then judges are independent.
        judges: `shared`: one gold sample for both systems; `independent`: [NOISY18] (10), (11).
        confidence: Confidence level of intervals.
    """
    if judges not in ("shared", "independent"):
        raise OptionError(f"judges '{judges}' is not one of shared, independent")
    for name, system in (("a", a), ("b", b)):
        if not 0 <= system.mean <= 1:
            raise DataError(f"{name}'s mean of {system.mean:g} is not a P@k: give a mean between 0 and 1")
        most = math.sqrt(system.mean * (1 - system.mean) * system.topics / (system.topics - 1))
        if system.deviation > most + ROUNDED:
            raise DataError(
                f"{name}'s deviation of {system.deviation:g} is impossible: scores between 0 and 1 with a mean of "
                f"{system.mean:g} have at most {most:.3f}; give the standard deviation (not the variance) of P@k over "
                f"topics"
            )
    gold_a = _count(rates)
    gold_b = gold_a if rates_b is None else _count(rates_b)
    alone = rates_b is not None or judges == "independent"
    naive = _trust(a, b, confidence)
    corrected: Opinion | None = None
    others: tuple[Opinion, ...] = ()
    refusal: str | None = None
    notes: tuple[Note, ...] = ()
    try:
        notes = _require(a, b, gold_a, gold_b)
        ways = {"independent": _correct_alone(a, b, gold_a, gold_b, confidence)}
        if rates_b is None:
            ways["shared"] = _correct_shared(a, b, gold_a, confidence)
        corrected = ways.pop("independent" if alone else "shared")
        opinions = (*ways.values(), _bootstrap(a, b, gold_a, gold_b, alone, confidence))
        others, told = keep_possible(opinions, UNIT[1])
        notes += told
    except DataError as problem:
        refusal = f"{problem}"
    return Comparison(
        measure="P@k",
        a="a",
        b="b",
        approach="figures",
        claim="topics like these",
        topics=a.topics + b.topics,
        naive=naive,
        corrected=corrected,
        others=others,
        refusal=refusal,
        gold=_say_gold(gold_a, gold_b),
        accuracy=gold_a,
        assumed=(
            "each system has separate topics, not paired",
            "error rates on these systems' documents are those on the gold items",
            "each system had separate judges and gold" if alone else "the same judges graded both systems",
        ),
        seed=0,
        versions=list_versions(),
        notes=notes,
    )


def _count(rates: RateCounts) -> Accuracy:
    return count_accuracy(rates.right_relevant, rates.relevant, rates.right_other, rates.others)


def _say_gold(a: Accuracy, b: Accuracy) -> str:
    if a is b:
        return f"gold: {a.items:,} items, by figures"
    return f"gold: {a.items:,} items for a and {b.items:,} for b, by figures; of b, {b.sentence}"


def _trust(a: Figures, b: Figures, confidence: float) -> Opinion:
    """[NOISY18] (9), Welch's test."""
    v_a, v_b = a.variance_of_mean, b.variance_of_mean
    doubt = v_a**2 / (a.topics - 1) + v_b**2 / (b.topics - 1)
    degrees = (v_a + v_b) ** 2 / doubt if doubt else np.inf
    return Opinion(
        method=JUDGES,
        a=Estimate.of(a.mean, v_a, degrees=a.topics - 1, confidence=confidence),
        b=Estimate.of(b.mean, v_b, degrees=b.topics - 1, confidence=confidence),
        difference=Estimate.of(b.mean - a.mean, v_a + v_b, degrees=degrees, confidence=confidence),
    )


def _require(a: Figures, b: Figures, gold_a: Accuracy, gold_b: Accuracy) -> tuple[Note, ...]:
    """Refuse contradictory figures and uninformative judges; notes where one system is at a bound."""
    broken, bounds = [], []
    for name, system, gold in (("a", a, gold_a), ("b", b, gold_b)):
        require_gold(gold)
        if system.mean > gold.m_r:
            broken.append(f"{name}: {system.mean:.3f} > {gold.m_r:.3f}, the share of relevant items that judges find")
            bounds.append("1")
        elif system.mean < 1 - gold.m_n:
            broken.append(
                f"{name}: {system.mean:.3f} < {1 - gold.m_n:.3f}, the share of other items that judges accept"
            )
            bounds.append("0")
    if len(broken) == 2:
        lost = ", so no number of topics would show a difference" if bounds[0] == bounds[1] else ""
        raise JudgeError(
            f"scores and error rates contradict each other ([NOISY18] (17)): {'; '.join(broken)}. The likeliest "
            f"corrected scores are {' and '.join(bounds)}{lost}; draw gold from what the judges graded for both"
        )
    for gold in (gold_a, gold_b):
        require_informed(gold)
    return tuple(tell("at-bound", reason=text) for text in broken)


def _correct(systems: Sequence[Figures], gold: Accuracy) -> list[Estimated]:
    """[NOISY18] (5), (7), and 3.6 at the bounds, where systems with the same judges adjust the same rates."""
    share = np.array([system.mean for system in systems])
    v_j = np.array([system.variance_of_mean for system in systems])
    n_r, n_n = gold.size[1], gold.size[0]
    worth = share * (1 - share) / np.maximum(v_j, TINY)
    kept = precision.constrain(share, worth, (gold.m_r, gold.m_n), (n_r, n_n))
    value = precision.correct(kept.share, kept.m_r, kept.m_n)
    variance = precision.correct_variance(v_j, share, gold.m_r, gold.m_n, n_r, n_n)
    return [Estimated(*found) for found in zip(value, variance, strict=True)]


def _correct_alone(a: Figures, b: Figures, gold_a: Accuracy, gold_b: Accuracy, confidence: float) -> Opinion:
    """[NOISY18] (10), (11)."""
    (first,), (second,) = _correct([a], gold_a), _correct([b], gold_b)
    return _opine(ALONE, first, second, precision.compare_independent(first, second), confidence)


def _correct_shared(a: Figures, b: Figures, gold: Accuracy, confidence: float) -> Opinion:
    """Both systems with one gold sample."""
    first, second = _correct([a, b], gold)
    v_a, v_b = a.variance_of_mean, b.variance_of_mean
    found = precision.compare_shared(b.mean - a.mean, v_a + v_b, gold.m_r, gold.m_n, gold.size[1], gold.size[0])
    value = np.subtract(second.value, first.value)
    return _opine(SHARED, first, second, Estimated(value, found.variance), confidence)


def _bootstrap(a: Figures, b: Figures, gold_a: Accuracy, gold_b: Accuracy, alone: bool, confidence: float) -> Opinion:
    """[NOISY18] Algorithm 1: shares and rates resampled; systems that share judges share the draws of rates."""
    rng = stream(0, "figures")

    def draw(systems: tuple[Figures, ...], gold: Accuracy) -> FloatArray:
        rates = (gold.m_r, gold.m_n, int(gold.size[1]), int(gold.size[0]))
        means, variances = [s.mean for s in systems], [s.variance_of_mean for s in systems]
        return precision.bootstrap(means, variances, rates, draws=DRAWS, rng=rng)

    drawn = np.hstack([draw((a,), gold_a), draw((b,), gold_b)]) if alone else draw((a, b), gold_a)
    found = drawn[:, 1] - drawn[:, 0]
    found = found[np.isfinite(found)]
    low, high = (float(x) for x in np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2]))
    tail = min(int((found <= 0).sum()), int((found >= 0).sum()))
    estimate = Estimate(
        value=float(np.median(found)),
        standard_error=(high - low) / 2 / t_quantile((1 + confidence) / 2, np.inf),
        degrees=np.inf,
        low=low,
        high=high,
        confidence=confidence,
    )
    p_value = min(1.0, 2 * (1 + tail) / (1 + len(found)))
    return Opinion(method=BOOTSTRAP, a=None, b=None, difference=estimate, test_p_value=p_value)


def _opine(method: Method, a: Estimated, b: Estimated, difference: Estimated, confidence: float) -> Opinion:
    def settle(found: Estimated, within: tuple[float, float]) -> Estimate:
        value = min(max(float(found.value), within[0]), within[1])  # rounding may exceed a bound
        return Estimate.of(value, float(found.variance), confidence=confidence, within=within)

    return Opinion(method=method, a=settle(a, UNIT), b=settle(b, UNIT), difference=settle(difference, EITHER_WAY))
