"""Judges drawn from a crowd model."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import FloatArray, IntArray
from karatage.data.crowd import CrowdModel, voxel_walls

_POINTS = np.linspace(0.0, 1.0, 81)  # across a voxel
_HALVINGS: Final = 28
_SHARPEST = np.log(1 / 0.03**2)  # a standard deviation of 3 % of the voxel's width


class DrawnJudges(NamedTuple):
    """What each judge is like."""

    contribution: FloatArray  # (judge,) share of a topic's items
    level: IntArray  # (judge,) of it
    confusion: FloatArray  # (judge, gold, said)
    family: IntArray  # (judge,) own numbers where the model has no families


def draw_judges(model: CrowdModel, count: int, source: np.random.Generator) -> DrawnJudges:
    """Draw voxels by their shares, evenly spread, then a point in each from its Gaussian cut off at the walls."""
    kind = deal(model.share, count, source)
    point = _draw_points(model, kind, source)
    hit, rejection = point[:, 0], point[:, 1]
    if model.confusion is None:
        confusion = np.stack([rejection, 1 - rejection, 1 - hit, hit], axis=1).reshape(count, 2, 2)
    else:
        confusion = _draw_confusion(model, kind, hit, rejection, source)
    if model.families:
        family = deal(np.array(list(model.families.values())), count, source)
    else:
        family = np.arange(count, dtype=np.int32)
    return DrawnJudges(np.exp(point[:, 2]), model.voxel[kind, 2], confusion, family)


def deal(share: FloatArray, count: int, source: np.random.Generator) -> IntArray:
    """Kinds for `count` judges, each as often as its share says up to the next whole number, in random order."""
    bound = np.cumsum(share)
    at = (source.random() + np.arange(count)) / count * bound[-1]
    kind = np.minimum(np.searchsorted(bound, at, side="right"), len(share) - 1)
    return source.permutation(kind.astype(np.int32))


def binarise(confusion: FloatArray, balance: FloatArray) -> FloatArray:
    """Chances (judge, relevant, said relevant) from those by grade; grades above 0 are relevant, mixed by `balance`."""
    weight = balance[1:] / balance[1:].sum()
    reject = np.stack([confusion[:, 0, 0], (confusion[:, 1:, 0] * weight).sum(axis=1)], axis=1)
    return np.stack([reject, 1 - reject], axis=2)


def _draw_points(model: CrowdModel, kind: IntArray, source: np.random.Generator) -> FloatArray:
    """Rates and log contributions, (judge, 3)."""
    from scipy.special import ndtr

    low, high, below, factor = _prepare(model)
    free = source.standard_normal((len(kind), 3))
    place = ndtr((factor[kind] * free[:, None, :]).sum(axis=2))
    point = np.empty((len(kind), 3))
    for k in range(len(model.share)):
        rows = np.flatnonzero(kind == k)
        for axis in range(3):
            inside = np.interp(place[rows, axis], below[k, axis], _POINTS)
            point[rows, axis] = low[k, axis] + inside * (high[k, axis] - low[k, axis])
    return point


@lru_cache(maxsize=32)
def _prepare(model: CrowdModel) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What does not depend on chance: walls, distributions and how the three properties go together."""
    low, high = voxel_walls(model.voxel, model.contribution.least)
    spread = np.sqrt(np.diagonal(model.covariance, axis1=1, axis2=2))
    below = _find_distribution((model.mean - low) / (high - low), spread / (high - low))
    return low, high, below, _factorise(model.covariance, spread)


def _find_distribution(mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Distribution functions (archetype, 3, point) of Gaussians cut off at 0 and 1 that have this mean and spread.

    Cutting off moves the mean, so the Gaussian exp(a x - b x^2 / 2) is sought whose remainder has the mean, and, as far
    as b >= 0 allows, the spread.
    """
    mean = np.clip(mean, 0.01, 0.99)
    lowest, highest = np.full(mean.shape, -8.0), np.full(mean.shape, _SHARPEST)
    for _ in range(_HALVINGS):
        middle = (lowest + highest) / 2
        wide = _tilt(mean, np.exp(middle))[1] > spread
        lowest, highest = np.where(wide, middle, lowest), np.where(wide, highest, middle)
    mass = _tilt(mean, np.exp(highest))[0]
    below = np.cumsum((mass[..., 1:] + mass[..., :-1]) / 2, axis=-1)
    below = np.concatenate([np.zeros((*mean.shape, 1)), below], axis=-1)
    found: FloatArray = below / below[..., -1:]
    return found


def _tilt(mean: FloatArray, sharpness: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mass at each point for the slope that gives the mean, and its standard deviation."""
    low, high = -4000.0 + 0 * mean, 4000.0 + 0 * mean
    for _ in range(_HALVINGS):
        slope = (low + high) / 2
        small = (_mass(mean, slope, sharpness) * _POINTS).sum(axis=-1) < mean
        low, high = np.where(small, slope, low), np.where(small, high, slope)
    mass = _mass(mean, (low + high) / 2, sharpness)
    variance = (mass * (_POINTS - mean[..., None]) ** 2).sum(axis=-1)
    return mass, np.sqrt(variance)


def _mass(mean: FloatArray, slope: FloatArray, sharpness: FloatArray) -> FloatArray:
    off = _POINTS - mean[..., None]
    power = slope[..., None] * off - sharpness[..., None] * off**2 / 2
    mass = np.exp(power - power.max(axis=-1, keepdims=True))
    found: FloatArray = mass / mass.sum(axis=-1, keepdims=True)
    return found


def _factorise(covariance: FloatArray, spread: FloatArray) -> FloatArray:
    """Lower triangles (archetype, 3, 3) whose product with themselves is the correlation matrix."""
    scale = np.where(spread > 0, spread, 1.0)
    r = covariance / (scale[:, :, None] * scale[:, None, :])
    r = np.clip(r, -0.99, 0.99)
    out: FloatArray = np.zeros(r.shape)
    out[:, 0, 0] = 1
    out[:, 1, 0] = r[:, 1, 0]
    out[:, 1, 1] = np.sqrt(1 - r[:, 1, 0] ** 2)
    out[:, 2, 0] = r[:, 2, 0]
    out[:, 2, 1] = np.clip((r[:, 2, 1] - r[:, 2, 0] * r[:, 1, 0]) / out[:, 1, 1], -1, 1)
    rest = 1 - out[:, 2, 0] ** 2 - out[:, 2, 1] ** 2
    out[:, 2, 2] = np.sqrt(np.clip(rest, 0, None))
    return out


def _draw_confusion(
    model: CrowdModel, kind: IntArray, hit: FloatArray, rejection: FloatArray, source: np.random.Generator
) -> FloatArray:
    """Rows from Dirichlet distributions, bent so that the judge has the rates drawn for it on gold's balance."""
    assert model.confusion is not None
    assert model.concentration is not None
    shape = model.confusion[kind] * model.concentration[kind][:, None, None]
    drawn = source.standard_gamma(np.clip(shape, 1e-3, None)) + 1e-9
    drawn /= drawn.sum(axis=2, keepdims=True)
    odds = drawn[:, :, 0] / (1 - drawn[:, :, 0])  # of being rejected
    weight = model.balance[1:] / model.balance[1:].sum()
    low, high = np.full(len(kind), -30.0), np.full(len(kind), 30.0)
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        bent = odds[:, 1:] * np.exp(shift)[:, None]
        small = (weight * bent / (1 + bent)).sum(axis=1) < 1 - hit
        low, high = np.where(small, shift, low), np.where(small, high, shift)
    bent = odds[:, 1:] * np.exp((low + high) / 2)[:, None]
    reject = np.column_stack([rejection, bent / (1 + bent)])
    rest = drawn[:, :, 1:] / drawn[:, :, 1:].sum(axis=2, keepdims=True)
    found: FloatArray = np.concatenate([reject[:, :, None], (1 - reject[:, :, None]) * rest], axis=2)
    return found
