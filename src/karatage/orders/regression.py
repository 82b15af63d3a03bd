"""Logistic regression on one topic's items, and how it fares on items it has not seen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.disagreement import HeldOut

TRAINED_SHARE: Final = 0.7


class Line(NamedTuple):
    """The log odds of disagreement: intercept + sum of coefficient times feature."""

    intercept: float
    coefficients: FloatArray  # (feature,)


@contextmanager
def fitting() -> Iterator[None]:
    """One thread in the linear algebra, so that fits are the same to the last bit however many there are.

    Where Newton's steps get stuck, the solver goes on by another way and says so; no action is needed.
    """
    import sklearn
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    unchecked = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)  # halves the time
    with threadpool_limits(limits=1, user_api="blas"), unchecked, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def fit_line(features: FloatArray, disagree: BoolArray) -> Line:
    """Ridge-penalised (C = 1) on features brought to mean 0 and deviation 1; coefficients in the features' own units.

    The penalty is scikit-learn's default: without it a topic that can be separated has no finite fit. Where there is
    one outcome only, its probability is 0 or 1 for any features.
    """
    from sklearn.linear_model import LogisticRegression

    if disagree.all() or not disagree.any():
        return Line(math.inf if disagree.all() else -math.inf, np.zeros(features.shape[1]))
    centre, width = features.mean(axis=0), features.std(axis=0)
    width[width < 1e-12 * np.maximum(np.abs(centre), 1)] = 1.0  # a feature that never varies
    model = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    model.fit((features - centre) / width, disagree)
    coefficients = model.coef_[0] / width
    return Line(float(model.intercept_[0] - (coefficients * centre).sum()), coefficients)


def predict_line(line: Line, features: FloatArray) -> FloatArray:
    """Chances (item,)."""
    odds = np.full(len(features), line.intercept, np.float64)
    for k, coefficient in enumerate(line.coefficients):
        odds += coefficient * features[:, k]
    decay = np.exp(-np.abs(odds))
    return np.asarray(np.where(odds >= 0, 1, decay) / (1 + decay))


def draw_splits(items: int, trials: int, rng: np.random.Generator) -> list[tuple[LongArray, LongArray]]:
    """Items to learn from and items held out, at random, 70 to 30."""
    learned = min(max(round(TRAINED_SHARE * items), 1), items - 1)
    orders = (rng.permutation(items) for _ in range(trials))
    return [(order[:learned], order[learned:]) for order in orders]


def try_splits(
    features: FloatArray, disagree: BoolArray, splits: list[tuple[LongArray, LongArray]], threshold: float
) -> FloatArray:
    """Rates (split, rate) of models learned on one part of each split and tried on the other."""
    rates = np.empty((len(splits), len(HeldOut._fields)))
    for k, (learned, held_out) in enumerate(splits):
        chance = predict_line(fit_line(features[learned], disagree[learned]), features[held_out])
        rates[k] = rate_chances(chance, disagree[held_out], threshold)
    return rates


def rate_chances(chance: FloatArray, disagree: BoolArray, threshold: float) -> HeldOut:
    """TPR, PPV, TNR, NPV at a threshold, and AUC; NaN where there is nothing to take a share of."""
    flagged = chance >= threshold
    hits, passed = int((flagged & disagree).sum()), int((~flagged & ~disagree).sum())
    positives, flags, items = int(disagree.sum()), int(flagged.sum()), len(disagree)
    return HeldOut(
        tpr=_share(hits, positives),
        ppv=_share(hits, flags),
        tnr=_share(passed, items - positives),
        npv=_share(passed, items - flags),
        auc=find_auc(chance, disagree),
    )


def find_auc(chance: FloatArray, disagree: BoolArray) -> float:
    """Chance that an item with disagreement is ranked above one without, ties half; NaN where one kind is missing."""
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # of ties the mean rank
    positives = int(disagree.sum())
    above = float(rank[place][disagree].sum()) - positives * (positives + 1) / 2
    return above / (positives * (len(disagree) - positives)) if 0 < positives < len(disagree) else math.nan


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
