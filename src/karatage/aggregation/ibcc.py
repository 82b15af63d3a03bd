"""IBCC: Dawid and Skene's model in full Bayes, by variational inference [KG12] [SIMPSON13]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.aggregation.confusion import begin, imply_accuracy, prior_answers, unheard_classes
from karatage.aggregation.expectation import Counts, Progress, Tables, iterate, normalise, tell_not_converged
from karatage.aggregation.votes import Supervision, Votes
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior
from karatage.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Ibcc:
    """Rows of a judge's matrix and shares of the grades have Dirichlet posteriors instead of point values.

    `prior` holds the Dirichlet parameters of a row beside the diagonal and on it; `classes` those of the shares.
    """

    prior: tuple[float, float] = (0.5, 2.5)
    classes: float = 1.0
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        if len(self.prior) != 2 or not min(self.prior) > 0:
            raise OptionError(f"prior {self.prior} must be two Dirichlet parameters above 0, like (0.5,2.5)")
        if not self.classes > 0:
            raise OptionError(f"classes {self.classes} must be a Dirichlet parameter above 0")

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: int | np.random.Generator | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Alternate until no posterior moves; the trace is the evidence lower bound."""
        votes = Votes.prepare(judgments, gold, supervision)
        added = prior_answers(votes, *self.prior)
        classes = unheard_classes(votes) + self.classes

        def maximise(counts: Counts) -> Tables:
            shares, rows = counts.classes + classes, counts.answers + added
            prior, answer = expect_log(shares), expect_log(rows)
            return Tables(prior, answer, -diverge(shares, classes, prior) - diverge(rows, added, answer))

        fit = iterate(
            votes,
            maximise,
            begin(votes, normalise(added[0], 0)),
            max_steps=self.max_steps,
            tolerance=self.tolerance,
            progress=progress,
        )
        confusion = normalise(fit.counts.answers + added, 1).transpose(0, 2, 1)
        return votes.posterior(
            "ibcc",
            fit.probability,
            parameters={"accuracy": imply_accuracy(confusion, fit.counts.classes[0]), "confusion": confusion},
            trace=fit.trace,
            converged=fit.converged,
            notes=tell_not_converged("ibcc", fit),
        )


def expect_log(found: FloatArray) -> FloatArray:
    """Expected logarithms under Dirichlets along the second axis."""
    from scipy.special import digamma

    expected: FloatArray = digamma(found) - digamma(found.sum(axis=1, keepdims=True))
    return expected


def diverge(found: FloatArray, before: FloatArray, expected: FloatArray) -> float:
    """How far Dirichlets along the second axis are from their priors, summed."""
    from scipy.special import gammaln

    before = np.broadcast_to(before, found.shape)
    apart = ((found - before) * expected).sum() + (gammaln(before) - gammaln(found)).sum()
    return float(apart + (gammaln(found.sum(axis=1)) - gammaln(before.sum(axis=1))).sum())
