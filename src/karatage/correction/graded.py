"""Rank-weighted measures under judges with a known confusion matrix, [NOISY18] (24), (25); everything broadcasts.

A topic's `mass` (said,) is the weight of the ranks where judges said each grade; its score in gold's terms is `mass u`
with `J u = gain`. That is linear in mass, so two systems that share judges are compared through its difference.
`confusion` (gold, said) has rows that sum to one, each seen on `size` (gold,) items.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import BoolArray, FloatArray
from karatage.data.estimate import Estimated, t_quantile
from karatage.data.options import CONFIDENCE, check_confidence
from karatage.errors import DataError, JudgeError
from karatage.progress import follow

BLOCK = 4_000_000  # topics drawn at once, of all resamples
SINGULAR = 1e-12  # smallest singular value, as a share of the largest, of a matrix that can be solved


class Corrected(NamedTuple):
    """A corrected mean score, and how much of its variance more topics or more gold would take away."""

    value: FloatArray
    topics: FloatArray  # variance
    gold: FloatArray  # variance
    degrees: FloatArray

    @property
    def estimated(self) -> Estimated:
        """Both sources of variance together."""
        return Estimated(self.value, self.topics + self.gold, self.degrees)


class Resampled(NamedTuple):
    """Corrected mean scores of resamples, and how many resamples had none."""

    values: FloatArray  # (draw,)
    lost: int  # without gold of some grade, or with a confusion matrix that cannot be solved


def judge_gains(confusion: ArrayLike, gain: ArrayLike) -> FloatArray:
    """What each grade said is worth in gold's terms, (said,): on average over the answers to a gold grade, its gain.

    >>> judge_gains([[0.9, 0.1], [0.3, 0.7]], [0, 1]).round(12).tolist()
    [-0.166666666667, 1.5]
    """
    return _solve(_check_rows(confusion), np.asarray(gain, float))


def correct_topics(mass: ArrayLike, gains: ArrayLike) -> FloatArray:
    """[NOISY18] (25) for each topic, (topic,), from `mass` (topic, said) and `judge_gains`; the mean is the score."""
    scores: FloatArray = np.einsum("...tf,...f->...t", np.asarray(mass, float), np.asarray(gains, float))
    return scores


def correct(mass: ArrayLike, confusion: ArrayLike, size: ArrayLike, gain: ArrayLike) -> Corrected:
    """[NOISY18] (25) from `mass` (topic, said), with its variance by the delta method and Welch's degrees of freedom.

    A change of J by dJ changes the score by `-a dJ u`, where `a J` is the mean mass. The rows of J are shares of
    independent items: row g adds `a_g^2 (sum_f J_gf u_f^2 - gain_g^2) / size_g`.
    """
    mass, rows, size, gain = np.asarray(mass, float), _check_rows(confusion), _check_size(size), np.asarray(gain, float)
    topics = mass.shape[-2]
    if topics < 2:
        raise DataError(f"a variance over topics needs at least 2 topics, got {topics}")
    gains = _solve(rows, gain)
    scores = correct_topics(mass, gains)
    by_topics = scores.var(axis=-1, ddof=1) / topics
    by_grade = gold_variance(mass.mean(axis=-2), rows, size, gain)
    by_gold = by_grade.sum(axis=-1)
    doubt = by_topics**2 / (topics - 1) + (by_grade**2 / np.maximum(size - 1, 1)).sum(axis=-1)
    known = doubt == 0
    degrees = np.where(known, topics - 1, (by_topics + by_gold) ** 2 / np.where(known, 1, doubt))
    return Corrected(scores.mean(axis=-1), by_topics, by_gold, degrees)


def bias(mass: ArrayLike, confusion: ArrayLike, size: ArrayLike, gain: ArrayLike) -> FloatArray:
    """[NOISY18] 3.8 for any number of grades: how far the corrected score is off on average, to second order.

    Of `a dJ J^-1 dJ u` only products within a row remain on average: `a_g (sum_f J_gf J^-1_fg u_f - gain_g) / size_g`.
    """
    mass, rows, size, gain = np.asarray(mass, float), _check_rows(confusion), _check_size(size), np.asarray(gain, float)
    weight = _solve(np.swapaxes(rows, -1, -2), mass.mean(axis=-2))
    columns = _solve(rows[..., None, :, :], np.eye(len(gain)))  # (grade, said), the inverse lying down
    mixed = np.einsum("...gf,...gf,...f->...g", rows, columns, _solve(rows, gain))
    return np.asarray((weight * (mixed - gain) / size).sum(axis=-1))


def gold_variance(mean: ArrayLike, confusion: ArrayLike, size: ArrayLike, gain: ArrayLike) -> FloatArray:
    """What each gold grade adds to the variance of a corrected score, (..., gold), from its mean mass (..., said)."""
    rows, items, gain = _check_rows(confusion), _check_size(size), np.asarray(gain, float)
    gains = _solve(rows, gain)
    weight = _solve(np.swapaxes(rows, -1, -2), np.asarray(mean, float))
    spread = np.einsum("...gf,...f->...g", rows, gains**2) - gain**2
    return np.asarray(weight**2 * spread.clip(0) / items)  # perfect judges have no spread, whatever rounding says


def bootstrap(
    mass: ArrayLike, counts: ArrayLike, gain: ArrayLike, *, draws: int, rng: np.random.Generator
) -> Resampled:
    """[NOISY18] (25) with topics and gold items resampled with replacement; `mass` (topic, [judge,] said).

    `counts` ([judge,] gold, said) are gold items, drawn all together, so that grades may have more or fewer of them.
    """
    mass, counts = np.asarray(mass, float), np.asarray(counts, float)
    _check_size(counts.sum(axis=-1))
    rows, solvable = draw_confusions(counts, draws, rng)
    means = _resample_means(mass.reshape(len(mass), -1), draws, rng)[solvable]
    gains = _solve(rows, np.asarray(gain, float)).reshape(len(rows), -1)
    return Resampled(np.einsum("df,df->d", means, gains), draws - int(solvable.sum()))


def draw_confusions(counts: FloatArray, draws: int, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    """Confusion matrices (kept draw, judge, gold, said) of resampled gold items, and which draws (draw,) are kept.

    Draws with a matrix that cannot be solved are left out. Judges have separate items.
    """
    grades = counts.shape[-1]
    each = counts.reshape(-1, grades**2)
    items = np.stack([rng.multinomial(round(own.sum()), own / own.sum(), size=draws) for own in each], axis=1)
    drawn = items.reshape(draws, -1, grades, grades)
    rows = drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), 1)
    values = np.linalg.svd(rows, compute_uv=False)
    solvable: BoolArray = np.all(values[..., -1] > SINGULAR * values[..., 0], axis=-1)
    return rows[solvable], solvable


def percentile_interval(values: ArrayLike, *, topics: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Between percentiles of resamples, moved outwards as [HES15] does: plain ones are too narrow with few topics.

    Resamples vary less than samples by (topics - 1) / topics, and know nothing of Student's t.
    """
    t = t_quantile((1 + check_confidence(confidence)) / 2, topics - 1)
    tail = NormalDist().cdf(-t * (topics / (topics - 1)) ** 0.5)
    low, high = np.quantile(np.asarray(values, float), [tail, 1 - tail])
    return float(low), float(high)


def _resample_means(mass: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The mean (draw, said) of as many topics drawn with replacement, in blocks so that many topics fit in memory."""
    topics = len(mass)
    share = np.full(topics, 1 / topics)
    block = max(1, BLOCK // topics)
    starts = range(0, draws, block)
    sums = [
        np.einsum("dt,tf->df", rng.multinomial(topics, share, size=min(block, draws - start)), mass)
        for start in follow(starts, len(starts), "blocks of resamples")
    ]
    return np.concatenate(sums) / topics


def _solve(matrix: FloatArray, right: FloatArray) -> FloatArray:
    shape = np.broadcast_shapes(matrix.shape[:-1], right.shape)
    try:
        return np.asarray(np.linalg.solve(matrix, np.broadcast_to(right, shape)[..., None])[..., 0], float)
    except np.linalg.LinAlgError:
        raise JudgeError(
            "the judges' confusion matrix is singular: they give the same grades to items of different gold grades, "
            "so no correction exists; merge these gold grades into one, get more gold, or use other judges"
        ) from None


def _check_rows(confusion: ArrayLike) -> FloatArray:
    """A confusion matrix whose rows sum to one, or an error that names the grade."""
    rows = np.asarray(confusion, float)
    if rows.ndim < 2 or rows.shape[-1] != rows.shape[-2]:
        raise DataError(f"a confusion matrix has a row and a column for each grade, not shape {rows.shape}")
    off = ~(np.abs(rows.sum(axis=-1) - 1) < 1e-9)  # also where a row is NaN because it has no gold
    if off.any():
        raise DataError(
            f"the row of grade {_first(off)} in the confusion matrix does not sum to 1; check that gold contains this "
            f"grade"
        )
    return rows


def _check_size(size: ArrayLike) -> FloatArray:
    """Gold items of each grade, or an error that names the grade without any."""
    items = np.asarray(size, float)
    none = ~(items > 0)
    if none.any():
        raise DataError(
            f"no gold item has grade {_first(none)}, so the judges' error rate on such items is unknown; get gold of "
            f"this grade, or merge it with another grade"
        )
    return items


def _first(wrong: BoolArray) -> int:
    """The first grade that is wrong, for any leading axes."""
    return int(np.flatnonzero(wrong.reshape(-1, wrong.shape[-1]).any(axis=0))[0])
