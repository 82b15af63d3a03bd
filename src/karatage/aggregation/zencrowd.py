"""ZenCrowd: one reliability per judge with a Beta prior, shares of the grades with a Dirichlet prior [ZC12]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from karatage.aggregation.expectation import Progress
from karatage.aggregation.one_coin import Coin
from karatage.aggregation.square import fit_zencrowd
from karatage.aggregation.votes import Supervision, Votes, check_beta, check_dialect
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior


@dataclass(frozen=True, kw_only=True)
class ZenCrowd:
    """Soft EM, the mode of reliabilities r ~ Beta(`prior`) and of grade shares ~ Dirichlet(`classes`, ...).

    Dialect `square` is the program of the SQUARE benchmark, with its own priors: hard labels, 50 steps.
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
            return fit_zencrowd(votes, progress)
        right, wrong = self.prior[0] - 1, self.prior[1] - 1
        coin = Coin(right, wrong, np.full(votes.grades, self.classes - 1))
        return coin.fit(votes, "zc", self.max_steps, self.tolerance, progress)
