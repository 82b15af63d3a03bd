"""Wawa: a vote in which a judge's weight is its agreement with the outcome, as crowd platforms do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.aggregation.confusion import unheard_classes
from karatage.aggregation.expectation import Progress, normalise
from karatage.aggregation.notes import tell
from karatage.aggregation.votes import Supervision, Votes
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior, find_winners
from karatage.errors import OptionError
from karatage.kernels.voting import count


@dataclass(frozen=True, kw_only=True)
class AgreementWeighted:
    """Vote, weight every judge by the share of grades on which the vote agrees, vote again, until it stands.

    The published program stops after the first weighted vote (`max_steps=1`). Training items count as gold says.
    """

    max_steps: int = 100

    def __post_init__(self) -> None:
        """Check the options."""
        if self.max_steps < 1:
            raise OptionError(f"max_steps {self.max_steps} must be at least 1")

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Vote until it stands; the probability of a grade is its share of the weight."""
        votes = Votes.prepare(judgments, gold, supervision)
        apart = votes.gold_answers if unheard_classes(votes).any() else np.zeros_like(votes.gold_answers)
        before = np.einsum("jkk->j", apart)
        heard = votes.rows.answered.sum(axis=1) + apart.sum(axis=(1, 2))
        share = votes.share()
        winners = find_winners(share)
        trace: list[float] = []
        converged = False
        for step in range(self.max_steps):
            agreed = before + _agree(votes, winners)
            weight = normalise(np.stack([agreed, heard - agreed]), 0)[0]
            share = votes.weigh(weight)
            trace.append(float((agreed * weight).sum() / max(heard.sum(), 1.0)))
            if progress is not None:
                progress(step + 1, trace[-1])
            converged = bool((find_winners(share) == winners).all())
            if converged:
                break
            winners = find_winners(share)
        unsettled = not converged and self.max_steps > 1
        return votes.posterior(
            "wawa",
            share,
            parameters={"accuracy": weight, "weight": weight.copy()},
            trace=np.array(trace),
            converged=converged,
            notes=tell.when(unsettled, "vote-moves", model="wawa", rounds=step + 1),
        )


def _agree(votes: Votes, winners: BoolArray) -> FloatArray:
    """How many of a judge's grades the outcome agrees with; one of m tied grades counts 1/m, (judge,)."""
    answers = count(votes.rows, votes.groups, normalise(winners.astype(float), 1))[1]
    agreed: FloatArray = np.einsum("jkk->j", answers)
    return agreed
