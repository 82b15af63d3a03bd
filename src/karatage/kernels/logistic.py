"""Logistic models: relevance by features and systems, and GLAD with its descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karatage.kernels.compiling import FloatArray, GradeArray, IntArray, LongArray, kernel

MEMORY = 10  # steps that L-BFGS keeps
TRIALS = 30  # lengths of a step
ENOUGH_FALL, ENOUGH_FLATTER = 1e-4, 0.9  # weak Wolfe conditions
FACTORS = 500  # each is at most 2: so many multiply without overflow


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
    grade: GradeArray,
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
    uniform: NDArray[np.float32],
    out: GradeArray,
) -> None:
    """1 where `uniform` (item, draw), from 0 to 1, is below the chance by effects (topic, effect, draw), else 0."""
    plain, draws = x.shape[1], uniform.shape[1]
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
            out[i, d] = 1 if uniform[i, d] * (1.0 + math.exp(-odds[d])) < 1.0 else 0


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


class Minimum(NamedTuple):
    """Where the descent ended."""

    at: FloatArray
    value: float
    steps: int


def minimise(
    function: Callable[[FloatArray, FloatArray], float],
    start: FloatArray,
    scale: FloatArray,
    *,
    max_steps: int,
    tolerance: float,
) -> Minimum:
    """Minimise by L-BFGS from `start`; `function` returns its value and writes the gradient to its second argument.

    `scale` is an estimate of the inverse second derivatives. Ends when a step gains less than `tolerance`
    relative to the value. No step increases the value.
    """
    size = start.size
    moves, turns, weight = np.empty((MEMORY, size)), np.empty((MEMORY, size)), np.empty(MEMORY)
    at, gradient, way = start.copy(), np.empty(size), np.empty(size)
    value = function(at, gradient)
    kept = 0
    steps = 0
    for _ in range(max_steps):
        _point(gradient, scale, moves, turns, weight, kept, way)
        found = _search(function, at, value, gradient, way)
        if found is None:
            break
        here, lower, slopes = found
        steps += 1
        kept += _remember(here - at, slopes - gradient, moves, turns, weight, kept)
        gain = value - lower
        at, value, gradient = here, lower, slopes
        if gain <= tolerance * abs(value):
            break
    return Minimum(at, value, steps)


def _search(
    function: Callable[[FloatArray, FloatArray], float],
    at: FloatArray,
    value: float,
    gradient: FloatArray,
    way: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along `way` with a lower value and a smaller slope, by doubling and halving; None where there is none."""
    slope = dot(gradient, way)
    low, high, stride = 0.0, np.inf, 1.0
    slopes = np.empty_like(at)
    for _ in range(TRIALS):
        here = at + stride * way
        lower = function(here, slopes)
        if not lower <= value + ENOUGH_FALL * stride * slope:
            high = stride
        elif dot(slopes, way) < ENOUGH_FLATTER * slope:
            low = stride
        else:
            return here, lower, slopes
        stride = 2 * low if high == np.inf else (low + high) / 2
    return None


@kernel
def dot(a: FloatArray, b: FloatArray) -> float:
    """The inner product, summed from left to right."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def _remember(
    move: FloatArray, turn: FloatArray, moves: FloatArray, turns: FloatArray, weight: FloatArray, kept: int
) -> int:
    """Keep a step and the change of the gradient, in place of the oldest step; 1 if it was kept."""
    product = dot(move, turn)
    if not product > 0.0:
        return 0
    place = kept % weight.size
    moves[place] = move
    turns[place] = turn
    weight[place] = 1 / product
    return 1


@kernel
def _point(
    gradient: FloatArray,
    scale: FloatArray,
    moves: FloatArray,
    turns: FloatArray,
    weight: FloatArray,
    kept: int,
    way: FloatArray,
) -> None:
    """Write the direction of the next step, [NW06] algorithm 7.4, into `way`."""
    share = np.empty(weight.size)
    oldest = max(0, kept - weight.size)
    way[:] = -gradient
    for k in range(kept - 1, oldest - 1, -1):
        m = k % weight.size
        share[m] = weight[m] * dot(moves[m], way)
        for i in range(way.size):
            way[i] -= share[m] * turns[m, i]
    factor = 1.0
    if kept > 0:
        m = (kept - 1) % weight.size
        size = 0.0
        for i in range(way.size):
            size += turns[m, i] * turns[m, i] * scale[i]
        factor = 1 / (weight[m] * size)
    for i in range(way.size):
        way[i] *= factor * scale[i]
    for k in range(oldest, kept):
        m = k % weight.size
        back = share[m] - weight[m] * dot(turns[m], way)
        for i in range(way.size):
            way[i] += back * moves[m, i]


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

    `prior` is a log, `ease` the log b. A wrong judge gives each other grade equally often, so the log-odds of
    grade k are those of its votes: the sum of a e^b + log(grades - 1).
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

    `others` is log(grades - 1). Factors 1 + e^-|z| are multiplied first, which saves a logarithm per row.
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
