"""What earlier studies of a judge say about its bias now, and whether the judge or the collection has changed.

Let y be the logarithm of the spread in the study of today, a its usual value for the judge, and y_i its value in an
earlier study. All y scatter around a with the same distribution, Student's t with the scale h, since a judge is
not equally biased on two collections. An earlier study gives a likelihood L_i of y_i, which is averaged:

    M_i(a) = sum_y t((y - a) / h) L_i(y),    R(y) = log sum_a t((a - y) / h) M_1(a) ... M_n(a).

R is added to the log-density of usual judges. Even with many studies it has the width of t: studies that share
documents are not independent, and cannot make the spread more certain than that.
"""

from __future__ import annotations

import numpy as np

from karatage.correction.shrinkage import GRID, Spread, UsualBias
from karatage.data.axes import FloatArray, LongArray

SAME_JUDGE = 0.5  # scatter of a judge's spread between studies, as a share of the doubt about usual judges
CHANCE = 0.001  # of taking an unchanged judge as changed, by one test
CLEAR, CLEAR_KINDS = 0.2, 0.5  # least differences of shares, in units of their standard deviation
LEAST = 5  # items of a gold grade in each study


def predict_spread(likelihoods: FloatArray, usual: UsualBias) -> FloatArray:
    """Log-likelihood of today's spreads of `GRID`, from those of earlier studies (study, spread)."""
    kernel = _scatter(usual)
    judge = judge_spread(likelihoods, usual)
    found = np.log(np.einsum("ya,a->y", kernel, np.exp(judge - judge.max())))
    return np.asarray(found - found.max(), float)


def judge_spread(likelihoods: FloatArray, usual: UsualBias) -> FloatArray:
    """Log-likelihood of the judge's usual spread on `GRID`."""
    kernel = _scatter(usual)
    averaged = np.einsum("ay,iy->ia", kernel, np.exp(likelihoods - likelihoods.max(axis=1, keepdims=True)))
    found: FloatArray = np.log(averaged).sum(axis=0)
    return found


def find_median(density: FloatArray) -> float:
    """The median spread, from the log-density of the spreads of `GRID`."""
    chance = np.exp(density - density.max())
    return Spread(chance=chance / chance.sum(), scatter=1.0).quantile(0.5)


def _scatter(usual: UsualBias) -> FloatArray:
    """The probability of each spread of a study (second axis) by the judge's usual spread."""
    step = np.log(GRID)[None, :] - np.log(GRID)[:, None]
    off = step / (SAME_JUDGE * usual.doubt)
    density = (1 + off**2 / usual.degrees) ** (-(usual.degrees + 1) / 2)
    found: FloatArray = density / density.sum(axis=1, keepdims=True)
    return found


def find_change(before: LongArray, now: LongArray, chance: float = CHANCE) -> str | None:
    """How the judge or the collection differs from an earlier study, if it clearly does.

    Each of two tests has this `chance` to find a difference where there is none. They compare all that gold items show,
    so also the share of the gains' variance that the judge's grades leave.

    Args:
        before: (gold, said) numbers of gold items.
        now: The same today.
        chance: Of a false alarm.
    """
    size = max(len(before), len(now))
    old, new = (np.pad(counts, (0, size - len(counts))) for counts in (before, now))
    if not (old.sum() and new.sum()):
        return None
    rows = (old.sum(axis=1) >= LEAST) & (new.sum(axis=1) >= LEAST)
    if _differ(np.stack([old[rows], new[rows]], axis=1), CLEAR, chance):
        right = [float(np.trace(counts)) / float(counts.sum()) for counts in (old, new)]
        return f"the judge makes other errors (right on {right[0]:.0%} of gold items then, {right[1]:.0%} now)"
    if _differ(np.stack([old.sum(axis=1), new.sum(axis=1)])[None], CLEAR_KINDS, chance):
        grade = [float(np.arange(size) @ counts.sum(axis=1)) / float(counts.sum()) for counts in (old, new)]
        return f"gold has other grades (mean {grade[0]:.2f} then, {grade[1]:.2f} now)"
    return None


def _differ(tables: LongArray, clear: float, chance: float) -> bool:
    """Whether two rows of counts differ in any of some tables (table, 2, column), by the sum of their chi-squares."""
    from scipy.special import chdtrc

    total, degrees, size, items = 0.0, 0, 0.0, 0
    for table in tables:
        counts = table[:, table.sum(axis=0) > 0].astype(float)
        if counts.shape[1] < 2:
            continue
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        square = float(((counts - expected) ** 2 / expected).sum())
        one, other = counts.sum(axis=1)
        total, degrees = total + square, degrees + counts.shape[1] - 1
        size += (square - counts.shape[1] + 1) * (one + other) / (one * other) * counts.sum()
        items += int(counts.sum())
    return degrees > 0 and float(chdtrc(degrees, total)) < chance and size / items > clear**2
