"""GLAD: judges differ in ability, items in ease; a wrong judge says any other grade [GLAD09]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import Progress, Rng, VoteModel, Votes, log, normalise
from karatage.data.axes import FloatArray
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.kernels.logistic import climb, curve, dot, expect, minimise

Dialect = Literal["paper", "square"]
ABILITY, EASE = 1.0, 1.0  # prior means of ability and of the log of ease; both have variance 1
INNER_STEPS, INNER_TOLERANCE = 25, 1e-9
SQUARE_TOLERANCE = 1e-3


class _Place(NamedTuple):
    """Where EM stands, and how good that is."""

    ability: FloatArray  # (judge,)
    ease: FloatArray  # (item,) log
    probability: FloatArray  # (item, grade)
    right: FloatArray  # (row,) the chance that what was said is right
    objective: float  # log-likelihood plus log prior


class _Fit(NamedTuple):
    place: _Place
    trace: FloatArray
    converged: bool


@dataclass(frozen=True, kw_only=True)
class Glad(VoteModel):
    """EM; the M-step climbs abilities and ease together, at most 25 steps of L-BFGS.

    `ability` is the mean of the abilities' normal prior, by default 1, or with gold the judges' mean accuracy on it.
    `dialect="square"` stops early, as the reference program does, and leaves that mean at 1.
    """

    name: ClassVar[str] = "glad"

    ability: float | None = None
    dialect: Dialect = "paper"
    max_steps: int = 500
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        """Check the options."""
        if self.dialect not in get_args(Dialect):
            raise OptionError(f"dialect '{self.dialect}' is not one of {', '.join(get_args(Dialect))}")
        if self.max_steps < 1 or not self.tolerance >= 0:
            raise OptionError("max_steps must be at least 1 and tolerance at least 0")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        fit = self._iterate(votes, progress)
        ability, ease = fit.place.ability, fit.place.ease
        return votes.posterior(
            "glad",
            fit.place.probability,
            parameters={"ability": ability, "accuracy": _accuracy(ability, ease)},
            trace=fit.trace,
            converged=fit.converged,
            notes=tell.when(not fit.converged, "not-converged", model="glad", steps=len(fit.trace))
            + _tell_adversaries(ability),
        )

    def _iterate(self, votes: Votes, progress: Progress | None) -> _Fit:
        mean = np.r_[np.full(votes.judges, self._mean_ability(votes)), np.full(votes.items, EASE)]
        prior = self._class_prior(votes)
        place = _expect(votes, prior, mean, mean)
        trace: list[float] = []
        last, converged = 0.0, False
        for step in range(self.max_steps):
            before = place.objective
            at, height = _maximise(votes, place, mean)
            height += float((place.probability * prior).sum())
            place = _expect(votes, prior, at, mean)
            trace.append(place.objective)
            if progress is not None:
                progress(step + 1, place.objective)
            if self.dialect == "square":
                converged = step > 0 and abs(height - last) <= SQUARE_TOLERANCE * abs(last)
            else:
                converged = place.objective - before <= self.tolerance * abs(before)
            last = height
            if converged:
                break
        return _Fit(place, np.array(trace), converged)

    def _mean_ability(self, votes: Votes) -> float:
        """The given one; else, where there is gold, the mean over judges of their share of right grades on it."""
        if self.ability is not None:
            return self.ability
        graded = votes.gold_answers.sum(axis=(1, 2))
        if self.dialect == "square" or not graded.any():
            return ABILITY
        correct = np.einsum("jkk->j", votes.gold_answers)
        return float((correct[graded > 0] / graded[graded > 0]).mean())

    def _class_prior(self, votes: Votes) -> FloatArray:
        """Log of the grades' shares: even, or as in gold (each grade counted once more, save in SQUARE's dialect)."""
        added = 0.0 if self.dialect == "square" and votes.gold_classes.any() else 1.0
        return log(normalise(votes.gold_classes + added, 0))


def _expect(votes: Votes, prior: FloatArray, at: FloatArray, mean: FloatArray) -> _Place:
    """E-step at abilities and ease `at`, one after the other."""
    start, judge, said, _, known, _ = votes.rows
    ability, ease = at[: votes.judges].copy(), at[votes.judges :].copy()
    probability, right = np.empty((votes.items, votes.grades)), np.empty(len(judge))
    likelihood = expect(start, judge, said, known, prior, ability, ease, probability, right)
    return _Place(ability, ease, probability, right, likelihood - _distance(at, mean))


def _maximise(votes: Votes, place: _Place, mean: FloatArray) -> tuple[FloatArray, float]:
    """M-step: abilities and ease that raise the expected log-likelihood plus log prior, and its height there."""
    start, judge = votes.rows.start, votes.rows.judge
    judges = votes.judges
    others = float(np.log(max(votes.grades - 1, 1)))

    def depth(at: FloatArray, slope: FloatArray) -> float:
        height = climb(start, judge, place.right, others, at[:judges], at[judges:], slope[:judges], slope[judges:])
        np.subtract(at - mean, slope, out=slope)
        return _distance(at, mean) - height

    scale = np.ones(len(mean))
    curve(start, judge, place.ability, place.ease, scale)
    found = minimise(
        depth,
        np.r_[place.ability, place.ease],
        1 / scale,
        max_steps=INNER_STEPS,
        tolerance=INNER_TOLERANCE,
    )
    return found.at, -found.value


def _distance(at: FloatArray, mean: FloatArray) -> float:
    """Minus the log prior, up to a constant."""
    gap = at - mean
    return 0.5 * dot(gap, gap)


def _accuracy(ability: FloatArray, ease: FloatArray) -> FloatArray:
    """How often each judge is right about an item of median ease, (judge,)."""
    middle = float(np.exp(np.median(ease))) if ease.size else float(np.exp(EASE))
    accuracy: FloatArray = 1 / (1 + np.exp(-np.clip(ability * middle, -500, 500)))
    return accuracy


def _tell_adversaries(ability: FloatArray) -> tuple[Note, ...]:
    against = int((ability < 0).sum())
    return tell.when(against, "reversed", model="glad", reversed=against, judges=len(ability))
