"""From figures of two systems and their judges to a plan: how many topics and gold items a claim takes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from karatage.correction.accuracy import CLEAR_OF_CHANCE, LEAST_ITEMS
from karatage.correction.power import (
    EVENLY,
    ROUNDING,
    Sizes,
    Terms,
    UnitPrices,
    afford,
    cheapest_split,
    find_sizes,
    find_variance,
    independent_terms,
    required_z,
    round_up,
    shared_terms,
    smallest_difference,
    spread_evenly,
    topics_without_errors,
)
from karatage.correction.precision import correct, share_variance
from karatage.data.axes import FloatArray
from karatage.data.figures import Figures, Goal, Prices, RateCounts
from karatage.data.sizing import Need, SizePlan
from karatage.errors import DataError

MANY_TOPICS = 30  # from which the normal distribution that the formulas assume is near enough
AS_ASKED = Goal()
Samples = tuple[RateCounts, ...]  # one for both systems, or one for each


def plan_sizes(
    a: Figures,
    b: Figures,
    rates: RateCounts | tuple[RateCounts, RateCounts],
    *,
    paired: float | None = None,
    goal: Goal = AS_ASKED,
    prices: Prices | None = None,
) -> SizePlan:
    """Topics, and gold items of each kind, with which a difference between two systems' P@k would show.

    Args:
        a: The first system's scores under the judges.
        b: The second's.
        rates: How often the judges are right. One sample serves both systems, whose errors are then shared; two are
            independent, [NOISY18] (31).
        paired: Standard deviation over topics of the difference between the systems; None where topics differ.
        goal: Level, power, difference to be shown, and how the error allowed is split.
        prices: With these the split is the cheapest, and a budget is spent in the best way.

    >>> rates = RateCounts(43, 59, 67, 84)
    >>> plan_sizes(Figures(10278, 0.6260, 0.414), Figures(20604, 0.6385, 0.402), rates).sentence
    'To show a difference of +0.0237 at level 0.05 takes 24,561 topics, 9 relevant and 7 other gold items; were ...'
    """
    samples = rates if isinstance(rates, tuple) else (rates,)
    _check(a, b, paired)
    first, second = (_estimate(system, sample) for system, sample in zip((a, b), _each(samples), strict=True))
    wanted = goal.difference if goal.difference is not None else _zero_by_rounding(second - first)
    naive = goal.difference if goal.difference is not None else _zero_by_rounding(b.mean - a.mean)
    deviations = (a.deviation, b.deviation) if paired is None else (paired, 0.0)
    refusal = _contradictions(a, b, samples) or (_no_difference(a, b) if wanted == 0 else None)
    if refusal is None:
        found = _solve(_terms(a, b, samples, paired, wanted), wanted, goal, prices)
    else:
        found = _nothing(len(samples), goal, refusal)
    return SizePlan(
        judges="shared" if len(samples) == 1 else "independent",
        paired=paired is not None,
        level=goal.level,
        power=goal.power,
        estimates=(first, second),
        difference=wanted,
        needs=_needs(found, (a, b), samples, prices),
        topics_without_errors=float(topics_without_errors(*deviations, naive, level=goal.level, power=goal.power)),
        standard_error=found.standard_error,
        half_width=required_z(goal.level) * found.standard_error,
        detectable=found.detectable,
        budget=prices.budget if prices else None,
        refusal=found.refusal,
        notes=_notes(goal, samples, found),
    )


class _Found(NamedTuple):
    sizes: Sizes
    split: FloatArray
    standard_error: float
    detectable: float
    refusal: str | None = None


def _check(a: Figures, b: Figures, paired: float | None) -> None:
    for system in (a, b):
        if not 0 <= system.mean <= 1:
            raise DataError(f"a mean of {system.mean:g} is no share of relevant documents: plans are for P@k, in 0-1")
    low, high = abs(a.deviation - b.deviation), a.deviation + b.deviation
    if paired is not None and not low * (1 - 1e-6) <= paired <= high * (1 + 1e-6):
        raise DataError(
            f"scores that deviate by {a.deviation:g} and {b.deviation:g} have differences that deviate by {low:g} to "
            f"{high:g}, not {paired:g}: give the standard deviation over topics of the difference"
        )


def _each(samples: Samples) -> Samples:
    return samples if len(samples) == 2 else samples * 2


def _estimate(system: Figures, sample: RateCounts) -> float:
    """[NOISY18] (16); NaN for judges no better than random."""
    if sample.d <= 0 or (_like_a_coin(sample) and _obeys(system, sample)):
        return math.nan
    return float(np.clip(correct(system.mean, sample.m_r, sample.m_n), 0.0, 1.0))


def _like_a_coin(sample: RateCounts) -> bool:
    error = share_variance([sample.m_r, sample.m_n], [sample.relevant, sample.others]).sum() ** 0.5
    return bool(sample.d <= CLEAR_OF_CHANCE * error)


def _obeys(system: Figures, sample: RateCounts) -> bool:
    """[NOISY18] (17), except for rounding."""
    return 1 - sample.m_n - 1e-12 <= system.mean <= sample.m_r + 1e-12


def _contradictions(a: Figures, b: Figures, samples: Samples) -> str | None:
    """Which figures cannot be true together, in words."""
    doubts = []
    for name, system, sample in zip("ab", (a, b), _each(samples), strict=True):
        said = f"judges call {system.mean:.3f} of {name}'s documents relevant"
        if sample.d > 0 and system.mean > sample.m_r and not _obeys(system, sample):
            doubts.append(f"{said}, more than the {sample.m_r:.3f} of relevant ones that they recognise")
        elif sample.d > 0 and not _obeys(system, sample):
            doubts.append(f"{said}, fewer than the {1 - sample.m_n:.3f} of other ones that they take for relevant")
    for name, sample in zip("ab" if len(samples) == 2 else ("",), samples, strict=True):
        if _like_a_coin(sample):
            whose = f"{name}'s judges" if name else "judges"
            doubts.append(
                f"{whose} are right about {sample.m_r:.0%} of {sample.relevant:,} relevant and "
                f"{sample.m_n:.0%} of {sample.others:,} other gold items, not clearly better than chance"
            )
    if not doubts:
        return None
    advice = (
        "check that gold was drawn from the documents judged and grades are not inverted, get more gold or other judges"
    )
    return f"{'; '.join(doubts)}: {advice}"


def _no_difference(a: Figures, b: Figures) -> str:
    both = f"both means are {a.mean:g}" if a.mean == b.mean else "both systems score alike after correction"
    return f"{both}, and no difference cannot be shown: name the smallest difference that matters"


def _zero_by_rounding(difference: float) -> float:
    return 0.0 if abs(difference) <= 1e-12 else difference


def _terms(a: Figures, b: Figures, samples: Samples, paired: float | None, difference: float) -> Terms:
    if len(samples) == 1:
        v = a.deviation**2 + b.deviation**2 if paired is None else paired**2
        return shared_terms(difference, v, samples[0].m_r, samples[0].m_n)
    m_r, m_n = [sample.m_r for sample in samples], [sample.m_n for sample in samples]
    return independent_terms([a.mean, b.mean], [a.deviation, b.deviation], m_r, m_n, paired)


def _solve(terms: Terms, difference: float, goal: Goal, prices: Prices | None) -> _Found:
    """Whole numbers: enough for the goal, or what the budget buys."""
    z, samples = required_z(goal.level, goal.power), terms.weight.shape[-1]
    unit = UnitPrices(2 * prices.topic, prices.gold_relevant, prices.gold_other) if prices else None
    if goal.split is not None:
        split = np.array(goal.split)
    else:
        split = spread_evenly(terms) if unit is None else cheapest_split(terms, unit)
    if prices is not None and prices.budget is not None and unit is not None:
        bought = find_sizes(terms, afford(terms, unit, prices.budget, split), split)
        sizes = Sizes(*(np.floor(size * (1 + ROUNDING)) for size in bought))
    else:
        sizes = Sizes(*(round_up(size) for size in find_sizes(terms, (difference / z) ** 2, split)))
    variance = float(find_variance(terms, sizes))
    if not math.isfinite(variance):
        return _nothing(samples, goal, "the budget does not buy one of each kind: raise it")
    if not np.isfinite(np.concatenate([np.atleast_1d(size) for size in sizes])).all():
        return _nothing(
            samples, goal, "one system's scores do not vary over topics, which leaves it no share of the error"
        )
    at = difference if samples == 1 else None
    return _Found(sizes, split, math.sqrt(variance), float(smallest_difference(terms, sizes, z, at)))


def _nothing(samples: int, goal: Goal, refusal: str) -> _Found:
    endless = np.full(samples, math.inf)
    return _Found(
        Sizes(np.array(math.inf), endless, endless), np.array(goal.split or EVENLY), math.nan, math.inf, refusal
    )


def _needs(
    found: _Found, systems: tuple[Figures, Figures], samples: Samples, prices: Prices | None
) -> tuple[Need, ...]:
    topics, relevant, others = (float(share) for share in found.split)
    price = (2 * prices.topic, prices.gold_relevant, prices.gold_other) if prices else (None, None, None)
    have = min(system.topics for system in systems)
    needs = [Need("topics", "both", float(found.sizes.topics), have, topics, price[0])]
    names = ("both",) if len(samples) == 1 else ("a", "b")
    for k, (name, sample) in enumerate(zip(names, samples, strict=True)):
        needs += [
            Need("gold relevant", name, float(found.sizes.relevant[k]), sample.relevant, relevant, price[1]),
            Need("gold not relevant", name, float(found.sizes.others[k]), sample.others, others, price[2]),
        ]
    return tuple(needs)


def _notes(goal: Goal, samples: Samples, found: _Found) -> tuple[str, ...]:
    if found.refusal is not None:
        return ()
    notes = []
    if goal.power is None:
        notes.append("no power asked for: a true difference of this size would show half the time; 0.8 is usual")
    if found.sizes.topics < MANY_TOPICS:
        notes.append(f"formulas are for {MANY_TOPICS} topics and more: take at least so many")
    if any(rate in (0.0, 1.0) for sample in samples for rate in (sample.m_r, sample.m_n)):
        notes.append("judges made no mistake on one kind of gold item, for which the formulas ask no gold: check some")
    few = [size for sizes in (found.sizes.relevant, found.sizes.others) for size in sizes.tolist()]
    if min(few) < LEAST_ITEMS * 2:
        notes.append(f"rates from fewer than {LEAST_ITEMS * 2} gold items of a kind are uncertain: check more")
    return tuple(notes)
