"""Gold on some topics, a judge on all: prediction-powered means of topic scores [PPIPP23], for any measure.

A topic's score is a system's score, or the difference between two systems.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray, LongArray
from karatage.errors import DataError, OptionError

Claim = Literal["new", "these"]

FEWEST_TOPICS = 5  # gold topics from which the judge is made use of
LEAST_TOPICS = 10  # gold topics from which lam is estimated
FIXED = 0.75  # with fewer, the slope of gold on judge that is taken for granted: estimating it costs more than it gives
LEAST_DIFFERING = 5  # gold topics on which the judge must have an error, for the interval to be valid
ROUNDING = 1e-12  # of the largest score: what differs by less is equal


class TopicEstimated(NamedTuple):
    """An estimate as in `Estimated`, how far the judge was relied on, and on how much evidence."""

    value: FloatArray | float
    variance: FloatArray | float
    degrees: FloatArray | float
    lam: FloatArray | float  # 0 = gold only
    differing: LongArray | int  # gold topics whose score is not what the judge says


class _Topics(NamedTuple):
    """Scores on gold's topics and what the others add to them."""

    gold: FloatArray  # (..., topic), centred
    judge: FloatArray  # (..., topic), centred
    squares: FloatArray  # (...,) of the judge's centred scores, 0 where they are equal
    others: int
    gap: FloatArray  # (...,) the judge's mean on other topics, less that on gold's


def estimate_topics(
    gold: ArrayLike, judge: ArrayLike, rest: ArrayLike, *, claim: Claim = "new", lam: float | None = None
) -> TopicEstimated:
    """Mean topic score: `mean(gold) + lam (mean(rest) - mean(judge))` [PPIPP23].

    `gold` and `judge` (..., topic) are on the topics with gold, `rest` (..., other topic) is the judge's on all others.
    They share no topic; else the variance would have a covariance and lam no factor 1 + n/N. `claim` is about `new`
    topics of the same kind, or about `these`, of which gold's were drawn at random; the value is the same.

    `lam` is estimated from ten topics with gold on (0 where the judge's scores are equal). For five to nine it is fixed
    at `FIXED N / (n + N)`, independent of the data, and for fewer it is 0. A useless judge then makes the interval up
    to a quarter wider. To use gold alone where that seems narrower would cover 2 to 3 % less, since gold alone is
    narrow when it varies little by chance.

    The part of the variance that is due to gold's topics is their jackknife: `Var(gold - lam judge) / n` for a given
    `lam`. With an estimated one it is larger, by the cost of the estimation, and has n - 2 degrees of freedom. A judge
    with rare but large errors may have none on gold's topics. With few `differing` ones, and where the variance is 0
    though there are other topics, the interval for `these` is too short.
    """
    y, f, r = _check(gold, judge, rest, claim, lam)
    n, others = y.shape[-1], r.shape[-1]
    scale = np.maximum(np.abs(y).max(axis=-1), np.abs(f).max(axis=-1))
    mean_y, mean_f = y.mean(axis=-1), f.mean(axis=-1)
    mean_r = r.mean(axis=-1) if others else mean_f
    centred = f - mean_f[..., None]
    squares = (centred**2).sum(axis=-1)
    squares = np.where(squares > n * (ROUNDING * scale) ** 2, squares, 0.0)
    topics = _Topics(y - mean_y[..., None], centred, squares, others, mean_r - mean_f)
    fixed = _fix_reliance(n, others) if lam is None else lam if others else 0.0
    used = _reliance(topics) if fixed is None else np.full(np.shape(squares), fixed)
    value = mean_y + used * topics.gap

    differing = (np.abs(y - f) > ROUNDING * scale[..., None]).sum(axis=-1)
    spread = _jackknife(topics, claim, fixed)
    spread = np.where(spread > (ROUNDING * scale) ** 2, spread, 0.0)  # a judge like gold is exact up to rounding
    degrees = np.where((squares > 0) & (fixed is None), n - 2.0, n - 1.0)
    if claim == "these":
        degrees = degrees if others else degrees + np.inf
        return TopicEstimated(value, spread * (others / (n + others)), degrees, used, differing)
    distant = _distant(topics, r, used)
    variance = spread + distant
    with np.errstate(invalid="ignore"):
        welch = variance**2 / (spread**2 / degrees + distant**2 / (n + others - 1))
    return TopicEstimated(value, variance, np.where(variance > 0, welch, degrees), used, differing)


def _fix_reliance(n: int, others: int) -> float | None:
    """The lam that does not depend on the scores; None where it does."""
    if not others or n < FEWEST_TOPICS:
        return 0.0
    return FIXED * others / (n + others) if n < LEAST_TOPICS else None


def _reliance(topics: _Topics) -> FloatArray:
    """lam, `Cov(Y, F) / ((1 + n/N) Var F)` within 0 and 1."""
    n = topics.gold.shape[-1]
    slope = _divide((topics.gold * topics.judge).sum(axis=-1), topics.squares)
    lam: FloatArray = np.clip(slope * topics.others / (n + topics.others), 0.0, 1.0)
    return lam


def _jackknife(topics: _Topics, claim: Claim, lam: float | None) -> FloatArray:
    """Variance of the value over draws of gold's topics, each left out in turn; for `these` as if drawn from very many.

    `these` topics keep their mean when one loses its gold, and so does the mean of the others for `new` ones.
    """
    y, f, squares, others, gap = topics
    n = y.shape[-1]
    share = others / (n + others) if claim == "these" and others else 1.0
    if lam is None:
        without = squares[..., None] - f**2 * (n / (n - 1))
        without = np.where(without > ROUNDING * squares[..., None], without, 0.0)
        slope = _divide((f * y).sum(axis=-1)[..., None] - f * y * (n / (n - 1)), without)
        weight = np.clip(slope * (others / (n - 1 + others) if claim == "new" else 1.0), 0.0, 1 / share)
    else:
        weight = np.full_like(f, lam / share)
    values = -y / (n - 1) + weight * ((gap * share)[..., None] + f / (n - 1))
    centred = values - values.mean(axis=-1, keepdims=True)
    variance: FloatArray = (centred**2).sum(axis=-1) * ((n - 1) / n)
    return variance


def _distant(topics: _Topics, rest: FloatArray, lam: FloatArray) -> FloatArray:
    """`lam^2 Var(F) / N`, with the variance over all topics."""
    n, others = topics.judge.shape[-1], topics.others
    if not others:
        return np.zeros_like(lam)
    inner = ((rest - rest.mean(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    squares = (topics.judge**2).sum(axis=-1) + inner + topics.gap**2 * (n * others / (n + others))
    variance: FloatArray = lam**2 * squares / (n + others - 1) / others
    return variance


def _divide(above: FloatArray, below: FloatArray) -> FloatArray:
    """A quotient, 0 where there is nothing to divide by."""
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), 0.0)


def _check(
    gold: ArrayLike, judge: ArrayLike, rest: ArrayLike, claim: str, lam: float | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    y, f, r = (np.asarray(scores, float) for scores in (gold, judge, rest))
    if claim not in ("new", "these"):
        raise OptionError(f"claim '{claim}' is not one of new, these")
    if lam is not None and not 0 <= lam <= 1:
        raise OptionError(f"lam lies between 0 (gold only) and 1, not at {lam:g}")
    if min(y.ndim, f.ndim, r.ndim) < 1 or y.shape[-1] != f.shape[-1]:
        raise DataError(
            f"gold's scores {y.shape} and the judge's {f.shape} must be on the same topics, on the last axis"
        )
    if y.shape[-1] < 2:
        raise DataError(
            f"gold has scores on {y.shape[-1]} topics; at least 2 are needed to estimate the variance between topics"
        )
    if not (np.isfinite(y).all() and np.isfinite(f).all() and np.isfinite(r).all()):
        raise DataError("topic scores must be finite; leave out topics without a score")
    lead = np.broadcast_shapes(y.shape[:-1], f.shape[:-1], r.shape[:-1])
    y, f, r = (np.broadcast_to(scores, (*lead, scores.shape[-1])) for scores in (y, f, r))
    return y, f, r
