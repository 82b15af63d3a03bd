"""Groups of systems that differ, adjusted p-values, and the studentised range."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from karatage.errors import DataError
from karatage.kernels.compiling import BoolArray, FloatArray, LongArray, kernel

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
ROOT_HALF = math.sqrt(0.5)
EDGE = 8.5  # beyond which there is less than 1e-16 of a normal variable
FARTHEST = 38.0  # a range that is practically impossible
AROUND = 6.5  # of the peak at x / 2 that the integrand has for large x
DEPTH = 36.0  # logs below the peak at which the outer integrand ends
STRIDE = 0.8  # of the outer rule, in standard deviations of log s
LONGEST_STRIDE = 0.05  # which still resolves the range of many groups


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's [HOLM79] adjusted p-values (test,): the chance of any false claim is at most `level`; NaN = not tested.

    >>> holm([0.01, 0.04, 0.03, np.nan]).round(4).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    found, order, place = _sorted(p_values)
    scaled = found[order] * np.arange(len(found), 0, -1)
    return _place(np.maximum.accumulate(scaled), order, place)


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's [BH95] adjusted p-values (test,): the expected share of false claims; NaN as above.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    found, order, place = _sorted(p_values)
    scaled = found[order] * (len(found) / np.arange(1, len(found) + 1))
    return _place(np.minimum.accumulate(scaled[::-1])[::-1], order, place)


def find_groups(separable: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Groups of systems without significant differences, so that every such pair shares a group.

    `separable` (system, system) has systems in order, best first; groups are in the same order. Means with one margin
    have one solution. Else there may be fewer groups than all the largest ones, which could be too many to list. No
    group is within another.
    """
    near = _near(separable)
    missing = [row & ~(1 << i) for i, row in enumerate(near)]  # pairs that share no group yet
    groups: list[int] = []
    for i in range(len(near)):
        while missing[i] or not any(group >> i & 1 for group in groups):
            group = _grow(i, near, missing)
            groups.append(group)
            for j in _bits(group):
                missing[j] &= ~group
    return tuple(sorted(tuple(_bits(group)) for group in groups))


def letters(separable: BoolArray) -> tuple[str, ...]:
    """A compact display [PIE04] of (system, system): two share a letter exactly when they do not differ significantly.

    After z comes a2.

    >>> letters(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ('a', 'ab', 'b')
    """
    groups = find_groups(separable)
    names = [ALPHABET[g % 26] + (str(g // 26 + 1) if g >= 26 else "") for g in range(len(groups))]
    return tuple(
        "".join(name for name, group in zip(names, groups, strict=True) if i in group) for i in range(len(separable))
    )


def _grow(start: int, near: list[int], missing: list[int]) -> int:
    """A group to which no system can be added, from `start` and the farthest system without a group in common."""
    group, open_to = 1 << start, near[start] & ~(1 << start)
    wanted = missing[start]
    while open_to:
        if wanted:
            chosen = wanted.bit_length() - 1
            wanted = 0
        else:
            chosen = max(_bits(open_to), key=lambda k: ((missing[k] & group).bit_count(), -k))
        group |= 1 << chosen
        open_to &= near[chosen] & ~(1 << chosen)
    return group


def _near(separable: BoolArray) -> list[int]:
    """For each system, as bits, itself and those that do not differ significantly from it."""
    if separable.ndim != 2 or separable.shape[0] != separable.shape[1]:
        raise DataError(f"a table of shape {separable.shape} does not say which of all pairs differ")
    if (separable != separable.T).any() or separable.diagonal().any():
        raise DataError("that two systems differ holds both ways, and no system differs from itself")
    return [sum(1 << int(j) for j in np.flatnonzero(~apart)) for apart in separable]


def _bits(number: int) -> list[int]:
    return [i for i in range(number.bit_length()) if number >> i & 1]


def _sorted(p_values: ArrayLike) -> tuple[FloatArray, LongArray, BoolArray]:
    value = np.asarray(p_values, dtype=np.float64).ravel()
    tested: BoolArray = ~np.isnan(value)
    found = value[tested]
    if ((found < 0) | (found > 1)).any():
        raise DataError(f"p-values lie in 0-1; found {found.min():g} to {found.max():g}")
    return found, np.argsort(found, kind="stable"), tested


def _place(adjusted: FloatArray, order: LongArray, tested: BoolArray) -> FloatArray:
    settled = np.empty(len(adjusted))
    settled[order] = adjusted.clip(max=1.0)
    out = np.full(len(tested), np.nan)
    out[tested] = settled
    return out


@kernel
def range_above(x: float, groups: int, point: FloatArray, below: FloatArray, weight: FloatArray) -> float:
    """P(range of normal variables > x): an integral over the highest of the chance that the lowest is below it by x.

    At each of the equally spaced points `below` is the normal distribution function and `weight` the highest's density
    times the step.
    """
    if x <= 0.0:
        return 1.0
    if x >= FARTHEST:
        return 0.0
    last = max(EDGE, 0.5 * x + AROUND)
    total = 0.0
    for i in range(len(point)):
        if point[i] > last:
            break
        share = min(0.5 * math.erfc((x - point[i]) * ROOT_HALF) / below[i], 1.0)
        total -= weight[i] * math.expm1((groups - 1) * math.log1p(-share))
    return min(total, 1.0)


@kernel
def studentised_above(
    q: FloatArray, groups: int, df: float, point: FloatArray, below: FloatArray, weight: FloatArray, out: FloatArray
) -> None:
    """P(range / s > q) into `out`, over log s, where s^2 is chi-squared over its degrees of freedom.

    The peak of the integrand is between 0, the mode of log s, and the place to which a large range moves it.
    """
    width = math.sqrt(DEPTH / df)
    right = min(width, 0.5 * math.log1p(2.0 * DEPTH / df + 5.0))
    stride = min(LONGEST_STRIDE, STRIDE / math.sqrt(2.0 * df))
    whole = 0.0
    for i in range(int((right + width + DEPTH / df) / stride) + 1):
        t = right - i * stride
        whole += math.exp(df * (t - 0.5 * math.expm1(2.0 * t)))
    for j in range(len(q)):
        left = -0.5 * math.log1p(q[j] * q[j] / (2.0 * df)) - width - DEPTH / df
        total = 0.0
        for i in range(int((right - left) / stride) + 1):
            t = right - i * stride
            density = math.exp(df * (t - 0.5 * math.expm1(2.0 * t)))
            if density > 0.0:
                total += density * range_above(q[j] * math.exp(t), groups, point, below, weight)
        out[j] = min(total / whole, 1.0)
