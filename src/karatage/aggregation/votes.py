"""What models share: judgments as compressed rows with gold, and EM in which a judge is a table p(said | grade)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from karatage.aggregation.notes import tell
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.options import Supervision
from karatage.data.posterior import Posterior, decide
from karatage.errors import OptionError
from karatage.kernels.voting import Rows, count, count_answers, count_votes, expect

Scope = Literal["all", "topic"]
Rng = int | np.random.Generator | None
Progress = Callable[[int, float], None]  # the number of the step, and the objective after it
# Counts added to every judge's matrix, beside the diagonal and on it. A weaker pull falls behind the plain vote where
# judges have ten grades each; a stronger one loses on crowds whose judges are known well.
DIAGONAL = (0.5, 3.0)
SMALLEST = 1e-300  # stands for zero, whose logarithm would be infinite
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
                raise OptionError(f"{name} '{value}' is not one of {', '.join(get_args(offered))}")
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


class VoteModel:
    """A model of how votes come about. All models have the same `fit`; each has its own `learn`."""

    name: ClassVar[str]
    needs_gold: ClassVar[bool] = False

    def fit(
        self,
        judgments: Judgments,
        *,
        gold: Judgments | None = None,
        supervision: Supervision = "none",
        rng: Rng = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Merge the judgments; only models that draw at random use `rng`."""
        if self.needs_gold and supervision == "none":
            raise OptionError(
                f"{self.name} learns its judges from gold, so it needs gold and supervision 'light' or 'full'; "
                "without gold, use ds, zc or ry"
            )
        votes = Votes.prepare(judgments, gold, supervision, scope=getattr(self, "scope", "all"))
        return self.learn(votes, rng, progress)

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Beliefs about all items."""
        raise NotImplementedError


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


def first_grades(rows: Rows) -> Rows:
    """Of a judge's grades for an item, the first."""
    return _keep(rows, _pairs(rows))


def distinct_grades(rows: Rows) -> Rows:
    """Of a judge's equal grades for an item, one."""
    return _keep(rows, _pairs(rows) * rows.answered.shape[1] + rows.said)


def _pairs(rows: Rows) -> LongArray:
    item = np.repeat(np.arange(len(rows.group), dtype=np.int64), np.diff(rows.start))
    pair: LongArray = item * len(rows.answered) + rows.judge
    return pair


def _keep(rows: Rows, key: LongArray) -> Rows:
    """The first row of each key."""
    kept = np.zeros(len(key), bool)
    kept[np.unique(key, return_index=True)[1]] = True
    judge, said = rows.judge[kept], rows.said[kept]
    start = np.r_[0, np.cumsum(kept)][rows.start]
    return rows._replace(start=start, judge=judge, said=said, answered=count_answers(judge, said, *rows.answered.shape))


class Tables(NamedTuple):
    """What an M-step finds, as logarithms, and the log density of it under the model's priors."""

    prior: FloatArray  # (group, grade)
    answer: FloatArray  # (judge, said, grade)
    density: float = 0.0


class Counts(NamedTuple):
    """Expected numbers of items by grade, and of answers by what was said and the item's grade; gold included."""

    classes: FloatArray  # (group, grade)
    answers: FloatArray  # (judge, said, grade)


class Fit(NamedTuple):
    """Where EM ended."""

    probability: FloatArray  # (item, grade)
    counts: Counts
    tables: Tables
    trace: FloatArray  # log-likelihood plus log density after each step
    converged: bool

    def posterior(
        self, votes: Votes, model: str, parameters: Mapping[str, FloatArray], notes: tuple[Note, ...] = ()
    ) -> Posterior:
        """Beliefs about all items, with a warning where EM was stopped before it converged."""
        return votes.posterior(
            model,
            self.probability,
            parameters=parameters,
            trace=self.trace,
            converged=self.converged,
            notes=(*tell.when(not self.converged, "not-converged", model=model, steps=len(self.trace)), *notes),
        )


def iterate(
    votes: Votes,
    maximise: Callable[[Counts], Tables],
    start: FloatArray | Tables,
    *,
    max_steps: int,
    tolerance: float,
    hard: bool = False,
    progress: Progress | None = None,
) -> Fit:
    """Alternate M and E from posteriors (item, grade) or tables, until no posterior moves by `tolerance`.

    Posteriors to start from are overwritten.
    """
    check_steps(max_steps, tolerance)
    trace: list[float] = []
    if isinstance(start, Tables):
        probability = np.zeros((votes.items, votes.grades))
        tables, counts = start, Counts(*expect(votes.rows, start.prior, start.answer, hard, probability)[:2])
    else:
        probability = start
        counts = Counts(*count(votes.rows, votes.groups, probability))
    converged = False
    places = votes.rows.places
    for step in range(max_steps):
        tables = maximise(counts)
        found = expect(votes.rows, tables.prior, tables.answer, hard, probability, places)
        counts = Counts(found.classes, found.answers)
        trace.append(found.log_likelihood + tables.density)
        if progress is not None:
            progress(step + 1, trace[-1])
        converged = found.change < tolerance
        if converged:
            break
    return Fit(probability, counts, tables, np.array(trace), converged)


def log(probability: FloatArray) -> FloatArray:
    """Logarithms that stay finite."""
    return np.log(np.maximum(probability, SMALLEST))


def normalise(counts: FloatArray, axis: int) -> FloatArray:
    """Shares along an axis; equal ones where nothing was counted."""
    total = counts.sum(axis=axis, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), 1 / counts.shape[axis])


def prior_answers(votes: Votes, beside: float, on: float) -> FloatArray:
    """Counts added for every judge, beside the diagonal and on it, (1, said, grade).

    Where gold is given, its judges' pooled matrix takes the diagonal's place, with the same total weight.
    """
    added = np.full((votes.grades, votes.grades), beside)
    np.fill_diagonal(added, on)
    pooled = votes.gold_answers.sum(axis=0).T
    strength = added.sum(axis=0, keepdims=True)
    counts: FloatArray = (strength * normalise(pooled + added, 0))[None]
    return counts


def unheard_classes(votes: Votes) -> FloatArray:
    """Training items by gold's grade, (group, grade), where they are left out of the rows; else those count them."""
    shape = (votes.groups, votes.grades)
    if (votes.rows.known >= 0).any():
        return np.zeros(shape)
    training = np.flatnonzero(votes.gold >= 0)
    group = votes.judgments.item_topic[training] if votes.groups > 1 else np.zeros(len(training), np.int32)
    cell = group * np.int64(votes.grades) + votes.gold[training]
    return np.bincount(cell, minlength=votes.groups * votes.grades).reshape(shape).astype(float)


def begin(votes: Votes, answer: FloatArray) -> FloatArray | Tables:
    """Where to start: every judge as gold's judges are together, by `answer` (said, grade); else the share of votes.

    Inverted votes are another local maximum, from which no step leads to the right one.
    """
    if not votes.gold_answers.any():
        return votes.share()
    prior = np.tile(log(normalise(votes.gold_classes + 1, 0)), (votes.groups, 1))
    return Tables(prior, np.broadcast_to(log(answer), (votes.judges, *answer.shape)))


def imply_accuracy(confusion: FloatArray, classes: FloatArray) -> FloatArray:
    """How often a judge would be right, were all grades met as often as `classes` says, (judge,)."""
    accuracy: FloatArray = np.einsum("jkk,k->j", confusion, normalise(classes, 0))
    return accuracy


def maximise(counts: Counts, added: FloatArray, classes: FloatArray) -> Tables:
    """[RY10], M-step: the mode given expected counts, with counts added to answers and grades."""
    prior, answer = log(normalise(counts.classes + classes, 1)), log(normalise(counts.answers + added, 1))
    answered = np.broadcast_to(added, answer.shape)
    return Tables(prior, answer, float((answered * answer).sum() + (classes * prior).sum()))


def describe(fit: Fit) -> dict[str, FloatArray]:
    """A judge's accuracy, and the matrix it follows from; with two grades, sensitivity and specificity as well."""
    confusion = np.exp(fit.tables.answer).transpose(0, 2, 1)
    found = {"accuracy": imply_accuracy(confusion, fit.counts.classes.sum(axis=0)), "confusion": confusion}
    if confusion.shape[1] == 2:
        found |= {"sensitivity": confusion[:, 1, 1].copy(), "specificity": confusion[:, 0, 0].copy()}
    return found


def check_counts(prior: tuple[float, float] | None) -> None:
    """Counts to add to a judge's matrix."""
    if prior is not None and (len(prior) != 2 or not all(0 <= count < math.inf for count in prior)):
        raise OptionError(f"prior {prior} must be two counts from 0, like (0.5,3), or none")


def check_steps(max_steps: int, tolerance: float) -> None:
    """At least one step, and a tolerance that can be met."""
    if max_steps < 1 or not tolerance >= 0:
        raise OptionError(f"max_steps {max_steps} must be at least 1, and tolerance {tolerance} at least 0")


def check_dialect(dialect: str | None, *known: str) -> None:
    """A dialect that exists."""
    if dialect is not None and dialect not in known:
        raise OptionError(
            f"dialect '{dialect}' is not one of {', '.join(known)}; leave it out for the model's own form"
        )
