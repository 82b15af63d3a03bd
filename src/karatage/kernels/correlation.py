"""Scores compared: rank correlations of many vectors at once, and densities of scores on a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, LongArray, kernel

BitArray = NDArray[np.uint64]

WORD = 64
_SMALLEST = 1e-290  # below this a bump adds nothing


@kernel
def merge_tuples(value: FloatArray, weight: FloatArray, members: LongArray, out: FloatArray) -> None:
    """The mean over topics of the members' scores, averaged with `weight` (judge, topic) within each topic.

    `value` is (judge, topic, system), `members` (sample, judge), `out` (sample, system). Members whose weights are all
    0 in a topic count alike there.
    """
    topics = value.shape[1]
    for sample in range(members.shape[0]):
        out[sample] = 0.0
        for t in range(topics):
            total = 0.0
            for k in members[sample]:
                total += weight[k, t]
            for k in members[sample]:
                share = weight[k, t] / total if total > 0.0 else 1.0 / members.shape[1]
                scores = value[k, t]
                for s in range(out.shape[1]):
                    out[sample, s] += share * scores[s]
        for s in range(out.shape[1]):
            out[sample, s] /= topics


def count_above(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """For each entry of each row: how many are larger, and how many are equal, itself included."""
    order = np.sort(x, axis=1)
    above, tied = np.empty_like(x), np.empty_like(x)
    for row, (values, ascending) in enumerate(zip(x, order, strict=True)):
        left = np.searchsorted(ascending, values, "left")
        right = np.searchsorted(ascending, values, "right")
        above[row] = x.shape[1] - right
        tied[row] = right - left
    return above, tied


def untied_pairs(x: FloatArray) -> FloatArray:
    """Pairs of entries that differ, per row."""
    _, tied = count_above(x)
    size = x.shape[1]
    untied: FloatArray = (size * (size - 1) - (tied - 1).sum(axis=1)) / 2
    return untied


def concordance(reference: FloatArray, estimate: FloatArray) -> FloatArray:
    """Concordant minus discordant pairs of entries, (row of reference, row of estimate)."""
    return compare_orders(reference, estimate)[0]


def ap_concordance(reference: FloatArray, estimate: FloatArray) -> FloatArray:
    """Sum over entries, ranked by the estimate, of (agreeing - disagreeing above it) / (number above it).

    It is the expectation over random orders of tied entries, [YAR08] (5). Let `a` entries be above a group of `g` tied
    ones: each pair of one of these and one of those has weight (H(a+g-1) - H(a-1)) / g. Entries of a group cancel out.
    """
    return compare_orders(reference, estimate)[1]


def compare_orders(reference: FloatArray, estimate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Both `concordance` and `ap_concordance`, from one pass."""
    size = reference.shape[1]
    words = (size + WORD - 1) // WORD
    better = np.zeros((size, len(reference), words), np.uint64)
    equal = np.zeros_like(better)
    tied = np.zeros(len(reference), np.bool_)
    mark_better(reference, better, equal, tied)
    order = np.argsort(-estimate, axis=1, kind="stable")
    harmonic = np.r_[0.0, np.cumsum(1 / np.arange(1, size + 1))]
    plain = np.zeros((len(estimate), len(reference)))
    weighted = np.zeros_like(plain)
    walk_down(estimate, order, better, equal, tied, harmonic, plain, weighted)
    return plain.T.copy(), weighted.T.copy()


@kernel
def mark_better(x: FloatArray, better: BitArray, equal: BitArray, tied: NDArray[np.bool_]) -> None:
    """For entry i of each row, a bit for every j that is larger, and for every other j that is equal."""
    one = np.uint64(1)
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                bit = one << np.uint64(j % 64)
                if x[row, j] > x[row, i]:
                    better[i, row, j // 64] |= bit
                elif j != i and x[row, j] == x[row, i]:
                    equal[i, row, j // 64] |= bit
                    tied[row] = True


@kernel
def _count_bits(x: np.uint64) -> np.int64:
    # Written so that the compiler replaces it by the processor's instruction.
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def walk_down(
    estimate: FloatArray,
    order: LongArray,
    better: BitArray,
    equal: BitArray,
    tied: NDArray[np.bool_],
    harmonic: FloatArray,
    plain: FloatArray,
    weighted: FloatArray,
) -> None:
    """From the best entry of each estimate down, in groups of equals: how the references order it and those above.

    `plain` and `weighted` are (estimate, reference).
    """
    size, references, words = better.shape
    above = np.empty(words, np.uint64)
    for e in range(estimate.shape[0]):
        above[:] = np.uint64(0)
        first = 0
        while first < size:
            last = first + 1
            while last < size and estimate[e, order[e, last]] == estimate[e, order[e, first]]:
                last += 1
            if first > 0:
                group = last - first
                weight = 1.0 / first if group == 1 else (harmonic[last - 1] - harmonic[first - 1]) / group
                for n in range(first, last):
                    i = order[e, n]
                    for k in range(references):
                        agree = np.int64(0)
                        for w in range(words):
                            agree += _count_bits(above[w] & better[i, k, w])
                        net = 2 * agree - np.int64(first)
                        if tied[k]:
                            for w in range(words):
                                net += _count_bits(above[w] & equal[i, k, w])
                        plain[e, k] += net
                        weighted[e, k] += net * weight
            for n in range(first, last):
                i = order[e, n]
                above[i // 64] |= np.uint64(1) << np.uint64(i % 64)
            first = last


@kernel
def add_bumps(value: FloatArray, bandwidth: float, out: FloatArray) -> None:
    """Add to each row of `out` (row, point) a Gaussian bump for every entry of `value` (row, entry), in [0, 1].

    Points are equally spaced from 0 to 1. Neighbouring heights of a bump have a ratio that itself falls by a constant
    factor, so that a bump costs three exponentials instead of one for each point.
    """
    points = out.shape[1]
    step = 1.0 / (points - 1) / bandwidth
    falling = np.exp(-step * step)
    for row in range(value.shape[0]):
        height = out[row]
        for entry in range(value.shape[1]):
            middle = int(value[row, entry] * (points - 1) + 0.5)
            offset = middle * step - value[row, entry] / bandwidth
            top = np.exp(-0.5 * offset * offset)
            bump, ratio = top, np.exp(-step * offset - 0.5 * step * step)
            for x in range(middle, points):
                height[x] += bump
                bump *= ratio
                ratio *= falling
                if bump < _SMALLEST:
                    break
            ratio = np.exp(step * offset - 0.5 * step * step)
            bump = top * ratio
            for x in range(middle - 1, -1, -1):
                height[x] += bump
                ratio *= falling
                bump *= ratio
                if bump < _SMALLEST:
                    break


@kernel
def sum_cross_entropies(weight: FloatArray, log_density: FloatArray, out: FloatArray) -> None:
    """Write -sum of weight x log density over points for all pairs of rows into `out` (weight row, density row)."""
    for i in range(weight.shape[0]):
        for j in range(log_density.shape[0]):
            total = 0.0
            for x in range(weight.shape[1]):
                total -= weight[i, x] * log_density[j, x]
            out[i, j] = total


@kernel
def sum_squares(x: FloatArray, y: FloatArray, out: FloatArray) -> None:
    """Add the squared distance of every row of `x` and every row of `y` to `out` (row of x, row of y)."""
    for j in range(y.shape[0]):
        for i in range(x.shape[0]):
            total = 0.0
            for entry in range(x.shape[1]):
                gap = x[i, entry] - y[j, entry]
                total += gap * gap
            out[i, j] += total
