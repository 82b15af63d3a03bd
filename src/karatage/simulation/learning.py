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
from karatage.simulation.counting import Evidence, learn_confusion
from karatage.simulation.deconvolving import Places, find_weights, place_judges
from karatage.simulation.notes import tell
from karatage.simulation.sharing import learn_correlation
from karatage.text import counted

_TAIL: Final = 10  # judges without whom there is no tail, nor if the last does not do twice as much as the first
_LEFT_OUT: Final = 0.005  # share of the judges in voxels where hardly any can be
_ENOUGH: Final = 50  # items of each kind with gold that the median judge has, for voxels to be trusted


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

    A judge's true positive rate is the share of items relevant by gold (grade 1 on) that it calls relevant, its true
    negative rate the share of the others that it does not, its contribution the share that it judged of the items of
    the topics it worked on. With more than two grades, confusion matrices are learned too.

    Args:
        judgments: Grades by judges; of repeated ones the last counts.
        gold: What they are held against; it may know some of the items only.
        name: What to call the model.
        families: Judge to family, for errors that families share.
        noise: "kept" places judges where their counts say, as [COLLAB14] does, and leaves out who saw no relevant item
            or nothing else; "removed" asks which distribution of rates makes the counts likely, so that chance in few
            judgments does not pass for differences between judges.
        rng: Seed or generator, for the halves in which it is tried out how far noise can be removed.
    """
    require_data(judgments=judgments, gold=gold)
    if noise not in get_args(Noise):
        raise OptionError(f"noise '{noise}' is none of {', '.join(get_args(Noise))}")
    evidence = Evidence.of(judgments, gold)
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
    hit: Places
    rejection: Places


class _Kinds(NamedTuple):
    voxel: IntArray
    share: FloatArray
    mean: FloatArray
    covariance: FloatArray
    weight: FloatArray  # (judge, archetype)


def find_levels(evidence: Evidence) -> IntArray:
    """The level of each judge's contribution."""
    return np.minimum((evidence.contribution * CONTRIBUTION_LEVELS).astype(np.int32), CONTRIBUTION_LEVELS - 1)


def _keep_noise(evidence: Evidence) -> tuple[_Spots, tuple[Note, ...]]:
    """Judges where their counts say."""
    judge = np.flatnonzero((evidence.seen > 0).all(axis=1))
    if not judge.size:
        raise DataError("no judge saw both relevant and other items, so none has both rates; use noise='removed'")
    seen, agreed = evidence.seen[judge], evidence.agreed[judge]
    at = np.minimum(RATE_LEVELS * agreed // seen, RATE_LEVELS - 1)
    weight = np.zeros((len(judge), RATE_LEVELS, RATE_LEVELS))
    weight[np.arange(len(judge)), at[:, 1], at[:, 0]] = 1
    places = [
        Places(np.empty(0), np.repeat(agreed[:, [k]] / seen[:, [k]], RATE_LEVELS, axis=1), np.zeros(weight.shape[:2]))
        for k in (1, 0)
    ]
    left = evidence.judges - len(judge)
    return _Spots(judge, weight, places[0], places[1]), tell.when(left, "no-rates", judges=left)


def _find_kinds(evidence: Evidence, spots: _Spots, noise: Noise) -> _Kinds:
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


def _tell_few(evidence: Evidence) -> tuple[Note, ...]:
    others, relevant = (int(x) for x in np.median(evidence.seen, axis=0))
    few = min(others, relevant) < _ENOUGH
    return tell.when(few, "few-gold", relevant=relevant, others=others, least=_ENOUGH)
