"""The one-coin model: a judge is right with the same probability for every grade, and errs evenly [DS79]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.aggregation.confusion import DIAGONAL, begin, unheard_classes
from karatage.aggregation.expectation import (
    SMALLEST,
    Counts,
    Progress,
    Tables,
    iterate,
    log,
    normalise,
    tell_not_converged,
)
from karatage.aggregation.votes import Supervision, Votes, check_counts
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class OneCoin:
    """Dawid and Skene's model with one number per judge: p(said | grade) is r, or (1 - r) / (K - 1) when wrong.

    `prior` is counted for every judge in every step, as in `ds`: for each wrong grade, and for the right one.
    """

    prior: tuple[float, float] | None = DIAGONAL
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        check_counts(self.prior)

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
        return votes.posterior(
            name,
            fit.probability,
            parameters={"accuracy": reliability, "reliability": reliability.copy()},
            trace=fit.trace,
            converged=fit.converged,
            notes=tell_not_converged(name, fit),
        )

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
