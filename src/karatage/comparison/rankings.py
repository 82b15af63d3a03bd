"""Comparing leaderboards: Kendall's tau, AP correlation, RMSE and ranks.

The functions on two vectors have a twin that compares all rows of one table with all rows of another.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from karatage.data.axes import FloatArray
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError
from karatage.kernels.correlation import ap_concordance, concordance, count_above, untied_pairs
from karatage.random_streams import generator

TauVariant = Literal["a", "b"]
Ties = Literal["exact", "sample"]


def kendall_tau(x: ArrayLike, y: ArrayLike, *, variant: TauVariant = "a") -> float:
    """Kendall's tau between two score vectors: `a` divides by all pairs, `b` by the untied ones.

    >>> kendall_tau([1, 2, 3, 4, 5], [2, 1, 3, 5, 4])
    0.6
    """
    return float(kendall_tau_matrix(_row(x), _row(y), variant=variant)[0, 0])


def kendall_tau_matrix(x: ArrayLike, y: ArrayLike, *, variant: TauVariant = "a") -> FloatArray:
    """Kendall's tau of every row of `x` with every row of `y`; tau-b is NaN where all entries are equal."""
    if variant not in ("a", "b"):
        raise OptionError(f"Kendall's tau comes as variant a or b, not '{variant}'")
    left, right = _check(x, y, least=2)
    balance = concordance(left, right)
    if variant == "a":
        size = left.shape[1]
        tau_a: FloatArray = balance / (size * (size - 1) / 2)
        return tau_a
    pairs = untied_pairs(left)[:, None] * untied_pairs(right)[None, :]
    with np.errstate(invalid="ignore"):
        return np.where(pairs > 0, balance / np.sqrt(pairs), np.nan)


def tau_ap(
    reference: ArrayLike,
    estimate: ArrayLike,
    *,
    ties: Ties = "exact",
    samples: int = 100,
    rng: int | np.random.Generator | None = None,
) -> float:
    """AP correlation: like tau, but mistakes at the top of the estimated ranking count more. Not symmetric.

    Ties count by their expectation over random orders; `ties="sample"` averages over `samples` random ones.

    >>> round(tau_ap([1, 2, 3, 4, 5], [2, 1, 3, 5, 4]), 12)
    0.375
    """
    if ties == "exact":
        return float(tau_ap_matrix(_row(reference), _row(estimate))[0, 0])
    if ties != "sample" or samples < 1:
        raise OptionError("ties are exact, or sample with samples from 1")
    x, y = _check(_row(reference), _row(estimate), least=2)
    source = generator(rng)
    total = sum(tau_ap_matrix(_break_ties(x, source), _break_ties(y, source))[0, 0] for _ in range(samples))
    return float(total / samples)


def tau_ap_matrix(reference: ArrayLike, estimate: ArrayLike) -> FloatArray:
    """AP correlation of every row of `reference` with every row of `estimate`, ties by expectation."""
    x, y = _check(reference, estimate, least=2)
    correlation: FloatArray = ap_concordance(x, y) / (x.shape[1] - 1)
    return correlation.clip(-1.0, 1.0)  # rounding must not pass 1


def rmse(x: ArrayLike, y: ArrayLike) -> float:
    """Root mean squared difference.

    >>> rmse([0, 3], [4, 0])
    3.5355339059327378
    """
    return float(rmse_matrix(_row(x), _row(y))[0, 0])


def rmse_matrix(x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Root mean squared difference of every row of `x` and every row of `y`."""
    left, right = _check(x, y, least=1)
    out = np.empty((len(left), len(right)))
    for i, row in enumerate(left):
        out[i] = np.sqrt(((right - row) ** 2).mean(axis=1))
    return out


def ranks(scores: ArrayLike) -> FloatArray:
    """Ranks from 1 = best within each row; equal scores share the mean of their ranks.

    >>> ranks([[0.5, 0.9, 0.5]]).tolist()
    [[2.5, 1.0, 2.5]]
    """
    values = np.atleast_2d(np.asarray(scores, float))
    if values.ndim != 2 or np.isnan(values).any():
        raise DataError(f"expected a table of scores without gaps to rank, got shape {values.shape}")
    above, tied = count_above(values)
    return above + (tied + 1) / 2


def rank_table(scores: Scores) -> pl.DataFrame:
    """Each system's rank by its mean score under each judge, one column per judge; null where a judge has no score."""
    found = np.full(scores.mean.shape, np.nan)
    scored = np.isfinite(scores.mean).all(axis=1)
    found[scored] = ranks(scores.mean[scored])
    columns = {"system": pl.Series(scores.systems, dtype=pl.String)}
    columns |= {f"{judge}": pl.Series(row).fill_nan(None) for judge, row in zip(scores.judges, found, strict=True)}
    return pl.DataFrame(columns)


def _break_ties(x: FloatArray, source: np.random.Generator) -> FloatArray:
    order = np.lexsort((source.random(x.shape[1]), x[0]))
    return np.argsort(order)[None, :].astype(float)


def _row(x: ArrayLike) -> FloatArray:
    vector = np.asarray(x, float)
    if vector.ndim != 1:
        raise DataError(f"expected a vector of scores, got shape {vector.shape}")
    return vector[None, :]


def _check(x: ArrayLike, y: ArrayLike, *, least: int) -> tuple[FloatArray, FloatArray]:
    left, right = np.asarray(x, float), np.asarray(y, float)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        raise DataError(f"cannot compare scores of shape {left.shape} and {right.shape}: lengths must agree")
    if left.shape[1] < least:
        raise DataError(f"a comparison needs at least {least} systems, got {left.shape[1]}")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise DataError("scores to compare must be finite; leave out systems without a score")
    return left, right
