"""The programs of the SQUARE benchmark, step by step, which reproduce its published grades [SQUARE13]."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.aggregation.confusion import imply_accuracy
from karatage.aggregation.expectation import Progress, log, normalise
from karatage.aggregation.notes import tell
from karatage.aggregation.one_coin import toss
from karatage.aggregation.votes import Votes, need_binary
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.posterior import Posterior, find_winners
from karatage.kernels.voting import Rows, count, count_answers, expect

STEPS = 50
SMOOTHING = 5.0  # added to every count from gold
NEAR = 0.001  # how far from certain its Raykar keeps a training item


def slipped_beta(mean: float, deviation: float) -> tuple[float, float]:
    """Its Beta prior of a mean and a deviation; a sign is wrong in a, so that impossible ones work too.

    >>> tuple(round(x, 4) for x in slipped_beta(0.7, 0.3))
    (8.5556, 3.6667)
    """
    a = (mean**3 + mean**2 - mean * deviation**2) / deviation**2
    return a, a * (1 - mean) / mean


def fit_zencrowd(votes: Votes, progress: Progress | None = None) -> Posterior:
    """Hard EM; wrong grades share nothing, and equal grades of a judge for an item are used once, but count."""
    learnt = _trained(votes)
    right = np.einsum("jkk->j", learnt)
    beta = slipped_beta(0.7, 0.3)
    if len(learnt):
        beta = (SMOOTHING + float(right.mean()), SMOOTHING + float((learnt.sum(axis=(1, 2)) - right).mean()))
    classes = np.full(votes.grades, 2.0) if not len(learnt) else SMOOTHING - 1 + votes.gold_classes
    heard = distinct_grades(votes.rows)
    probability = _first_winner(votes.share())
    trace: list[float] = []
    converged = False
    for step in range(STEPS):
        counts, answers = count(votes.rows, 1, probability)
        share = np.einsum("jkk->j", answers) + beta[0] - 1
        share /= answers.sum(axis=(1, 2)) + sum(beta) - 2
        prior, answer = log(normalise(counts + classes, 1)), toss(share, votes.grades, others=1)
        found = expect(heard, prior, answer, True, probability)
        _record(trace, found.log_likelihood, step, progress)
        converged = found.change == 0
        if converged:
            break
    expect(heard, prior, answer, False, probability)
    return votes.posterior(
        "zc",
        probability,
        parameters={"accuracy": share, "reliability": share.copy()},
        trace=np.array(trace),
        converged=converged,
    )


def fit_raykar(votes: Votes, progress: Progress | None = None) -> Posterior:
    """Binary, its positive grade is 0; of a judge's repeated grades for an item only the first is used."""
    need_binary("ry(dialect=square)", votes.grades)
    added, classes = _raykar_priors(votes)
    known = votes.rows.known
    rows = first_grades(votes.rows)._replace(known=np.full_like(known, -1))
    probability = _clamp(votes.share(), known)
    trace: list[float] = []
    for step in range(STEPS):
        counts, answers = count(rows, 1, probability)
        prior, answer = log(normalise(counts + classes, 1)), log(normalise(answers + added, 1))
        found = expect(rows, prior, answer, False, probability)
        _clamp(probability, known)
        _record(trace, found.log_likelihood, step, progress)
    confusion = np.exp(answer).transpose(0, 2, 1)
    return votes.posterior(
        "ry",
        probability,
        parameters={
            "accuracy": imply_accuracy(confusion, counts[0]),
            "confusion": confusion,
            "sensitivity": confusion[:, 1, 1].copy(),
            "specificity": confusion[:, 0, 0].copy(),
        },
        trace=np.array(trace),
        converged=found.change < 1e-4,
        notes=tell.when(found.change >= 1e-4, "program-stops", model="ry", steps=STEPS),
    )


def fit_naive_bayes(votes: Votes) -> Posterior:
    """One grade against the rest: log-odds of its share of votes, and of its row's entry for each vote.

    A judge without gold gives every grade the same odds.
    """
    confusion = normalise(votes.gold_answers + 1, 2)
    share = votes.share()
    share[share == 0], share[share == 1] = 0.01, 0.99
    rest = confusion @ (1 - np.eye(votes.grades)) if votes.grades > 1 else confusion
    odds = np.log(confusion / rest).transpose(0, 2, 1)
    score = np.log(share / (1 - share))
    item = np.repeat(np.arange(votes.items), np.diff(votes.rows.start))
    for k in range(votes.grades):
        weight = odds[votes.rows.judge, votes.rows.said, k]
        score[:, k] += np.bincount(item, weight, minlength=votes.items)
    belief = np.exp(score - score.max(axis=1, keepdims=True))
    posterior = votes.posterior(
        "nb",
        normalise(belief, 1),
        parameters={"accuracy": imply_accuracy(confusion, votes.gold_classes), "confusion": confusion},
    )
    grades = posterior.grades.copy()
    grades[votes.taking_part] = score.argmax(axis=1)  # as there, where nothing but rounding tells two grades apart
    grades[votes.gold >= 0] = votes.gold[votes.gold >= 0]
    return replace(posterior, grades=grades)


def first_grades(rows: Rows) -> Rows:
    """Of a judge's grades for an item, the first."""
    return _keep(rows, _pairs(rows))


def distinct_grades(rows: Rows) -> Rows:
    """Of a judge's equal grades for an item, one."""
    return _keep(rows, _pairs(rows) * rows.answered.shape[1] + rows.said)


def _pairs(rows: Rows) -> LongArray:
    item = np.repeat(np.arange(len(rows.group), dtype=np.int64), np.diff(rows.start))
    pair: LongArray = item * len(rows.answered) + rows.judge
    return pair


def _keep(rows: Rows, key: LongArray) -> Rows:
    """The first row of each key."""
    kept = np.zeros(len(key), bool)
    kept[np.unique(key, return_index=True)[1]] = True
    judge, said = rows.judge[kept], rows.said[kept]
    start = np.r_[0, np.cumsum(kept)][rows.start]
    return rows._replace(start=start, judge=judge, said=said, answered=count_answers(judge, said, *rows.answered.shape))


def _trained(votes: Votes) -> FloatArray:
    """Counts of the judges who graded training items, (judge, grade, said)."""
    trained: FloatArray = votes.gold_answers[votes.gold_answers.sum(axis=(1, 2)) > 0]
    return trained


def _raykar_priors(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Counts added to answers (1, said, grade) and grades; from gold it takes precision for sensitivity."""
    learnt = _trained(votes)
    beta, prevalence = slipped_beta(0.7, 0.2), slipped_beta(0.6, 0.3)
    answers = np.array([[beta[0], beta[1]], [beta[1], beta[0]]])
    classes = np.array(prevalence)
    if len(learnt):
        answers = SMOOTHING + learnt.mean(axis=0)  # counted by (grade, said), read as (said, grade)
        classes = SMOOTHING + votes.gold_classes
    return answers[None] - 1, classes - 1


def _clamp(probability: FloatArray, known: GradeArray) -> FloatArray:
    for grade in 0, 1:
        probability[known == grade] = NEAR
        probability[known == grade, grade] = 1 - NEAR
    return probability


def _first_winner(share: FloatArray) -> FloatArray:
    winner = np.zeros_like(share)
    winner[np.arange(len(share)), find_winners(share).argmax(axis=1)] = 1.0
    return winner


def _record(trace: list[float], value: float, step: int, progress: Progress | None) -> None:
    trace.append(value)
    if progress is not None:
        progress(step + 1, value)
