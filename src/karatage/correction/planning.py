"""How many topics and gold items a claim takes, [NOISY18] section 5, from figures of two systems and their judges.

The variance of a corrected difference is a sum of terms that each shrink with one number: topics / n, and for each gold
sample relevant / n_R and others / n_N. With one sample for both systems there is one of each, else one per system.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.correction.precision import CLEAR_OF_CHANCE, LEAST_ITEMS, correct, share_variance
from karatage.data.axes import FloatArray
from karatage.data.note import Note, Texts
from karatage.data.options import Figures, Goal, Prices, RateCounts
from karatage.data.plan import Need, SizePlan
from karatage.errors import DataError

tell = Texts(
    "correction",
    {
        "faultless": "judges made no error on one kind of gold item, so the formulas need no gold of this kind: grade "
        "some anyway",
        "few-gold": "error rates from fewer than {least} gold items of a kind are uncertain: grade more gold",
        "few-topics": "the formulas are accurate from {least} topics on: use at least {least} topics",
        "no-power": "no power was given, so it is 0.5: a true difference of this size would be detected half the "
        "time; 0.8 is usual",
    },
)

MANY_TOPICS = 30  # from which the normal distribution that the formulas assume is near enough
AS_ASKED = Goal()
Samples = tuple[RateCounts, ...]  # one for both systems, or one for each
EVENLY = (1 / 3, 1 / 3, 1 / 3)
ROUNDING = 1e-12  # by which a number of items may exceed a whole one and still be it


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
    'To show a difference of +0.0237 at level 0.05 needs 24,561 topics, 9 relevant and 7 other gold items; with ...'
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
            raise DataError(f"a mean of {system.mean:g} is not a P@k: give a mean between 0 and 1")
    low, high = abs(a.deviation - b.deviation), a.deviation + b.deviation
    if paired is not None and not low * (1 - 1e-6) <= paired <= high * (1 + 1e-6):
        raise DataError(
            f"scores with standard deviations of {a.deviation:g} and {b.deviation:g} have differences that deviate by "
            f"{low:g} to "
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
            doubts.append(f"{said}, more than the {sample.m_r:.3f} of relevant ones that they call relevant")
        elif sample.d > 0 and not _obeys(system, sample):
            doubts.append(f"{said}, less than the {1 - sample.m_n:.3f} of other documents that they call relevant")
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
    both = f"both means are {a.mean:g}" if a.mean == b.mean else "both systems have the same score after correction"
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
        return _nothing(
            samples, goal, "the budget is too small for one topic and one gold item of each kind: increase it"
        )
    if not np.isfinite(np.concatenate([np.atleast_1d(size) for size in sizes])).all():
        return _nothing(
            samples, goal, "the scores of one system do not vary over topics, so its share of the error is 0"
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


def _notes(goal: Goal, samples: Samples, found: _Found) -> tuple[Note, ...]:
    if found.refusal is not None:
        return ()
    faultless = any(rate in (0.0, 1.0) for sample in samples for rate in (sample.m_r, sample.m_n))
    gold = [size for sizes in (found.sizes.relevant, found.sizes.others) for size in sizes.tolist()]
    return (
        *tell.when(goal.power is None, "no-power"),
        *tell.when(found.sizes.topics < MANY_TOPICS, "few-topics", least=MANY_TOPICS),
        *tell.when(faultless, "faultless"),
        *tell.when(min(gold) < LEAST_ITEMS * 2, "few-gold", least=LEAST_ITEMS * 2),
    )


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
