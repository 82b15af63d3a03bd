"""Models that need gold: naive Bayes [SNOW08], and EM that starts from it and learns from open items as well [TL11]."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import (
    DIAGONAL,
    Progress,
    Rng,
    Tables,
    VoteModel,
    Votes,
    check_counts,
    check_dialect,
    describe,
    imply_accuracy,
    iterate,
    log,
    maximise,
    normalise,
)
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.kernels.voting import expect


@dataclass(frozen=True, kw_only=True)
class NaiveBayes(VoteModel):
    """Each judge's answers on gold, one added to every cell, give the judge's matrix.

    A judge without gold is not used. Dialect `square` is the program of the SQUARE benchmark.
    """

    name: ClassVar[str] = "nb"
    needs_gold: ClassVar[bool] = True

    dialect: Literal["square"] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        check_dialect(self.dialect, "square")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Learn, then apply; `light` and `full` say the same of items without gold."""
        if self.dialect == "square":
            return fit_naive_bayes(votes)
        tables = learn_tables(votes)
        probability = np.zeros((votes.items, votes.grades))
        found = expect(votes.rows, tables.prior, tables.answer, False, probability)
        confusion = np.exp(tables.answer).transpose(0, 2, 1)
        return votes.posterior(
            "nb",
            probability,
            parameters={"accuracy": imply_accuracy(confusion, votes.gold_classes), "confusion": confusion},
            trace=np.array([found.log_likelihood]),
            notes=_tell_unseen(votes),
        )


def learn_tables(votes: Votes) -> Tables:
    """Matrices and shares of the grades from gold, one added to every count."""
    answer = normalise(votes.gold_answers.transpose(0, 2, 1) + 1, 1)
    return Tables(log(normalise(votes.gold_classes[None] + 1, 1)), log(answer))


def _tell_unseen(votes: Votes) -> tuple[Note, ...]:
    unseen = int((votes.gold_answers.sum(axis=(1, 2)) == 0).sum())
    return tell.when(unseen, "unseen", model="nb", unseen=unseen, judges=votes.judges)


def fit_naive_bayes(votes: Votes) -> Posterior:
    """SQUARE's program. One grade against the rest: log-odds of its share of votes, and of its entry for each vote.

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


@dataclass(frozen=True, kw_only=True)
class SemiSupervised(VoteModel):
    """Dawid and Skene's EM from naive Bayes' matrices; training items keep gold's grade in both steps.

    `prior` is counted in every step, as in `ds`; none is the paper's EM. With supervision `light`, gold sets the
    start only.
    """

    name: ClassVar[str] = "emsemi"
    needs_gold: ClassVar[bool] = True

    prior: tuple[float, float] | None = DIAGONAL
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        check_counts(self.prior)

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        beside, on = self.prior or (0.0, 0.0)
        added = np.where(np.eye(votes.grades, dtype=bool), on, beside)[None]
        fit = iterate(
            votes,
            lambda counts: maximise(counts, added, np.zeros(votes.grades)),
            learn_tables(votes),
            max_steps=self.max_steps,
            tolerance=self.tolerance,
            progress=progress,
        )
        return fit.posterior(votes, self.name, describe(fit))
