"""Correlating some leaderboards with many; rivals, one pair at a time, take only some of the many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import karatage as kt
from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

FloatArray = NDArray[np.float64]
DECIMALS = 3  # of scores, so that some systems tie


def karatage_tau(setting: Setting) -> Trial:
    """tau-b, which scipy computes."""
    some, many = _leaderboards(setting, DECIMALS)
    return _matrix_trial(setting, lambda: kt.stats.kendall_tau_matrix(some, many, variant="b"))


def scipy_tau(setting: Setting) -> Trial:
    from scipy.stats import kendalltau

    return _pairwise_trial(setting, DECIMALS, lambda x, y: float(kendalltau(x, y).statistic))


def karatage_tau_ap(setting: Setting) -> Trial:
    """Without ties, for which the textbook has no answer."""
    some, many = _leaderboards(setting, None)
    return _matrix_trial(setting, lambda: kt.stats.tau_ap_matrix(some, many))


def textbook_tau_ap(setting: Setting) -> Trial:
    return _pairwise_trial(setting, None, textbook_correlation)


def textbook_correlation(reference: FloatArray, estimate: FloatArray) -> float:
    """[YAR08] (5) with a table of all pairs; scipy has no AP correlation."""
    ranked = reference[np.argsort(-estimate)]
    above = np.tril(ranked[None, :] > ranked[:, None], -1).sum(axis=1)
    places = np.arange(1, len(ranked))
    return float(2 / len(places) * (above[1:] / places).sum() - 1)


def _leaderboards(setting: Setting, decimals: int | None) -> tuple[FloatArray, FloatArray]:
    """Scores around each system's quality: (reference ranking, system) and (ranking, system)."""
    source, size = np.random.default_rng(SEED), setting.size
    quality = source.uniform(0.1, 0.4, size.systems)
    rows = size.reference_rankings + size.rankings
    scores = quality + source.normal(0.0, 0.05, (rows, size.systems))
    scores = scores if decimals is None else scores.round(decimals)
    return scores[: size.reference_rankings], scores[size.reference_rankings :]


def _matrix_trial(setting: Setting, run: Callable[[], FloatArray]) -> Trial:
    size = setting.size
    return Trial(run, lambda tau: _name(tau[:, : size.rival_rankings]), size.reference_rankings * size.rankings)


def _pairwise_trial(
    setting: Setting, decimals: int | None, correlate: Callable[[FloatArray, FloatArray], float]
) -> Trial:
    some, many = _leaderboards(setting, decimals)
    few = many[: setting.size.rival_rankings]
    return Trial(lambda: np.array([[correlate(x, y) for y in few] for x in some]), _name, len(some) * len(few))


def _name(tau: FloatArray) -> Figures:
    return {f"{i} {j}": value for i, row in enumerate(tau.tolist()) for j, value in enumerate(row)}
