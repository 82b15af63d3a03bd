"""Judgments as a model uses them: compressed rows, with gold; and checks that models' options share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from karatage.aggregation.notes import tell
from karatage.data.alignment import match_gold
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.choices import Supervision as Supervision
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior, decide
from karatage.errors import DataError, OptionError
from karatage.kernels.voting import Rows, count_answers, count_votes

Scope = Literal["all", "topic"]
MOST_MARKS = 50_000_000  # judges x topics up to which a mark for each is cheaper than sorting


@dataclass(frozen=True, eq=False, kw_only=True)
class Votes:
    """Rows of the items that take part, and counts from the training items.

    With scope `topic` a judge is separate in every topic, and every topic has its own prior.
    """

    judgments: Judgments
    rows: Rows
    judges: int
    grades: int
    groups: int
    taking_part: BoolArray  # (all items,)
    gold: GradeArray  # (all items,) gold's grade, -1 where unknown or not to be used
    gold_answers: FloatArray  # (judge, grade, said) on training items
    gold_classes: FloatArray  # (grade,) training items by gold's grade
    judge_names: tuple[str, ...]
    judge_topics: tuple[str, ...] = ()

    @staticmethod
    def prepare(
        judgments: Judgments, gold: Judgments | None = None, supervision: Supervision = "none", *, scope: Scope = "all"
    ) -> Votes:
        """Gold of the training items sets priors; `light` leaves those items out, `full` fixes their grades."""
        for name, value, offered in ("supervision", supervision, Supervision), ("scope", scope, Scope):
            if value not in get_args(offered):
                raise OptionError(f"{name} '{value}' is none of {', '.join(get_args(offered))}")
        if supervision != "none" and gold is None:
            raise OptionError(f"supervision '{supervision}' needs gold; give some, or use supervision 'none'")
        source, judgments = judgments, judgments.every
        items = len(judgments.item_topic)
        training = np.full(items, -1, np.int8)
        if gold is not None and supervision != "none":
            training = match_gold(judgments, gold)
        top = max(judgments.top_grade, int(training.max(initial=0)))
        judge, names, topics = _number_judges(judgments, scope)
        return Votes(
            judgments=source,
            rows=_compress(judgments, judge, training, supervision, scope, (len(names), top + 1)),
            judges=len(names),
            grades=top + 1,
            groups=len(judgments.topics) if scope == "topic" else 1,
            taking_part=training < 0 if supervision == "light" else np.ones(items, bool),
            gold=training,
            gold_answers=_count_gold(judgments, judge, len(names), training, top + 1),
            gold_classes=np.bincount(training[training >= 0], minlength=top + 1).astype(float),
            judge_names=names,
            judge_topics=topics,
        )

    @property
    def items(self) -> int:
        """Items that take part."""
        return len(self.rows.group)

    def count(self) -> FloatArray:
        """Votes for each grade, (item, grade)."""
        return count_votes(self.rows.start, self.rows.said, self.grades)

    def share(self) -> FloatArray:
        """The share of each grade in an item's votes, (item, grade); equal shares where there are no votes."""
        share = self.count()
        silent = np.flatnonzero(np.diff(self.rows.start) == 0)
        share[silent] = 1.0
        share /= share.sum(axis=1, keepdims=True)
        return share

    def weigh(self, weight: FloatArray) -> FloatArray:
        """The share of each grade in an item's votes by `weight` (judge,); plain shares where all weights are 0."""
        item = np.repeat(np.arange(self.items), np.diff(self.rows.start))
        total = np.zeros((self.items, self.grades))
        for k in range(self.grades):
            total[:, k] = np.bincount(item, weight[self.rows.judge] * (self.rows.said == k), minlength=self.items)
        whole = total.sum(axis=1, keepdims=True)
        return np.where(whole > 0, total / np.where(whole > 0, whole, 1.0), self.share())

    def posterior(
        self,
        model: str,
        probability: FloatArray,
        *,
        parameters: Mapping[str, FloatArray] | None = None,
        trace: FloatArray | None = None,
        converged: bool = True,
        notes: tuple[Note, ...] = (),
    ) -> Posterior:
        """Beliefs about all items: `probability` for those that took part, gold's grade for training items."""
        whole = probability
        if not self.taking_part.all() or (self.gold >= 0).any():
            whole = np.zeros((len(self.taking_part), self.grades))
            whole[self.taking_part] = probability
            known = np.flatnonzero(self.gold >= 0)
            whole[known] = 0.0
            whole[known, self.gold[known]] = 1.0
        return Posterior(
            model=model,
            judgments=self.judgments,
            probability=whole,
            grades=decide(whole),
            judge_names=self.judge_names,
            judge_topics=self.judge_topics,
            parameters=dict(parameters or {}),
            trace=np.empty(0) if trace is None else trace,
            converged=converged,
            notes=(*self._tell(), *notes),
        )

    def _tell(self) -> tuple[Note, ...]:
        silent, known = int((np.diff(self.rows.start) == 0).sum()), int((self.gold >= 0).sum())
        return (
            *tell.when(silent, "silent", items=silent),
            *tell.when(known, "gold-known", known=known, items=len(self.gold)),
        )


def judges_meet(judgments: Judgments) -> bool:
    """Whether some item was graded by two judges; rows of an item stand together, sorted by judge."""
    same_item, other_judge = judgments.item[1:] == judgments.item[:-1], judgments.judge[1:] != judgments.judge[:-1]
    return bool((same_item & other_judge).any())


def _number_judges(judgments: Judgments, scope: Scope) -> tuple[IntArray, tuple[str, ...], tuple[str, ...]]:
    """Judges by row, and their names; with scope `topic`, one number for each judge in each topic."""
    if scope == "all":
        return judgments.judge, judgments.judges, ()
    pair = judgments.item_topic[judgments.item].astype(np.int64) * len(judgments.judges) + judgments.judge
    pairs, judge = _number(pair, len(judgments.topics) * len(judgments.judges))
    names = tuple(judgments.judges[k] for k in pairs % len(judgments.judges))
    return judge.astype(np.int32), names, tuple(judgments.topics[t] for t in pairs // len(judgments.judges))


def _number(code: LongArray, codes: int) -> tuple[LongArray, LongArray]:
    """The distinct codes, sorted, and where each row's stands among them."""
    if codes > MOST_MARKS:
        return np.unique(code, return_inverse=True)
    there = np.zeros(codes, bool)
    there[code] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[code]


def _compress(
    judgments: Judgments,
    judge: IntArray,
    training: GradeArray,
    supervision: Supervision,
    scope: Scope,
    shape: tuple[int, int],
) -> Rows:
    by_topic = scope == "topic" or len(judgments.topics) == 1
    group = judgments.item_topic if by_topic else np.zeros(len(training), np.int32)
    if supervision != "light" or not (training >= 0).any():
        answered = count_answers(judge, judgments.grade, *shape)
        return Rows(judgments.row_start, judge, judgments.grade, group, training, answered)
    stays = training < 0
    kept = stays[judgments.item]
    start = np.r_[0, np.cumsum(np.diff(judgments.row_start)[stays])]
    judge, said = judge[kept], judgments.grade[kept]
    return Rows(start, judge, said, group[stays], training[stays], count_answers(judge, said, *shape))


def _count_gold(judgments: Judgments, judge: IntArray, judges: int, training: GradeArray, grades: int) -> FloatArray:
    """How often each judge said what on items of each grade, (judge, grade, said)."""
    if not (training >= 0).any():
        return np.zeros((judges, grades, grades))
    row = np.flatnonzero(training[judgments.item] >= 0)
    true = training[judgments.item[row]].astype(np.int64)
    cell = (judge[row] * np.int64(grades) + true) * grades + judgments.grade[row]
    return np.bincount(cell, minlength=judges * grades * grades).reshape(judges, grades, grades).astype(float)


def check_counts(prior: tuple[float, float] | None) -> None:
    """Counts to add to a judge's matrix."""
    if prior is not None and (len(prior) != 2 or not all(0 <= count < math.inf for count in prior)):
        raise OptionError(f"prior {prior} must be two counts from 0, like (0.5,3), or none")


def check_beta(prior: tuple[float, float], classes: float) -> None:
    """A prior whose mode lies inside."""
    if len(prior) != 2 or not all(1 <= count < math.inf for count in prior):
        raise OptionError(f"prior {prior} must be the two parameters of a Beta prior, from 1, like (7,3)")
    if not 1 <= classes < math.inf:
        raise OptionError(f"classes {classes} must be a Dirichlet parameter from 1")


def check_dialect(dialect: str | None, *known: str) -> None:
    """A dialect that exists."""
    if dialect is not None and dialect not in known:
        raise OptionError(f"dialect '{dialect}' is none of {', '.join(known)}; leave it out for the model's own form")


def need_gold(name: str, supervision: str) -> None:
    """Refuse to go on without gold."""
    if supervision == "none":
        raise OptionError(
            f"{name} learns its judges from gold, so it needs gold and supervision 'light' or 'full'; "
            "without gold, use ds, zc or ry"
        )


def need_binary(name: str, grades: int) -> None:
    """Refuse anything but two grades."""
    if grades != 2:
        raise DataError(
            f"{name} knows grades 0 and 1 only, but these go up to {grades - 1}; merge grades when reading, "
            "or leave the dialect out"
        )
