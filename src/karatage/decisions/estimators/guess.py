"""The best guess: judges' differences moved towards gold's corrections, by as much as judges are biased."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karatage.correction.gathering import Sample, gather_corrections, gather_topics, spread_topics
from karatage.correction.shrinkage import KURTOSIS, Shrunk, find_halves, shrink, spread_pairs
from karatage.data.axes import FloatArray
from karatage.data.estimate import Method, t_quantile
from karatage.decisions.bias import find_usual_bias
from karatage.decisions.estimators.contract import (
    SAME,
    WEIGHTED_SUMS,
    Doubt,
    Estimator,
    Fitted,
    Guessed,
    Levels,
    Objection,
    SystemPairs,
)
from karatage.decisions.estimators.registry import AUTO, choose
from karatage.decisions.records import make_study, recall_judge, tell_use
from karatage.errors import DataError

if TYPE_CHECKING:
    from karatage.decisions.case import Case

GUESS_METHOD = Method(
    name="guess",
    label="best guess",
    about="The best guess moves the judges' differences towards the corrected ones. Its intervals hold on average over "
    "the pairs of the board, and not for a pair that was chosen.",
    undone="by the best guess",
    on_average=True,
)
USUAL_METHOD = Method(
    name="guess-usual",
    label="guess, usual judges",
    about="The same guess, with narrower intervals under an assumption: the judges are about as biased as judges with "
    "the same accuracy were elsewhere.",
    undone="by the best guess, if the judges are biased as usual",
    on_average=True,
)


class OnAverage(Objection):
    """Intervals that hold on average over pairs allow no claim about a pair that is named."""

    def doubt_board(self) -> Doubt:
        """Claims about a board are on average."""
        return Doubt(np.zeros_like(self.apart))


@dataclass(frozen=True, eq=False, kw_only=True)
class GuessFitted(Fitted):
    """The guess, with intervals by gold alone."""

    def second_opinion(self, case: Case, fit: Callable[[Estimator, Case], Fitted]) -> OnAverage:  # noqa: ARG002
        """Not a claim about one pair."""
        return OnAverage(
            reason="intervals of the best guess hold on average over the pairs of a board, not for a pair that was "
            "named; leave out --correction to claim a difference of two systems",
            apart=np.ones_like(self.pairs.value, bool),
        )


class Guess(Estimator):
    """The guess of the estimator that is the default for this gold."""

    def suits(self, case: Case) -> bool:  # noqa: ARG002
        """On request: elsewhere the guess is shown beside the corrected differences."""
        return False

    def fit(self, case: Case) -> GuessFitted:
        """Guess from the corrections of drawn gold."""
        estimator, _ = choose(replace(case, question=replace(case.question, correction=AUTO)))
        found = estimator.fit(case)
        guessed = found.guess(case)
        if guessed is None:
            raise DataError(
                "the best guess needs gold on single documents, drawn with known probabilities or evenly, and a "
                f"measure that is a weighted sum of grades ({WEIGHTED_SUMS}); leave out --correction"
            )
        return GuessFitted(**vars(guessed.by_gold))


GUESS = Guess(method=GUESS_METHOD, phrase="by the best guess", needs_chances=True)


def guess_from(case: Case, sample: Sample, fitted: Fitted) -> Guessed | None:
    """The guess of all systems of a case; None where gold is complete, or too little to see its own noise."""
    assert case.linear is not None
    assert case.gold is not None
    same = case.pool.top_grade == case.gold.top_grade
    found = gather_corrections(sample, case.linear.gain, same_grades=same)
    if found is None:
        return None
    found = replace(found, noise=found.noise + _center(fitted.erring_variance, len(found.noise)))
    recalled = recall_judge(case, find_usual_bias(case))
    shrunk = shrink(found, recalled.usual)
    between, own, degrees = np.zeros_like(shrunk.noise), np.zeros(len(shrunk.noise)), np.inf
    level = _measure_level(sample)
    topics = gather_topics(sample, found, case.linear.gain)
    guesses = topics.judged + np.einsum("st,nt->ns", shrunk.pull, topics.corrected - topics.judged)
    guesses += (topics.corrected - guesses).mean(axis=1, keepdims=True)
    count = len(guesses)
    if case.question.claim == "new":
        square = count * (count - 1)
        between = topics.ratio * (spread_topics(topics.calibrated) / square + spread_pairs(found.items))
        own, degrees = between.mean(axis=1) - between.mean() / 2, count - 1.0
        level += float(topics.corrected.mean(axis=1).var(ddof=1)) / count
    confidence = case.question.confidence
    normal = t_quantile((1 + confidence) / 2, np.inf)
    scale = t_quantile((1 + confidence) / 2, degrees) / normal

    def widen(noise: FloatArray, topics: FloatArray, bias: FloatArray, kurtosis: float = np.inf) -> FloatArray:
        these = find_halves(noise, bias, confidence, kurtosis)
        new = find_halves(noise + topics, bias, confidence, kurtosis) * scale
        return np.maximum(these, new)  # noise of topics could make it narrower where biases are large

    levels = None
    if fitted.levels is not None:
        error = widen(np.diag(shrunk.noise), own, np.diag(shrunk.bias_by_gold)) / normal
        levels = Levels(shrunk.value, error**2 + level, np.full(len(error), np.inf))

    def widen_pairs(guess: Shrunk, bias: FloatArray, kurtosis: float) -> FloatArray:
        square = np.maximum(spread_pairs(bias), guess.shown)
        return np.where(found.mass > SAME, widen(spread_pairs(guess.noise), between, square, kurtosis), 0.0)

    def form(method: Method, bias: FloatArray, kurtosis: float, levels: Levels | None) -> Fitted:
        return Fitted(
            method=method,
            pairs=_form_pairs(shrunk.value, widen_pairs(shrunk, bias, kurtosis) / normal),
            levels=levels,
            gold_variance=spread_pairs(shrunk.noise),
            gold_items=fitted.gold_items,
            per_topic=guesses - (0.0 if levels is not None else guesses.mean(axis=1, keepdims=True)),
            within=fitted.within,
            possible=fitted.possible,
            accuracy=fitted.accuracy,
            assumed=fitted.assumed,
            notes=fitted.notes,
        )

    change = 0.0
    if recalled.used:
        without = shrink(found, find_usual_bias(case))
        whole = widen_pairs(without, without.bias, KURTOSIS).sum()
        change = float(widen_pairs(shrunk, shrunk.bias, KURTOSIS).sum() / whole) - 1 if whole > 0 else 0.0
    study = make_study(case, found.unexplained, shrunk.likelihood)
    return Guessed(
        by_gold=form(GUESS_METHOD, shrunk.bias_by_gold, np.inf, levels),
        usual=form(USUAL_METHOD, shrunk.bias, KURTOSIS, None),
        mass=found.mass,
        unit=found.scatter,
        unexplained=found.unexplained,
        spread=shrunk.spread,
        spread_by_gold=shrunk.spread_by_gold,
        study=study,
        notes=tell_use(recalled, study.judge, change),
    )


def _form_pairs(value: FloatArray, error: FloatArray) -> SystemPairs:
    """Differences with these standard errors; 0 where two systems have the same documents."""
    gap = np.where(error > 0, value[None, :] - value[:, None], 0.0)
    return SystemPairs(value=gap, variance=error**2, degrees=np.full(gap.shape, np.inf))


def _center(pairs: FloatArray | float, systems: int) -> FloatArray:
    """The covariance of centred scores with these variances of differences (system, system)."""
    square = np.broadcast_to(pairs, (systems, systems))
    row = square.mean(axis=1)
    centred: FloatArray = (row[:, None] + row[None, :] - square - square.mean()) / 2
    return centred


def _measure_level(sample: Sample) -> float:
    """The variance of the mean score of all systems, by the draw of gold."""
    moved = sample.found.noise[:, :-1].mean(axis=1) * sample.found.residual
    return float((moved**2).sum())
