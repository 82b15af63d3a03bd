"""Judges on a latent scale: an item of grade k is seen at k + bias + spread * noise and rounded to a grade.

The grades 0 and `top`, the judge's highest, are open: all that lies beyond is called by them.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel
from karatage.kernels.normal import log_between, log_density

FloatArray = NDArray[np.float64]
LongArray = NDArray[np.int64]

STEPS = 50
HALVINGS = 30
CLOSE = 1e-10
ROUNDING = 1e-13
NEVER = -700.0  # log probability of an answer that the judge never gives


@kernel
def _answer(said: int, grade: int, top: int, bias: float, spread: float) -> tuple[float, float, float]:
    """Log probability of an answer, and its slopes by bias and by log spread."""
    low = (said - 0.5 - grade - bias) / spread if said > 0 else -np.inf
    high = (said + 0.5 - grade - bias) / spread if said < top else np.inf
    log_p = log_between(low, high)
    by_bias, by_spread = 0.0, 0.0
    if said > 0:
        ratio = math.exp(log_density(low) - log_p)
        by_bias += ratio / spread
        by_spread += ratio * low
    if said < top:
        ratio = math.exp(log_density(high) - log_p)
        by_bias -= ratio / spread
        by_spread -= ratio * high
    return log_p, by_bias, by_spread


@kernel
def weigh(
    answers: FloatArray, top: int, bias: float, log_spread: float, mean: FloatArray, variance: FloatArray
) -> tuple[float, float, float, float, float, float]:
    """One judge's expected log-likelihood plus log prior, its slopes, and its expected curvatures (bb, bs, ss).

    `answers` (said, grade) are expected counts; `mean` and `variance` those of the priors of bias and log spread.
    """
    spread = math.exp(log_spread)
    height = -0.5 * ((bias - mean[0]) ** 2 / variance[0] + (log_spread - mean[1]) ** 2 / variance[1])
    slope_b, slope_s = -(bias - mean[0]) / variance[0], -(log_spread - mean[1]) / variance[1]
    bb, bs, ss = 1 / variance[0], 0.0, 1 / variance[1]
    for grade in range(answers.shape[1]):
        met = 0.0
        for said in range(top + 1):
            met += answers[said, grade]
        if met == 0.0:
            continue
        for said in range(top + 1):
            log_p, by_bias, by_spread = _answer(said, grade, top, bias, spread)
            seen = answers[said, grade]
            if seen > 0.0:
                height += seen * log_p
                slope_b += seen * by_bias
                slope_s += seen * by_spread
            expected = met * math.exp(log_p)
            if expected > 0.0:
                bb += expected * by_bias * by_bias
                bs += expected * by_bias * by_spread
                ss += expected * by_spread * by_spread
    return height, slope_b, slope_s, bb, bs, ss


@kernel
def move_judges(
    answers: FloatArray,
    top: LongArray,
    mean: FloatArray,
    variance: FloatArray,
    bias: FloatArray,
    log_spread: FloatArray,
) -> float:
    """Climb every judge's bias and log spread by Fisher scoring; a step that would go down is halved.

    `answers` is (judge, said, grade). Returns the log prior of all judges, up to a constant.
    """
    prior = 0.0
    for j in range(bias.size):
        height, slope_b, slope_s, bb, bs, ss = weigh(answers[j], top[j], bias[j], log_spread[j], mean, variance)
        for _ in range(STEPS):
            determinant = bb * ss - bs * bs
            stride_b = (ss * slope_b - bs * slope_s) / determinant
            stride_s = (bb * slope_s - bs * slope_b) / determinant
            for _ in range(HALVINGS):
                found = weigh(answers[j], top[j], bias[j] + stride_b, log_spread[j] + stride_s, mean, variance)
                if found[0] >= height - ROUNDING * (1 + abs(height)):
                    break
                stride_b *= 0.5
                stride_s *= 0.5
            else:
                break
            bias[j] += stride_b
            log_spread[j] += stride_s
            height, slope_b, slope_s, bb, bs, ss = found
            if abs(stride_b) + abs(stride_s) < CLOSE:
                break
        prior -= 0.5 * ((bias[j] - mean[0]) ** 2 / variance[0] + (log_spread[j] - mean[1]) ** 2 / variance[1])
    return prior


@kernel
def tabulate(top: LongArray, bias: FloatArray, log_spread: FloatArray, table: FloatArray) -> None:
    """Log probabilities (judge, said, grade) of all answers."""
    table[:] = NEVER
    for j in range(bias.size):
        for said in range(top[j] + 1):
            for grade in range(table.shape[2]):
                table[j, said, grade] = _answer(said, grade, top[j], bias[j], math.exp(log_spread[j]))[0]
