"""CUBAM's two steps: a judge says 1 of an item at x with probability Phi(w x - t).

Each step climbs a concave or nearly concave function of one item's x, or of one judge's (w, t), by Newton's method;
a step that would go down is halved, so that the objective never falls.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel
from karatage.kernels.normal import log_below, log_density

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
SaidArray = NDArray[np.int32]

NEWTON_STEPS = 50
HALVINGS = 30
CLOSE = 1e-10
FLAT = 1e-12  # slopes below are rounding: an item held in balance stays there
ROUNDING = 1e-13
LEAST_BEND = 0.1


@kernel
def _prior(x: float, lean: float, variance: float) -> tuple[float, float, float]:
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
    said: SaidArray,
    weight: FloatArray,
    threshold: FloatArray,
) -> tuple[float, float, float]:
    """Height, slope and curvature of one item's log posterior at x."""
    height, slope, curvature = _prior(x, lean, variance)
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
    said: SaidArray,
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
        for _ in range(NEWTON_STEPS):
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
def _weigh(
    w: float, t: float, item: IntArray, said: SaidArray, x: FloatArray, spread: FloatArray
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
def move_judges(
    start: LongArray,
    item: IntArray,
    said: SaidArray,
    x: FloatArray,
    spread: FloatArray,
    weight: FloatArray,
    threshold: FloatArray,
) -> float:
    """Climb every judge's (w, t); rows are compressed by judge. Returns the log prior of all w and t."""
    prior = 0.0
    for j in range(start.size - 1):
        which, what = item[start[j] : start[j + 1]], said[start[j] : start[j + 1]]
        height, slope_w, slope_t, ww, wt, tt = _weigh(weight[j], threshold[j], which, what, x, spread)
        for _ in range(NEWTON_STEPS):
            determinant = ww * tt - wt * wt
            stride_w = (tt * slope_w - wt * slope_t) / determinant
            stride_t = (ww * slope_t - wt * slope_w) / determinant
            for _ in range(HALVINGS):
                found = _weigh(weight[j] + stride_w, threshold[j] + stride_t, which, what, x, spread)
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
