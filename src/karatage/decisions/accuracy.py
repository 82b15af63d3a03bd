"""How well judges know gold's grades, alone or as a process."""

from __future__ import annotations

import numpy as np

from karatage.correction.accuracy import measure_accuracy
from karatage.data.accuracy import Accuracy
from karatage.data.alignment import find_items
from karatage.data.judgments import Judgments
from karatage.decisions.material import gives_grades, judge_items, name_process
from karatage.errors import DataError, OptionError
from karatage.random_streams import settle_seed


def judge_accuracy(
    judgments: Judgments,
    gold: Judgments,
    *,
    approach: str | None = None,
    relevant: int | None = 1,
    rng: int | np.random.Generator | None = None,
) -> Accuracy:
    """What the judging process says of gold items, by gold's grade: error rates or a confusion matrix, with intervals.

    Args:
        judgments: What the judges said.
        gold: Trusted grades; items drawn with known chances (`pi`) are weighed by their inverse.
        approach: How judges become one: `mv(min=2)`, `ds`, `judge:NAME`. Default: the only judge, or `mv`.
        relevant: The lowest grade that counts as relevant; None: all grades apart.
        rng: Seed of tied votes.
    """
    process = name_process(approach, judgments)
    if not gives_grades(process):
        raise OptionError(f"{process} ends in scores, not in grades; choose mv, ds or judge:NAME")
    judged = judge_items(process, judgments, settle_seed(rng))
    said = np.full(len(judged.item_topic) + 1, -1, np.int64)
    said[judged.item] = judged.grade
    heard = said[find_items(gold, judged)[gold.item]]
    both = heard >= 0
    if not both.any():
        raise DataError("the judges graded no gold item, so nothing is known of their errors; are items written alike?")
    weight = None if gold.draw is None else 1 / gold.draw.pi[both]
    trusted, heard = gold.grade[both].astype(np.int64), heard[both]
    if relevant is None:
        kinds = [f"grade {g}" for g in range(max(gold.top_grade, judged.top_grade) + 1)]
        return measure_accuracy(trusted, heard, kinds=kinds, weight=weight)
    if relevant < 1:
        raise OptionError(f"relevant is a grade from 1, not {relevant}")
    kinds = ["not relevant", "relevant"]
    return measure_accuracy(
        (trusted >= relevant).astype(np.int64), (heard >= relevant).astype(np.int64), kinds=kinds, weight=weight
    )
