"""What judges said of the systems' documents and of gold's, in kinds of grades that gain alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.correction import graded
from karatage.correction.precision import measure_accuracy, require_gold
from karatage.data.axes import FloatArray, LongArray
from karatage.data.estimate import Accuracy
from karatage.decisions.case import Case
from karatage.decisions.material import gives_grades
from karatage.errors import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeAnswers:
    """What judges said, in kinds of grades that gain alike."""

    accuracy: Accuracy
    gain: FloatArray  # (kind,)
    mass: FloatArray  # (system, topic, kind) weight of the ranks where the judges said this
    kind: LongArray  # (item,) what the judges said, -1 = nothing

    @property
    def filled(self) -> FloatArray:
        """How much weight a system's judged documents have in a topic, (system, topic)."""
        return np.asarray(self.mass.sum(axis=2))


def gather_answers(case: Case) -> JudgeAnswers:
    """What judges said of the systems' documents, and of gold's."""
    accuracy, gain, kind = _meet_gold(case)
    mass = np.zeros((len(case.systems), len(case.topics), len(gain)))
    item, system = np.nonzero(case.weight * case.judged[:, None])
    np.add.at(mass, (system, case.topic[item], kind[case.said[item]]), case.weight[item, system])
    said = np.where(case.said >= 0, kind[case.said], -1)
    return JudgeAnswers(accuracy=accuracy, gain=gain, mass=mass, kind=said)


def find_accuracy(case: Case) -> Accuracy | None:
    """How judges answer on gold's items, beside an answer that does not use it; None where gold says too little."""
    try:
        accuracy = _meet_gold(case)[0]
        require_gold(accuracy)
    except DataError:
        return None
    return accuracy if gives_grades(case.approach) else None


def _meet_gold(case: Case) -> tuple[Accuracy, FloatArray, LongArray]:
    """How judges answer, what each kind of grades gains (kind,), and of which kind each grade is (grade,)."""
    assert case.linear is not None
    gain, kind = np.unique(case.linear.gain, return_inverse=True)
    both = np.flatnonzero(case.judged & (case.gold_grade >= 0))
    if not len(both):
        raise DataError(
            "the judges graded no item that has gold, so their errors are not known; are items written alike?"
        )
    shown = case.said[case.weight.any(axis=1) & case.judged]
    occurs = np.union1d(kind[case.gold_grade[both]], np.union1d(kind[case.said[both]], kind[shown]))
    kept = np.arange(len(gain)) if len(gain) == 2 else occurs.astype(np.int64)
    binary = len(gain) == 2
    place = np.full(len(gain), -1)
    place[kept] = np.arange(len(kept))
    kind = place[kind]
    weight = np.zeros(len(case.said))
    weight[case.drawn.item] = 1 / case.drawn.pi
    trusted, heard = kind[case.gold_grade[both]], kind[case.said[both]]
    accuracy = measure_accuracy(trusted, heard, kinds=_name_kinds(kind, len(kept), binary), weight=weight[both])
    return accuracy, gain[kept], kind


def _name_kinds(kind: LongArray, kinds: int, binary: bool) -> list[str]:
    if binary:
        return ["not relevant", "relevant"]
    grades = [np.flatnonzero(kind == k) for k in range(kinds)]
    return [f"grade {g[0]}" if len(g) == 1 else f"grades {g[0]}-{g[-1]}" for g in grades]


def find_luck(case: Case, answers: JudgeAnswers) -> FloatArray:
    """How far slips on these documents alone move the pairs, even were the rates known, (system, system).

    A document of gold's kind g adds its squared weight times the variance of what its answer is worth; how much weight
    lies on each kind is itself told by the answers.
    """
    share, gain, kinds = answers.accuracy.share, answers.gain, len(answers.gain)
    worth = graded.judge_gains(share, gain)
    scatter = (share @ worth**2 - gain**2).clip(0)
    said = np.zeros((kinds, len(case.systems), len(case.systems)))
    for kind in range(kinds):
        weight = case.weight[case.judged & (answers.kind == kind)]
        product = np.einsum("is,it->st", weight, weight)
        own = np.diag(product)
        said[kind] = own[:, None] + own[None, :] - 2 * product
    mass = np.linalg.solve(share.T, said.reshape(kinds, -1)).clip(0)
    luck: FloatArray = (scatter @ mass).reshape(said.shape[1:]) / len(case.topics) ** 2
    return luck
