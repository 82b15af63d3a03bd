"""The studentised range, by the trapezoidal rule on the whole line.

Both integrands are analytic and fall off fast, and for such the rule converges exponentially [TW14]. Sums are of the
upper tail itself, not of its complement, so that also tiny probabilities are right.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
ROOT_HALF = math.sqrt(0.5)
EDGE = 8.5  # beyond which there is less than 1e-16 of a normal variable
FARTHEST = 38.0  # a range that is as good as impossible
AROUND = 6.5  # of the peak at x / 2 that the integrand has for large x
DEPTH = 36.0  # logs below the peak at which the outer integrand ends
STRIDE = 0.8  # of the outer rule, in standard deviations of log s
LONGEST_STRIDE = 0.05  # which still resolves the range of many groups


@kernel
def range_above(x: float, groups: int, point: FloatArray, below: FloatArray, weight: FloatArray) -> float:
    """P(range of normal variables > x): over where the highest lies, whether the lowest is farther away than x.

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

    The integrand has its peak between the mode of s, at 0, and where a far range would pull it.
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
