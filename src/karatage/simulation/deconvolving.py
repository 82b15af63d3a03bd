"""Judges' places on the grid of rates, without the noise of few judgments."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, IntArray, LongArray
from karatage.data.crowd import RATE_LEVELS
from karatage.simulation.counting import Evidence

_PER_LEVEL: Final = 20
_NODES = (np.arange(RATE_LEVELS * _PER_LEVEL) + 0.5) / (RATE_LEVELS * _PER_LEVEL)  # rates
_EFFECTS = np.linspace(-4.0, 4.0, 41)  # of a topic
_STEPS: Final = (2, 3, 5, 8, 12, 20, 35, 60, 100)
_DOUBT: Final = 0.0015  # log likelihood of a judge that more steps must add
_SMOOTH_STEPS: Final = 3
_SMOOTH: Final = 0.01  # of an even spread, so that no judge held out is impossible
_EVEN = np.full((RATE_LEVELS, RATE_LEVELS), RATE_LEVELS**-2.0)


class Places(NamedTuple):
    """Where judges may stand on one of the two rates."""

    likelihood: FloatArray  # (judge, level) up to a factor of the judge's own
    mean: FloatArray  # (judge, level) expected rate if the judge is there
    variance: FloatArray  # (judge, level)


def place_judges(evidence: Evidence, topic: float) -> tuple[Places, Places]:
    """Places by true positive and by true negative rate; rates vary over topics with the correlation `topic`."""
    found = []
    for relevant in (1, 0):
        rows = evidence.relevant == relevant
        judge, right = evidence.judge[rows].astype(np.int64), evidence.right[rows]
        place = evidence.topic[rows].astype(np.int64) if topic > 0 else np.zeros(len(judge), np.int64)
        cell, at = np.unique(judge * (int(place.max()) + 1) + place, return_inverse=True)
        counts = np.stack([np.bincount(at), np.bincount(at, weights=right)], axis=1).astype(np.int64)
        kinds, kind = np.unique(counts, axis=0, return_inverse=True)
        table = _tabulate(kinds, topic)
        log = np.zeros((evidence.judges, len(_NODES)))
        who = cell // (int(place.max()) + 1)
        np.add.at(log, who, table[kind.ravel()])
        found.append(_summarise(log))
    return found[0], found[1]


def find_weights(hit: Places, rejection: Places, level: IntArray, source: np.random.Generator) -> FloatArray:
    """How likely each judge stands in which voxel of its contribution's level, (judge, level, level).

    Expectation maximisation from an even spread, level by level. Too many steps gather judges in few voxels, so their
    number is the one under which one half of the judges makes the other most likely.
    """
    weight = np.zeros((len(level), RATE_LEVELS, RATE_LEVELS))
    half = source.permutation(len(level)) % 2
    gain = np.zeros(len(_STEPS))
    for k in np.unique(level):
        for part in (0, 1):
            learned, held = (np.flatnonzero((level == k) & (half == side)) for side in (part, 1 - part))
            if learned.size and held.size:
                first, second = ((_take(hit, rows), _take(rejection, rows)) for rows in (learned, held))
                gain += _try_steps(first, second)
    steps = _STEPS[int(np.argmax(gain >= gain.max() - _DOUBT * len(level)))]
    for k in np.unique(level):
        rows = np.flatnonzero(level == k)
        some = _take(hit, rows), _take(rejection, rows)
        weight[rows] = _weigh(*some, _deconvolve(*some, _EVEN, steps))
    return weight


def _try_steps(learned: tuple[Places, Places], held: tuple[Places, Places]) -> FloatArray:
    """Log likelihood of the judges held out after each number of steps."""
    hit, rejection = held
    share, done, found = _EVEN, 0, np.empty(len(_STEPS))
    for k, steps in enumerate(_STEPS):
        share, done = _deconvolve(*learned, share, steps - done), steps
        mixed = (1 - _SMOOTH) * share + _SMOOTH * _EVEN
        joint = hit.likelihood[:, :, None] * rejection.likelihood[:, None, :] * mixed
        found[k] = np.log(joint.sum(axis=(1, 2))).sum()
    return found


def _deconvolve(hit: Places, rejection: Places, share: FloatArray, steps: int) -> FloatArray:
    """Shares of the voxels after some steps of expectation maximisation."""
    for _ in range(steps):
        share = _weigh(hit, rejection, share).mean(axis=0)
    return share


def _weigh(hit: Places, rejection: Places, share: FloatArray) -> FloatArray:
    """How likely each judge stands where, (judge, level, level)."""
    joint = hit.likelihood[:, :, None] * rejection.likelihood[:, None, :] * share
    found: FloatArray = joint / joint.sum(axis=(1, 2), keepdims=True)
    return found


def _take(places: Places, rows: LongArray) -> Places:
    return Places(places.likelihood[rows], places.mean[rows], places.variance[rows])


def _tabulate(kinds: LongArray, topic: float) -> FloatArray:
    """Log likelihood (kind, node) of (number, right), whose rate its topic has moved."""
    from scipy.special import ndtr, ndtri

    number, right = kinds[:, :1].astype(float), kinds[:, 1:].astype(float)
    if topic <= 0:
        found: FloatArray = right * np.log(_NODES) + (number - right) * np.log1p(-_NODES)
        return found
    bell = np.exp(-(_EFFECTS**2) / 2)
    weight = np.log(bell / bell.sum())
    moved = ndtr((np.asarray(ndtri(_NODES))[:, None] + np.sqrt(topic) * _EFFECTS) / np.sqrt(1 - topic))
    moved = np.clip(moved, 1e-9, 1 - 1e-9)
    yes, no = np.log(moved), np.log1p(-moved)
    table = np.empty((len(kinds), len(_NODES)))
    for k in range(len(kinds)):
        power = right[k] * yes + (number[k] - right[k]) * no + weight
        top = power.max(axis=1, keepdims=True)
        table[k] = top[:, 0] + np.log(np.exp(power - top).sum(axis=1))
    return table


def _summarise(log: FloatArray) -> Places:
    """From nodes to levels, within which rates are spread as they are among all judges, as far as that can be told."""
    inside = (log + np.log(_spread_rates(log))).reshape(len(log), RATE_LEVELS, _PER_LEVEL)
    rate = _NODES.reshape(RATE_LEVELS, _PER_LEVEL)
    top = inside.max(axis=2, keepdims=True)
    weight = np.exp(inside - top)
    total = weight.sum(axis=2)
    mean = (weight * rate).sum(axis=2) / total
    variance = (weight * (rate - mean[:, :, None]) ** 2).sum(axis=2) / total
    log_mass = top[:, :, 0] + np.log(total)
    return Places(np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), mean, variance)


def _spread_rates(log: FloatArray) -> FloatArray:
    """Density (node,) of rates within their levels, smooth since it comes from few steps, each level's mean being 1."""
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    share = np.full(len(_NODES), 1 / len(_NODES))
    for _ in range(_SMOOTH_STEPS):
        weight = likelihood * share
        share = (weight / weight.sum(axis=1, keepdims=True)).mean(axis=0)
    level = share.reshape(RATE_LEVELS, _PER_LEVEL) + 0.1 * share.mean()
    found: FloatArray = (level / level.mean(axis=1, keepdims=True)).ravel()
    return found
