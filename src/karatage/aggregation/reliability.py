"""Judges who are right with one probability, or with one per grade: one coin [DS79], ZenCrowd [ZC12], Raykar [RY10].

The dialects `square` are the programs of the SQUARE benchmark, step by step, and give its published grades [SQUARE13].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import (
    DIAGONAL,
    SMALLEST,
    Counts,
    Progress,
    Rng,
    Tables,
    VoteModel,
    Votes,
    begin,
    check_counts,
    check_dialect,
    describe,
    distinct_grades,
    first_grades,
    imply_accuracy,
    iterate,
    log,
    maximise,
    normalise,
    prior_answers,
    unheard_classes,
)
from karatage.data.axes import FloatArray, GradeArray
from karatage.data.posterior import Posterior, find_winners
from karatage.errors import DataError, OptionError
from karatage.kernels.voting import count, expect

SQUARE_STEPS = 50
SMOOTHING = 5.0  # added to every count from gold, by SQUARE's programs
NEAR = 0.001  # how far from certain SQUARE's Raykar keeps a training item


@dataclass(frozen=True, kw_only=True)
class OneCoin(VoteModel):
    """Dawid and Skene's model with one number per judge: p(said | grade) is r, or (1 - r) / (K - 1) when wrong.

    `prior` is counted for every judge in every step, as in `ds`: for each wrong grade, and for the right one.
    """

    name: ClassVar[str] = "onecoin"

    prior: tuple[float, float] | None = DIAGONAL
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        check_counts(self.prior)

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        beside, on = self.prior or (0.0, 0.0)
        coin = Coin(on, beside * (votes.grades - 1), np.zeros(votes.grades))
        return coin.fit(votes, "onecoin", self.max_steps, self.tolerance, progress)


@dataclass(frozen=True)
class Coin:
    """EM with one reliability per judge, and counts added in every M-step."""

    right: float
    wrong: float
    classes: FloatArray  # (grade,)

    def fit(
        self, votes: Votes, name: str, max_steps: int, tolerance: float, progress: Progress | None = None
    ) -> Posterior:
        """Alternate from the share of votes; gold's judges move the prior's mean, not its weight."""
        coin = self._learn(votes)
        weight = coin.right + coin.wrong
        start: FloatArray | Tables = votes.share()
        if weight > 0:
            start = begin(votes, np.exp(toss(np.array([coin.right / weight]), votes.grades)[0]))
        fit = iterate(votes, coin.maximise, start, max_steps=max_steps, tolerance=tolerance, progress=progress)
        reliability = np.exp(fit.tables.answer[:, 0, 0])
        return fit.posterior(votes, name, {"accuracy": reliability, "reliability": reliability.copy()})

    def maximise(self, counts: Counts) -> Tables:
        """Reliabilities and shares of the grades, the mode of their posterior."""
        right = np.einsum("jkk->j", counts.answers) + self.right
        total = counts.answers.sum(axis=(1, 2)) + self.right + self.wrong
        share = np.where(total > 0, right / np.where(total > 0, total, 1.0), 0.5)
        prior = log(normalise(counts.classes + self.classes, 1))
        answer = toss(share, counts.answers.shape[1])
        density = self.right * log(share).sum() + self.wrong * log(1 - share).sum() + (self.classes * prior).sum()
        return Tables(prior, answer, float(density))

    def _learn(self, votes: Votes) -> Coin:
        """The prior after gold: as heavy as before, its mean drawn to what gold's judges get right."""
        pooled = votes.gold_answers.sum(axis=0)
        right, weight = self.right + np.trace(pooled), self.right + self.wrong
        mean = right / max(weight + pooled.sum(), SMALLEST)
        return Coin(weight * mean, weight * (1 - mean), self.classes + unheard_classes(votes))


def toss(share: FloatArray, grades: int, others: int | None = None) -> FloatArray:
    """Log tables of judges who are right with probability `share`, (judge, said, grade)."""
    wrong = (1 - share) / max(grades - 1 if others is None else others, 1)
    table = np.where(np.eye(grades, dtype=bool), share[:, None, None], wrong[:, None, None])
    return log(table)


@dataclass(frozen=True, kw_only=True)
class WithPriors(VoteModel):
    """Options of models with a Beta prior of reliabilities and a Dirichlet prior of the shares of the grades."""

    prior: tuple[float, float] = (7.0, 3.0)
    classes: float = 2.0
    dialect: Literal["square"] | None = None
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options; the modes of the priors must lie inside."""
        if len(self.prior) != 2 or not all(1 <= count < math.inf for count in self.prior):
            raise OptionError(f"prior {self.prior} must be the two parameters of a Beta prior, from 1, like (7,3)")
        if not 1 <= self.classes < math.inf:
            raise OptionError(f"classes {self.classes} must be a Dirichlet parameter from 1")
        check_dialect(self.dialect, "square")


@dataclass(frozen=True, kw_only=True)
class ZenCrowd(WithPriors):
    """Soft EM, the mode of reliabilities r ~ Beta(`prior`) and of grade shares ~ Dirichlet(`classes`, ...).

    Dialect `square` is the program of the SQUARE benchmark, with its own priors: hard labels, 50 steps.
    """

    name: ClassVar[str] = "zc"

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        if self.dialect == "square":
            return fit_zencrowd(votes, progress)
        right, wrong = self.prior[0] - 1, self.prior[1] - 1
        coin = Coin(right, wrong, np.full(votes.grades, self.classes - 1))
        return coin.fit(votes, "zc", self.max_steps, self.tolerance, progress)


def slipped_beta(mean: float, deviation: float) -> tuple[float, float]:
    """SQUARE's Beta prior of a mean and a deviation; a sign is wrong in a, so that impossible ones work too.

    >>> tuple(round(x, 4) for x in slipped_beta(0.7, 0.3))
    (8.5556, 3.6667)
    """
    a = (mean**3 + mean**2 - mean * deviation**2) / deviation**2
    return a, a * (1 - mean) / mean


def fit_zencrowd(votes: Votes, progress: Progress | None = None) -> Posterior:
    """SQUARE's hard EM; wrong grades share nothing, and a judge's equal grades for an item are used once, but count."""
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
    for step in range(SQUARE_STEPS):
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


def _first_winner(share: FloatArray) -> FloatArray:
    winner = np.zeros_like(share)
    winner[np.arange(len(share)), find_winners(share).argmax(axis=1)] = 1.0
    return winner


@dataclass(frozen=True, kw_only=True)
class Raykar(WithPriors):
    """EM to the mode; a judge is right on each grade with its own probability, ~ Beta(`prior`).

    With more grades, a row of the judge's matrix has a Dirichlet prior of the same mode and weight. Shares of the
    grades ~ Dirichlet(`classes`, ...). Dialect `square` is the program of the SQUARE benchmark: binary, 50 steps.
    """

    name: ClassVar[str] = "ry"

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        if self.dialect == "square":
            return fit_raykar(votes, progress)
        right, wrong = self.prior[0] - 1, self.prior[1] - 1
        added = prior_answers(votes, wrong / max(votes.grades - 1, 1), right)
        classes = unheard_classes(votes) + self.classes - 1
        fit = iterate(
            votes,
            lambda counts: maximise(counts, added, classes),
            begin(votes, normalise(added[0], 0)),
            max_steps=self.max_steps,
            tolerance=self.tolerance,
            progress=progress,
        )
        return fit.posterior(votes, self.name, describe(fit))


def fit_raykar(votes: Votes, progress: Progress | None = None) -> Posterior:
    """SQUARE's program: binary, its positive grade is 0; only the first of a judge's grades for an item is used."""
    if votes.grades != 2:
        raise DataError(
            f"ry(dialect=square) takes grades 0 and 1 only, but these go up to {votes.grades - 1}; merge grades when "
            "reading, or leave the dialect out"
        )
    added, classes = _raykar_priors(votes)
    known = votes.rows.known
    rows = first_grades(votes.rows)._replace(known=np.full_like(known, -1))
    probability = _clamp(votes.share(), known)
    trace: list[float] = []
    for step in range(SQUARE_STEPS):
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
        notes=tell.when(found.change >= 1e-4, "program-stops", model="ry", steps=SQUARE_STEPS),
    )


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


def _trained(votes: Votes) -> FloatArray:
    """Counts of the judges who graded training items, (judge, grade, said)."""
    trained: FloatArray = votes.gold_answers[votes.gold_answers.sum(axis=(1, 2)) > 0]
    return trained


def _clamp(probability: FloatArray, known: GradeArray) -> FloatArray:
    for grade in 0, 1:
        probability[known == grade] = NEAR
        probability[known == grade, grade] = 1 - NEAR
    return probability


def _record(trace: list[float], value: float, step: int, progress: Progress | None) -> None:
    trace.append(value)
    if progress is not None:
        progress(step + 1, value)
