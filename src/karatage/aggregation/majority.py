"""Majority vote: the most frequent grade wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from karatage.data.axes import FloatArray, GradeArray
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.seeding import generator

TieRule = Literal["random", "lowest", "highest", "prior"]


@dataclass(frozen=True, kw_only=True)
class MajorityVote:
    """Plurality. Ties by a seeded coin, the lowest, the highest, or the grade most frequent overall."""

    ties: TieRule = "random"

    def __post_init__(self) -> None:
        """Check the options."""
        if self.ties not in get_args(TieRule):
            raise OptionError(f"ties '{self.ties}' is none of {', '.join(get_args(TieRule))}")

    def fit(self, judgments: Judgments, *, rng: int | np.random.Generator | None = None) -> Posterior:
        """Count votes; the probability of a grade is its share of them."""
        votes = count_votes(judgments)
        best = votes == votes.max(axis=1, keepdims=True)
        tied = int((best.sum(axis=1) > 1).sum())
        notes: tuple[str, ...] = ()
        if tied:
            rule = {"random": "a coin", "prior": "the commoner grade"}.get(self.ties, f"the {self.ties} grade")
            notes = (f"majority vote: {tied:,} of {len(votes):,} items were tied and went to {rule}",)
        return Posterior(
            model="mv",
            judgments=judgments,
            probability=votes / votes.sum(axis=1, keepdims=True),
            grades=self._decide(votes, best, rng),
            notes=notes,
        )

    def _decide(self, votes: FloatArray, best: np.ndarray, rng: int | np.random.Generator | None) -> GradeArray:
        if self.ties == "random":
            preference = generator(rng).random(best.shape)
        elif self.ties == "prior":
            preference = np.broadcast_to(votes.sum(axis=0) + 1, best.shape)
        else:
            grade = np.arange(1.0, best.shape[1] + 1)
            preference = np.broadcast_to(grade if self.ties == "highest" else 1 / grade, best.shape)
        decided: GradeArray = np.argmax(best * preference, axis=1).astype(np.int8)
        return decided


def count_votes(judgments: Judgments) -> FloatArray:
    """Votes for each grade, (item, grade)."""
    grades = judgments.top_grade + 1
    cell = judgments.item.astype(np.int64) * grades + judgments.grade
    items = len(judgments.item_topic)
    return np.bincount(cell, minlength=items * grades).reshape(items, grades).astype(float)
