"""What a diagnosis looks at; work that several checks need is done once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from karatage.agreement.habits import Panel
from karatage.data.alignment import Alignment, match_gold
from karatage.data.axes import BoolArray, GradeArray
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.decisions.case import Case
from karatage.decisions.material import Material
from karatage.decisions.question import Question
from karatage.errors import DataError
from karatage.io.listings import Listing

_BE = {"runs": "are", "judgments": "are", "gold": "is"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What could be read, and what is asked of it."""

    runs: Runs | None
    judgments: Judgments | None
    gold: Judgments | None
    material: Material | None  # all three, where there are runs and judgments
    listings: tuple[Listing, ...]
    question: Question
    pair: tuple[str, str] | None
    cases: dict[str, Case] = field(default_factory=dict)  # by measure
    unread: frozenset[str] = frozenset()  # which of runs, judgments and gold were given but could not be read

    def lack(self, kind: str) -> str:
        """Why something is not there."""
        return f"no {kind} could be read" if kind in self.unread else f"there {_BE[kind]} no {kind}"

    @property
    def depth(self) -> int | None:
        """Ranks that count; None: all of them."""
        return self.question.parsed.cutoff

    @cached_property
    def alignment(self) -> Alignment | None:
        """Runs over judged topics; None where one of both is not there, or they have no topic in common."""
        if self.material is None:
            return None
        try:
            return self.material.alignment
        except DataError:
            return None

    @cached_property
    def meets(self) -> bool:
        """Whether some retrieved document was judged."""
        return self.alignment is not None and bool((self.alignment.ranked >= 0).any())

    @cached_property
    def known(self) -> GradeArray:
        """Gold's grade of each judged item, -1 = none."""
        assert self.judgments is not None
        if self.gold is None or self.gold.has_topics != self.judgments.has_topics:
            return np.full(len(self.judgments.item_topic), -1, np.int8)
        if self.material is not None:
            return self.material.known
        return match_gold(self.judgments, self.gold)

    @cached_property
    def panel(self) -> Panel:
        """The judges beside one another and gold."""
        assert self.judgments is not None
        return Panel.of(self.judgments, self.known)

    @property
    def shared(self) -> BoolArray:
        """Judged items that gold knows."""
        assert self.judgments is not None
        return np.asarray((self.known >= 0) & (np.diff(self.judgments.row_start) > 0))
