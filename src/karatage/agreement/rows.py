"""Grades as kernels read them: by item, and by judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karatage.data.axes import GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments
from karatage.kernels.ordering import group_rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Grades sorted by item, then judge, one for each judge and item; and where each judge's stand."""

    judge: IntArray  # (row,)
    item: IntArray  # (row,)
    grade: GradeArray  # (row,)
    start: LongArray  # (item + 1,)
    judges: int
    grades: int

    @staticmethod
    def of(judgments: Judgments) -> Rows:
        """All of the judgments; of repeated grades the last."""
        kept = judgments.settle()
        return Rows(
            kept.judge, kept.item, kept.grade, kept.row_start, len(kept.judges), int(kept.grade.max(initial=0)) + 1
        )

    @property
    def items(self) -> int:
        """How many there are."""
        return len(self.start) - 1

    @cached_property
    def size(self) -> LongArray:
        """How many grades each judge gave, (judge,)."""
        return np.bincount(self.judge, minlength=self.judges)

    @property
    def meetings(self) -> float:
        """How often two judges graded the same item."""
        graded = np.diff(self.start).astype(float)
        return float((graded * (graded - 1)).sum()) / 2

    def by_judge(self) -> Iterator[tuple[int, LongArray]]:
        """Each judge's rows, in the order of items."""
        order, start = group_rows(self.judge.astype(np.int64), self.judges)
        for a in range(self.judges):
            yield a, order[start[a] : start[a + 1]]

    def turn(self) -> tuple[LongArray, IntArray, GradeArray]:
        """The same sorted by judge, then item: where each judge's rows start, their items and their grades."""
        order, start = group_rows(self.judge.astype(np.int64), self.judges)
        return start, self.item[order], self.grade[order]
