"""GLAD's two steps over compressed rows: item i has rows `start[i]:start[i+1]`.

A judge of ability a is right about an item of ease e^b with probability sigmoid(a e^b).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
GradeArray = NDArray[np.int8]

FACTORS = 500  # each is at most 2: so many multiply without overflow


@kernel
def expect(
    start: LongArray,
    judge: IntArray,
    said: GradeArray,
    known: GradeArray,
    prior: FloatArray,
    ability: FloatArray,
    ease: FloatArray,
    probability: FloatArray,
    right: FloatArray,
) -> float:
    """Posteriors (item, grade) and the chance of being right (row,); returns the log-likelihood. [GLAD09] (3).

    `prior` is a log, `ease` the log b. A wrong judge says each other grade as often, so that grade k has the
    log-odds of its votes: the sum of a e^b + log(grades - 1).
    """
    grades = prior.size
    others = np.log(max(grades - 1.0, 1.0))
    joint = np.empty(grades)
    total = 0.0
    for i in range(start.size - 1):
        factor = np.exp(ease[i])
        joint[:] = prior
        for row in range(start[i], start[i + 1]):
            z = ability[judge[row]] * factor
            total -= max(z, 0.0) + np.log1p(np.exp(-abs(z))) + others
            joint[said[row]] += z + others
        if known[i] >= 0:
            total += joint[known[i]]
            joint[:] = 0.0
            joint[known[i]] = 1.0
        else:
            top = joint[0]
            for k in range(1, grades):
                top = max(top, joint[k])
            mass = 0.0
            for k in range(grades):
                joint[k] = np.exp(joint[k] - top)
                mass += joint[k]
            for k in range(grades):
                joint[k] /= mass
            total += top + np.log(mass)
        probability[i] = joint
        for row in range(start[i], start[i + 1]):
            right[row] = joint[said[row]]
    return total


@kernel
def climb(
    start: LongArray,
    judge: IntArray,
    right: FloatArray,
    others: float,
    ability: FloatArray,
    ease: FloatArray,
    slope_ability: FloatArray,
    slope_ease: FloatArray,
) -> float:
    """The expected log-likelihood of the answers given `right`, and its slopes, [GLAD09] appendix.

    `others` is log(grades - 1). Factors 1 + e^-|z| are multiplied up, which saves a logarithm per row.
    """
    total = 0.0
    slope_ability[:] = 0.0
    for i in range(start.size - 1):
        factor = np.exp(ease[i])
        slope = 0.0
        product = 1.0
        multiplied = 0
        for row in range(start[i], start[i + 1]):
            j = judge[row]
            z = ability[j] * factor
            tail = np.exp(-abs(z))
            product *= 1.0 + tail
            multiplied += 1
            if multiplied == FACTORS:
                total -= np.log(product)
                product = 1.0
                multiplied = 0
            sure = 1.0 if z >= 0.0 else tail
            total += min(z, 0.0) - (1.0 - right[row]) * (z + others)
            gap = (right[row] - sure / (1.0 + tail)) * factor
            slope_ability[j] += gap
            slope += gap * ability[j]
        total -= np.log(product)
        slope_ease[i] = slope
    return total


@kernel
def curve(start: LongArray, judge: IntArray, ability: FloatArray, ease: FloatArray, out: FloatArray) -> None:
    """Add the expected second derivatives, with the sign changed, to `out`: judges first, then items."""
    for i in range(start.size - 1):
        factor = np.exp(ease[i])
        for row in range(start[i], start[i + 1]):
            z = ability[judge[row]] * factor
            tail = np.exp(-abs(z))
            spread = tail / (1.0 + tail) ** 2
            out[judge[row]] += spread * factor * factor
            out[ability.size + i] += spread * z * z
