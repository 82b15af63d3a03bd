"""Judges and items on a latent line, with normal noise: the steps of the models CUBAM and ordinal.

CUBAM: a judge says 1 of an item at x with probability Phi(w x - t). Ordinal: an item of grade k is seen at
k + bias + spread * noise and rounded to a grade; the grades 0 and `top`, the judge's highest, are open.

Each step climbs a concave or nearly concave function of the parameters of one item or one judge. A step that would go
down is halved, so that the objective never falls.
"""

from __future__ import annotations

import math

import numpy as np

from karatage.kernels.compiling import FloatArray, IntArray, LongArray, kernel

ROOT_HALF = math.sqrt(0.5)
LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)
FAR = -35.0  # where erfc nears its underflow
STEPS = 50  # Newton's, or Fisher scoring's
HALVINGS = 30  # of a step that would go down
CLOSE = 1e-10
ROUNDING = 1e-13
FLAT = 1e-12  # slopes below are rounding: an item held in balance stays there
LEAST_BEND = 0.1
NEVER = -700.0  # log probability of an answer that the judge never gives


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
def weigh_scale(
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
def move_scales(
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
        height, slope_b, slope_s, bb, bs, ss = weigh_scale(answers[j], top[j], bias[j], log_spread[j], mean, variance)
        for _ in range(STEPS):
            determinant = bb * ss - bs * bs
            stride_b = (ss * slope_b - bs * slope_s) / determinant
            stride_s = (bb * slope_s - bs * slope_b) / determinant
            for _ in range(HALVINGS):
                found = weigh_scale(answers[j], top[j], bias[j] + stride_b, log_spread[j] + stride_s, mean, variance)
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


@kernel
def _mix(x: float, lean: float, variance: float) -> tuple[float, float, float]:
    """Log density of the mixture of N(1) and N(-1), its slope, and its curvature with the sign changed.

    `lean` is the log-odds of the upper component; infinite where the item's side is known.
    """
    if lean == np.inf or lean == -np.inf:
        side = 1.0 if lean > 0 else -1.0
        return -0.5 * (x - side) ** 2 / variance, -(x - side) / variance, 1 / variance
    odds = 2 * x / variance + lean
    tail = np.exp(-abs(odds))
    upper = (1.0 if odds >= 0 else tail) / (1 + tail)
    shift = max(lean, 0.0) + np.log1p(np.exp(-abs(lean)))
    height = -0.5 * (x + 1) ** 2 / variance + max(odds, 0.0) + np.log1p(tail) - shift
    return height, (2 * upper - 1 - x) / variance, 1 / variance - 4 * upper * (1 - upper) / variance**2


@kernel
def _stand(
    x: float,
    lean: float,
    variance: float,
    judge: IntArray,
    said: IntArray,
    weight: FloatArray,
    threshold: FloatArray,
) -> tuple[float, float, float]:
    """Height, slope and curvature of one item's log posterior at x."""
    height, slope, curvature = _mix(x, lean, variance)
    for row in range(judge.size):
        w = weight[judge[row]]
        sign = 1.0 if said[row] == 1 else -1.0
        z = sign * (w * x - threshold[judge[row]])
        below = log_below(z)
        ratio = np.exp(log_density(z) - below)
        height += below
        slope += ratio * sign * w
        curvature += ratio * (z + ratio) * w * w
    return height, slope, curvature


@kernel
def move_items(
    start: LongArray,
    judge: IntArray,
    said: IntArray,
    lean: FloatArray,
    variance: float,
    weight: FloatArray,
    threshold: FloatArray,
    x: FloatArray,
    curvature: FloatArray,
) -> float:
    """Climb every item's x from where it stands; returns the sum of their heights and keeps their curvatures."""
    total = 0.0
    for i in range(start.size - 1):
        who, what = judge[start[i] : start[i + 1]], said[start[i] : start[i + 1]]
        height, slope, bend = _stand(x[i], lean[i], variance, who, what, weight, threshold)
        for _ in range(STEPS):
            if abs(slope) < FLAT:
                break
            stride = slope / max(abs(bend), LEAST_BEND)
            for _ in range(HALVINGS):
                found = _stand(x[i] + stride, lean[i], variance, who, what, weight, threshold)
                if found[0] >= height - ROUNDING * (1 + abs(height)):
                    break
                stride *= 0.5
            else:
                break
            x[i] += stride
            height, slope, bend = found
            if abs(stride) < CLOSE:
                break
        curvature[i] = bend
        total += height
    return total


@kernel
def _weigh_cut(
    w: float, t: float, item: IntArray, said: IntArray, x: FloatArray, spread: FloatArray
) -> tuple[float, float, float, float, float, float]:
    """Height, slopes and curvatures (ww, wt, tt) of one judge's log posterior; `spread` are the priors' variances."""
    height = -0.5 * ((w - 1) ** 2 / spread[0] + t * t / spread[1])
    slope_w, slope_t = -(w - 1) / spread[0], -t / spread[1]
    ww, wt, tt = 1 / spread[0], 0.0, 1 / spread[1]
    for row in range(item.size):
        at = x[item[row]]
        sign = 1.0 if said[row] == 1 else -1.0
        z = sign * (w * at - t)
        below = log_below(z)
        ratio = np.exp(log_density(z) - below)
        bend = ratio * (z + ratio)
        height += below
        slope_w += ratio * sign * at
        slope_t -= ratio * sign
        ww += bend * at * at
        wt -= bend * at
        tt += bend
    return height, slope_w, slope_t, ww, wt, tt


@kernel
def move_cuts(
    start: LongArray,
    item: IntArray,
    said: IntArray,
    x: FloatArray,
    spread: FloatArray,
    weight: FloatArray,
    threshold: FloatArray,
) -> float:
    """Climb every judge's (w, t); rows are compressed by judge. Returns the log prior of all w and t."""
    prior = 0.0
    for j in range(start.size - 1):
        which, what = item[start[j] : start[j + 1]], said[start[j] : start[j + 1]]
        height, slope_w, slope_t, ww, wt, tt = _weigh_cut(weight[j], threshold[j], which, what, x, spread)
        for _ in range(STEPS):
            determinant = ww * tt - wt * wt
            stride_w = (tt * slope_w - wt * slope_t) / determinant
            stride_t = (ww * slope_t - wt * slope_w) / determinant
            for _ in range(HALVINGS):
                found = _weigh_cut(weight[j] + stride_w, threshold[j] + stride_t, which, what, x, spread)
                if found[0] >= height - ROUNDING * (1 + abs(height)):
                    break
                stride_w *= 0.5
                stride_t *= 0.5
            else:
                break
            weight[j] += stride_w
            threshold[j] += stride_t
            height, slope_w, slope_t, ww, wt, tt = found
            if abs(stride_w) + abs(stride_t) < CLOSE:
                break
        prior -= 0.5 * ((weight[j] - 1) ** 2 / spread[0] + threshold[j] ** 2 / spread[1])
    return prior
