"""Random signs: the distribution of a sum whose terms may each be turned round."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from karatage.data.axes import FloatArray, LongArray

MOST_STEPS = 200_000_000  # of an exact distribution; beyond, it is sampled
FINEST = 10_000  # parts of one that a difference of scores is taken to be a whole number of
CHUNK = 1_000


def signed_sum(steps: LongArray, most: int = MOST_STEPS) -> tuple[LongArray, FloatArray] | None:
    """Values and probabilities of a sum of `steps` with random signs; None where there are too many to list."""
    size, count = np.unique(steps, return_counts=True)
    mass = np.ones(1)
    for step, n in zip(size.tolist(), count.tolist(), strict=True):
        wide = 2 * n * step + 1
        sparse = n < step
        if len(mass) * (n + 1 if sparse else wide) > most:
            return None
        heads = binomial(n, 0.5)
        if sparse:  # a convolution would mostly add zeros
            total = np.zeros(len(mass) + wide - 1)
            for k, share in enumerate(heads.tolist()):
                total[2 * step * k : 2 * step * k + len(mass)] += share * mass
            mass = total
        else:
            spread = np.zeros(wide)
            spread[:: 2 * step] = heads
            mass = np.convolve(mass, spread)
    value = np.arange(len(mass), dtype=np.int64) - len(mass) // 2
    return value[mass > 0], mass[mass > 0]


def binomial(n: int, p: float) -> FloatArray:
    """Probabilities of 0 to n heads; from logs, as powers of 1/2 under-flow."""
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    heads = np.arange(n + 1)
    log_mass = factorial[n] - factorial - factorial[::-1] + heads * math.log(p) + (n - heads) * math.log1p(-p)
    mass = np.exp(log_mass)
    return np.asarray(mass / mass.sum())


def all_flips(items: int) -> Iterator[FloatArray]:
    """Every assignment of signs, in parts (flip, item)."""
    for start in range(0, 2**items, CHUNK):
        number = np.arange(start, min(start + CHUNK, 2**items))
        yield np.where((number[:, None] >> np.arange(items)) & 1, -1.0, 1.0)


def random_flips(items: int, resamples: int, source: np.random.Generator) -> Iterator[FloatArray]:
    """Random signs, in parts (flip, item)."""
    for start in range(0, resamples, CHUNK):
        yield source.choice((-1.0, 1.0), size=(min(CHUNK, resamples - start), items))


def subset_sums(gap: FloatArray) -> tuple[FloatArray, LongArray]:
    """Sum and size of every subset (2^n,), the empty one first."""
    total, size = np.zeros(1), np.zeros(1, np.int64)
    for value in gap.tolist():
        total, size = np.concatenate([total, total + value]), np.concatenate([size, size + 1])
    return total, size


def share_as_extreme(gap: FloatArray) -> float | None:
    """Share of all sign flips whose sum is at least as far from 0 as the sum seen; None where it cannot be found.

    By whole steps where all gaps are multiples of one, as for P@k, else for up to 40 gaps by sums over each half.
    """
    gap = gap[gap != 0]
    steps = whole_steps(gap)
    if steps is not None and len(steps) * int(np.abs(steps).sum()) <= MOST_STEPS:
        found = signed_sum(np.abs(steps))
        if found is not None:
            return min(float(found[1][np.abs(found[0]) >= abs(int(steps.sum()))].sum()), 1.0)
    return _share_by_halves(gap) if len(gap) <= 40 else None


def whole_steps(gap: FloatArray) -> LongArray | None:
    """Gaps as multiples of the largest 1/q, q up to 10,000, that divides them all; None where there is none."""
    parts = np.arange(1, FINEST + 1)
    for value in np.unique(np.abs(gap)).tolist():
        parts = parts[np.abs(value * parts - np.rint(value * parts)) <= 1e-9]
        if not len(parts):
            return None
    steps: LongArray = np.rint(gap * parts[0]).astype(np.int64)
    return steps


def least_extreme(gap: FloatArray) -> float:
    """How far from 0 a sum counts as far as the one seen: rounding must not turn a tie into a miss."""
    return float(abs(gap.sum()) - 1e-12 * np.abs(gap).sum())


def _share_by_halves(gap: FloatArray) -> float:
    """For each sum over the first half, count those over the second that carry it far enough."""
    limit = least_extreme(gap)
    if limit <= 0:
        return 1.0
    first, second = (np.sort(2 * subset_sums(half)[0] - half.sum()) for half in np.array_split(gap, 2))
    short = int(np.searchsorted(second, limit - first, side="left").sum())
    return 2 * (len(first) * len(second) - short) / 2.0 ** len(gap)  # sums are as often negative as positive
