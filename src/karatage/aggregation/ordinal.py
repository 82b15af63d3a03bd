"""Graded relevance on a latent scale: every judge has a bias and a spread, measured in grades."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import (
    Counts,
    Fit,
    Progress,
    Rng,
    Scope,
    Tables,
    VoteModel,
    Votes,
    iterate,
    log,
    normalise,
)
from karatage.data.axes import FloatArray, LongArray
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.kernels.ordinal import move_judges, tabulate

BIAS, SPREAD = 0.0, 0.7  # prior means: a judge is right about half of the middle grades
MANY = 10  # times the number of grades: who said that much without a high grade does not use it


class _Judges:
    """Bias and log spread of every judge; each step starts where the last one ended, so that it can only rise."""

    def __init__(self, top: LongArray, mean: FloatArray, variance: FloatArray) -> None:
        self.top, self.mean, self.variance = top, mean, variance
        self.bias, self.log_spread = np.full(len(top), mean[0]), np.full(len(top), mean[1])

    def learn(self, answers: FloatArray) -> tuple[FloatArray, float]:
        """From expected counts (judge, said, grade) to log tables of the same shape, and the log prior."""
        counts = np.ascontiguousarray(answers)
        density = move_judges(counts, self.top, self.mean, self.variance, self.bias, self.log_spread)
        table = np.empty(answers.shape)
        tabulate(self.top, self.bias, self.log_spread, table)
        return table, density


@dataclass(frozen=True, kw_only=True)
class Ordinal(VoteModel):
    """EM; judge j sees an item of grade k about k + bias_j, with normal noise, and says the nearest grade.

    `prior` are the standard deviations of the judges' biases and of the logarithms of their spreads. `even` draws the
    shares of the grades to even ones (with gold: to gold's): this many pseudo-items for each real one.
    """

    name: ClassVar[str] = "ordinal"

    prior: tuple[float, float] = (0.5, 0.5)
    even: float = 1.0
    scope: Scope = "all"
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        if len(self.prior) != 2 or not all(0 < deviation < math.inf for deviation in self.prior):
            raise OptionError(f"prior {self.prior} must be two standard deviations above 0, like (0.5,0.5)")
        if not 0 <= self.even < math.inf or self.max_steps < 1 or not self.tolerance >= 0:
            raise OptionError("even and tolerance must be at least 0 and max_steps at least 1")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM from the share of votes."""
        top = _own_tops(votes)
        judges = _Judges(top, self._typical(votes, top), np.square(self.prior))
        fit = self._iterate(votes, judges, progress)
        return fit.posterior(
            votes, self.name, {"bias": judges.bias, "spread": np.exp(judges.log_spread)}, _tell_scales(votes, top)
        )

    def _typical(self, votes: Votes, top: LongArray) -> FloatArray:
        """The prior of a judge: where there is gold, as its judges are taken together."""
        highest = votes.grades - 1
        typical = _Judges(np.array([highest]), np.array([BIAS, math.log(SPREAD)]), np.square(self.prior))
        typical.learn(votes.gold_answers[top == highest].sum(axis=0).T[None])
        return np.array([typical.bias[0], typical.log_spread[0]])

    def _iterate(self, votes: Votes, judges: _Judges, progress: Progress | None) -> Fit:
        toward = normalise(votes.gold_classes + 1, 0)

        def maximise(counts: Counts) -> Tables:
            imagined = self.even * counts.classes.sum(axis=1, keepdims=True) * toward
            prior = log(normalise(counts.classes + imagined, 1))
            answer, density = judges.learn(counts.answers)
            return Tables(prior, answer, density + float((imagined * prior).sum()))

        return iterate(
            votes, maximise, votes.share(), max_steps=self.max_steps, tolerance=self.tolerance, progress=progress
        )


def _own_tops(votes: Votes) -> LongArray:
    """The highest grade each judge uses, at least 1; the scale's, for judges with too few grades."""
    answered = votes.rows.answered
    own = ((answered > 0) * np.arange(votes.grades)).max(axis=1)
    heard = answered.sum(axis=1) >= MANY * votes.grades
    tops: LongArray = np.where(heard, np.maximum(own, min(1, votes.grades - 1)), votes.grades - 1).astype(np.int64)
    return tops


def _tell_scales(votes: Votes, top: LongArray) -> tuple[Note, ...]:
    lower = tuple(dict.fromkeys(votes.judge_names[j] for j in np.flatnonzero(top < votes.grades - 1)))
    return tell.when(lower, "short-scales", model="ordinal", judges=lower)
