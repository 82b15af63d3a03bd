"""Judges weighted by their record on each grade, after Georgescu and Zhu [GZ14]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.aggregation.confusion import recall, unheard_classes
from karatage.aggregation.expectation import Counts, Progress, Tables, iterate, log, normalise, tell_not_converged
from karatage.aggregation.votes import Supervision, Votes
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import JudgeRecord, Posterior, find_winners
from karatage.errors import OptionError
from karatage.kernels.voting import expect


@dataclass(frozen=True, kw_only=True)
class JudgeHistory:
    """Hard EM over how often a judge is right on each grade; wrong grades are equally likely.

    A judge's record on gold, and in an earlier posterior (`history`), is counted again in every step; `smoothing`
    is added to right and to wrong. Every grade is as likely beforehand: the vote is the sum of log-odds.
    """

    smoothing: float = 1.0
    history: JudgeRecord | Posterior | None = None
    max_steps: int = 1000

    def __post_init__(self) -> None:
        """Check the options."""
        if not self.smoothing > 0:
            raise OptionError(f"smoothing {self.smoothing} must be a count above 0")
        if isinstance(self.history, Posterior):
            JudgeRecord.of(self.history)

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Start from judges' records, else from the majority, and alternate until no grade changes."""
        votes = Votes.prepare(judgments, gold, supervision)
        known = recall(self.history, votes)
        record = known + votes.gold_answers.transpose(0, 2, 1)
        if unheard_classes(votes).any():
            known = record
        prior = np.full((1, votes.grades), -np.log(votes.grades))

        def maximise(counts: Counts) -> Tables:
            answer, density = self._weigh(counts.answers + known, known)
            return Tables(prior, answer, density)

        start: FloatArray | Tables = normalise(find_winners(votes.share()).astype(float), 1)
        if record.any():
            start = Tables(prior, self._weigh(record, known)[0])
        fit = iterate(votes, maximise, start, max_steps=self.max_steps, tolerance=0.5, hard=True, progress=progress)
        expect(votes.rows, prior, fit.tables.answer, False, fit.probability)
        reliability = np.exp(np.einsum("jkk->jk", fit.tables.answer))
        return votes.posterior(
            "emgz",
            fit.probability,
            parameters={
                "accuracy": reliability @ normalise(fit.counts.classes[0], 0),
                "reliability": reliability,
                "answers": (fit.counts.answers + known).transpose(0, 2, 1),
            },
            trace=fit.trace,
            converged=fit.converged,
            notes=tell_not_converged("emgz", fit),
        )

    def _weigh(self, answers: FloatArray, known: FloatArray) -> tuple[FloatArray, float]:
        """Log tables from a judge's whole record, and the log density of what was counted beforehand."""
        grades = answers.shape[1]
        right = np.einsum("jkk->jk", answers) + self.smoothing
        share = right / (answers.sum(axis=1) + 2 * self.smoothing)
        wrong = (1 - share) / max(grades - 1, 1)
        answer = log(np.where(np.eye(grades, dtype=bool), share[:, None], wrong[:, None]))
        density = self.smoothing * (np.log(share) + np.log(1 - share)).sum() + (known * answer).sum()
        return answer, float(density)
