"""Naive Bayes: judges are learned from gold alone, then applied once [SNOW08]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from karatage.aggregation.confusion import imply_accuracy
from karatage.aggregation.expectation import Progress, Tables, log, normalise
from karatage.aggregation.notes import tell
from karatage.aggregation.square import fit_naive_bayes
from karatage.aggregation.votes import Supervision, Votes, check_dialect, need_gold
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.kernels.voting import expect


@dataclass(frozen=True, kw_only=True)
class NaiveBayes:
    """Each judge's answers on gold, one added to every cell, give the judge's matrix.

    A judge without gold says nothing. Dialect `square` is the program of the SQUARE benchmark.
    """

    needs_gold: ClassVar[bool] = True

    dialect: Literal["square"] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
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
        """Learn, then apply; `light` and `full` say the same of items without gold."""
        need_gold("nb", supervision)
        votes = Votes.prepare(judgments, gold, supervision)
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
