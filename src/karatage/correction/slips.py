"""Gold's own errors, from items that gold's judges graded more than once.

A slip is an error that is independent of the systems and of other grades, given the item's true grade. Two grades of
each item do not show in which direction slips go: their table is symmetric. The rates of slips up and down are
therefore averaged over shares of slips down, with most weight on equal rates, and the spread over these shares is part
of the uncertainty. Three grades of an item show the direction, through the likelihood of each share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.data.axes import FloatArray, LongArray
from karatage.errors import DataError

SHARES = np.arange(1, 6) / 6  # of slips that go down
UNSEEN = 0.5  # disagreements added: none among n pairs is not certainty
ROUNDS = 500  # of EM, which converges slowly only if answers are nearly random
SETTLED = 1e-9  # of the log-likelihood
STEP = 0.25  # of an item, by which a pattern's count is changed


@dataclass(frozen=True, eq=False)
class Slips:
    """The probabilities of gold's answers, and what follows from them for gains; kinds are grades of equal gain."""

    confusion: FloatArray  # (kind, said)
    prevalence: FloatArray  # (kind,) among the items graded repeatedly
    gain: FloatArray  # (said,) that has the gain of the true kind as its mean
    covariance: FloatArray  # (said, said) of these gains, as slips were seen on a sample of items
    noise: FloatArray  # (kind,) variance of the gain of one answer
    rate: float  # share of answers that are not the true kind
    rate_error: float  # standard error
    factor: float  # slope of the mean answer's gain on the true gain
    factor_error: float


def learn_slips(counts: LongArray, gain: FloatArray) -> Slips:
    """Slips from `counts` (item, kind) of answers; kinds are ordered and have a `gain` (kind,).

    Slips over the same number of grades have the same rate, apart from their direction. Uncertainty is by the delta
    method: the derivative of the estimates by the number of items with each pattern of answers.
    """
    kinds = len(gain)
    several = counts[counts.sum(axis=1) > 1]
    if not len(several):
        raise DataError("no gold item was graded twice, so gold's errors are unknown")
    pattern, times = np.unique(several, axis=0, return_counts=True)
    neighbours = np.eye(kinds, dtype=np.int64)[1:] + np.eye(kinds, dtype=np.int64)[:-1]
    pattern = np.concatenate([pattern, neighbours])
    number = np.r_[times.astype(float), np.full(len(neighbours), UNSEEN / len(neighbours))]
    step = np.minimum(STEP, number / 2)
    numbers = np.concatenate([number[None], number - np.diag(step)])  # (fit, pattern)
    confusion, prevalence, likelihood = _fit(pattern, numbers)  # (fit, share, ...)
    found = _derive(confusion, prevalence, gain)  # (fit, share, what)
    prior = SHARES * (1 - SHARES)
    odds = np.log(prior) + likelihood[0]
    weight = np.exp(odds - odds.max())
    weight /= weight.sum()
    mean = np.einsum("s,fsw->fw", weight, found)
    moved = (mean[0] - mean[1:]) / step[:, None]  # by one item more
    moved -= (number[:, None] * moved).sum(axis=0) / number.sum()
    covariance = np.einsum("u,uv,uw->vw", number, moved, moved)
    apart = found[0] - mean[0]
    covariance += np.einsum("s,sv,sw->vw", weight, apart, apart)
    table = np.einsum("s,skl->kl", weight, confusion[0])
    gains = mean[0, :kinds]
    return Slips(
        confusion=table,
        prevalence=np.einsum("s,sk->k", weight, prevalence[0]),
        gain=gains,
        covariance=covariance[:kinds, :kinds],
        noise=np.clip(table @ gains**2 - (table @ gains) ** 2, 0.0, None),
        rate=float(mean[0, kinds]),
        rate_error=float(np.sqrt(covariance[kinds, kinds])),
        factor=float(mean[0, kinds + 1]),
        factor_error=float(np.sqrt(covariance[kinds + 1, kinds + 1])),
    )


def spread_slips(rate: FloatArray, share: FloatArray) -> FloatArray:
    """Confusion matrices (..., kind, said): slips by d grades have `rate` (..., d - 1), of which `share` (...) go down.

    >>> spread_slips(np.array([0.1]), np.array(0.5)).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    kinds = rate.shape[-1] + 1
    step = np.arange(kinds)[:, None] - np.arange(kinds)
    up = np.where(step < 0, 2.0, 0.0) * (1 - np.asarray(share))[..., None, None]
    down = np.where(step > 0, 2.0, 0.0) * np.asarray(share)[..., None, None]
    table: FloatArray = (up + down) * np.where(step == 0, 0.0, rate[..., np.abs(step) - 1])
    table[..., np.arange(kinds), np.arange(kinds)] = 1 - table.sum(axis=-1)
    return table


def _fit(pattern: LongArray, numbers: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """By EM: confusion (fit, share, kind, said), prevalence (fit, share, kind) and log-likelihood (fit, share)."""
    kinds = pattern.shape[1]
    share = np.broadcast_to(SHARES, (len(numbers), len(SHARES)))
    rate = np.full((*share.shape, kinds - 1), 0.1 / kinds)
    prevalence = np.full((*share.shape, kinds), 1 / kinds)
    step = np.arange(kinds)[:, None] - np.arange(kinds)
    apart = np.abs(step)[None] == np.arange(1, kinds)[:, None, None]  # (distance, kind, said)
    sides = np.where(step > 0, 2 * SHARES[:, None, None], np.where(step < 0, 2 * (1 - SHARES[:, None, None]), 0.0))
    reach = np.einsum("skl,dkl->sdk", sides, apart)
    likelihood = np.zeros(share.shape)
    for _ in range(ROUNDS):
        table = spread_slips(rate, share)
        joint = prevalence[..., None, :] * np.exp(
            np.einsum("ul,fskl->fsuk", pattern.astype(float), np.log(np.maximum(table, 1e-300)))
        )
        whole = joint.sum(axis=-1)
        before, likelihood = likelihood, np.einsum("fu,fsu->fs", numbers, np.log(whole))
        belief = numbers[:, None, :, None] * joint / whole[..., None]  # (fit, share, pattern, kind)
        prevalence = belief.sum(axis=2)
        prevalence /= prevalence.sum(axis=-1, keepdims=True)
        answers = np.einsum("fsuk,ul->fskl", belief, pattern.astype(float))
        slips = np.einsum("fskl,dkl->fsd", answers, apart)
        right = np.einsum("fskk->fsk", answers) / np.einsum("fskk->fsk", table)
        rate = slips / np.maximum(np.einsum("fsk,sdk->fsd", right, reach), 1e-300)
        worst = np.einsum("fsd,sdk->fsk", rate, reach).max(axis=-1, keepdims=True)
        rate = rate * np.minimum(1.0, (1 - 1 / kinds) / np.maximum(worst, 1e-300))  # beyond chance, grades are inverted
        if np.abs(likelihood - before).max() < SETTLED:
            break
    return spread_slips(rate, share), prevalence, likelihood


def _derive(confusion: FloatArray, prevalence: FloatArray, gain: FloatArray) -> FloatArray:
    """What each fit says (..., said + 2): gains of answers, the rate of slips, and the slope."""
    rows = confusion + 1e-9 * np.eye(len(gain))
    gains = np.linalg.solve(rows, np.broadcast_to(gain, rows.shape[:-1])[..., None])[..., 0]
    rate = 1 - (prevalence * np.einsum("...kk->...k", confusion)).sum(axis=-1)
    centred = gain - (prevalence * gain).sum(axis=-1, keepdims=True)
    spread = (prevalence * centred**2).sum(axis=-1)
    slope = (prevalence * centred * (confusion @ gain)).sum(axis=-1) / np.maximum(spread, 1e-12)
    return np.concatenate([gains, rate[..., None], slope[..., None]], axis=-1)
