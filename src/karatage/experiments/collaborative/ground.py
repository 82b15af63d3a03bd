"""What all cells of the collaborative experiment share: the pool, its order, crowds, and gold's leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from karatage.data.alignment import Alignment, align
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.crowd import CrowdModel
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.runs import Runs
from karatage.errors import DataError
from karatage.experiments.collaborative.plan import CollaborativePlan
from karatage.experiments.panels import PanelRules, prepare_gold
from karatage.measures.scoring import score_grades
from karatage.orders.orders import list_all, parse_order
from karatage.orders.state import JudgingState
from karatage.random_streams import stream
from karatage.text import counted

NOBODY = np.int8(-1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """A pool with gold for all of it, the systems that retrieved it, and the crowds that may judge it."""

    plan: CollaborativePlan
    alignment: Alignment
    gold: Judgments  # binary, a grade for every item
    grade: GradeArray  # (item,)
    value: FloatArray  # (topic, system) scores by full expert judging
    crowds: Mapping[str, CrowdModel]
    disagreement: FloatArray | None = None  # (item,)

    @staticmethod
    def of(runs: Runs, gold: Judgments, plan: CollaborativePlan, crowds: Mapping[str, CrowdModel]) -> Ground:
        """Bring together runs and gold; the pool is gold's, or the part of it that systems have within a depth."""
        trusted = _make_pool(runs, gold, plan)
        alignment = align(runs, trusted)
        if len(alignment.systems) < 2:
            raise DataError("there is one system only, and a ranking takes two")
        grade = np.empty(len(trusted.item_topic), np.int8)
        grade[trusted.item] = trusted.grade
        scored = score_grades(alignment, grade[:, None], [plan.measure], top_grade=1)
        value = scored[plan.measure].value[0]
        return Ground(plan=plan, alignment=alignment, gold=trusted, grade=grade, value=value, crowds=crowds)

    @property
    def items(self) -> int:
        """How many documents the pool has, counted in each topic."""
        return len(self.grade)

    @property
    def missed(self) -> int:
        """How many of them no system retrieved."""
        found = np.zeros(self.items, bool)
        found[self.alignment.ranked[self.alignment.ranked >= 0]] = True
        return int((~found).sum())

    def count(self, share: float) -> int:
        """So many items are `share` % of the pool: the nearest whole number, and of a share above 0 not none."""
        return max(int(share / 100 * self.items + 0.5), int(share > 0))

    def list_queue(self, order: str, sample: int) -> LongArray:
        """All items in the order in which experts would judge them, each answer known before the next is asked.

        Items that the order cannot reach, since no system retrieved them, come last.
        """
        found = list_all(parse_order(order), self._start(order, sample), self.grade)
        return _complete(found, np.ones(self.items, bool))

    def list_rest(self, order: str, sample: int, judged: LongArray) -> LongArray:
        """What is left once experts have judged some, the next first: as one batch, so no answer is known within it."""
        grade = self.reveal(judged)
        state = replace(self._start(order, sample), grade=grade, open=grade < 0)
        return _complete(parse_order(order).next_items(state, self.items).item, grade < 0)

    def _start(self, order: str, sample: int) -> JudgingState:
        """Nothing judged yet; orders that draw at random do so anew in each sample."""
        return JudgingState(
            ranked=self.alignment.ranked,
            item_start=self.alignment.item_start,
            grade=np.full(self.items, NOBODY),
            open=np.ones(self.items, bool),
            disagreement=self.disagreement,
            seed=int(stream(self.plan.seed, f"collaborative {order} {sample}").integers(2**32)),
        )

    def reveal(self, judged: LongArray) -> GradeArray:
        """Experts' grades of some items, (item,); nobody judged the others."""
        grade = np.full(self.items, NOBODY)
        grade[judged] = self.grade[judged]
        return grade

    def resample_topics(self) -> LongArray:
        """Topics drawn with replacement, (resample, topic); the same for all cells, which are so paired."""
        topics = len(self.alignment.topics)
        return stream(self.plan.seed, "collaborative topics").integers(topics, size=(self.plan.resamples, topics))


def keep_items(judgments: Judgments, kept: BoolArray) -> Judgments:
    """Some items with their grades, and the topics that have any of them; items and topics are numbered anew."""
    rows = kept[judgments.item]
    there = np.unique(judgments.item_topic[kept])
    return replace(
        judgments,
        topics=tuple(judgments.topics[t] for t in there),
        item_topic=np.searchsorted(there, judgments.item_topic[kept]).astype(np.int32),
        item_document=judgments.item_document[kept],
        judge=judgments.judge[rows],
        item=(np.cumsum(kept) - 1)[judgments.item[rows]].astype(np.int32),
        grade=judgments.grade[rows],
        draw=None,
        with_repeats=None,
    )


def _make_pool(runs: Runs, gold: Judgments, plan: CollaborativePlan) -> Judgments:
    rules = PanelRules(level=plan.relevant)
    alignment = align(runs, gold)
    retrieved = np.zeros(len(gold.topics), bool)
    retrieved[alignment.retrieved_topics] = True
    kept = (np.diff(gold.settle().row_start) > 0) & retrieved[gold.item_topic]
    if plan.depth is not None:
        ranked = alignment.ranked[:, :, : plan.depth]
        within = np.zeros(len(kept), bool)
        within[ranked[ranked >= 0]] = True
        kept &= within
    if not kept.any():
        raise DataError("no system retrieved a document that gold has graded: are topics and documents written alike?")
    pool = prepare_gold(keep_items(gold.settle(), kept), rules)
    missing = 0 if plan.depth is None else alignment.unjudged(plan.depth)[0]
    if missing:
        told = (
            f"{counted(missing, 'time')} a document in the first {plan.depth} ranks has no gold and is not in the pool"
        )
        pool = replace(pool, notes=(*pool.notes, Note.of(told)))
    return pool


def _complete(found: LongArray, open_: BoolArray) -> LongArray:
    """Those found, then all others that are open, in the order of their numbers."""
    rest = open_.copy()
    rest[found] = False
    return np.concatenate([found, np.flatnonzero(rest)])
