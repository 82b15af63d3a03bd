"""Raykar and others' model: Dawid and Skene's with priors on sensitivity, specificity and prevalence [RY10]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from karatage.aggregation.confusion import begin, imply_accuracy, prior_answers, unheard_classes
from karatage.aggregation.expectation import Counts, Fit, Progress, Tables, iterate, log, normalise, tell_not_converged
from karatage.aggregation.square import fit_raykar
from karatage.aggregation.votes import Supervision, Votes, check_beta, check_dialect
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class Raykar:
    """EM to the mode; a judge is right on each grade with its own probability, ~ Beta(`prior`).

    With more grades, a row of the judge's matrix has a Dirichlet prior of the same mode and weight. Shares of the
    grades ~ Dirichlet(`classes`, ...). Dialect `square` is the program of the SQUARE benchmark: binary, 50 steps.
    """

    prior: tuple[float, float] = (7.0, 3.0)
    classes: float = 2.0
    dialect: Literal["square"] | None = None
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        check_beta(self.prior, self.classes)
        check_dialect(self.dialect, "square")

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Run EM; nothing is drawn at random, so `rng` is not used."""
        votes = Votes.prepare(judgments, gold, supervision)
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
        return votes.posterior(
            "ry",
            fit.probability,
            parameters=describe(fit),
            trace=fit.trace,
            converged=fit.converged,
            notes=tell_not_converged("ry", fit),
        )


def maximise(counts: Counts, added: FloatArray, classes: FloatArray) -> Tables:
    """[RY10], M-step: the mode given expected counts, with counts added to answers and grades."""
    prior, answer = log(normalise(counts.classes + classes, 1)), log(normalise(counts.answers + added, 1))
    answered = np.broadcast_to(added, answer.shape)
    return Tables(prior, answer, float((answered * answer).sum() + (classes * prior).sum()))


def describe(fit: Fit) -> dict[str, FloatArray]:
    """A judge's accuracy, and the matrix it follows from; with two grades, sensitivity and specificity as well."""
    confusion = np.exp(fit.tables.answer).transpose(0, 2, 1)
    found = {"accuracy": imply_accuracy(confusion, fit.counts.classes.sum(axis=0)), "confusion": confusion}
    if confusion.shape[1] == 2:
        found |= {"sensitivity": confusion[:, 1, 1].copy(), "specificity": confusion[:, 0, 0].copy()}
    return found
