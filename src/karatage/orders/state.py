"""What an order sees when it picks the next items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray, freeze


class Picks(NamedTuple):
    """Items to judge next, the most urgent first."""

    item: LongArray  # (pick,)
    pi: FloatArray  # (pick,) chance to be drawn; NaN where a rule picked, so that no chance is known


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgingState:
    """Rankings, and what is known so far of the items in them."""

    ranked: IntArray  # (topic, system, rank) item number, -1 = not in the pool or beyond the ranking's end
    item_start: LongArray  # (topic + 1,) items of topic t are item_start[t]:item_start[t+1]
    grade: GradeArray  # (item,) by experts, or what the crowd's grades were merged into; -1 = nobody graded it
    open: BoolArray  # (item,) whether an order may pick it
    level: int = 1  # grade from which on a document is relevant
    disagreement: FloatArray | None = None  # (item,) predicted chance that judges disagree
    effect: FloatArray | None = None  # (item,) how much its gold would tell about undecided pairs of systems
    seed: int = 0

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.ranked, self.item_start, self.grade, self.open)

    @property
    def items(self) -> int:
        """How many items there are, open or not."""
        return len(self.grade)

    @cached_property
    def item_topic(self) -> IntArray:
        """The topic of each item."""
        return np.repeat(np.arange(len(self.item_start) - 1, dtype=np.int32), np.diff(self.item_start))
