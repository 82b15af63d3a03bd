"""Deciding between systems: all pairs corrected for judge errors, which no rival does, and an exact test."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from benchmarks.measuring import Figures, Trial
from benchmarks.setting import SEED, Setting

MEASURE = "P@10"
WRONG = 0.1  # share of the grades that the judge gets wrong
GOLD_SHARE = 0.2
PAIRED_TOPICS = 16


def karatage_board(setting: Setting) -> Trial:
    """A leaderboard of all pairs, with bootstrap; files are read before."""
    runs, gold = kt.read_runs(setting.runs), kt.read_gold(setting.gold)
    rng = np.random.default_rng(SEED)
    frame = gold.to_frame()
    relevant = (frame["grade"].to_numpy() > 0).astype(np.int64)
    said = relevant ^ (rng.random(len(relevant)) < WRONG)
    judged = kt.read_judgments(frame.with_columns(pl.lit("judge").alias("judge"), pl.Series("grade", said)))
    chosen = rng.random(len(relevant)) < GOLD_SHARE
    drawn = frame.drop("judge").with_columns(pl.Series("grade", relevant), pl.lit(GOLD_SHARE).alias("pi"))
    sample = kt.read_gold(drawn.filter(pl.Series(chosen)))
    pairs = len(runs.systems) * (len(runs.systems) - 1) // 2

    def figures(board: kt.Board) -> Figures:
        return {"claimed": float(board.significant)}

    return Trial(lambda: kt.compare_all(runs, judged, sample, MEASURE), figures, pairs)


def karatage_permutation(_: Setting) -> Trial:
    x, y = _scores()
    return Trial(lambda: kt.stats.paired_test(x, y, test="permutation").p_value, _name_p)


def scipy_permutation(_: Setting) -> Trial:
    from scipy.stats import permutation_test

    x, y = _scores()

    def difference(a: NDArray[np.float64], b: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.asarray((b - a).mean(axis=axis))

    def run() -> float:
        found = permutation_test((x, y), difference, permutation_type="samples", vectorized=True, n_resamples=np.inf)
        return float(found.pvalue)

    return Trial(run, _name_p)


def _scores() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(SEED)
    x = rng.random(PAIRED_TOPICS)
    return x, x + rng.normal(0.05, 0.1, PAIRED_TOPICS)


def _name_p(p_value: float) -> Figures:
    return {"p": p_value}
