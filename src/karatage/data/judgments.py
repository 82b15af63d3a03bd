"""Judgments: who gave which grade to which item; gold, and the probabilities with which it was drawn."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
import polars as pl

from karatage.data.axes import (
    HIGHEST_GRADE,
    BoolArray,
    Coded,
    FloatArray,
    GradeArray,
    IntArray,
    LongArray,
    freeze,
    meet,
)
from karatage.data.display import Listed
from karatage.data.note import Note, tell
from karatage.data.options import Repeats
from karatage.errors import DataError, OptionError, RowError
from karatage.kernels.ordering import count_starts, sort_rows
from karatage.random_streams import generator, stream
from karatage.text import count_names, counted, shorten


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """The sampling probability of each graded item, one row each.

    Items are drawn in batches: `pi` is the probability to be drawn in that batch, given the earlier batches.
    """

    pi: FloatArray  # (row,) in (0, 1]
    batch: IntArray  # (row,) from 1
    measure: str | None = None  # for which the items were chosen
    frame: str | None = None  # fingerprint of the items that could have been drawn

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.pi, self.batch)

    def to_columns(self) -> list[pl.Series]:
        """Columns as in a queue's file, without those that are not known."""
        columns = [pl.Series("pi", self.pi)]
        if self.frame is not None or (self.batch != 1).any():
            columns.append(pl.Series("batch", self.batch))
        said = {"measure": self.measure, "frame": self.frame}
        return columns + [pl.Series(name, [text] * len(self.pi)) for name, text in said.items() if text is not None]

    def take(self, rows: LongArray | BoolArray) -> Draw:
        """The same for some rows."""
        return replace(self, pi=self.pi[rows], batch=self.batch[rows])


NO_TOPIC = ""
FOLDS = 5  # of topics with gold


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgments(Listed):
    """Grades by judges for items.

    Items are (topic, document) pairs sorted by topic, then document; rows are sorted by item, then judge. A judge has
    one grade for an item, the last one given. `every` also has the earlier ones, in the order in which they were given.
    Other ways to treat repeated grades are chosen when reading. Data without topics have the single topic ''.
    """

    optional = ("answers",)

    judges: tuple[str, ...]
    topics: tuple[str, ...]
    documents: pl.Series
    item_topic: IntArray  # (item,)
    item_document: IntArray  # (item,)
    judge: IntArray  # (row,)
    item: IntArray  # (row,)
    grade: GradeArray  # (row,)
    draw: Draw | None = None  # how the items of a gold sample were drawn
    top_grade: int
    notes: tuple[Note, ...] = ()
    with_repeats: Judgments | None = None
    answers: Judgments | None = None  # of gold: all grades by its judges, where an item has several

    def __post_init__(self) -> None:
        """Refuse numbers out of range, as kernels do not check them, and protect the arrays."""
        for name, code, size in (
            ("item_topic", self.item_topic, len(self.topics)),
            ("item_document", self.item_document, len(self.documents)),
            ("judge", self.judge, len(self.judges)),
            ("item", self.item, len(self.item_topic)),
            ("grade", self.grade, self.top_grade + 1),
        ):
            if code.size and not 0 <= int(code.min()) <= int(code.max()) < size:
                raise DataError(f"{name} has numbers from {code.min()} to {code.max()}, where there are {size:,}")
        if not self.judge.shape == self.item.shape == self.grade.shape:
            raise DataError(
                f"judge, item and grade differ in length: {len(self.judge)}, {len(self.item)}, {len(self.grade)}"
            )
        if (self.item[1:] < self.item[:-1]).any():
            raise DataError("item: rows are not in the order of items")
        for more in (self.with_repeats, self.answers):
            if more is not None and not (
                (more.judges == self.judges or more is self.answers)
                and more.topics == self.topics
                and np.array_equal(more.item_topic, self.item_topic)
                and np.array_equal(more.item_document, self.item_document)
            ):
                raise DataError("repeated grades are about other judges or items")
        if self.top_grade > HIGHEST_GRADE:
            raise DataError(f"top_grade is {self.top_grade}; it may be {HIGHEST_GRADE} at most")
        freeze(self.item_topic, self.item_document, self.judge, self.item, self.grade)

    @staticmethod
    def build(
        *,
        judge: Coded,
        topic: Coded,
        document: Coded,
        grade: GradeArray,
        sequence: FloatArray | None = None,
        draw: Draw | None = None,
        repeats: Repeats | None = None,
        top_grade: int | None = None,
        notes: tuple[Note, ...] = (),
    ) -> Judgments:
        """Sort and check rows; of repeated grades, the last has the highest `sequence` (default: row order)."""
        if repeats is not None and repeats not in get_args(Repeats):
            raise OptionError(f"repeats '{repeats}' is not one of {', '.join(get_args(Repeats))}")
        if grade.size == 0:
            raise DataError("the judgments are empty")
        _check_rows(grade, None if draw is None else draw.pi)
        _check_top(grade, top_grade)
        judge, topic = judge.in_natural_order(), topic.in_natural_order()
        key = topic.code.astype(np.int64) * len(document.names) + document.code
        item_key, item = np.unique(key, return_inverse=True)
        pair = item.astype(np.int64) * len(judge.names) + judge.code
        kept, told = _settle_repeats(pair, grade, sequence, repeats or "all")
        judgments = Judgments(
            judges=tuple(judge.names.to_list()),
            topics=tuple(topic.names.to_list()),
            documents=document.names,
            item_topic=(item_key // len(document.names)).astype(np.int32),
            item_document=(item_key % len(document.names)).astype(np.int32),
            judge=judge.code[kept],
            item=item[kept].astype(np.int32),
            grade=grade[kept],
            draw=None if draw is None else draw.take(kept),
            top_grade=int(grade.max()) if top_grade is None else top_grade,
            notes=notes if repeats is None else notes + told,
        )
        return judgments if repeats is not None else judgments.settle()

    @staticmethod
    def from_codes(
        *,
        judge: IntArray,
        item: IntArray,
        grade: GradeArray,
        top_grade: int | None = None,
        notes: tuple[Note, ...] = (),
    ) -> Judgments:
        """Judgments from integers alone, in any order: judges and items are named by their numbers.

        All repeated grades are kept. Numbers without a row become items or judges without a grade.
        """
        if not judge.shape == item.shape == grade.shape or judge.ndim != 1:
            raise DataError(f"judge, item and grade differ in shape: {judge.shape}, {item.shape}, {grade.shape}")
        if grade.size == 0:
            raise DataError("the judgments are empty")
        for name, code, most in ("judge", judge, 2**31 - 2), ("item", item, 2**31 - 2), ("grade", grade, HIGHEST_GRADE):
            if code.dtype.kind not in "iu" or int(code.min()) < 0 or int(code.max()) > most:
                raise DataError(f"{name} must hold whole numbers from 0 to {most:,}")
        _check_top(grade, top_grade)
        items = int(item.max()) + 1
        start, judge, grade = sort_rows(
            judge.astype(np.int32, copy=False),
            item.astype(np.int32, copy=False),
            grade.astype(np.int8, copy=False),
            items,
        )
        return Judgments(
            judges=tuple(map(str, range(int(judge.max()) + 1))),
            topics=(NO_TOPIC,),
            documents=pl.Series("name", np.arange(items)).cast(pl.String),
            item_topic=np.zeros(items, np.int32),
            item_document=np.arange(items, dtype=np.int32),
            judge=judge,
            item=np.repeat(np.arange(items, dtype=np.int32), np.diff(start)),
            grade=grade,
            top_grade=int(grade.max()) if top_grade is None else top_grade,
            notes=notes,
        )

    @property
    def every(self) -> Judgments:
        """The same with all grades of a judge for an item."""
        return self if self.with_repeats is None else self.with_repeats

    def settle(self) -> Judgments:
        """The last grade of each judge for each item; `every` has all."""
        again = (self.item[1:] == self.item[:-1]) & (self.judge[1:] == self.judge[:-1])
        if not again.any():
            return self
        last = np.flatnonzero(np.r_[~again, True])
        judges, most = self._count_repeats()
        note = tell("repeats-vote", judges=judges, most=most, aside=len(self.grade) - len(last))
        return replace(
            self,
            judge=self.judge[last],
            item=self.item[last],
            grade=self.grade[last],
            draw=None if self.draw is None else self.draw.take(last),
            notes=(*self.notes, note),
            with_repeats=self,
        )

    def as_gold(self, name: str, *, answers: bool) -> Judgments:
        """One grade for each item, by one judge of this `name`: the most frequent one. The `answers` may be kept.

        Each judge's last grade counts. Of equally frequent grades, that of the first judge is taken.
        """
        each = self.settle()
        if not answers or len(self.every.grade) == len(np.unique(self.every.item)):
            return replace(each, judges=(name,), judge=np.zeros(len(each.grade), np.int32))
        key = each.item.astype(np.int64) * (HIGHEST_GRADE + 1) + each.grade
        _, place, times = np.unique(key, return_inverse=True, return_counts=True)
        order = np.lexsort((np.arange(len(key)), -times[place], each.item))
        chosen = order[np.r_[True, np.diff(each.item[order]) != 0]]
        items = int((np.bincount(self.every.item) > 1).sum())
        notes = tuple(note for note in each.notes if note.kind != "data.repeats-vote")
        return replace(
            each,
            judges=(name,),
            judge=np.zeros(len(chosen), np.int32),
            item=each.item[chosen],
            grade=each.grade[chosen],
            draw=None if each.draw is None else each.draw.take(chosen),
            with_repeats=None,
            answers=replace(self.every, draw=None, notes=()),
            notes=(*notes, tell("gold-answers", items=items, judges=len(np.unique(self.every.judge)))),
        )

    def tell_repeats(self) -> str:
        """How many judges graded items repeatedly, and how often."""
        judges, most = self._count_repeats()
        return f"{counted(judges, 'judge')} graded items more than once, up to {most:,} times"

    def _count_repeats(self) -> tuple[int, int]:
        start = np.flatnonzero(np.r_[True, (np.diff(self.item) != 0) | (np.diff(self.judge) != 0)])
        times = np.diff(np.r_[start, len(self.grade)])
        return len(np.unique(self.judge[start[times > 1]])), int(times.max())

    def tell_heard(self) -> str:
        """The number of grades that merging uses, as the end of a sentence; empty without repeated grades."""
        more = len(self.every.grade) - len(self.grade)
        return f", one for each judge and item; merging uses {len(self.every.grade):,}" if more else ""

    def keep_rows(self, kept: BoolArray) -> Judgments:
        """The same items and judges with some of the grades only."""
        return replace(
            self,
            judge=self.judge[kept],
            item=self.item[kept],
            grade=self.grade[kept],
            draw=None if self.draw is None else self.draw.take(kept),
            with_repeats=None,
            answers=None
            if self.answers is None
            else self.answers.keep_rows(np.isin(self.answers.item, self.item[kept])),
        )

    def keep_topics(self, topics: Collection[str]) -> Judgments:
        """The same items and judges with the grades of some topics only."""
        kept = np.array([topic in set(topics) for topic in self.topics])
        return self.keep_rows(kept[self.item_topic[self.item]])

    def only_topics(self, topics: Collection[str]) -> Judgments:
        """Some topics only; unlike `keep_topics`, this also removes the items of the others."""
        kept = np.array([topic in set(topics) for topic in self.topics])
        topic, items = np.cumsum(kept) - 1, kept[self.item_topic]
        number, rows = np.cumsum(items) - 1, items[self.item]
        return replace(
            self,
            topics=tuple(name for name, keep in zip(self.topics, kept, strict=True) if keep),
            item_topic=topic[self.item_topic[items]].astype(np.int32),
            item_document=self.item_document[items],
            judge=self.judge[rows],
            item=number[self.item[rows]].astype(np.int32),
            grade=self.grade[rows],
            draw=None if self.draw is None else self.draw.take(rows),
            with_repeats=None if self.with_repeats is None else self.with_repeats.only_topics(topics),
            answers=None if self.answers is None else self.answers.only_topics(topics),
        )

    def only_items(self, kept: BoolArray) -> Judgments:
        """Some items only, and the judges who graded them."""
        number, rows = np.cumsum(kept) - 1, kept[self.item]
        judges, judge = np.unique(self.judge[rows], return_inverse=True)
        return replace(
            self,
            judges=tuple(self.judges[k] for k in judges),
            item_topic=self.item_topic[kept],
            item_document=self.item_document[kept],
            judge=judge.astype(np.int32),
            item=number[self.item[rows]].astype(np.int32),
            grade=self.grade[rows],
            draw=None if self.draw is None else self.draw.take(rows),
            with_repeats=None,
            answers=None,
        )

    @cached_property
    def item_start(self) -> LongArray:
        """Items of topic t run from `item_start[t]` to before `item_start[t+1]`."""
        return np.searchsorted(self.item_topic, np.arange(len(self.topics) + 1)).astype(np.int64)

    @cached_property
    def row_start(self) -> LongArray:
        """Rows of item i run from `row_start[i]` to before `row_start[i+1]`."""
        return count_starts(self.item, len(self.item_topic))

    @property
    def has_topics(self) -> bool:
        """Whether items have a topic, which is needed to match runs."""
        return self.topics != (NO_TOPIC,)

    def to_frame(self) -> pl.DataFrame:
        """One row per grade: judge, topic, document (or item), grade, and how it was drawn where known."""
        document = self.documents.gather(self.item_document[self.item])
        frame = pl.DataFrame({"judge": pl.Series(self.judges, dtype=pl.String).gather(self.judge)})
        if self.has_topics:
            topic = pl.Series(self.topics, dtype=pl.String).gather(self.item_topic[self.item])
            frame = frame.with_columns(topic.alias("topic"), document.alias("document"))
        else:
            frame = frame.with_columns(document.alias("item"))
        frame = frame.with_columns(pl.Series("grade", self.grade))
        return frame if self.draw is None else frame.with_columns(self.draw.to_columns())

    def __len__(self) -> int:
        return len(self.grade)

    def __repr__(self) -> str:
        return (
            f"Judgments({counted(len(self.grade), 'grade')} 0-{self.top_grade} by {counted(len(self.judges), 'judge')} "
            f"of {counted(len(self.item_topic), 'item')} in {counted(len(self.topics), 'topic')})"
        )


def _check_top(grade: GradeArray, top_grade: int | None) -> None:
    """Refuse grades above the scale, as kernels do not check them."""
    if top_grade is not None and not int(grade.max()) <= top_grade <= HIGHEST_GRADE:
        raise DataError(f"grades go up to {grade.max()}, so top_grade cannot be {top_grade}; it may be {HIGHEST_GRADE}")


def _check_rows(grade: GradeArray, pi: FloatArray | None) -> None:
    low = np.flatnonzero(grade < 0)
    if low.size:
        raise RowError(int(low[0]), f"grade {grade[low[0]]} is negative; grades are whole numbers from 0")
    if pi is not None:
        bad = np.flatnonzero(~((pi > 0) & (pi <= 1)))
        if bad.size:
            raise RowError(
                int(bad[0]),
                f"pi {shorten(str(pi[bad[0]]))} is not an inclusion probability; it must be in (0, 1]",
            )


def _settle_repeats(
    pair: LongArray, grade: GradeArray, sequence: FloatArray | None, repeats: Repeats
) -> tuple[LongArray, tuple[Note, ...]]:
    """Rows to keep, sorted by `pair`, and notes about repeated ones."""
    order = np.argsort(pair, kind="stable") if sequence is None else np.lexsort((sequence, pair))
    ordered = pair[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    end = np.r_[first[1:], len(ordered)]
    repeated = np.flatnonzero(end - first > 1)
    if repeated.size == 0:
        return order, ()
    if repeats == "error":
        row = int(min(order[first[r] + 1] for r in repeated))
        raise RowError(row, "this judge has graded this item before; choose repeats: last, first, majority or all")
    if repeats == "all":
        return order, (tell("repeats-all", pairs=repeated.size),)
    pick = first.copy() if repeats == "first" else end - 1
    if repeats == "majority":
        for r in repeated:
            pick[r] = first[r] + _majority(grade[order[first[r] : end[r]]])
    dropped = len(ordered) - len(first)
    return order[pick], (tell("repeats-one", pairs=repeated.size, kept=repeats, dropped=dropped),)


def _majority(grades: GradeArray) -> int:
    """The place of the last of the most frequent grades."""
    count = np.bincount(grades)
    return int(np.flatnonzero(count[grades] == count.max())[-1])


@dataclass(frozen=True, eq=False)
class Gold:
    """Grades taken as correct; which topics are only for training, and how certain a grade is.

    Approaches that learn from gold use the `training` topics, and all are compared with gold on the others. Without
    training topics, each topic is merged with the gold of others. A `certainty` below 1 makes gold random, as in
    [RANDREL19]: a relevant document is relevant with that probability, another one with 1 minus that probability.
    """

    grades: Judgments
    training: tuple[str, ...] = ()
    certainty: float = 1.0

    def __post_init__(self) -> None:
        """Refuse wrong topics and a wrong certainty."""
        unknown = [topic for topic in self.training if topic not in set(self.grades.topics)]
        if unknown:
            raise DataError(f"training topics without gold: {count_names(unknown)}")
        if set(self.training) >= set(self.grades.topics):
            raise DataError(
                "all topics with gold are training topics, so no gold is left for the comparison; give "
                "fewer training topics"
            )
        if not 0.5 < self.certainty <= 1:
            raise OptionError(f"gold's certainty {self.certainty:g} must lie above 0.5 and be at most 1")

    @staticmethod
    def split(
        grades: Judgments, share: float, *, certainty: float = 1.0, rng: int | np.random.Generator | None = None
    ) -> Gold:
        """Gold with a random share of its topics for training: at least one, and not all."""
        topics = len(grades.topics)
        if not 0 < share < 1 or topics < 2:
            raise OptionError(f"a share {share:g} of {topics} topics cannot be split off; give one between 0 and 1")
        size = min(max(round(share * topics), 1), topics - 1)
        chosen = np.sort(generator(rng).permutation(topics)[:size])
        return Gold(grades, tuple(grades.topics[t] for t in chosen), certainty)

    @staticmethod
    def of(
        gold: Judgments | Gold | None,
        train: str | Sequence[str] | None = None,
        certainty: float = 1.0,
        *,
        rng: int | np.random.Generator | None = None,
    ) -> Gold | None:
        """Gold with its options: training topics or a share of all like `30%`, and how certain a grade is."""
        if train is None and certainty == 1:
            return Gold(gold) if isinstance(gold, Judgments) else gold
        if gold is None:
            raise OptionError("train and gold_certainty need gold; add gold")
        if isinstance(gold, Gold):
            raise OptionError("kt.Gold has its own training topics and certainty; leave out these options")
        if train is None or not isinstance(train, str):
            return Gold(gold, tuple(train or ()), certainty)
        text = train.strip()
        if re.fullmatch(r"0?\.\d+", text) and text not in gold.topics:
            return Gold.split(gold, float(text), certainty=certainty, rng=rng)
        if not text.endswith("%"):
            return Gold(gold, tuple(part.strip() for part in text.split(",")), certainty)
        share = text.removesuffix("%")
        if not share.isdecimal() or not 0 < int(share) < 100:
            raise OptionError(f"train '{shorten(train)}' is not a share of the topics; write it like 30%")
        return Gold.split(gold, int(share) / 100, certainty=certainty, rng=rng)


def deal_topics(name: str, topics: int, with_gold: np.ndarray, seed: int) -> tuple[LongArray, int]:
    """A fold for every topic, so that those with gold are spread evenly; and how many folds there are."""
    if len(with_gold) < 2:
        raise DataError(
            f"{name} is trained on gold and would be compared with the same gold: gold must cover at least two topics "
            f"of the judgments, so that each is merged with gold of the others; it covers {len(with_gold)}"
        )
    rng, folds = stream(seed, "folds of topics"), min(FOLDS, len(with_gold))
    fold = rng.integers(folds, size=topics)
    fold[rng.permutation(with_gold)] = np.arange(len(with_gold)) % folds
    return fold, folds


def find_items(wanted: Judgments, among: Judgments) -> LongArray:
    """The number of each item of `wanted` in `among`, -1 where it is missing."""
    if wanted.has_topics != among.has_topics:
        raise DataError(
            "one table has topics and documents, the other has only items, so their items cannot be matched; use the "
            "same columns in both"
        )
    place = {name: t for t, name in enumerate(among.topics)}
    topic = np.array([place.get(name, -1) for name in wanted.topics])[wanted.item_topic]
    document = meet(wanted.documents, among.documents)[wanted.item_document]
    width = np.int64(len(among.documents))
    key, sought = among.item_topic * width + among.item_document, topic * width + document
    at = np.minimum(np.searchsorted(key, sought), len(key) - 1)
    return np.where((topic >= 0) & (document >= 0) & (key[at] == sought), at, -1)


def match_gold(judgments: Judgments, gold: Judgments) -> GradeArray:
    """Gold's grade of each item of `judgments`, -1 where gold has none; of repeated grades the last."""
    grade = np.full(len(gold.item_topic) + 1, -1, np.int8)
    grade[gold.item] = gold.grade
    return grade[find_items(judgments, gold)]
