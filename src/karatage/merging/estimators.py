"""The estimators of a judge's accuracy by name (`sgl_tau_msd`, `tpc_rmse_own4`, `sup_tau_cubed`), and merging by them.

Weights come from how far a judge is from random ones (AWARE), or how close to gold (s-AWARE).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np

from karatage.data.axes import BoolArray, FloatArray
from karatage.errors import OptionError
from karatage.merging.gaps import Gap, Gaps, compare_scores, find_divergence, find_heights, group_by_topics
from karatage.notation import parse_notation
from karatage.text import shorten

Granularity = Literal["sgl", "tpc"]
Weighting = Literal["md", "msd", "med", "own", "own2", "own4"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
GAPS: tuple[Gap, ...] = get_args(Gap)
CLASS_WEIGHTINGS: tuple[Weighting, ...] = ("md", "msd", "med")
OWN_POWERS: dict[Weighting, int] = {"own": 1, "own2": 2, "own4": 4}
SUPERVISED_POWERS = {"": 1, "_squared": 2, "_cubed": 3}
# The three classes of random judges are drawn once for all judges; shuffled grades must be drawn for each judge.
REPLICATES, OWN_REPLICATES, MOST_REPLICATES = 1000, 100, 10_000


@dataclass(frozen=True)
class Estimator:
    """How far a judge is from random ones: one weight per judge (`sgl`) or one per judge and topic (`tpc`)."""

    granularity: Granularity
    gap: Gap
    weighting: Weighting
    replicates: int

    @property
    def own(self) -> bool:
        """Whether a judge is compared with its own grades shuffled, and not with the three classes."""
        return self.weighting in OWN_POWERS

    def weigh(self, distance: FloatArray) -> FloatArray:
        """From distances to the classes of random judges, the last axis, to weights: [AWARE17] (25) to (27)."""
        weight: FloatArray
        if self.weighting == "med":
            weight = distance.sum(axis=-1)
        else:
            power = {"md": 1, "msd": 2, **OWN_POWERS}[self.weighting]
            weight = np.asarray(distance.min(axis=-1)) ** power
        return weight


@dataclass(frozen=True)
class SupervisedEstimator:
    """How close a judge is to gold on the training topics, to some power: [SAWARE20] algorithm 1.

    With `sub`, judges are people who graded parts of topics, and are combined into whole judges. The weight of a whole
    judge in a topic is the mean of its people's weights, by how many documents each graded.
    """

    gap: Gap
    power: int
    sub: bool = False


ESTIMATORS: dict[str, Estimator] = {
    f"{granularity}_{gap}_{weighting}": Estimator(granularity, gap, weighting, REPLICATES)
    for granularity, gap, weighting in product(GRANULARITIES, GAPS, CLASS_WEIGHTINGS)
}
OWN: dict[str, Estimator] = {
    f"{granularity}_{gap}_{weighting}": Estimator(granularity, gap, weighting, OWN_REPLICATES)
    for granularity, gap, weighting in product(GRANULARITIES, GAPS, OWN_POWERS)
}
SUPERVISED: dict[str, SupervisedEstimator] = {
    f"sup_{gap}{ending}": SupervisedEstimator(gap, power)
    for gap, (ending, power) in product(GAPS, SUPERVISED_POWERS.items())
}


def parse_estimator(text: str) -> tuple[str, Estimator | SupervisedEstimator] | None:
    """An estimator with its options, under the name it is printed by; None where the name is not one of theirs.

    >>> parse_estimator("sgl_tau_msd(replicates=50)")
    ('sgl_tau_msd(replicates=50)', Estimator(granularity='sgl', gap='tau', weighting='msd', replicates=50))
    """
    name = text.partition("(")[0].strip()
    known = {**ESTIMATORS, **OWN}
    if name not in known and name not in SUPERVISED:
        return None
    _, options, depth = parse_notation(text.strip(), "approach", "sgl_tau_msd or sgl_tau_msd(replicates=100)")
    where, option = f"approach '{shorten(text)}'", "sub" if name in SUPERVISED else "replicates"
    wrong = [given for given in options if given != option]
    if wrong or depth is not None:
        raise OptionError(f"{where}: its only option is {option}" + ("" if wrong else "; a depth is for measures"))
    if option not in options:
        return name, known.get(name) or SUPERVISED[name]
    value = options[option]
    if name in SUPERVISED:
        if not isinstance(value, bool):
            raise OptionError(f"{where}: sub must be True or False, not {shorten(str(value))}")
        plain = SUPERVISED[name]
        return f"{name}(sub={value})", SupervisedEstimator(plain.gap, plain.power, value)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_REPLICATES:
        raise OptionError(f"{where}: replicates must be a whole number from 1 to {MOST_REPLICATES:,}")
    found = known[name]
    return f"{name}(replicates={value})", Estimator(found.granularity, found.gap, found.weighting, value)


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


def weigh_by_gold(estimator: SupervisedEstimator, value: FloatArray, gold: FloatArray, shared: BoolArray) -> FloatArray:
    """A weight for each judge, NaN for those who share no topic with gold: [SAWARE20] algorithm 1.

    `value` (judge, topic, system) and `gold` are scores in [0, 1]. `gold` is (topic, system) or, where it differs by
    judge, of the shape of `value`. `shared` (judge, topic) marks where both have scores.
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
    """Judges without gold get the mean weight of the others; if all are without gold, weights are equal."""
    seen = np.isfinite(weight)
    return np.where(seen, weight, weight[seen].mean() if seen.any() else 1.0)
