"""The normal distribution far into its tails, for compiled loops."""

from __future__ import annotations

import math

import numpy as np

from karatage.kernels.compiling import kernel

ROOT_HALF = math.sqrt(0.5)
LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
FAR = -35.0  # where erfc nears its underflow


@kernel
def log_density(z: float) -> float:
    """Log of the standard normal density."""
    return -0.5 * z * z - LOG_ROOT_TWO_PI


@kernel
def log_below(z: float) -> float:
    """Log of the standard normal distribution function."""
    if z > 0.0:
        return math.log1p(-0.5 * math.erfc(z * ROOT_HALF))
    if z > FAR:
        return math.log(0.5 * math.erfc(-z * ROOT_HALF))
    inverse = 1 / (z * z)
    series = -inverse * (1 - 3 * inverse * (1 - 5 * inverse * (1 - 7 * inverse)))
    return log_density(z) - math.log(-z) + math.log1p(series)


@kernel
def log_between(low: float, high: float) -> float:
    """Log of the mass between two points, `low` < `high`; either may be infinite."""
    if low + high > 0.0:  # the lower tail is the accurate one
        low, high = -high, -low
    upper = log_below(high)
    if low == -np.inf:
        return upper
    return upper + math.log(-math.expm1(log_below(low) - upper))
