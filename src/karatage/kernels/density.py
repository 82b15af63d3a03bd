"""Densities of scores on a grid, and how far one is from another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
_SMALLEST = 1e-290  # where a bump has faded to nothing


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
