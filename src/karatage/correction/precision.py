"""Error rates of judges, and the share of relevant documents under judges who have them, [NOISY18].

`m_r` is how often a judge is right about relevant items, `m_n` about others, each seen on `n_r` and `n_n` gold items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray, LongArray
from karatage.data.estimate import Accuracy, Estimated
from karatage.errors import DataError, JudgeError
from karatage.text import counted

LEAST_ITEMS = 5  # of a kind, to say anything about it
CLEAR_OF_CHANCE = 2.0  # standard errors that judges must be better than chance
GET_GOLD = "have more of them graded as gold (karatage plan selects them)"


class Constrained(NamedTuple):
    """Estimates that obey [NOISY18] (17)."""

    share: FloatArray  # (system,) relevant by the judges
    m_r: float
    m_n: float


def correct(j: ArrayLike, m_r: ArrayLike, m_n: ArrayLike) -> FloatArray:
    """[NOISY18] (5) and (15): gold's share of relevant documents from the judges' share `j`."""
    j, m_r, m_n = _arrays(j, m_r, m_n)
    return (j - 1 + m_n) / (m_r + m_n - 1)


def correct_variance(
    v_j: ArrayLike, j: ArrayLike, m_r: ArrayLike, m_n: ArrayLike, n_r: ArrayLike, n_n: ArrayLike
) -> FloatArray:
    """[NOISY18] (7): the variance of `correct`, where `v_j` is that of `j`."""
    v_j, j, m_r, m_n = _arrays(v_j, j, m_r, m_n)
    d = m_r + m_n - 1
    known = share_variance(m_r, n_r) * (j - 1 + m_n) ** 2 + share_variance(m_n, n_n) * (j - m_r) ** 2
    return v_j / d**2 + known / d**4


def share_variance(share: ArrayLike, size: ArrayLike) -> FloatArray:
    """[NOISY18] (8): of a share of `size` independent items."""
    share, size = _arrays(share, size)
    return share * (1 - share) / size


def compare_independent(a: Estimated, b: Estimated) -> Estimated:
    """[NOISY18] (10), (11): b - a, each corrected with its own rates; normal."""
    return Estimated(np.subtract(b.value, a.value), np.add(a.variance, b.variance))


def compare_shared(
    difference: ArrayLike, v_difference: ArrayLike, m_r: ArrayLike, m_n: ArrayLike, n_r: ArrayLike, n_n: ArrayLike
) -> Estimated:
    """The difference, both corrected with the same rates: their errors are one and the same, so most cancels.

    `difference` is that of the judges' shares. Degrees of freedom are left to the caller, who knows the topics.
    """
    difference, v_difference, m_r, m_n = _arrays(difference, v_difference, m_r, m_n)
    d = m_r + m_n - 1
    rates = share_variance(m_r, n_r) + share_variance(m_n, n_n)
    return Estimated(difference / d, v_difference / d**2 + difference**2 * rates / d**4)


def bias(j: ArrayLike, m_r: ArrayLike, m_n: ArrayLike, n_r: ArrayLike, n_n: ArrayLike) -> FloatArray:
    """[NOISY18] 3.8: how far `correct` is off on average, to second order."""
    j, m_r, m_n = _arrays(j, m_r, m_n)
    d = m_r + m_n - 1
    v_r, v_n = share_variance(m_r, n_r), share_variance(m_n, n_n)
    return (j - 1 + m_n) * (v_r + v_n) / d**3 - v_n / d**2


def constrain(
    share: FloatArray, size: FloatArray, rates: tuple[float, float], sizes: tuple[float, float]
) -> Constrained:
    """[NOISY18] 3.6: the likeliest shares and rates of those that obey 1 - m_n <= share <= m_r for every system.

    `size` is how many independent documents a system's share is worth: for P@1 the topics, else share (1 - share) over
    its variance. A share above m_r is pooled with it, the highest first, and likewise one below 1 - m_n.
    """
    (m_r, m_n), (n_r, n_n) = rates, sizes
    top, above = _pool(share, size, m_r, n_r)
    low, below = _pool(1 - share, size, m_n, n_n)
    settled = np.where(above, top, np.where(below, 1 - low, share))
    return Constrained(settled, top, low)


def _pool(share: FloatArray, size: FloatArray, rate: float, trials: float) -> tuple[float, np.ndarray]:
    """The rate pooled with all shares that would exceed it, and which those are."""
    pooled = np.zeros(len(share), bool)
    for s in np.argsort(-share, kind="stable"):
        if share[s] <= rate:
            break
        rate = (rate * trials + share[s] * size[s]) / (trials + size[s])
        trials += size[s]
        pooled[s] = True
    return rate, pooled


def bootstrap(
    j: ArrayLike,
    v_j: ArrayLike,
    rates: tuple[float, float, int, int],
    *,
    draws: int,
    rng: np.random.Generator,
) -> FloatArray:
    """[NOISY18] Algorithm 1: `draws` corrected shares for each of the `j` (draw, system); rates drawn once per row.

    For P@1, `v_j` = j (1 - j) / n and the binomial of the paper is near the normal that is drawn here; for P@k only the
    variance over topics is known. `rates` are (m_r, m_n, n_r, n_n). Draws of judges no better than random give NaN.
    """
    j, v_j = np.atleast_1d(*_arrays(j, v_j))
    m_r, m_n, n_r, n_n = rates
    said = j + np.sqrt(v_j) * rng.standard_normal((draws, len(j)))
    right_r = rng.binomial(n_r, m_r, draws)[:, None] / n_r
    right_n = rng.binomial(n_n, m_n, draws)[:, None] / n_n
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(right_r + right_n > 1, correct(said, right_r, right_n), np.nan)


def _arrays(*values: ArrayLike) -> tuple[FloatArray, ...]:
    return tuple(np.asarray(value, float) for value in values)


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
        if not accuracy.items:
            raise DataError(
                "no gold item has a grade by these judges, so their error rates are unknown; have documents that they "
                f"graded judged as gold, at least {LEAST_ITEMS} of each kind"
            )
        if row < LEAST_ITEMS:
            found = f"only {row}" if row else "none"
            raise DataError(
                f"of {counted(accuracy.items, 'gold item')} that judges graded {found} {_is(row)} {kind} by gold, so "
                f"the judges' error rate on such items is unknown; {GET_GOLD}, at least {LEAST_ITEMS} of each kind"
            )


def require_informed(accuracy: Accuracy) -> None:
    """Refuse judges no better than random: there is nothing to correct."""
    better = measure_advantage(accuracy)
    if better < -CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges are right about {_list_rates(accuracy)}: worse than chance; are their grades inverted? Map "
            f"them with --grades, or use other judges"
        )
    if better <= CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges are right about {_list_rates(accuracy)}: not clearly better than chance, so no correction "
            "exists; check that grades are not inverted, get more gold, or re-judge with other judges"
        )
    if measure_separation(accuracy) <= CLEAR_OF_CHANCE:
        raise JudgeError(
            f"the judges' confusion matrix cannot be inverted safely (condition number {accuracy.condition:.0f}): "
            f"they confuse some grades; treat these as one with a measure such as P(rel=2)@10 or DCG(rel=2)@10, "
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
