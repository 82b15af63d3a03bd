"""The estimators of a judge's accuracy by name (`sgl_tau_msd`, `tpc_rmse_own4`, `sup_tau_cubed`), and merging by them.

Weights come from how far a judge is from random ones (AWARE), or how close to gold (s-AWARE).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from karatage.data.axes import BoolArray, FloatArray
from karatage.errors import OptionError, UnknownNameError
from karatage.merging.gaps import CLASSES, Gap, Gaps, compare_scores, find_divergence, find_heights, group_by_topics
from karatage.notation import parse_notation
from karatage.text import shorten

Granularity = Literal["sgl", "tpc"]
Weighting = Literal["md", "msd", "med", "own", "own2", "own4"]
GRANULARITIES: tuple[Granularity, ...] = get_args(Granularity)
GAPS: tuple[Gap, ...] = ("fro", "rmse", "kld", "tau", "apc")
CLASS_WEIGHTINGS: tuple[Weighting, ...] = ("md", "msd", "med")
OWN_POWERS: dict[Weighting, int] = {"own": 1, "own2": 2, "own4": 4}
OPTIONS: tuple[str, ...] = ("replicates", "closeness", "random")  # of the estimators with classes of random judges
SUPERVISED_POWERS = {"": 1, "_squared": 2, "_cubed": 3}
# The three classes of random judges are drawn once for all judges; shuffled grades must be drawn for each judge.
REPLICATES, OWN_REPLICATES, MOST_REPLICATES = 1000, 100, 10_000


class Kind(NamedTuple):
    """What estimators must share so that judges are compared with random ones only once for all of them."""

    own: bool
    replicates: int


@dataclass(frozen=True)
class Estimator:
    """How far a judge is from random ones: one weight per judge (`sgl`) or one per judge and topic (`tpc`).

    With `closeness`, weights are how close a judge is to them, as equations 20 to 27 of [AWARE17] say word for word.
    A class of random judges is one of the paper's, a rate as it is written (`0.3`), or the name of a crowd model whose
    judges' rates the replicates have.
    """

    granularity: Granularity
    gap: Gap
    weighting: Weighting
    replicates: int
    closeness: bool = False
    random: tuple[str, ...] = tuple(CLASSES)

    @property
    def own(self) -> bool:
        """Whether a judge is compared with its own grades shuffled, and not with the three classes."""
        return self.weighting in OWN_POWERS

    @property
    def kind(self) -> Kind:
        """With which estimators it shares a comparison."""
        return Kind(self.own, self.replicates)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes that a judge is compared with."""
        return ("own",) if self.own else self.random

    @property
    def other_classes(self) -> bool:
        """Whether random judges are of other classes than the paper's."""
        return self.random != tuple(CLASSES)

    @property
    def compared(self) -> tuple[Gap, ...]:
        """The gaps that weights need."""
        return (self.gap, "likeness") if self.closeness and self.gap == "kld" else (self.gap,)

    def find_distances(self, gaps: Gaps) -> FloatArray:
        """Distances from the classes, (judge, class) or (judge, topic, class)."""
        return self._pick(gaps, self.gap)

    def find_weights(self, gaps: Gaps) -> FloatArray:
        """Weights (judge,) or (judge, topic), not normalised."""
        if not self.closeness:
            return self.weigh(self.find_distances(gaps))
        return self.weigh(self._pick(gaps, "likeness") if self.gap == "kld" else 1 - self.find_distances(gaps))

    def _pick(self, gaps: Gaps, gap: Gap) -> FloatArray:
        table = gaps.single[gap] if self.granularity == "sgl" else gaps.by_topic[gap]
        return table[..., [gaps.classes.index(name) for name in self.classes]]

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


def list_compared(estimators: Iterable[Estimator]) -> tuple[frozenset[Gap], tuple[str, ...]]:
    """Gaps that some estimators need, and classes that judges are compared with; each class once."""
    asked = list(estimators)
    classes = dict.fromkeys(name for estimator in asked for name in estimator.classes)
    return frozenset(gap for estimator in asked for gap in estimator.compared), tuple(classes)


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


def parse_estimator(text: str, crowds: Collection[str] = ()) -> tuple[str, Estimator | SupervisedEstimator] | None:
    """An estimator with its options, under the name it is printed by; None where the name is not one of theirs.

    `crowds` are the names of crowd models that random judges may be drawn from.

    >>> name, estimator = parse_estimator("sgl_tau_msd(random=.5/0.30, replicates=50)")
    >>> name, estimator.random
    ('sgl_tau_msd(replicates=50,random=0.3/0.5)', ('0.3', '0.5'))
    """
    name = text.partition("(")[0].strip()
    known: dict[str, Estimator | SupervisedEstimator] = {**ESTIMATORS, **OWN, **SUPERVISED}
    if name not in known:
        return None
    _, options, depth = parse_notation(text.strip(), "approach", "sgl_tau_msd or sgl_tau_msd(random=0.1/0.5)")
    where, allowed = f"approach '{shorten(text)}'", OPTIONS
    if name not in ESTIMATORS:
        allowed = ("sub",) if name in SUPERVISED else ("replicates",)
    if depth is not None or not options.keys() <= set(allowed):
        told = f"its options are {', '.join(allowed)}" if len(allowed) > 1 else f"its only option is {allowed[0]}"
        raise OptionError(f"{where}: {told}" + ("" if depth is None else "; a depth is for measures"))
    given = {option: _read(option, options[option], where, crowds) for option in allowed if option in options}
    printed = ",".join(f"{option}={_print(value)}" for option, value in given.items())
    return f"{name}({printed})" if printed else name, replace(known[name], **given)


def _read(option: str, value: object, where: str, crowds: Collection[str]) -> Any:
    if option == "random":
        return _read_classes(str(value), where, crowds)
    if option == "replicates":
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MOST_REPLICATES:
            raise OptionError(f"{where}: replicates must be a whole number from 1 to {MOST_REPLICATES:,}")
    elif not isinstance(value, bool):
        raise OptionError(f"{where}: {option} must be True or False, not {shorten(str(value))}")
    return value


def _read_classes(text: str, where: str, crowds: Collection[str]) -> tuple[str, ...]:
    """Classes of random judges, as in `0.1/0.5/hcb`: rates from the lowest to the highest, then crowds."""
    rates, named = [], []
    for word in text.split("/"):
        try:
            rates.append(float(word))
        except ValueError:
            if word not in crowds:
                raise UnknownNameError("rate or crowd of random judges", word, crowds) from None
            named.append(word)
        else:
            if not 0 < rates[-1] < 1:
                told = f"random judges find documents relevant at a rate above 0 and below 1, not {shorten(word)}"
                raise OptionError(f"{where}: {told}; write it like random=0.3, random=0.1/0.5 or random=hcb")
    if len({*rates, *named}) < len(rates) + len(named):
        raise OptionError(f"{where}: a class of random judges is given twice")
    if not named and sorted(rates) == list(CLASSES.values()):
        return tuple(CLASSES)
    return (*map(str, sorted(rates)), *sorted(named))


def _print(value: object) -> str:
    """An option as it is read back."""
    return "/".join(str(CLASSES.get(name, name)) for name in value) if isinstance(value, tuple) else str(value)


def weigh_judges(estimator: Estimator, gaps: Gaps, present: BoolArray) -> FloatArray:
    """Weights (judge, topic), not normalised; 0 where a judge has no scores."""
    weight = estimator.find_weights(gaps)
    if estimator.granularity == "sgl":
        weight = weight[:, None]
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
