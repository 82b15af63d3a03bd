"""Judges' grades of the systems' documents and of gold items: merged into one for each item, or each judge's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karatage.approaches.registry import JUDGE
from karatage.correction import graded
from karatage.correction.precision import measure_accuracy
from karatage.data.axes import FloatArray, GradeArray, LongArray
from karatage.data.estimate import Accuracy
from karatage.data.judgments import Judgments, find_items
from karatage.decisions.estimators.drawn import Kinds, find_kinds
from karatage.decisions.material import DEFAULT_MERGE
from karatage.errors import DataError
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.decisions.case import Case

LEAST_ALONE = 20  # gold items of each kind, for error rates of a judge's own


class Labels(NamedTuple):
    """Grades of judged items, in the order of items."""

    item: LongArray  # (label,)
    grade: GradeArray  # (label,)
    judge: LongArray  # (label,) which judge, or group of judges with the same error rates
    share: FloatArray  # (label,) of the item's weight


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeAnswers:
    """Labels in kinds of grades with the same gain, and the error rates of those who gave them."""

    judges: tuple[tuple[str, ...], ...]  # those with the same error rates; empty for the merged judge
    accuracies: tuple[Accuracy, ...]  # (judge,)
    gain: FloatArray  # (kind,)
    mass: FloatArray  # (judge, system, topic, kind) weight of the ranks with this judged grade
    labels: Labels
    kind: LongArray  # (label,)
    gold: LongArray  # (label,) gold's kind, -1 = none
    chance: FloatArray  # (label,) 1 / pi of gold items

    @property
    def filled(self) -> FloatArray:
        """The weight of a system's judged documents in a topic, (system, topic)."""
        return np.asarray(self.mass.sum(axis=3).sum(axis=0))

    @cached_property
    def share(self) -> FloatArray:
        """Confusion matrices, (judge, gold, said)."""
        return np.stack([accuracy.share for accuracy in self.accuracies])

    @cached_property
    def size(self) -> FloatArray:
        """Effective numbers of gold items, (judge, gold)."""
        return np.stack([accuracy.size for accuracy in self.accuracies])

    @cached_property
    def worth(self) -> FloatArray:
        """The corrected gain of each grade, (judge, kind)."""
        return graded.judge_gains(self.share, self.gain)

    @cached_property
    def scores(self) -> FloatArray:
        """Corrected scores of all topics, (system, topic)."""
        return np.asarray(graded.correct_topics(self.mass, self.worth[:, None]).sum(axis=0))

    @property
    def together(self) -> tuple[str, ...]:
        """Judges with too little gold, who have error rates in common."""
        return next((names for names in self.judges if len(names) > 1), ())

    def measure_shared_gold(self, mean: FloatArray) -> FloatArray:
        """What judges of the same gold items add to the variance of a corrected score, from mean masses (judge, said).

        An item moves the rates of all its judges at once. With errors e of weight b that is the square of sum(b e),
        of which `graded.gold_variance` has the squares of each b e.
        """
        rows = np.flatnonzero(self.gold >= 0)
        item, judge, gold = self.labels.item[rows], self.labels.judge[rows], self.gold[rows]
        _, place = np.unique(item, return_inverse=True)
        if len(place) == 0 or place.max() + 1 == len(place):
            return np.zeros(mean.shape[:-2])
        total = np.zeros(self.size.shape)
        np.add.at(total, (judge, gold), self.chance[rows])
        error = (self.worth[judge, self.kind[rows]] - self.gain[gold]) * self.chance[rows] / total[judge, gold]
        weight = np.linalg.solve(np.swapaxes(self.share, -1, -2), mean[..., None])[..., 0]
        pull = weight[..., judge, gold] * error
        whole = np.zeros((int(place.max()) + 1, *pull.shape[:-1]))
        np.add.at(whole, place, np.moveaxis(pull, -1, 0))
        return np.asarray((whole**2).sum(axis=0) - (pull**2).sum(axis=-1))


def gather_merged(case: Case) -> JudgeAnswers:
    """One grade for each item, with the error rates of the whole process that gave it."""
    item = np.flatnonzero(case.judged)
    return _meet(case, Labels(item, case.said[item], np.zeros(len(item), np.int64), np.ones(len(item))), ((),))


def gather_own(case: Case) -> JudgeAnswers:
    """All judges' grades of an item, each with the error rates of the judge who gave it, [NOISY18] 3.9.

    Judges with fewer than `LEAST_ALONE` gold items of some kind have their rates estimated together.
    """
    alone = case.merge.startswith(JUDGE)
    if not alone and case.merge != DEFAULT_MERGE:
        raise DataError(
            f"{case.approach} merges judges into one process, which has one set of error rates; leave out the "
            "approach to use each judge's own grades, or use --correction rates"
        )
    judgments = case.material.judge(case.merge, case.seed) if alone else case.material.judgments.settle()
    labels = _list_labels(case, judgments)
    names = tuple((judgments.judges[j],) for j in np.unique(labels.judge))
    labels = labels._replace(judge=np.unique(labels.judge, return_inverse=True)[1])
    found = _meet(case, labels, names)
    count = np.stack([accuracy.count.sum(axis=1) for accuracy in found.accuracies])  # (judge, gold)
    few = np.asarray((count < LEAST_ALONE).any(axis=1))
    if few.all() and len(few) > 1:
        closest = int(count.min(axis=1).argmax())
        short = int(count[closest].argmin())
        kinds = found.accuracies[closest].kinds
        raise DataError(
            f"no judge of these documents has {LEAST_ALONE} gold items of each kind ({', '.join(kinds)}), so the "
            f"judges' own error rates are unknown. '{shorten(names[closest][0])}' comes closest, with "
            f"{count[closest, short]:g} that gold calls {kinds[short]}; have more of such documents graded as gold, or "
            "use --correction rates"
        )
    if few.sum() < 2:
        return found
    place = np.where(few, (~few).sum(), np.cumsum(~few) - 1)
    alone_of = tuple(name for name, lacking in zip(names, few, strict=True) if not lacking)
    together = tuple(name for (name,), lacking in zip(names, few, strict=True) if lacking)
    return _meet(case, labels._replace(judge=place[labels.judge]), (*alone_of, together))


def _list_labels(case: Case, judgments: Judgments) -> Labels:
    """All grades of these topics' items by judges who graded a document that counts."""
    item = find_items(judgments, case.pool)[judgments.item]
    kept = np.flatnonzero(np.where(item >= 0, case.topic[item] >= 0, False))
    kept = kept[np.argsort(item[kept], kind="stable")]
    item, judge = item[kept], judgments.judge[kept].astype(np.int64)
    share = 1 / np.bincount(item, minlength=len(case.said))[item]
    used = np.isin(judge, judge[case.weight[item].any(axis=1)])
    return Labels(item[used], judgments.grade[kept][used], judge[used], share[used])


def _meet(case: Case, labels: Labels, judges: tuple[tuple[str, ...], ...]) -> JudgeAnswers:
    """Count labels by kind of grade: on gold items, and by weight."""
    trusted = case.gold_grade[labels.item]
    kinds: Kinds = find_kinds(case, labels.item, labels.grade)
    kind, gold = kinds.of[labels.grade], np.where(trusted >= 0, kinds.of[trusted], -1)
    mass = np.zeros((len(judges), len(case.systems), len(case.topics), len(kinds.gain)))
    weight = case.weight[labels.item]
    label, system = np.nonzero(weight)
    cell = labels.judge[label], system, case.topic[labels.item[label]], kind[label]
    np.add.at(mass, cell, weight[label, system] * labels.share[label])
    chance = np.zeros(len(case.said))
    chance[case.drawn.item] = 1 / case.drawn.pi
    accuracies = []
    for number in range(len(judges)):
        own = np.flatnonzero((labels.judge == number) & (gold >= 0))
        weights = chance[labels.item[own]]
        accuracies.append(measure_accuracy(gold[own], kind[own], kinds=kinds.names, weight=weights))
    return JudgeAnswers(
        judges=judges,
        accuracies=tuple(accuracies),
        gain=kinds.gain,
        mass=mass,
        labels=labels,
        kind=kind,
        gold=gold,
        chance=chance[labels.item],
    )


def find_luck(case: Case, answers: JudgeAnswers) -> FloatArray:
    """The variance of pairs due to random errors on these documents, with known rates, (system, system).

    A document of gold's kind g adds its squared weight times the variance of the corrected gain of its grade. The
    weight on each kind is itself estimated from the judges' grades. Several judges of a document may make the same
    errors.
    """
    kinds, systems = len(answers.gain), len(case.systems)
    luck = np.zeros((systems, systems))
    for judge, (share, worth) in enumerate(zip(answers.share, answers.worth, strict=True)):
        scatter = (share @ worth**2 - answers.gain**2).clip(0)
        said = np.zeros((kinds, systems, systems))
        for kind in range(kinds):
            own = (answers.labels.judge == judge) & (answers.kind == kind)
            weight = case.weight[answers.labels.item[own]] * np.sqrt(answers.labels.share[own])[:, None]
            product = np.einsum("is,it->st", weight, weight)
            square = np.diag(product)
            said[kind] = square[:, None] + square[None, :] - 2 * product
        mass = np.linalg.solve(share.T, said.reshape(kinds, -1)).clip(0)
        luck += (scatter @ mass).reshape(systems, systems) / len(case.topics) ** 2
    return luck
