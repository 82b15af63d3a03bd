"""From gold items and their judgments to error rates, and when those cannot be corrected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karatage.correction.precision import share_variance
from karatage.data.accuracy import Accuracy
from karatage.data.axes import FloatArray, LongArray
from karatage.errors import DataError, JudgeError
from karatage.text import counted

LEAST_ITEMS = 5  # of a kind, to say anything about it
CLEAR_OF_CHANCE = 2.0  # standard errors that judges must be better than chance
GET_GOLD = "have gold judges look at more of them (karatage plan chooses which)"


def measure_accuracy(
    gold: LongArray, said: LongArray, *, kinds: Sequence[str], weight: FloatArray | None = None
) -> Accuracy:
    """Count answers; `gold` and `said` are numbers of kinds, lowest gain first.

    Items that were drawn with unequal probabilities are weighted by the inverse.
    """
    size = len(kinds)
    cell = gold * size + said
    weight = np.ones(len(cell)) if weight is None else weight
    count = np.bincount(cell, minlength=size * size).reshape(size, size).astype(float)
    mass = np.bincount(cell, weight, size * size).reshape(size, size)
    total, squares = mass.sum(axis=1), np.bincount(gold, weight**2, size)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = mass / total[:, None]
        worth = np.where(squares > 0, total**2 / squares, 0.0)
    return Accuracy(kinds=tuple(kinds), count=count, share=share, size=worth)


def count_accuracy(right_relevant: float, relevant: float, right_other: float, others: float) -> Accuracy:
    """The same from figures: numbers of the relevant and of the other gold items judged rightly."""
    count = np.array([[right_other, others - right_other], [relevant - right_relevant, right_relevant]], float)
    size = np.array([others, relevant], float)
    return Accuracy(kinds=("not relevant", "relevant"), count=count, share=count / size[:, None], size=size)


def require_gold(accuracy: Accuracy) -> None:
    """Refuse where a kind has too little gold."""
    rows = accuracy.count.sum(axis=1).astype(int)
    for kind, row in zip(accuracy.kinds, rows, strict=True):
        if row < LEAST_ITEMS:
            found = f"only {row}" if row else "none"
            raise DataError(
                f"of {counted(accuracy.items, 'gold item')} that judges graded {found} {_is(row)} {kind} by gold, so "
                f"how judges treat such items is not known; {GET_GOLD}, {LEAST_ITEMS} at least of each kind"
            )


def require_informed(accuracy: Accuracy) -> None:
    """Refuse judges no better than random: there is nothing to correct."""
    better = measure_advantage(accuracy)
    if better < -CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges are right about {_list_rates(accuracy)}: worse than chance; are their grades inverted? Map "
            "them the other way round, or use other judges"
        )
    if better <= CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges are right about {_list_rates(accuracy)}: not clearly better than chance, so no correction "
            "exists; check that grades are not inverted, get more gold, or re-judge with other judges"
        )
    if measure_separation(accuracy) <= CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges' confusion matrix cannot be inverted safely (condition number {accuracy.condition:.0f}): they "
            "confuse some grades; count these as one with a measure such as P(rel=2)@10 or DCG(rel=2)@10, "
            "get more gold, or re-judge with other judges"
        )


def measure_advantage(accuracy: Accuracy) -> float:
    """How many standard errors judges are better than those who ignore the document; for two grades, D over its own."""
    surplus = float(np.trace(accuracy.share)) - 1
    error = float(np.sqrt(share_variance(np.diag(accuracy.share), accuracy.size).sum()))
    if error > 0:
        return surplus / error
    return float(np.copysign(np.inf, surplus)) if surplus else 0.0


def measure_separation(accuracy: Accuracy) -> float:
    """How many standard errors the confusion matrix is away from one that cannot be inverted."""
    advantage = measure_advantage(accuracy)
    return advantage if accuracy.binary else min(advantage, smallest_spread(accuracy))


def smallest_spread(accuracy: Accuracy) -> float:
    """How many standard errors the confusion matrix is away from a singular one, along its weakest direction."""
    left, values, right = np.linalg.svd(accuracy.share)
    u, v = left[:, -1], right[-1]
    mean = accuracy.share @ v
    variance = (accuracy.share @ v**2 - mean**2) / accuracy.size
    error = float(np.sqrt((u**2 * variance).sum()))
    return float(values[-1]) / error if error > 0 else np.inf


def _list_rates(accuracy: Accuracy) -> str:
    rows = accuracy.count.sum(axis=1).astype(int)
    parts = [
        f"{share:.0%} of {row:,} {kind} items"
        for share, row, kind in zip(np.diag(accuracy.share), rows, accuracy.kinds, strict=True)
    ]
    return " and ".join(parts[::-1])


def _is(number: int) -> str:
    return "is" if number <= 1 else "are"
