"""The best score that a topic allows, where gold has only some of its documents: what nDCG divides by.

Sorting expected grades would underestimate it, since a sum of the highest of many grades depends on their spread. So
grades that gold does not know are drawn from gold's grades of documents that the judge graded alike. Three things move
these chances: how many of the systems retrieve a document, the topic (gold is stricter in some than the judge is), and
how little gold there is. All three are learned from the gold, and drawn as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.correction.sampled import Drawn
from karatage.data.axes import FloatArray, LongArray

DRAWS = 64
EDGES = np.array([1, 2, 3, 5, 9, 17, 33])  # numbers of systems that retrieve a document, in classes from 0 on
CROWD = np.log(np.array([0.5, 1.0, 2.0, 3.5, 6.5, 12.0, 24.0, 45.0]))  # what a class counts
SHIFTS = np.linspace(-4.0, 4.0, 21)  # of a topic: a grade more is exp(shift) times as likely
SPREADS = np.geomspace(0.2, 3.0, 8)  # of the shifts over topics
USUAL_SPREAD, SPREAD_DOUBT = np.log(0.8), 0.7  # a weak prior of the log spread; TREC DL 2021 has about 0.8
CROWD_DOUBT = 1.0  # prior standard deviation of what the number of systems tells
NEIGHBOUR = 0.3  # what gold of the next lower or higher judge's grade counts, where a grade has little gold
ROUNDS = 6  # of fitting, after which chances move by less than 0.01
TINY = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool:
    """Documents of the topics, and what is known of them except gold."""

    said: LongArray  # (item,) the judge's grade, -1 = not judged
    topic: LongArray  # (item,)
    topics: int
    systems: LongArray  # (item,) how many of the systems retrieve it


def measure_ideals(counts: LongArray, gain: FloatArray, weight: FloatArray) -> FloatArray:
    """The ideal discounted gain (..., topic) of these numbers of documents of each grade, `counts` (..., topic, grade).

    `weight` (rank,) falls with the rank, `gain` (grade,) rises with the grade.
    """
    cumulated = np.r_[0.0, np.cumsum(weight)]
    at_least = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1].clip(0, len(weight))
    ideal: FloatArray = (cumulated[at_least] * np.diff(gain, prepend=0.0)).sum(axis=-1)
    return ideal


def draw_ideals(
    pool: Pool,
    drawn: Drawn,
    grade: LongArray,
    gain: FloatArray,
    weight: FloatArray,
    *,
    rng: np.random.Generator,
    draws: int = DRAWS,
) -> FloatArray:
    """Ideal discounted gains (draw, topic) that are consistent with the gold `grade` (draw,) of the drawn items."""
    grades, classes = len(gain), int(pool.said.max()) + 2
    crowd = np.searchsorted(EDGES, pool.systems, side="right")
    known = np.zeros(len(pool.said), np.bool_)
    known[drawn.item] = True
    counts: LongArray = np.zeros((pool.topics, grades), np.int64)
    np.add.at(counts, (pool.topic[drawn.item], grade), 1)
    cells = np.zeros((pool.topics, classes, len(CROWD)), np.int64)
    np.add.at(cells, (pool.topic[~known], pool.said[~known] + 1, crowd[~known]), 1)
    where = np.nonzero(cells)
    if not len(where[0]):
        return np.repeat(measure_ideals(counts, gain, weight)[None], draws, axis=0)
    gold = _Gold(
        kind=pool.said[drawn.item] + 1,
        topic=pool.topic[drawn.item],
        crowd=CROWD[crowd[drawn.item]],
        grade=grade,
        raised=len(grade) / (1 / drawn.pi).sum() / drawn.pi,
    )
    model = _fit(gold, pool.topics, classes, grades)
    topic, kind, level = where
    base = rng.standard_gamma(np.broadcast_to(model.draws[:, None] * model.chance, (draws, classes, grades))) + TINY
    shift = _draw_shifts(model, rng, draws)
    slope = model.slope + model.slope_error * rng.standard_normal(draws)
    tilt = shift[:, topic] + slope[:, None] * (CROWD[level] - model.middle)  # (draw, cell)
    chance = base[:, kind] * np.exp(tilt[..., None] * np.arange(grades))
    chance /= chance.sum(axis=-1, keepdims=True)
    found = rng.multinomial(cells[where], chance)  # (draw, cell, grade)
    starts = np.flatnonzero(np.diff(topic, prepend=-1))  # cells come topic by topic
    total = np.repeat(counts[None], draws, axis=0)
    total[:, topic[starts]] += np.add.reduceat(found, starts, axis=1)
    return measure_ideals(total, gain, weight)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Gold:
    """Graded items, (draw,) each."""

    kind: LongArray  # the judge's grade, plus 1
    topic: LongArray
    crowd: FloatArray
    grade: LongArray
    raised: FloatArray  # inverse chance, 1 on average


@dataclass(frozen=True, eq=False, kw_only=True)
class _Model:
    """Gold's probabilities for an item by the judge's grade, its topic and how many systems retrieve it."""

    chance: FloatArray  # (kind, grade) in a usual topic, for an item that the usual number of systems retrieve
    draws: FloatArray  # (kind,) how many draws these are worth
    slope: float
    slope_error: float
    middle: float
    shifts: FloatArray  # (spread, topic, shift) cumulated chances
    spreads: FloatArray  # (spread,) chances


def _fit(gold: _Gold, topics: int, kinds: int, grades: int) -> _Model:
    """Chances that give back the shares seen in each kind, once tilted as far as crowd and topics tilt them.

    A kind's shares are shrunk to those of its neighbours, as if it had one more draw from there or less. How much: the
    share of the variance that the judge leaves unexplained. So a judge who never errs is taken as correct.
    """
    weight = np.bincount(gold.kind, gold.raised, kinds)
    square = np.bincount(gold.kind, gold.raised**2, kinds)
    worth = np.where(weight > 0, weight**2 / np.where(weight > 0, square, 1.0), 0.0)
    seen = np.zeros((kinds, grades))
    np.add.at(seen, (gold.kind, gold.grade), gold.raised)
    share = np.where(weight[:, None] > 0, seen / np.where(weight > 0, weight, 1.0)[:, None], 0.0)
    nearby = NEIGHBOUR ** np.abs(np.subtract.outer(np.arange(kinds), np.arange(kinds)))
    near = np.einsum("kl,lg->kg", np.where(np.eye(kinds) > 0, 0.0, nearby), seen) + TINY * (seen.sum(axis=0) + 1)
    near /= near.sum(axis=1, keepdims=True)
    doubtful = _find_unexplained(seen, share, weight)
    extra = np.where(weight > 0, doubtful, 1.0)
    target = (worth[:, None] * share + extra[:, None] * near + TINY) / (worth + extra + TINY * grades)[:, None]
    middle = float(np.average(gold.crowd, weights=gold.raised))
    steps = np.arange(grades)
    chance, slope, doubt, spreads = target.copy(), 0.0, CROWD_DOUBT**2, np.full(len(SPREADS), 1 / len(SPREADS))
    prior = -0.5 * (SHIFTS / SPREADS[:, None]) ** 2
    prior -= np.log(np.exp(prior).sum(axis=1, keepdims=True))  # (spread, shift)
    posterior = np.zeros((len(SPREADS), topics, len(SHIFTS)))
    for _ in range(ROUNDS):
        tilt = slope * (gold.crowd - middle)[:, None] + SHIFTS  # (draw, shift)
        log = np.log(chance)[gold.kind][:, None, :] + tilt[..., None] * steps
        log -= log.max(axis=2, keepdims=True)
        log -= np.log(np.exp(log).sum(axis=2, keepdims=True))  # (draw, shift, grade)
        likely = np.zeros((topics, len(SHIFTS)))
        np.add.at(likely, gold.topic, np.take_along_axis(log, gold.grade[:, None, None], axis=2)[..., 0])
        joint = likely + prior[:, None]
        top = joint.max(axis=2, keepdims=True)
        mass = np.exp(joint - top)
        evidence = (np.log(mass.sum(axis=2)) + top[..., 0]).sum(axis=1)
        evidence -= 0.5 * ((np.log(SPREADS) - USUAL_SPREAD) / SPREAD_DOUBT) ** 2
        spreads = np.exp(evidence - evidence.max())
        spreads /= spreads.sum()
        posterior = mass / mass.sum(axis=2, keepdims=True)
        here = np.einsum("p,ptd->td", spreads, posterior)[gold.topic]  # (draw, shift) what the topics are like
        model = np.einsum("nd,ndg->ng", here, np.exp(log))
        expected = np.zeros((kinds, grades))
        np.add.at(expected, gold.kind, gold.raised[:, None] * model)
        known = weight > 0
        moved = np.where(known[:, None], target * weight[:, None] / np.maximum(expected, TINY), 1.0)
        chance = chance * moved
        chance /= chance.sum(axis=1, keepdims=True)
        mean = model @ steps
        variance = model @ steps**2 - mean**2
        crowd = gold.crowd - middle
        pull = float((gold.raised * crowd * (gold.grade - mean)).sum()) - slope / CROWD_DOUBT**2
        doubt = 1 / (float((gold.raised * crowd**2 * variance).sum()) + 1 / CROWD_DOUBT**2)
        slope += float(np.clip(pull * doubt, -1.0, 1.0))
    return _Model(
        chance=chance,
        draws=worth + extra,
        slope=slope,
        slope_error=doubt**0.5,
        middle=middle,
        shifts=np.cumsum(posterior, axis=2),
        spreads=spreads,
    )


def _find_unexplained(seen: FloatArray, share: FloatArray, weight: FloatArray | LongArray) -> float:
    """The share of the variance of gold's grades that the judge's leave unexplained: 0 for one who never errs."""
    steps = np.arange(seen.shape[1])
    overall = seen.sum(axis=0) / seen.sum()
    total = float(overall @ steps**2 - (overall @ steps) ** 2)
    within = share @ steps**2 - (share @ steps) ** 2
    return float(np.clip((weight * within).sum() / (weight.sum() * total), 0.0, 1.0)) if total > 0 else 1.0


def _draw_shifts(model: _Model, rng: np.random.Generator, draws: int) -> FloatArray:
    """Of every topic (draw, topic), all with the same spread in a draw."""
    spread = rng.choice(len(SPREADS), draws, p=model.spreads)
    point = rng.random((draws, model.shifts.shape[1], 1))
    place: LongArray = (model.shifts[spread] < point).sum(axis=2).clip(0, len(SHIFTS) - 1)
    return np.asarray(SHIFTS[place])
