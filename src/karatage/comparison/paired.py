"""Tests of two systems: paired on the same topics, or on separate topics."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from karatage.comparison.flipping import (
    MOST_STEPS,
    least_extreme,
    random_flips,
    share_as_extreme,
    signed_sum,
    subset_sums,
)
from karatage.comparison.notes import tell
from karatage.data.axes import FloatArray, LongArray, settle_ties
from karatage.data.comparison import say_p
from karatage.data.display import Shown
from karatage.data.estimate import t_outside, t_quantile
from karatage.data.note import Note
from karatage.data.options import Figures, check_confidence
from karatage.errors import DataError, OptionError
from karatage.random_streams import generator
from karatage.text import counted, percent


def say_test(difference: float, p_value: float, interval: tuple[float, float], *, confidence: float, where: str) -> str:
    """The difference between the two systems, and whether it is significant.

    >>> say_test(0.25, 0.125, (-0.1, 0.6), confidence=0.95, where="on 4 topics")
    'The second system scores 0.25 higher than the first on 4 topics: not significant (p = 0.12, 95% interval -0....'
    """
    if not difference:
        return f"Both systems have the same mean score {where}."
    side = "higher" if difference > 0 else "lower"
    verdict = "significant" if p_value <= 1 - confidence + 1e-12 else "not significant"
    low, high = interval
    known = math.isfinite(low) and math.isfinite(high)
    between = f", {percent(confidence)} interval {low:+.4g} to {high:+.4g}" if known else ""
    far = f"The second system scores {abs(difference):.4g} {side} than the first {where}"
    return f"{far}: {verdict} (p {say_p(p_value)}{between})."


Test = Literal["t", "wilcoxon", "permutation", "bootstrap"]
FEW_TOPICS = 10
ALL_SUBSETS = 20  # topics up to which every subset is listed
CELLS = 2_000_000  # of a table of resampled topics at a time
SPREAD = 1e-12  # a standard deviation below this part of the largest difference is rounding


@dataclass(frozen=True, kw_only=True)
class PairedTest(Shown):
    """A test of whether the second system differs from the first, on the same topics."""

    test: str
    difference: float  # mean over topics, second minus first
    statistic: float  # t; rank sum of the topics the second wins (wilcoxon); mean difference (permutation)
    p_value: float  # two-sided
    low: float  # of the interval, infinite where topics are too few to bound it
    high: float
    confidence: float
    topics: int
    zeros: int  # topics without a difference
    exact: bool  # whether the p-value is neither drawn nor an approximation
    notes: tuple[Note, ...]

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at the level of the interval."""
        return self.p_value <= 1 - self.confidence + 1e-12

    @property
    def sentence(self) -> str:
        """What to take away."""
        where = f"on the same {counted(self.topics, 'topic')}"
        return say_test(self.difference, self.p_value, (self.low, self.high), confidence=self.confidence, where=where)

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON, which has no infinity."""
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(self).items()}


class _Found(NamedTuple):
    statistic: float
    p_value: float
    low: float
    high: float
    exact: bool
    notes: tuple[Note, ...] = ()


def paired_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    test: Test = "t",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator | None = None,
) -> PairedTest:
    """Two-sided test of the difference between two systems' scores on the same topics.

    Args:
        x: Scores of the first system, one per topic; NaN where a topic has none, which leaves the topic out.
        y: Scores of the second, topics in the same order; differences are the second minus the first.
        test: `t`; `wilcoxon`'s signed ranks, without topics without a difference, interval by Walsh averages;
            `permutation`, which flips the signs of differences, interval by means of subsets [HAR69]; or
            `bootstrap` over topics, studentised [SAK06], as the plain one of [SAC07] rejects too often on few topics.
        confidence: Of the interval.
        resamples: Draws of the bootstrap, and of a permutation test too large to be exact.
        rng: Seed of the draws.

    >>> found = paired_test([0.2, 0.5, 0.3, 0.4], [0.4, 0.6, 0.6, 0.8], test="permutation")
    >>> round(found.difference, 12), found.p_value, found.exact
    (0.25, 0.125, True)
    """
    if test not in get_args(Test):
        raise OptionError(f"test '{test}' is not one of {', '.join(get_args(Test))}")
    if resamples < 1:
        raise OptionError(f"a test needs at least one resample, not {resamples}")
    level = 1 - check_confidence(confidence)
    gap, notes = _pair(x, y)
    zeros = int((settle_ties(gap) == 0).sum())
    if zeros == len(gap):
        found = _Found(0.0, 1.0, 0.0, 0.0, True, (tell("alike"),))
    elif test == "t":
        found = _student(gap, level)
    elif test == "wilcoxon":
        found = _wilcoxon(gap, level)
    elif test == "permutation":
        found = _permutation(gap, level, resamples, rng)
    else:
        found = _bootstrap(gap, level, resamples, rng)
    notes += tell.when(len(gap) < FEW_TOPICS, "few-topics", topics=len(gap))
    notes += tell.when(found.low == -math.inf, "no-interval", topics=len(gap), confidence=confidence)
    return PairedTest(
        test=test,
        difference=float(gap.mean()) if zeros < len(gap) else 0.0,
        statistic=found.statistic,
        p_value=found.p_value,
        low=found.low,
        high=found.high,
        confidence=confidence,
        topics=len(gap),
        zeros=zeros,
        exact=found.exact,
        notes=notes + found.notes,
    )


def read_scores(scores: ArrayLike) -> FloatArray:
    """Scores by topic (topic,), NaN where there is none."""
    value = np.asarray(scores, dtype=np.float64)
    if value.ndim != 1:
        raise DataError(f"scores of shape {value.shape} are not those of one system: pass one score per topic")
    if np.isinf(value).any():
        raise DataError(f"{counted(int(np.isinf(value).sum()), 'score')} infinite: pass NaN where a topic has none")
    return value


def _pair(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, tuple[Note, ...]]:
    first, second = read_scores(x), read_scores(y)
    if len(first) != len(second):
        raise DataError(
            f"{len(first)} and {len(second)} scores are not pairs: give both systems' scores on the same topics in the "
            "same order, NaN where a topic has none, or use welch_test for different topics"
        )
    gap = second - first
    kept = gap[~np.isnan(gap)]
    if len(kept) < 2:
        raise DataError(f"{counted(len(kept), 'topic')} with a score for both systems: a test needs at least 2")
    left_out = len(gap) - len(kept)
    return kept, tell.when(left_out, "topics-unpaired", topics=left_out)


def _student(gap: FloatArray, level: float) -> _Found:
    mean, error = float(gap.mean()), _standard_error(gap)
    if error == 0:
        return _Found(math.copysign(math.inf, mean), 0.0, mean, mean, True, (tell("constant"),))
    half = t_quantile(1 - level / 2, len(gap) - 1) * error
    return _Found(mean / error, t_outside(mean / error, len(gap) - 1), mean - half, mean + half, True)


def _standard_error(gap: FloatArray) -> float:
    deviation = float(gap.std(ddof=1))
    return deviation / math.sqrt(len(gap)) if deviation > SPREAD * float(np.abs(gap).max()) else 0.0


def _wilcoxon(gap: FloatArray, level: float) -> _Found:
    settled = settle_ties(gap)
    used, sign = gap[settled != 0], np.sign(settled[settled != 0])
    twice = _twice_ranks(np.abs(settled[settled != 0]))
    turned = int((sign * twice).sum())  # of twice the ranks, those won less those lost
    n = len(used)
    exact = n * int(twice.sum()) <= MOST_STEPS
    found = signed_sum(twice) if exact else None
    if found is not None:
        p_value = min(float(found[1][np.abs(found[0]) >= abs(turned)].sum()), 1.0)
    else:
        exact = False
        p_value = t_outside(turned / math.sqrt(float((twice.astype(float) ** 2).sum())), math.inf)
    rank = _walsh_rank(n, level)
    bounds = (_walsh(used, rank), _walsh(used, n * (n + 1) // 2 + 1 - rank)) if rank else (-math.inf, math.inf)
    notes = (tell("pseudo-median"), *tell.when(n < len(gap), "zeros", topics=len(gap) - n))
    return _Found(float(twice[sign > 0].sum()) / 2, p_value, *bounds, exact, notes)


def _twice_ranks(value: FloatArray) -> LongArray:
    """Twice the rank of each value from below, ties sharing the middle one: whole numbers."""
    _, inverse, count = np.unique(value, return_inverse=True, return_counts=True)
    below = np.cumsum(count) - count
    return np.asarray((2 * below + count + 1)[inverse], dtype=np.int64)


def _walsh_rank(n: int, level: float) -> int:
    """Which Walsh average from below bounds the interval; 0 where none does."""
    ranks = np.arange(1, n + 1)
    found = signed_sum(ranks) if n * int(ranks.sum()) <= MOST_STEPS else None
    if found is not None:
        return int((np.cumsum(found[1]) <= level / 2 * (1 + 1e-12)).sum())
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return int(n * (n + 1) / 4 - NormalDist().inv_cdf(1 - level / 2) * spread)


def _walsh(gap: FloatArray, rank: int) -> float:
    """The mean of two differences (or one with itself) that is `rank`-th from below, without listing them all."""
    gap = np.sort(gap)
    own = np.arange(1, len(gap) + 1)
    low, high = float(gap[0]), float(gap[-1])
    near = 1e-14 * max(abs(low), abs(high))
    while high - low > near:
        middle = low + (high - low) / 2
        if int(np.minimum(np.searchsorted(gap, 2 * middle - gap, side="right"), own).sum()) >= rank:
            high = middle
        else:
            low = middle
    below = np.minimum(np.searchsorted(gap, 2 * (high + near) - gap, side="right"), own)
    return float(((gap[below - 1] + gap) / 2)[below > 0].max())


def _permutation(gap: FloatArray, level: float, resamples: int, rng: int | np.random.Generator | None) -> _Found:
    """[HAR69]: 0 lies outside the interval exactly where the sign-flip test rejects."""
    mean, total, limit = float(gap.mean()), float(gap.sum()), least_extreme(gap)
    if len(gap) <= ALL_SUBSETS:
        sums, size = subset_sums(gap)
        p_value = float((np.abs(2 * sums - total) >= limit).mean())
        return _Found(mean, p_value, *_bound(sums[1:] / size[1:], level), True)
    drawn_sums, drawn_size = [], []
    for signs in random_flips(len(gap), resamples, generator(rng)):
        drawn_sums.append(np.where(signs > 0, gap, 0.0).sum(axis=1))
        drawn_size.append((signs > 0).sum(axis=1))
    sums, size = np.concatenate(drawn_sums), np.concatenate(drawn_size)
    bounds = _bound(sums[size > 0] / size[size > 0], level)
    exact = share_as_extreme(gap)
    if exact is not None:
        return _Found(mean, exact, *bounds, True, (tell("random-subsets", resamples=resamples),))
    hits = int((np.abs(2 * sums - total) >= limit).sum())
    told = (tell("random-flips", resamples=resamples),)
    return _Found(mean, (1 + hits) / (1 + resamples), *bounds, False, told)


def _bound(means: FloatArray, level: float) -> tuple[float, float]:
    """The outermost of sorted `means` that leave at most level / 2 on each side."""
    rank = math.floor(level / 2 * (len(means) + 1) * (1 + 1e-12))
    if rank < 1:
        return -math.inf, math.inf
    ordered = np.sort(means)
    return float(ordered[rank - 1]), float(ordered[len(means) - rank])


def _bootstrap(gap: FloatArray, level: float, resamples: int, rng: int | np.random.Generator | None) -> _Found:
    """[SAK06]: t of resampled topics around the mean seen; the interval is where this p-value is above the level."""
    mean, error = float(gap.mean()), _standard_error(gap)
    if error == 0:
        told = (tell("constant-resampled"),)
        return _Found(math.copysign(math.inf, mean), 1 / (1 + resamples), mean, mean, False, told)
    source, parts = generator(rng), []
    for start in range(0, resamples, max(1, CELLS // len(gap))):
        rows = min(max(1, CELLS // len(gap)), resamples - start)
        drawn = gap[source.integers(len(gap), size=(rows, len(gap)))]
        parts.append(_studentise(drawn, mean, float(np.abs(gap).max())))
    far = np.sort(np.abs(np.concatenate(parts)))
    hits = resamples - int(np.searchsorted(far, abs(mean / error) * (1 - 1e-12), side="left"))
    rank = math.floor(level * (1 + resamples) * (1 + 1e-12))
    half = float(far[resamples - rank]) * error if rank else math.inf
    return _Found(mean / error, (1 + hits) / (1 + resamples), mean - half, mean + half, False)


def _studentise(drawn: FloatArray, mean: float, largest: float) -> FloatArray:
    """Turn rows (draw, topic) into t against `mean`; infinite where a row has one value only, so an extreme one."""
    shift, deviation = drawn.mean(axis=1) - mean, drawn.std(axis=1, ddof=1)
    flat = deviation <= SPREAD * largest
    t = shift / np.where(flat, 1.0, deviation) * math.sqrt(drawn.shape[1])
    return np.where(flat, np.where(np.abs(shift) <= SPREAD * largest, 0.0, np.inf), t)


@dataclass(frozen=True, kw_only=True)
class UnpairedTest(Shown):
    """A test of whether the second system differs from the first, on separate topics."""

    difference: float  # of the means, second minus first
    statistic: float  # t
    degrees: float  # of freedom
    p_value: float  # two-sided
    low: float
    high: float
    confidence: float
    topics: tuple[int, int]
    notes: tuple[Note, ...]

    @property
    def significant(self) -> bool:
        """Whether the difference is significant at the level of the interval."""
        return self.p_value <= 1 - self.confidence + 1e-12

    @property
    def sentence(self) -> str:
        """What to take away."""
        where = f"on {self.topics[0]:,} and {self.topics[1]:,} separate topics"
        return say_test(self.difference, self.p_value, (self.low, self.high), confidence=self.confidence, where=where)

    def to_dict(self) -> dict[str, object]:
        """Ready for JSON, which has no infinity."""
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in asdict(self).items()}


def welch_test(x: ArrayLike | Figures, y: ArrayLike | Figures, *, confidence: float = 0.95) -> UnpairedTest:
    """Two-sided test of two means over different topics, [NOISY18] (9), with Welch's degrees of freedom.

    Takes scores by topic, NaN where there is none, or figures.

    >>> found = welch_test(Figures(10278, 0.6260, 0.414), Figures(20604, 0.6385, 0.402))
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (2.524, 0.0116)
    """
    check_confidence(confidence)
    notes: list[Note] = []
    a, b = _figure(x, notes), _figure(y, notes)
    difference = b.mean - a.mean
    parts = a.variance_of_mean, b.variance_of_mean
    error = math.sqrt(sum(parts))
    topics = (a.topics, b.topics)
    notes += tell.when(min(topics) < FEW_TOPICS, "few-topics", topics=min(topics))
    if error <= 1e-12 * max(abs(a.mean), abs(b.mean)):
        notes.append(tell("constant-scores"))
        same = abs(difference) <= 1e-12 * max(abs(a.mean), abs(b.mean))
        statistic, degrees, p_value = (0.0, math.inf, 1.0) if same else (math.inf, math.inf, 0.0)
        statistic, half = math.copysign(statistic, difference), 0.0
    else:
        degrees = sum(parts) ** 2 / sum(v**2 / (n - 1) for v, n in zip(parts, topics, strict=True))
        statistic, half = difference / error, t_quantile((1 + confidence) / 2, degrees) * error
        p_value = t_outside(statistic, degrees)
    return UnpairedTest(
        difference=difference,
        statistic=statistic,
        degrees=degrees,
        p_value=p_value,
        low=difference - half,
        high=difference + half,
        confidence=confidence,
        topics=topics,
        notes=tuple(notes),
    )


def _figure(scores: ArrayLike | Figures, notes: list[Note]) -> Figures:
    if isinstance(scores, Figures):
        return scores
    value = read_scores(scores)
    kept = value[~np.isnan(value)]
    if len(kept) < 2:
        raise DataError(f"{counted(len(kept), 'topic')} with a score: a test needs at least 2 for each system")
    notes += tell.when(len(kept) < len(value), "topics-unscored", topics=len(value) - len(kept))
    return Figures(len(kept), float(kept.mean()), float(kept.std(ddof=1)))
