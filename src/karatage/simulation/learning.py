"""Crowd models learned from judgments and gold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple, get_args

import numpy as np

from karatage.data.alignment import require_data
from karatage.data.axes import FloatArray, IntArray, LongArray
from karatage.data.crowd import CONTRIBUTION_LEVELS, RATE_LEVELS, Contribution, CrowdModel, Noise, voxel_walls
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.errors import DataError, OptionError
from karatage.random_streams import settle_seed, stream
from karatage.simulation.counting import GoldRows, learn_confusion, learn_correlation
from karatage.simulation.notes import tell
from karatage.text import counted

_TAIL: Final = 10  # judges without whom there is no tail, nor if the last does not do twice as much as the first
_LEFT_OUT: Final = 0.005  # share of the judges in voxels that are very improbable
_ENOUGH: Final = 50  # items of each kind with gold that the median judge has, for voxels to be trusted
_PER_LEVEL: Final = 20
_NODES = (np.arange(RATE_LEVELS * _PER_LEVEL) + 0.5) / (RATE_LEVELS * _PER_LEVEL)  # rates
_EFFECTS = np.linspace(-4.0, 4.0, 41)  # of a topic
_STEPS: Final = (2, 3, 5, 8, 12, 20, 35, 60, 100)
_DOUBT: Final = 0.0015  # log likelihood of a judge that more steps must add
_SMOOTH_STEPS: Final = 3
_SMOOTH: Final = 0.01  # of an even spread, so that no judge held out is impossible
_EVEN = np.full((RATE_LEVELS, RATE_LEVELS), RATE_LEVELS**-2.0)


def learn_crowd(
    judgments: Judgments,
    gold: Judgments,
    *,
    name: str = "own",
    families: Mapping[str, str] | None = None,
    noise: Noise = "removed",
    rng: int | np.random.Generator | None = None,
) -> CrowdModel:
    """Learn how a crowd's judges differ, how much each of them does, and which errors they share [COLLAB14].

    A judge's true positive rate is the share of items relevant by gold (grade 1 on) that it calls relevant. Its true
    negative rate is the share of the others that it does not. Its contribution is the share that it judged of the items
    of the topics it worked on. With more than two grades, confusion matrices are learned too.

    Args:
        judgments: Grades by judges; of repeated ones the last counts.
        gold: Gold, for some or all of the items.
        name: The name of the model.
        families: Judge to family, for errors that families share.
        noise: "kept" places judges by their counts, as [COLLAB14] does, and leaves out judges who saw no relevant item
            or nothing else. "removed" estimates the distribution of rates that makes the counts likely, so that noise
            in few judgments is not taken for differences between judges.
        rng: Seed or generator, for the split in halves that decides how much noise is removed.
    """
    require_data(judgments=judgments, gold=gold)
    if noise not in get_args(Noise):
        raise OptionError(f"noise '{noise}' is not one of {', '.join(get_args(Noise))}")
    evidence = GoldRows.of(judgments, gold)
    correlation, told = learn_correlation(evidence, families or {})
    notes = [*tell.when(evidence.unknown, "no-gold", judges=evidence.unknown), *told, *_tell_few(evidence)]
    if noise == "kept":
        spots, left = _keep_noise(evidence)
        notes += left
    else:
        source = stream(settle_seed(rng), "learn crowd")
        hit, rejection = place_judges(evidence, correlation.topic)
        weight = find_weights(hit, rejection, find_levels(evidence), source)
        spots = _Spots(np.arange(evidence.judges), weight, hit, rejection)
    kinds = _find_kinds(evidence, spots, noise)
    confusion, concentration = (
        learn_confusion(evidence, spots.judge, kinds.weight) if evidence.grades > 2 else (None, None)
    )
    return CrowdModel(
        name=name,
        source=f"{counted(len(spots.judge), 'judge')}",
        noise=noise,
        judges=len(spots.judge),
        judgments=len(evidence.judge),
        balance=np.bincount(evidence.gold, minlength=evidence.grades) / len(evidence.gold),
        voxel=kinds.voxel,
        share=kinds.share,
        mean=kinds.mean,
        covariance=kinds.covariance,
        confusion=confusion,
        concentration=concentration,
        correlation=correlation,
        families=_count_families([evidence.names[j] for j in spots.judge], families or {}),
        contribution=fit_contribution(evidence.contribution[spots.judge]),
        notes=tuple(notes),
    )


class _Spots(NamedTuple):
    """Where judges stand."""

    judge: LongArray  # those that count
    weight: FloatArray  # (judge, level, level) how likely it is there
    hit: RatePlaces
    rejection: RatePlaces


class _Kinds(NamedTuple):
    voxel: IntArray
    share: FloatArray
    mean: FloatArray
    covariance: FloatArray
    weight: FloatArray  # (judge, archetype)


def find_levels(evidence: GoldRows) -> IntArray:
    """The level of each judge's contribution."""
    return np.minimum((evidence.contribution * CONTRIBUTION_LEVELS).astype(np.int32), CONTRIBUTION_LEVELS - 1)


def _keep_noise(evidence: GoldRows) -> tuple[_Spots, tuple[Note, ...]]:
    """Judges where their counts say."""
    judge = np.flatnonzero((evidence.seen > 0).all(axis=1))
    if not judge.size:
        raise DataError("no judge saw both relevant and other items, so none has both rates; use noise='removed'")
    seen, agreed = evidence.seen[judge], evidence.agreed[judge]
    at = np.minimum(RATE_LEVELS * agreed // seen, RATE_LEVELS - 1)
    weight = np.zeros((len(judge), RATE_LEVELS, RATE_LEVELS))
    weight[np.arange(len(judge)), at[:, 1], at[:, 0]] = 1
    places = [
        RatePlaces(
            np.empty(0), np.repeat(agreed[:, [k]] / seen[:, [k]], RATE_LEVELS, axis=1), np.zeros(weight.shape[:2])
        )
        for k in (1, 0)
    ]
    left = evidence.judges - len(judge)
    return _Spots(judge, weight, places[0], places[1]), tell.when(left, "no-rates", judges=left)


def _find_kinds(evidence: GoldRows, spots: _Spots, noise: Noise) -> _Kinds:
    """The Gaussian of each voxel that has judges in it.

    A voxel with few judges says little about their spread: an even spread of rates, and that of all contributions in
    the level, count as one more judge.
    """
    level = find_levels(evidence)[spots.judge]
    log = np.log(evidence.contribution[spots.judge])
    least = float(evidence.contribution[spots.judge].min())
    total = np.stack([spots.weight[level == k].sum(axis=0) for k in range(CONTRIBUTION_LEVELS)], axis=2)
    order = np.argsort(total.ravel(), kind="stable")
    kept = np.ones(total.size, bool)
    empty = 0.0 if noise == "kept" else _LEFT_OUT * len(log)
    kept[order[np.cumsum(total.ravel()[order]) <= empty]] = False
    voxel = np.argwhere(kept.reshape(total.shape)).astype(np.int32)
    low, high = voxel_walls(voxel, least)
    weights = np.zeros((len(log), len(voxel)))
    mean, covariance = np.empty((len(voxel), 3)), np.empty((len(voxel), 3, 3))
    for v, (a, b, k) in enumerate(voxel):
        weight = np.where(level == k, spots.weight[:, a, b], 0.0)
        point = np.stack([spots.hit.mean[:, a], spots.rejection.mean[:, b], log], axis=1)
        own = np.stack([spots.hit.variance[:, a], spots.rejection.variance[:, b], 0 * log], axis=1)
        whole = weight.sum()
        centre = (weight[:, None] * point).sum(axis=0) / whole
        off = point - centre
        found = (weight[:, None, None] * off[:, :, None] * off[:, None, :]).sum(axis=0)
        found[np.diag_indices(3)] += (weight[:, None] * own).sum(axis=0)
        even = (high[v] - low[v]) ** 2 / 12
        among = log[level == k]
        even[2] = min(even[2], float(((among - among.mean()) ** 2).mean()))
        found[np.diag_indices(3)] += even
        mean[v], covariance[v], weights[:, v] = np.clip(centre, low[v], high[v]), found / (whole + 1), weight
    share = weights.sum(axis=0)
    return _Kinds(voxel, share / share.sum(), mean, covariance, weights)


def fit_contribution(contribution: FloatArray) -> Contribution:
    """The power law of the tail: the start of the tail is the one from which it fits best (Kolmogorov and Smirnov)."""
    ordered = np.sort(contribution)
    least, best = float(ordered[0]), (math.inf, math.nan, math.nan)
    for start in np.unique(ordered[: max(len(ordered) * 9 // 10, 1)]):
        tail = ordered[ordered >= start]
        logs = np.log(tail / start)
        if len(tail) < _TAIL or logs[-1] < np.log(2):
            continue
        slope = len(tail) / float(logs.sum())
        below = 1 - np.exp(-slope * logs)
        gap = float(np.abs(below - (np.arange(len(tail)) + 0.5) / len(tail)).max())
        best = min(best, (gap, 1 + slope, float(start)))
    return Contribution(least, best[1], best[2])


def _count_families(judges: list[str], families: Mapping[str, str]) -> dict[str, float]:
    """Share of the judges in each family; a judge without one is its own."""
    if not any(judge in families for judge in judges):
        return {}
    names = [families.get(judge, judge) for judge in judges]
    return {name: names.count(name) / len(names) for name in sorted(set(names))}


def _tell_few(evidence: GoldRows) -> tuple[Note, ...]:
    others, relevant = (int(x) for x in np.median(evidence.seen, axis=0))
    few = min(others, relevant) < _ENOUGH
    return tell.when(few, "few-gold", relevant=relevant, others=others, least=_ENOUGH)


class RatePlaces(NamedTuple):
    """Where judges may stand on one of the two rates."""

    likelihood: FloatArray  # (judge, level) up to a factor of the judge's own
    mean: FloatArray  # (judge, level) expected rate if the judge is there
    variance: FloatArray  # (judge, level)


def place_judges(evidence: GoldRows, topic: float) -> tuple[RatePlaces, RatePlaces]:
    """RatePlaces by true positive and by true negative rate; rates vary over topics with the correlation `topic`."""
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


def find_weights(hit: RatePlaces, rejection: RatePlaces, level: IntArray, source: np.random.Generator) -> FloatArray:
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


def _try_steps(learned: tuple[RatePlaces, RatePlaces], held: tuple[RatePlaces, RatePlaces]) -> FloatArray:
    """Log likelihood of the judges held out after each number of steps."""
    hit, rejection = held
    share, done, found = _EVEN, 0, np.empty(len(_STEPS))
    for k, steps in enumerate(_STEPS):
        share, done = _deconvolve(*learned, share, steps - done), steps
        mixed = (1 - _SMOOTH) * share + _SMOOTH * _EVEN
        joint = hit.likelihood[:, :, None] * rejection.likelihood[:, None, :] * mixed
        found[k] = np.log(joint.sum(axis=(1, 2))).sum()
    return found


def _deconvolve(hit: RatePlaces, rejection: RatePlaces, share: FloatArray, steps: int) -> FloatArray:
    """Shares of the voxels after some steps of expectation maximisation."""
    for _ in range(steps):
        share = _weigh(hit, rejection, share).mean(axis=0)
    return share


def _weigh(hit: RatePlaces, rejection: RatePlaces, share: FloatArray) -> FloatArray:
    """How likely each judge stands where, (judge, level, level)."""
    joint = hit.likelihood[:, :, None] * rejection.likelihood[:, None, :] * share
    found: FloatArray = joint / joint.sum(axis=(1, 2), keepdims=True)
    return found


def _take(places: RatePlaces, rows: LongArray) -> RatePlaces:
    return RatePlaces(places.likelihood[rows], places.mean[rows], places.variance[rows])


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


def _summarise(log: FloatArray) -> RatePlaces:
    """From nodes to levels, within which rates are spread as they are among all judges, as far as that can be told."""
    inside = (log + np.log(_spread_rates(log))).reshape(len(log), RATE_LEVELS, _PER_LEVEL)
    rate = _NODES.reshape(RATE_LEVELS, _PER_LEVEL)
    top = inside.max(axis=2, keepdims=True)
    weight = np.exp(inside - top)
    total = weight.sum(axis=2)
    mean = (weight * rate).sum(axis=2) / total
    variance = (weight * (rate - mean[:, :, None]) ** 2).sum(axis=2) / total
    log_mass = top[:, :, 0] + np.log(total)
    return RatePlaces(np.exp(log_mass - log_mass.max(axis=1, keepdims=True)), mean, variance)


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
