"""Share of relevant documents under judges with known error rates, [NOISY18]; everything broadcasts.

`m_r` is how often a judge is right about relevant items, `m_n` about others, each seen on `n_r` and `n_n` gold items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray
from karatage.data.estimate import Estimated


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
