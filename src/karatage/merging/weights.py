"""From distances to weights, and from weights to merged scores."""

from __future__ import annotations

import numpy as np

from karatage.data.axes import BoolArray, FloatArray
from karatage.merging.estimators import Estimator
from karatage.merging.gaps import Gaps


def weigh_judges(estimator: Estimator, gaps: Gaps, present: BoolArray) -> FloatArray:
    """Weights (judge, topic), not normalised; 0 where a judge has no scores."""
    if estimator.granularity == "sgl":
        weight = estimator.weigh(gaps.single[estimator.gap])[:, None]
    else:
        weight = estimator.weigh(gaps.by_topic[estimator.gap])
    return np.where(present, np.nan_to_num(np.broadcast_to(weight, present.shape)), 0.0)


def normalise(weight: FloatArray, present: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Weights that sum to 1 over the judges present in each topic, and the topics where they had to be made equal.

    Where all weights are 0, judges present count alike; where no judge is present, all stay 0.
    """
    total = weight.sum(axis=0)
    silent = (total <= 0) & present.any(axis=0)
    settled = np.where(silent, present, weight)
    return settled / np.maximum(settled.sum(axis=0), np.finfo(float).tiny), silent


def merge_scores(value: FloatArray, share: FloatArray) -> FloatArray:
    """[AWARE17] (3): the average over judges of scores (judge, topic, system), with shares (judge, topic).

    NaN in topics where no judge has a share.
    """
    merged: FloatArray = np.einsum("jt,jts->ts", share, np.nan_to_num(value))
    merged[share.sum(axis=0) <= 0] = np.nan
    return merged
