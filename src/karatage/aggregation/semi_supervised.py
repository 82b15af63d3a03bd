"""EM that starts from gold's naive Bayes and learns from gold and open items together [TL11]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karatage.aggregation.confusion import DIAGONAL
from karatage.aggregation.expectation import Progress, iterate, tell_not_converged
from karatage.aggregation.naive_bayes import learn_tables
from karatage.aggregation.raykar import describe, maximise
from karatage.aggregation.votes import Supervision, Votes, check_counts, need_gold
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class SemiSupervised:
    """Dawid and Skene's EM from naive Bayes' matrices; training items keep gold's grade in both steps.

    `prior` is counted in every step, as in `ds`; none is the paper's EM. With supervision `light`, gold sets the
    start only.
    """

    needs_gold: ClassVar[bool] = True

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
        need_gold("emsemi", supervision)
        votes = Votes.prepare(judgments, gold, supervision)
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
        return votes.posterior(
            "emsemi",
            fit.probability,
            parameters=describe(fit),
            trace=fit.trace,
            converged=fit.converged,
            notes=tell_not_converged("emsemi", fit),
        )
