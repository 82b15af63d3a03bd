"""How near judges come to gold on the topics that both have: the weights of s-AWARE."""

from __future__ import annotations

import numpy as np

from karatage.data.axes import BoolArray, FloatArray
from karatage.merging.estimators import SupervisedEstimator
from karatage.merging.gaps import compare_scores, find_divergence, find_heights, group_by_topics


def weigh_by_gold(estimator: SupervisedEstimator, value: FloatArray, gold: FloatArray, shared: BoolArray) -> FloatArray:
    """A weight for each judge, NaN for those who share no topic with gold: [SAWARE20] algorithm 1.

    `value` (judge, topic, system) and `gold`, either (topic, system) or, where gold differs by judge, of the shape of
    `value`, are scores in [0, 1]; `shared` (judge, topic) says where both have some.
    """
    weight = np.full(len(value), np.nan)
    for who, where in group_by_topics(shared):
        own = value[np.ix_(who, where)]
        theirs = np.broadcast_to(gold, value.shape)[np.ix_(who, where)]
        for k, judge in enumerate(who):
            weight[judge] = _find_closeness(estimator, own[k], theirs[k]) ** estimator.power
    return weight


def _find_closeness(estimator: SupervisedEstimator, own: FloatArray, gold: FloatArray) -> float:
    """1 for gold itself. AP correlation takes gold as the reference, and so counts mistakes at a judge's top more."""
    if estimator.gap == "kld":  # directly: 1 - (1 - exp(-KL)) loses all digits where the densities are far apart
        densities = (find_heights(scores.reshape(1, -1)) for scores in (own, gold))
        return float(np.exp(-find_divergence(*densities)[0, 0]))
    pair = (gold, own) if estimator.gap == "apc" else (own, gold)
    distance = compare_scores(pair[0][None], pair[1][None], [estimator.gap])[estimator.gap]
    return 1 - float(distance[0, 0])


def fill_unseen(weight: FloatArray) -> FloatArray:
    """Judges of whom gold says nothing get the mean weight of the others, or all alike when there are no others."""
    seen = np.isfinite(weight)
    return np.where(seen, weight, weight[seen].mean() if seen.any() else 1.0)
