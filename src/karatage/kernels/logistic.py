"""Sums for logistic regressions whose features are a few numbers and the systems that retrieve an item."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import kernel

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]


@kernel
def _add_up(x: FloatArray, system: IntArray, load: FloatArray, effect: FloatArray) -> float:
    """An item's log odds: its features and its systems' loads times their effects."""
    odds = 0.0
    for f in range(len(x)):
        odds += x[f] * effect[f]
    for r in range(len(system)):
        odds += load[r] * effect[len(x) + system[r]]
    return odds


@kernel
def add_logistic(
    x: FloatArray,
    start: LongArray,
    system: IntArray,
    load: FloatArray,
    topic: IntArray,
    grade: NDArray[np.int8],
    effect: FloatArray,
    slope: FloatArray,
    curve: FloatArray,
) -> None:
    """Add each topic's part of the log likelihood's slope and negative curvature, (topic, effect[, effect]).

    Item i has the features x[i], then one per system: `load` in rows start[i] to start[i + 1] for the systems named
    there, 0 for others. Its log odds of a `grade` above 0 are these times effect[topic[i]].
    """
    plain = x.shape[1]
    for i in range(x.shape[0]):
        t = topic[i]
        rows = slice(start[i], start[i + 1])
        odds = _add_up(x[i], system[rows], load[rows], effect[t])
        chance = 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0
        gap, bend = (1.0 if grade[i] > 0 else 0.0) - chance, chance * (1.0 - chance)
        for f in range(plain):
            slope[t, f] += gap * x[i, f]
            for g in range(f + 1):
                curve[t, f, g] += bend * x[i, f] * x[i, g]
        for r in range(start[i], start[i + 1]):
            row, own = plain + system[r], bend * load[r]
            slope[t, row] += gap * load[r]
            for f in range(plain):
                curve[t, row, f] += own * x[i, f]
            for q in range(start[i], r + 1):
                curve[t, row, plain + system[q]] += own * load[q]


@kernel
def draw_relevant(
    x: FloatArray,
    start: LongArray,
    system: IntArray,
    load: FloatArray,
    topic: IntArray,
    effect: FloatArray,
    luck: NDArray[np.float32],
    out: NDArray[np.int8],
) -> None:
    """1 where `luck` (item, draw), from 0 to 1, is below the chance by effects (topic, effect, draw), else 0."""
    plain, draws = x.shape[1], luck.shape[1]
    odds = np.empty(draws)
    for i in range(x.shape[0]):
        t = topic[i]
        odds[:] = 0.0
        for f in range(plain):
            for d in range(draws):
                odds[d] += x[i, f] * effect[t, f, d]
        for r in range(start[i], start[i + 1]):
            row = plain + system[r]
            for d in range(draws):
                odds[d] += load[r] * effect[t, row, d]
        for d in range(draws):
            out[i, d] = 1 if luck[i, d] * (1.0 + math.exp(-odds[d])) < 1.0 else 0


@kernel
def find_odds(
    x: FloatArray,
    start: LongArray,
    system: IntArray,
    load: FloatArray,
    topic: IntArray,
    effect: FloatArray,
    out: FloatArray,
) -> None:
    """Log odds (item,) for effects (topic, effect)."""
    for i in range(x.shape[0]):
        rows = slice(start[i], start[i + 1])
        out[i] = _add_up(x[i], system[rows], load[rows], effect[topic[i]])
