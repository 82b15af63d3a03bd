"""Crowds of which everything is known."""

import numpy as np
import polars as pl

import karatage as kt


def simulate(confusion, *, items=600, shares=None, seed=0, share_seen=0.6):
    """Judgments by judges with these matrices (judge, grade, said), and the true grades."""
    confusion = np.asarray(confusion, float)
    judges, grades = confusion.shape[:2]
    rng = np.random.default_rng(seed)
    truth = rng.choice(grades, items, p=shares)
    judge, item = np.nonzero(rng.random((judges, items)) < share_seen)
    bound = confusion.cumsum(axis=2)[judge, truth[item]]
    said = (rng.random((len(judge), 1)) > bound).sum(axis=1).clip(max=grades - 1)
    missing = np.setdiff1d(np.arange(items), item)
    item, judge, said = np.r_[item, missing], np.r_[judge, missing * 0], np.r_[said, truth[missing]]
    return kt.Judgments.from_codes(judge=judge, item=item, grade=said, top_grade=grades - 1), truth


def coin(right, grades=2):
    """Matrices of judges who err evenly."""
    right = np.asarray(right, float)[:, None, None]
    return np.where(np.eye(grades, dtype=bool), right, (1 - right) / (grades - 1))


def gold_of(truth, items):
    """Gold for the first items."""
    return kt.read_gold(pl.DataFrame({"item": [str(k) for k in range(items)], "grade": truth[:items]}))
