"""Systems compared by gold drawn with known probabilities: unbiased for any judge, narrow where the judge is good.

A rank measure is a weighted sum of gains, so an estimate of every item's gain estimates every system's score. An item
without gold counts what gold gave on average where the judge said the same; a drawn one adds its residual over its
chance [HT52]. What is estimated is linear in the weights, so all pairs of systems cost one pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from karatage.correction.curved import Ranked, shift_topics
from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.estimate import Estimated
from karatage.errors import DataError, OptionError
from karatage.kernels.sampling import (
    FLOOR,
    add_items,
    count_gaps,
    draw_items,
    find_chances,
    mean_positive,
    sum_gaps,
    sum_square_gaps,
)

Claim = Literal["these topics", "new topics"]
FOLDS = 5
MISSES = 2  # draws without a judge's help that a variance is never below: few errors seen are not few errors made
LEAST_SIZE = 0.5  # of the mean; chosen on TREC DL 2021, where it reduced the errors of AP by a third
ROUNDING = 1e-12  # of the largest topic score: a smaller difference is none
TINIEST = 1e-300
SAME = 1e-6  # a relative difference that digits lost in a file would exceed
BETS = np.geomspace(1e-6, 1.0, 120)  # as shares of the largest bet
MOST_BET = 1000.0
MOST_LOST = 0.9  # of a stake, by one draw


class Chosen(NamedTuple):
    """Items to send to gold, in batches."""

    item: LongArray  # (draw,)
    pi: FloatArray  # (draw,) chance to be drawn in its batch, given the earlier ones
    batch: LongArray  # (draw,) from 1


def choose_sizes(weight: FloatArray, pairs: Sequence[tuple[int, int]] | None = None) -> FloatArray:
    """How much each item matters (item,): the root mean square difference of its weights (item, system) over pairs.

    For two systems that is |w_a - w_b|, for one its weight. `pairs` are those still to be decided (default: all). Items
    on which only other pairs differ keep `FLOOR` of the mean size: without a chance to be drawn, they would bias those.
    """
    if weight.shape[1] == 1:
        return np.abs(weight[:, 0])
    if pairs is None:
        square = 2 * weight.var(axis=1, ddof=1)
    else:
        square = np.zeros(len(weight))
        sum_gaps(weight, np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs]), square)
        square /= max(len(pairs), 1)
    differs = weight.max(axis=1) > weight.min(axis=1)
    size: FloatArray = np.where(differs, np.sqrt(square), 0.0)
    size[differs & (size == 0)] = FLOOR * mean_positive(size)
    return size


def level_sizes(size: FloatArray) -> FloatArray:
    """Sizes (item,) for a measure whose weights depend on gold: items that seem to matter little have half the mean."""
    level: FloatArray = np.hypot(size, LEAST_SIZE * (mean_positive(size) or 1.0))
    return level


def draw_batches(
    size: FloatArray, counts: Sequence[int], rng: np.random.Generator, *, taken: LongArray | None = None
) -> Chosen:
    """Draw `counts` items in turn, each batch from what earlier ones, and the items `taken` before, have left.

    A batch is short, and later ones are empty, where items run out.
    """
    left = size.copy()
    if taken is not None:
        left[taken] = 0.0
    drawn: list[tuple[LongArray, FloatArray, LongArray]] = []
    for number, count in enumerate(counts, start=1):
        pi = find_chances(left, count)
        item = np.flatnonzero(draw_items(pi, rng))
        drawn.append((item, pi[item], np.full(len(item), number)))
        left[item] = 0.0
    item, pi, batch = (np.concatenate(column) for column in zip(*drawn, strict=True))
    return Chosen(item, pi, batch)


def expected_variance(gap: FloatArray, pi: FloatArray, residual_variance: FloatArray | float, topics: int) -> float:
    """The variance of a difference over these topics that a draw with chances `pi` (item,) would have.

    `gap` (item,) is the difference of the two systems' weights, `residual_variance` how far gold's gain scatters
    around what the judge leads one to expect.
    """
    matters = gap != 0
    if (pi[matters] <= 0).any():
        raise DataError(
            "an item on which the systems differ has sampling probability 0; use the probabilities of find_chances"
        )
    spread = gap[matters] ** 2 * (1 - pi[matters]) / pi[matters]
    residual = np.broadcast_to(np.asarray(residual_variance, float), gap.shape)[matters]
    return float((spread * residual).sum()) / topics**2


def match_uniform(gap: FloatArray, pi: FloatArray) -> float:
    """How many items drawn alike, of those that matter, would give the same variance as chances `pi`."""
    matters = int((gap != 0).sum())
    if not matters:
        return 0.0
    return matters / (1 + expected_variance(gap, pi, 1.0, 1) / float((gap**2).sum()))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Gold of the items drawn from a frame, in one batch or several.

    A batch is drawn from what earlier batches left, and `pi` is an item's chance to be drawn in its batch, given the
    earlier ones. So a batch may be planned on what the earlier ones showed, and work may stop after any of them.
    """

    item: LongArray  # (draw,)
    gain: FloatArray  # (draw,)
    pi: FloatArray  # (draw,)
    batch: LongArray  # (draw,) in the order of drawing

    def __post_init__(self) -> None:
        """Check and protect the arrays."""
        if len({len(self.item), len(self.gain), len(self.pi), len(self.batch)}) > 1:
            raise DataError("drawn gold needs one item, gain, pi and batch per draw")
        if not len(self.item):
            raise DataError("no gold was drawn; grade some of the items that the systems rank differently")
        wrong = np.flatnonzero(~((self.pi > 0) & (self.pi <= 1)))
        if wrong.size:
            raise DataError(
                f"pi must be a probability above 0 and at most 1, not {self.pi[wrong[0]]:g} (draw {wrong[0] + 1})"
            )
        if len(np.unique(self.item)) < len(self.item):
            raise DataError("an item was drawn twice; gold has one grade per item, so remove the repeats")
        freeze(self.item, self.gain, self.pi, self.batch)


class Reach(NamedTuple):
    """What the chances of drawn gold add up to, (batch,) each."""

    share: FloatArray  # of what could be drawn: 1 where chances are right
    evidence: FloatArray  # log of the odds against that being chance


@dataclass(frozen=True, eq=False)
class Sampled:
    """Estimates of each system in each topic from sampled gold.

    One more system than there are, the last, shows nothing: a score is the difference to it.
    """

    term: FloatArray  # (topic, system) unbiased for gold's topic score
    proven: FloatArray  # (topic, system) what drawn gold alone adds up to
    noise: FloatArray  # (draw, system) standard error of the mean over these topics that a residual of 1 brings
    residual: FloatArray  # (draw,) how far gold was from what the judge led to expect
    scatter: float  # variance of gold's gains, which is that of residuals if the judge is no help
    told: LongArray  # (system, system) draws left to chance that tell the two systems apart
    untold: LongArray  # (system, system) items without gold to which the two give different weights
    ideal: FloatArray  # (ideal, system) how far ideal gains that are as likely would move the mean, as standard errors
    erring: FloatArray  # (gold, system) standard error of the mean that gold's own errors bring, each counted once
    factor: FloatArray  # (gold,) what a residual counts
    chance: FloatArray  # (gold,) standard error that a residual of 1 brings
    flat: FloatArray | None = None  # (draw, system) as `noise`, without the curvature of a measure that is not a sum

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.term, self.proven, self.noise, self.residual, self.told, self.untold, self.ideal)
        freeze(self.erring, self.factor, self.chance)

    def spread_errors(self) -> FloatArray:
        """The part of every pair's variance that is due to gold's own errors (system, system), for known rates."""
        return self._weigh_errors(self.factor)[:-1, :-1]

    def _weigh_errors(self, count: FloatArray) -> FloatArray:
        """The same with an item's error counted so often (gold,); once where gold has all that differs."""
        once, often = np.zeros((2, *self.untold.shape))
        sum_square_gaps(self.erring, once)
        sum_square_gaps(self.erring * count[:, None], often)
        counted: FloatArray = np.where(self.untold == 0, once, often)
        return counted

    def share_linear(self) -> FloatArray:
        """The share of every pair's variance from gold (system, system) that no curvature of the measure adds."""
        seen, linear = np.zeros((2, *self.untold.shape))
        sum_square_gaps(self.noise * self.residual[:, None], seen)
        sum_square_gaps((self.noise if self.flat is None else self.flat) * self.residual[:, None], linear)
        return np.where(seen > 0, linear / _or_one(seen), 1.0)[:-1, :-1]

    def scores(self, claim: Claim) -> Estimated:
        """The mean over topics of each system (system,).

        Items with equal weights in all systems need no gold to compare them, so they are seldom drawn; the common
        level of the scores then depends on the judge.
        """
        value, variance, degrees = self._compare(claim)
        return Estimated(value[-1, :-1], variance[-1, :-1], degrees[-1, :-1])

    def differences(self, claim: Claim) -> Estimated:
        """Every pair of systems, (system, system): entry [a, b] is b minus a.

        Where gold has every item with different weights in the two, their difference is gold's. Where fewer than two
        draws distinguish them, or all gold is alike, the variance is unknown, that is infinite. Gold's part in it is
        at least
        what `MISSES` draws bring that miss by as much as gold's gains scatter: else a judge seen right 20 times would
        be certainly right. Few draws are few degrees of freedom, however many topics there are.
        """
        value, variance, degrees = self._compare(claim)
        return Estimated(value[:-1, :-1], variance[:-1, :-1], degrees[:-1, :-1])

    def _compare(self, claim: Claim) -> tuple[FloatArray, FloatArray, FloatArray]:
        exact, topics = self.untold == 0, len(self.term)
        mean, proven = self.term.mean(axis=0), self.proven.mean(axis=0)
        value = np.where(exact, proven - proven[:, None], mean - mean[:, None])
        seen, least = np.zeros((2, *exact.shape))
        sum_square_gaps(self.noise * self.residual[:, None], seen)
        sum_square_gaps(self.noise, least)
        gold = np.where(exact, 0.0, np.maximum(seen, least * MISSES * self.scatter / np.maximum(self.told, 1)))
        degrees = np.where(exact, math.inf, np.maximum(self.told - 1, 1))
        unseen = np.sqrt(np.maximum(self.factor**2 - self.chance**2, 0.0))  # residuals have the rest of gold's errors
        variance = gold + self._weigh_errors(unseen) if claim == "these topics" and len(self.erring) else gold
        if claim == "new topics":
            if topics < 2:
                raise DataError(
                    "one topic is not enough for a claim about new topics; claim these topics only, or add topics"
                )
            spread, known = np.zeros((2, *exact.shape))
            sum_square_gaps(self.term - mean, spread)
            sum_square_gaps(self.proven - proven, known)
            variance = np.where(exact, known, spread) / (topics * (topics - 1))
            variance = variance + np.where(exact, 0.0, gold - seen)  # topics' spread has in it what was seen
            if self.flat is not None:  # what is seen has products of two residuals twice, which makes it safe
                linear = np.zeros(exact.shape)
                sum_square_gaps(self.flat * self.residual[:, None], linear)
                variance = variance + np.where(exact, 0.0, np.maximum(seen - linear, 0.0) / 2)
            degrees = np.minimum(degrees, topics - 1.0)
        doubt = np.zeros(exact.shape)
        sum_square_gaps(self.ideal, doubt)
        variance = variance + doubt
        tiny = ROUNDING * float(np.abs(self.term).max())
        variance[variance <= tiny**2] = 0.0
        value[(variance == 0) & (np.abs(value) <= tiny)] = 0.0  # else two tied systems would differ significantly
        variance[~exact & ((self.told < 2) | (self.scatter == 0))] = math.inf
        return value, variance, degrees


def learn_gains(
    said: LongArray, topic: LongArray, drawn: Drawn, *, factor: FloatArray | None = None, folds: int = FOLDS
) -> FloatArray:
    """The gain to expect of each item (item,), from the gold of other topics where the judge said the same.

    `said` is a class: a grade, or -1 for not judged. Gold counts `factor` (draw,), by default its inverse chance. A
    class mean is shrunk to the overall mean, as if it had one more draw from there or less. How much: the share of the
    gains' variance that the classes leave unexplained. So a judge who never errs is taken as correct, and a class
    without gold has the overall mean.

    Topic t is in fold `t % folds`. If all gold is in one fold, each topic is a fold. If all gold is in one topic, folds
    are made of items. The expectation is 0 where there is no other gold. None of this costs the estimate its
    unbiasedness, which only needs an item's own gold to be kept out.
    """
    if folds < 2:
        raise OptionError(f"gold of other topics needs at least 2 folds, not {folds}")
    fold = _split_topics(topic, drawn.item, folds)
    raised = 1 / drawn.pi if factor is None else factor
    classes = int(said.max()) + 2
    shape = (int(fold.max()) + 1, classes)
    key = fold[drawn.item] * classes + said[drawn.item] + 1
    moments = (raised, raised * drawn.gain, raised * drawn.gain**2, raised**2)
    own = np.stack([np.bincount(key, part, shape[0] * classes).reshape(shape) for part in moments])
    weight, gain, square, raised_square = np.einsum("fo,moc->mfc", 1 - np.eye(shape[0]), own)
    seen = weight > 0
    total = _or_one(weight.sum(axis=1, keepdims=True))
    overall = gain.sum(axis=1, keepdims=True) / total
    mean = np.where(seen, gain / _or_one(weight), overall)
    within = (square - mean * gain).sum(axis=1, keepdims=True)
    variance = within + (weight * (mean - overall) ** 2).sum(axis=1, keepdims=True)
    unexplained = np.clip(within / _or_one(variance), 0.0, 1.0)
    draws = np.where(seen, weight**2 / _or_one(raised_square), 0.0)
    expected: FloatArray = (draws * mean + unexplained * overall) / _or_one(draws + unexplained)
    return np.where(seen, expected, overall)[fold, said + 1]


def sum_topics(
    weight: FloatArray,
    said: LongArray,
    topic: LongArray,
    topics: int,
    drawn: Drawn,
    *,
    factors: FloatArray | None = None,
    noise: FloatArray | None = None,
    curve: Ranked | None = None,
    folds: int = FOLDS,
) -> Sampled:
    """Estimate every system's topic scores from the judge's grades of all items and the gold of some.

    `weight` (item, system) is what an item's gain counts in a system's score, 0 where the system does not show it;
    `topic` (item,) runs from 0 to `topics` - 1. Every item with different weights in two systems must have had a
    chance to
    be drawn in every batch (`find_reach` tells). Where a topic's weights are known up to a factor only, its mean is in
    `weight`, and `factors` (draw, topic) are as likely values of it, relative to that mean. `noise` (draw,) is the
    variance of gold's gains, where gold errs. A measure that is not a weighted sum has a `curve`; `weight` then
    only says how much items matter, and the derivatives take its place.
    """
    factor, chance = _combine_batches(weight, drawn)
    gain = learn_gains(said, topic, drawn, factor=factor, folds=folds)
    learned, known = gain[drawn.item], gain.copy()
    known[drawn.item] = drawn.gain
    gain[drawn.item] = factor * drawn.gain - (factor - 1) * learned  # gold itself where the factor is 1
    gold = np.zeros(len(gain))
    gold[drawn.item] = drawn.gain
    columns = weight.shape[1] + 1
    term, proven = np.zeros((2, topics, columns))
    steep = weight
    if curve is None:
        add_items(weight, gain, topic.astype(np.int64), term)
        add_items(weight, gold, topic.astype(np.int64), proven)
    else:
        shift = _shift_expected(known, said, topic, topics, drawn, learned, factor)
        term[:, :-1], weight, steep = curve.expand(gain, known, shift)
        proven[:, :-1] = curve.expand(gold, gold).term
    told, untold = np.zeros((2, columns, columns), np.int64)
    random = np.flatnonzero(chance)
    count_gaps(weight, _mark(len(gain), drawn.item[random]), told)
    count_gaps(weight, ~_mark(len(gain), drawn.item), untold)
    error, flat = np.zeros((2, len(random), columns))
    for each, slope in (error, weight), (flat, steep):
        each[:, :-1] = slope[drawn.item[random]] * (chance[random, None] / topics)
    ideal = np.zeros((0, columns))
    if factors is not None:
        ideal = np.einsum("rt,ts->rs", factors - factors.mean(axis=0), term) / (topics * math.sqrt(len(factors) - 1))
    residual = (drawn.gain - learned)[random]
    erring = np.zeros((0 if noise is None else len(noise), columns))
    if noise is not None:
        erring[:, :-1] = weight[drawn.item] * (np.sqrt(noise)[:, None] / topics)
    counted = slice(len(erring))
    scatter = _scatter(drawn.gain, factor)
    rest = (told, untold, ideal, erring, factor[counted], chance[counted])
    return Sampled(term, proven, error, residual, scatter, *rest, None if curve is None else flat)


def _shift_expected(
    known: FloatArray,
    said: LongArray,
    topic: LongArray,
    topics: int,
    drawn: Drawn,
    learned: FloatArray,
    factor: FloatArray,
) -> FloatArray:
    """How far judged items without gold (item,) are likely to be from their expected gains, by their topic's gold."""
    judged, shift = said >= 0, np.zeros(len(known))
    heard = judged[drawn.item]
    if heard.any() and factor[heard].sum() > 0:
        residual, place = (drawn.gain - learned)[heard], topic[drawn.item[heard]]
        shift = np.where(judged, shift_topics(residual, place, np.maximum(factor[heard], 0.0), topics)[topic], 0.0)
    shift[drawn.item] = 0.0
    return np.asarray(np.clip(known + shift, 0.0, max(float(drawn.gain.max()), 0.0)) - known)


def find_reach(size: FloatArray, drawn: Drawn, *, fixed: bool) -> Reach:
    """Whether the sum of `size` / pi over what each batch drew is the sum of `size` (item,) over what it drew from.

    Too low, and items that matter had no chance or were not graded; too high, and gold counts for more than there is.
    The evidence is the log of a bet that the chances are wrong: with any true ones it exceeds log(1/p) with probability
    p at most. For independent draws E prod(1 + b r) <= exp(b M), with r = size / pi and M their expected sum; for a
    `fixed` number n of draws (1 + b M / n)^n. The best of many bets b is taken.
    """
    numbers = np.unique(drawn.batch)
    left = size.copy()
    share, evidence = np.ones(len(numbers)), np.zeros(len(numbers))
    for at, number in enumerate(numbers):
        own = drawn.batch == number
        chance = own & (drawn.pi < 1)
        certain = size[drawn.item[own & (drawn.pi == 1)]].sum()
        rest = float(left.sum() - certain)
        raised = size[drawn.item[chance]] / drawn.pi[chance]
        if rest > ROUNDING * size.sum():
            share[at] = (raised.sum() + certain) / left.sum()
            rarest = 1.0 if at == 0 else FLOOR  # later batches may have been drawn for some of the pairs only
            evidence[at] = _bet(raised[raised > 0], rest, rarest, fixed=fixed) if chance.any() else math.inf
        left[drawn.item[own]] = 0.0
    return Reach(share, evidence)


def weigh_count(size: FloatArray, drawn: Drawn) -> float:
    """Log of the odds against so few of the items with a `size` (item,) being drawn, or so many; 0 if chances differ.

    With one chance for all their number is binomial, or varies less. This sees more than `find_reach`.
    """
    from scipy.special import bdtr, bdtrc

    pi, matters = drawn.pi, size[drawn.item] > 0
    if not _is_constant(pi) or pi.max() == 1:
        return 0.0
    count, items, chance = int(matters.sum()), int((size > 0).sum()), float(pi.mean())
    tail = min(float(bdtr(count, items, chance)), float(bdtrc(count - 1, items, chance)) if count else 1.0)
    return -math.log(max(tail, TINIEST))


def count_planned(size: FloatArray, drawn: Drawn) -> int | None:
    """How many items a queue held whose chances follow `size` (item,), as those of `plan` do; None for others.

    Chances that vary in proportion to sizes, to many digits, are no accident, nor is a whole number as their sum.
    Such queues hold exactly this many items, so that rows which were not brought back are seen though the file does
    not say its
    length. Anybody may draw with one chance for all.
    """
    chance = drawn.pi < 1
    raised = size[drawn.item[chance]] / drawn.pi[chance]
    if not raised.all() or not _is_constant(raised) or _is_constant(drawn.pi[chance]):
        return None
    expected = float(np.minimum(size / raised.mean(), 1.0).sum())
    planned = round(expected)
    return planned if planned and abs(expected - planned) <= SAME * planned else None


def _is_constant(values: FloatArray) -> bool:
    return len(values) > 0 and bool(np.ptp(values) <= SAME * values.max())


def _bet(raised: FloatArray, total: float, rarest: float, *, fixed: bool) -> float:
    """The log of the best bet against `raised` (draw,) having the expected sum `total`.

    Some items may not have been drawn because they had `rarest` times the usual chance. Bets that the sum is too
    low stay so small that such an item would not lose all.
    """
    if not len(raised):
        return 0.0
    typical, expected = float(raised.mean()), total / len(raised)
    lower = BETS * (MOST_LOST / max(typical / rarest, expected, float(raised.max())))
    bet = np.r_[-lower, BETS * (MOST_BET / typical)]
    fair = len(raised) * np.log1p(bet * expected) if fixed else bet * total
    return float((np.log1p(bet[:, None] * raised).sum(axis=1) - fair).max())


def _combine_batches(weight: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
    """What a draw's residual counts (draw,), and the standard error that a residual of 1 brings (draw,).

    Each batch gives an estimate, in which earlier draws are known and its own count 1/pi; the estimates are averaged.
    They are uncorrelated, so their variances add.
    """
    _, number, count = np.unique(drawn.batch, return_inverse=True, return_counts=True)
    share = np.ones(1)
    if len(count) > 1:
        share = _weigh_batches(choose_sizes(weight), drawn, number, count)
    later = np.r_[np.cumsum(share[:0:-1])[::-1], 0.0]
    return share[number] / drawn.pi + later[number], share[number] * np.sqrt(1 - drawn.pi) / drawn.pi


def _weigh_batches(size: FloatArray, drawn: Drawn, number: LongArray, count: LongArray) -> FloatArray:
    """The weight of each batch's estimate (batch,): its inverse variance if chances follow `size` (item,).

    The variance is (R/n)^2 times the sum over its n draws of 1 - pi, with R the size that it found undrawn. Grades play
    no part, and all pairs of systems share the weights. A batch that found nothing left has complete information and
    all the weight. A batch of certain draws only is not a sample of the others, and has weight 0 if there are other
    batches.
    """
    left = size.sum() - np.r_[0.0, np.cumsum(np.bincount(number, size[drawn.item]))]
    left[left <= ROUNDING * left[0]] = 0.0
    chance: FloatArray = np.bincount(number, 1 - drawn.pi).astype(np.float64)
    exact = np.flatnonzero(left[:-1] == 0)
    share: FloatArray
    if exact.size:
        share = (np.arange(len(count)) == exact[-1]).astype(np.float64)
    elif not chance.any():
        share = count.astype(np.float64)
    else:
        share = np.where(chance > 0, count**2 / (left[:-1] ** 2 * _or_one(chance)), 0.0)
    share /= share.sum()
    return share


def _split_topics(topic: LongArray, gold: LongArray, folds: int) -> LongArray:
    for fold in (topic % folds, topic):
        if np.ptp(fold[gold]) > 0:
            return fold.astype(np.int64)
    return np.arange(len(topic)) % folds


def _scatter(gain: FloatArray, factor: FloatArray) -> float:
    if np.ptp(gain) == 0:
        return 0.0
    mean = (factor * gain).sum() / factor.sum()
    return float((factor * (gain - mean) ** 2).sum() / factor.sum())


def _mark(items: int, marked: LongArray) -> BoolArray:
    mark = np.zeros(items, np.bool_)
    mark[marked] = True
    return mark


def _or_one(divisor: FloatArray) -> FloatArray:
    return np.where(divisor > 0, divisor, 1.0)
