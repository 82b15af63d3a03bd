"""Variational Bayes: IBCC, Dawid and Skene's model in full Bayes [KG12] [SIMPSON13], and MACE [HOVY13]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from karatage.aggregation.votes import (
    Counts,
    Fit,
    Progress,
    Rng,
    Tables,
    VoteModel,
    Votes,
    begin,
    imply_accuracy,
    iterate,
    log,
    normalise,
    prior_answers,
    unheard_classes,
)
from karatage.data.axes import FloatArray
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.random_streams import generator

NOISE = 0.5  # how uneven a random start is, as in the published program
SPLITS = 20  # at most, in every step: rounds that divide right answers into known and guessed
MIXER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, kw_only=True)
class Ibcc(VoteModel):
    """Rows of a judge's matrix and shares of the grades have Dirichlet posteriors instead of point values.

    `prior` holds the Dirichlet parameters of a row beside the diagonal and on it; `classes` those of the shares.
    """

    name: ClassVar[str] = "ibcc"

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

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Alternate until no posterior moves; the trace is the evidence lower bound."""
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
        return fit.posterior(
            votes, self.name, {"accuracy": imply_accuracy(confusion, fit.counts.classes[0]), "confusion": confusion}
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


class MaceJudges(NamedTuple):
    """Posteriors of competence and habit, and the logarithms expected under them."""

    coin: FloatArray  # (judge, 2) Beta parameters: knows, spams
    habit: FloatArray  # (judge, said) Dirichlet parameters
    log_coin: FloatArray
    log_habit: FloatArray

    @staticmethod
    def believe(coin: FloatArray, habit: FloatArray) -> MaceJudges:
        """The judges."""
        return MaceJudges(coin, habit, expect_log(coin), expect_log(habit))

    @property
    def competence(self) -> FloatArray:
        """The probability to know, (judge,)."""
        return normalise(self.coin, 1)[:, 0]

    def spam(self) -> FloatArray:
        """Log-probability to spam this, (judge, said)."""
        return self.log_coin[:, 1:] + self.log_habit

    def tables(self) -> FloatArray:
        """Log p(said | grade): knowing gives the grade itself, spamming anything."""
        spam = self.spam()
        answer = np.repeat(spam[:, :, None], spam.shape[1], axis=2)
        diagonal = np.arange(spam.shape[1])
        answer[:, diagonal, diagonal] = np.logaddexp(self.log_coin[:, :1], spam)
        return answer


@dataclass(frozen=True, kw_only=True)
class Mace(VoteModel):
    """A judge either knows the grade or guesses, by its own habits; the best of several random starts is kept.

    Competence, the probability to know, ~ Beta(`prior`); what a spammer says ~ Dirichlet(`habit`, ...).
    """

    name: ClassVar[str] = "mace"
    slow: ClassVar[bool] = True

    prior: tuple[float, float] = (0.5, 0.5)
    habit: float = 10.0
    restarts: int = 10
    max_steps: int = 50
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        if len(self.prior) != 2 or not min(*self.prior, self.habit) > 0:
            raise OptionError(f"prior {self.prior} and habit {self.habit} must be parameters above 0")
        if self.restarts < 1:
            raise OptionError(f"restarts {self.restarts} must be at least 1")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Draw the starts from `rng`; the trace is that of the best."""
        random = generator(rng)
        fit, judges = max(
            (self._run(votes, random, progress) for _ in range(self.restarts)), key=lambda run: run[0].trace[-1]
        )
        says, competence = normalise(judges.habit, 1), judges.competence
        lucky = (1 - competence) * (says @ normalise(fit.counts.classes[0], 0))
        return fit.posterior(
            votes, self.name, {"accuracy": competence + lucky, "competence": competence, "habit": says}
        )

    def _run(self, votes: Votes, random: np.random.Generator, progress: Progress | None) -> tuple[Fit, MaceJudges]:
        """One start."""
        before = self._learn(votes)
        prior = log(normalise(votes.gold_classes[None] + 1, 1))
        judges = _draw_judges(votes, random)

        def maximise(counts: Counts) -> Tables:
            nonlocal judges
            for _ in range(SPLITS):
                last, judges = judges, self._update(judges, counts.answers, before)
                if np.abs(judges.competence - last.competence).max(initial=0.0) < self.tolerance:
                    break
            divergence = diverge(judges.coin, before, judges.log_coin)
            divergence += diverge(judges.habit, np.array(self.habit), judges.log_habit)
            return Tables(prior, judges.tables(), -divergence)

        fit = iterate(
            votes,
            maximise,
            Tables(prior, judges.tables()),
            max_steps=self.max_steps,
            tolerance=self.tolerance,
            progress=progress,
        )
        return fit, judges

    def _update(self, judges: MaceJudges, answers: FloatArray, before: FloatArray) -> MaceJudges:
        """Split right answers between knowledge and correct guesses, then update both posteriors."""
        right = np.einsum("jss->js", answers)
        knew = right * np.exp(-np.logaddexp(0.0, judges.spam() - judges.log_coin[:, :1]))
        spammed = answers.sum(axis=2) - knew
        coin = before + np.stack([knew.sum(axis=1), spammed.sum(axis=1)], axis=1)
        return MaceJudges.believe(coin, self.habit + spammed)

    def _learn(self, votes: Votes) -> FloatArray:
        """The Beta prior of competence; gold's judges move its mean, not its weight."""
        pooled = votes.gold_answers.sum(axis=0)
        right = (np.trace(pooled) + 1) / (pooled.sum() + 2)
        chance = 1 / max(votes.grades, 2)
        weight = sum(self.prior)
        if not pooled.any():
            return np.array(self.prior)
        mean = np.clip((right - chance) / (1 - chance), 0.05, 0.95)
        return np.array([weight * mean, weight * (1 - mean)])


def _draw_judges(votes: Votes, random: np.random.Generator) -> MaceJudges:
    """Where a run starts. Judges who answered alike start alike, so that their names do not matter."""
    alike = np.unique(_sign(votes), return_inverse=True)[1]
    kinds = int(alike.max()) + 1
    coin = normalise(1 + NOISE * random.random((kinds, 2)), 1)[alike]
    habit = normalise(1 + NOISE * random.random((kinds, votes.grades)), 1)[alike]
    return MaceJudges(coin, habit, log(coin), log(habit))


def _sign(votes: Votes) -> NDArray[np.uint64]:
    """A number for what each judge said on which votes, the same whatever judges and items are called."""
    counted = votes.count().astype(np.uint64)
    power = MIXER ** np.arange(1, votes.grades + 1, dtype=np.uint64)
    item = np.repeat(np.arange(votes.items), np.diff(votes.rows.start))
    seen = (counted * power).sum(axis=1)[item] ^ (power[votes.rows.said] >> np.uint64(7))
    seen = (seen ^ (seen >> np.uint64(29))) * MIXER
    signature = np.zeros(votes.judges, np.uint64)
    np.add.at(signature, votes.rows.judge, seen ^ (seen >> np.uint64(32)))
    return signature
