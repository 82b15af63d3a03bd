"""What Get-Another-Label's Dawid and Skene does, which SQUARE ran as DS [GAL10]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.aggregation.confusion import imply_accuracy
from karatage.aggregation.expectation import Progress, normalise
from karatage.aggregation.square import first_grades
from karatage.aggregation.votes import Votes
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.posterior import Posterior

STEPS = 50
RIGHT = 0.9
DECIMALS = 5


class Evidence(NamedTuple):
    """Sums of log-probabilities, (item or row, grade), and of how many of them were zero."""

    log: FloatArray
    zeros: FloatArray


def fit_get_another_label(votes: Votes, progress: Progress | None = None) -> Posterior:
    """A judge's matrix comes from what all others say; of repeated grades the first is used.

    Matrices are not smoothed: a zero rules a grade out, an item with every grade ruled out keeps its posterior.
    With gold, the shares of the grades are gold's throughout.
    """
    rows = first_grades(votes.rows)
    item = np.repeat(np.arange(votes.items), np.diff(rows.start))
    alone = (np.diff(rows.start) == 1)[item] & (rows.known[item] < 0)
    probability = _clamp(np.full((votes.items, votes.grades), 1 / votes.grades), rows.known)
    shares = normalise(votes.gold_classes, 0)
    confusion = _start(votes)
    trace: list[float] = []
    for step in range(STEPS):
        own = _hear(confusion[rows.judge, :, rows.said])
        total = Evidence(_add_up(own.log, item, votes.items), _add_up(own.zeros, item, votes.items))
        belief, possible, evidence = _believe(total, shares)
        change = float(np.abs(belief - probability)[possible].max(initial=0.0))
        probability[possible] = belief[possible]
        _clamp(probability, rows.known)
        if not votes.gold_classes.any():
            shares = probability.mean(axis=0)
        others, possible, _ = _believe(Evidence(total.log[item] - own.log, total.zeros[item] - own.zeros), shares)
        _clamp(others, rows.known[item])
        confusion = _count(votes, rows.judge, rows.said, np.where((possible & ~alone)[:, None], others, 0.0))
        trace.append(evidence)
        if progress is not None:
            progress(step + 1, evidence)
    known = np.nan_to_num(confusion, nan=1 / votes.grades)
    return votes.posterior(
        "ds",
        normalise(probability, 1),  # rounding left it beside one
        parameters={"accuracy": imply_accuracy(known, shares), "confusion": known},
        trace=np.array(trace),
        converged=change < 1e-4,
        notes=() if change < 1e-4 else (f"ds(dialect=gal): after its {STEPS} steps, posteriors were still moving",),
    )


def _start(votes: Votes) -> FloatArray:
    start = np.full((votes.grades, votes.grades), (1 - RIGHT) / max(votes.grades - 1, 1))
    np.fill_diagonal(start, RIGHT)
    return np.tile(start, (votes.judges, 1, 1))


def _hear(chance: FloatArray) -> Evidence:
    """Logarithms (row, grade); a grade that the judge never met says nothing."""
    zero = chance == 0
    return Evidence(np.log(np.where(zero | np.isnan(chance), 1.0, chance)), zero.astype(float))


def _believe(evidence: Evidence, shares: FloatArray) -> tuple[FloatArray, BoolArray, float]:
    """Rounded posteriors, where there are any, and the log-likelihood of those."""
    ruled_out = (evidence.zeros > 0) | (shares == 0)
    joint = np.where(ruled_out, -np.inf, evidence.log + np.log(np.where(shares > 0, shares, 1.0)))
    possible = ~ruled_out.all(axis=1)
    joint[~possible] = 0.0
    top = joint.max(axis=1, keepdims=True)
    mass = np.exp(joint - top)
    likelihood = float((np.log(mass.sum(axis=1)) + top[:, 0])[possible].sum())
    return np.round(normalise(mass, 1), DECIMALS), possible, likelihood


def _count(votes: Votes, judge: IntArray, said: GradeArray, weight: FloatArray) -> FloatArray:
    """Matrices (judge, grade, said) from posteriors by row; NaN where the judge never met the grade."""
    answers = np.zeros((votes.judges, votes.grades, votes.grades))
    cell = judge.astype(np.int64) * votes.grades + said
    for k in range(votes.grades):
        counted = np.bincount(cell, weight[:, k], minlength=votes.judges * votes.grades)
        answers[:, k] = counted.reshape(votes.judges, votes.grades)
    met = answers.sum(axis=2, keepdims=True)
    return np.where(met > 0, answers / np.where(met > 0, met, 1.0), np.nan)


def _add_up(rows: FloatArray, item: LongArray, items: int) -> FloatArray:
    return np.stack([np.bincount(item, column, minlength=items) for column in rows.T], axis=1)


def _clamp(probability: FloatArray, known: GradeArray) -> FloatArray:
    at = np.flatnonzero(known >= 0)
    probability[at] = 0.0
    probability[at, known[at]] = 1.0
    return probability
