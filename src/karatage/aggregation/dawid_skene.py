"""Judges with a confusion matrix, found by EM together with the grades [DS79], or a record on each grade [GZ14]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.votes import (
    DIAGONAL,
    Counts,
    Fit,
    Progress,
    Rng,
    Scope,
    Tables,
    VoteModel,
    Votes,
    begin,
    check_counts,
    check_dialect,
    check_steps,
    first_grades,
    imply_accuracy,
    iterate,
    log,
    normalise,
    prior_answers,
    unheard_classes,
)
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import find_items
from karatage.data.note import Note
from karatage.data.posterior import JudgeRecord, Posterior, decide, find_winners
from karatage.errors import OptionError
from karatage.kernels.voting import converge, count, expect
from karatage.memory import spread

Start = Literal["share", "mv", "neutral"]
TopicStart = Literal["mv", "neutral"]
Dialect = Literal["gal"]
NEUTRAL = 0.9  # [AWARE17]: how often a judge is right before anything is known
WORTH_CHECKING = 5_000_000  # rows up to which the unsmoothed model is fitted as well, to tell where it differs
MANY = 0.05
GAL_STEPS, GAL_DECIMALS = 50, 5  # of Get-Another-Label's program
LEAST = 1e-10  # counted for every answer that a judge uses: EM could never leave a zero


@dataclass(frozen=True, kw_only=True)
class DawidSkene(VoteModel):
    """EM over confusion matrices and the shares of the grades.

    Maximum likelihood (`prior=None`) overfits judges with few grades, so by default matrices are shrunk towards
    the diagonal. `start` is the share of votes, the majority's grade, neutral matrices, or an earlier posterior.
    `history` is an earlier posterior, or its record, whose counts enter every step. Dialect `gal` is the
    program that the SQUARE benchmark ran: it takes no other option.
    """

    name: ClassVar[str] = "ds"

    prior: tuple[float, float] | None = DIAGONAL
    scope: Scope = "all"
    start: Start | Posterior = "share"
    history: JudgeRecord | Posterior | None = None
    dialect: Dialect | None = None
    max_steps: int = 1000
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        """Check the options."""
        if not isinstance(self.start, Posterior) and self.start not in get_args(Start):
            raise OptionError(f"start '{self.start}' is not one of {', '.join(get_args(Start))}, nor a posterior")
        check_counts(self.prior)
        if isinstance(self.history, Posterior):
            JudgeRecord.of(self.history)
        if self.history is not None and self.scope == "topic":
            raise OptionError("a history is of judges over all topics, so it needs scope 'all'")
        check_dialect(self.dialect, *get_args(Dialect))
        given = [f.name for f in fields(self) if f.name != "dialect" and getattr(self, f.name) != f.default]
        if self.dialect is not None and given:
            raise OptionError(f"dialect '{self.dialect}' does as its program did, so it takes no {given[0]}")

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM."""
        if self.dialect == "gal":
            return _fit_get_another_label(votes, progress)
        known = recall(self.history, votes)
        prior = np.zeros((1, votes.grades, votes.grades)) if self.prior is None else prior_answers(votes, *self.prior)
        fit = self._iterate(votes, prior + known, progress)
        doubts: tuple[Note, ...] = ()
        if self.prior is not None and len(votes.rows.judge) <= WORTH_CHECKING:
            doubts = _tell_smoothing(fit, self._iterate(votes, known, None))
        confusion = np.exp(fit.tables.answer).transpose(0, 2, 1)
        parameters = {
            "accuracy": imply_accuracy(confusion, fit.counts.classes.sum(axis=0)),
            "confusion": confusion,
            "answers": (fit.counts.answers + known).transpose(0, 2, 1) + _unheard_answers(votes),
        }
        return fit.posterior(votes, self.name, parameters, doubts)

    def _iterate(self, votes: Votes, added: FloatArray, progress: Progress | None) -> Fit:
        """EM with `added` (judge or 1, said, grade) counted in every M-step."""
        unheard = unheard_classes(votes)
        least = LEAST * (votes.rows.answered > 0)[:, :, None]

        def maximise(counts: Counts) -> Tables:
            answers = np.maximum(counts.answers + added, least)
            prior, answer = log(normalise(counts.classes + unheard, 1)), log(normalise(answers, 1))
            return Tables(prior, answer, float((added * answer).sum() + (unheard * prior).sum()))

        return iterate(
            votes, maximise, self._begin(votes), max_steps=self.max_steps, tolerance=self.tolerance, progress=progress
        )

    def _begin(self, votes: Votes) -> FloatArray | Tables:
        if isinstance(self.start, Posterior):
            return _begin_from(self.start, votes)
        if self.start == "neutral":
            return neutral_tables(votes)
        if self.start == "mv":
            return _believe_majority(votes)
        typical = prior_answers(votes, *(self.prior or DIAGONAL))
        return begin(votes, normalise(typical[0], 0))


def _unheard_answers(votes: Votes) -> FloatArray:
    """Answers on training items that are left out of the rows, (judge, grade, said)."""
    return votes.gold_answers if unheard_classes(votes).any() else np.zeros_like(votes.gold_answers)


def neutral_tables(votes: Votes) -> Tables:
    """Every judge right nine times in ten, every grade as likely [AWARE17]."""
    answer = _neutral_matrix(votes.grades)
    prior = np.full((votes.groups, votes.grades), 1 / votes.grades)
    return Tables(log(prior), np.broadcast_to(log(answer), (votes.judges, *answer.shape)))


def _neutral_matrix(grades: int) -> FloatArray:
    matrix = np.full((grades, grades), (1 - NEUTRAL) / max(grades - 1, 1))
    np.fill_diagonal(matrix, NEUTRAL)
    return matrix


def _begin_from(earlier: Posterior, votes: Votes) -> FloatArray:
    """An earlier posterior where it knows the item, the share of votes elsewhere."""
    belief = votes.share()
    grades = earlier.probability.shape[1]
    if grades > votes.grades:
        raise OptionError(f"the posterior to start from has {grades} grades, these judgments have {votes.grades}")
    items = np.flatnonzero(votes.taking_part)
    place = find_items(votes.judgments, earlier.judgments)[items]
    belief[place >= 0] = 0.0
    belief[place >= 0, :grades] = earlier.probability[place[place >= 0]]
    return belief


def _tell_smoothing(fit: Fit, unsmoothed: Fit) -> tuple[Note, ...]:
    differ = float((decide(fit.probability) != decide(unsmoothed.probability)).mean()) if len(fit.probability) else 0.0
    return tell.when(differ > MANY, "prior-decides", model="ds", share=differ)


@dataclass(frozen=True, kw_only=True)
class TopicEM(VoteModel):
    """The EM of the AWARE papers: maximum likelihood in each topic on its own, so that a count of 0 stays 0.

    `start` is the grade of the majority (`mv`; tied grades have equal shares) or `neutral` matrices. A topic stops when
    none of its posteriors moves by `tolerance`.
    """

    name: ClassVar[str] = "emmv"
    scope: ClassVar[Scope] = "topic"

    start: TopicStart = "mv"
    max_steps: int = 1000
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        """Check the options."""
        if self.start not in get_args(TopicStart):
            raise OptionError(f"start '{self.start}' is not one of {', '.join(get_args(TopicStart))}")
        check_steps(self.max_steps, self.tolerance)

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Run EM in each topic."""
        probability = self._begin(votes)
        classes, answers = count(votes.rows, votes.groups, probability)
        flat, table = answers.reshape(-1), np.empty(answers.size)
        unheard, places = unheard_classes(votes), votes.rows.places
        items = np.searchsorted(votes.rows.group, np.arange(votes.groups + 1)).tolist()
        cells = (_count_judges(votes).cumsum() * votes.grades**2).tolist()

        def work(topic: int) -> tuple[FloatArray, bool]:
            return converge(
                places.start,
                places.place,
                places.known,
                (items[topic], items[topic + 1]),
                (cells[topic], cells[topic + 1]),
                unheard[topic],
                self.max_steps,
                self.tolerance,
                probability,
                flat,
                table,
                classes[topic],
            )

        traces, converged = zip(*spread(work, range(votes.groups)), strict=True)
        trace = _add_traces(traces)
        if progress is not None:
            for step, value in enumerate(trace.tolist(), 1):
                progress(step, value)
        confusion = table.reshape(answers.shape).transpose(0, 2, 1)
        parameters = {
            "accuracy": imply_accuracy(confusion, classes.sum(axis=0)),
            "confusion": confusion,
            "answers": answers.transpose(0, 2, 1) + _unheard_answers(votes),
        }
        name = "emneu" if self.start == "neutral" else self.name
        return votes.posterior(
            name,
            probability,
            parameters=parameters,
            trace=trace,
            converged=all(converged),
            notes=tell.when(not all(converged), "not-converged", model=name, steps=len(trace)),
        )

    def _begin(self, votes: Votes) -> FloatArray:
        if self.start == "mv":
            return _believe_majority(votes)
        probability = np.zeros((votes.items, votes.grades))
        start = neutral_tables(votes)
        expect(votes.rows, start.prior, start.answer, False, probability)
        return probability


def _believe_majority(votes: Votes) -> FloatArray:
    return normalise(find_winners(votes.share()).astype(float), 1)


def _count_judges(votes: Votes) -> LongArray:
    """How many judges each topic has, after a 0."""
    judges = Counter(votes.judge_topics)
    return np.array([0, *(judges[topic] for topic in votes.judgments.topics)], np.int64)


def _add_traces(traces: Sequence[FloatArray]) -> FloatArray:
    """The sum over topics after each step; topics that have stopped keep their last value."""
    total = np.zeros(max(map(len, traces)))
    for trace in traces:
        total[: len(trace)] += trace
        total[len(trace) :] += trace[-1]
    return total


class LogSums(NamedTuple):
    """Sums of log-probabilities, (item or row, grade), and of how many of them were zero."""

    log: FloatArray
    zeros: FloatArray


def _fit_get_another_label(votes: Votes, progress: Progress | None = None) -> Posterior:
    """What Get-Another-Label's program does, which SQUARE ran as DS [GAL10].

    A judge's matrix comes from what all others say; of repeated grades the first is used.

    Matrices are not smoothed: a zero rules a grade out, an item with every grade ruled out keeps its posterior.
    With gold, the shares of the grades are gold's throughout.
    """
    rows = first_grades(votes.rows)
    item = np.repeat(np.arange(votes.items), np.diff(rows.start))
    alone = (np.diff(rows.start) == 1)[item] & (rows.known[item] < 0)
    probability = _clamp(np.full((votes.items, votes.grades), 1 / votes.grades), rows.known)
    shares = normalise(votes.gold_classes, 0)
    confusion = np.tile(_neutral_matrix(votes.grades), (votes.judges, 1, 1))
    trace: list[float] = []
    for step in range(GAL_STEPS):
        own = _hear(confusion[rows.judge, :, rows.said])
        total = LogSums(_add_up(own.log, item, votes.items), _add_up(own.zeros, item, votes.items))
        belief, possible, evidence = _believe(total, shares)
        change = float(np.abs(belief - probability)[possible].max(initial=0.0))
        probability[possible] = belief[possible]
        _clamp(probability, rows.known)
        if not votes.gold_classes.any():
            shares = probability.mean(axis=0)
        others, possible, _ = _believe(LogSums(total.log[item] - own.log, total.zeros[item] - own.zeros), shares)
        _clamp(others, rows.known[item])
        confusion = _count(votes, rows.judge, rows.said, np.where((possible & ~alone)[:, None], others, 0.0))
        trace.append(evidence)
        if progress is not None:
            progress(step + 1, evidence)
    known = np.nan_to_num(confusion, nan=1 / votes.grades)
    return votes.posterior(
        "ds",
        normalise(probability, 1),  # rounding left it beside one
        parameters={"accuracy": imply_accuracy(known, shares), "confusion": known},
        trace=np.array(trace),
        converged=change < 1e-4,
        notes=tell.when(change >= 1e-4, "moving", model="ds(dialect=gal)", steps=GAL_STEPS),
    )


def _hear(chance: FloatArray) -> LogSums:
    """Logarithms (row, grade); a grade that the judge never met has no effect."""
    zero = chance == 0
    return LogSums(np.log(np.where(zero | np.isnan(chance), 1.0, chance)), zero.astype(float))


def _believe(evidence: LogSums, shares: FloatArray) -> tuple[FloatArray, BoolArray, float]:
    """Rounded posteriors, where there are any, and the log-likelihood of those."""
    ruled_out = (evidence.zeros > 0) | (shares == 0)
    joint = np.where(ruled_out, -np.inf, evidence.log + np.log(np.where(shares > 0, shares, 1.0)))
    possible = ~ruled_out.all(axis=1)
    joint[~possible] = 0.0
    top = joint.max(axis=1, keepdims=True)
    mass = np.exp(joint - top)
    likelihood = float((np.log(mass.sum(axis=1)) + top[:, 0])[possible].sum())
    return np.round(normalise(mass, 1), GAL_DECIMALS), possible, likelihood


def _count(votes: Votes, judge: IntArray, said: GradeArray, weight: FloatArray) -> FloatArray:
    """Matrices (judge, grade, said) from posteriors by row; NaN where the judge never met the grade."""
    answers = np.zeros((votes.judges, votes.grades, votes.grades))
    cell = judge.astype(np.int64) * votes.grades + said
    for k in range(votes.grades):
        counted = np.bincount(cell, weight[:, k], minlength=votes.judges * votes.grades)
        answers[:, k] = counted.reshape(votes.judges, votes.grades)
    met = answers.sum(axis=2, keepdims=True)
    return np.where(met > 0, answers / np.where(met > 0, met, 1.0), np.nan)


def _add_up(rows: FloatArray, item: LongArray, items: int) -> FloatArray:
    return np.stack([np.bincount(item, column, minlength=items) for column in rows.T], axis=1)


def _clamp(probability: FloatArray, known: GradeArray) -> FloatArray:
    at = np.flatnonzero(known >= 0)
    probability[at] = 0.0
    probability[at, known[at]] = 1.0
    return probability


def recall(history: JudgeRecord | Posterior | None, votes: Votes) -> FloatArray:
    """What each judge answered in earlier batches, (judge, said, grade)."""
    known = np.zeros((votes.judges, votes.grades, votes.grades))
    if history is None:
        return known
    record = history if isinstance(history, JudgeRecord) else JudgeRecord.of(history)
    earlier = record.answers.transpose(0, 2, 1)
    if earlier.shape[1] > votes.grades:
        top = earlier.shape[1] - 1
        raise OptionError(
            f"the history has grades up to {top}, these judgments up to {votes.grades - 1}; read them "
            f"with grades '0-{top}'"
        )
    place = {name: j for j, name in enumerate(record.judges)}
    for j, name in enumerate(votes.judge_names):
        if name in place:
            known[j, : earlier.shape[1], : earlier.shape[1]] = earlier[place[name]]
    return known


@dataclass(frozen=True, kw_only=True)
class JudgeHistory(VoteModel):
    """Hard EM over how often a judge is right on each grade; wrong grades are equally likely.

    A judge's record on gold, and in an earlier posterior (`history`), is counted again in every step; `smoothing`
    is added to right and to wrong. Every grade is as likely beforehand: the vote is the sum of log-odds.
    """

    name: ClassVar[str] = "emgz"

    smoothing: float = 1.0
    history: JudgeRecord | Posterior | None = None
    max_steps: int = 1000

    def __post_init__(self) -> None:
        """Check the options."""
        if not self.smoothing > 0:
            raise OptionError(f"smoothing {self.smoothing} must be a count above 0")
        if isinstance(self.history, Posterior):
            JudgeRecord.of(self.history)

    def learn(self, votes: Votes, rng: Rng, progress: Progress | None) -> Posterior:
        """Start from judges' records, else from the majority, and alternate until no grade changes."""
        known = recall(self.history, votes)
        record = known + votes.gold_answers.transpose(0, 2, 1)
        if unheard_classes(votes).any():
            known = record
        prior = np.full((1, votes.grades), -np.log(votes.grades))

        def maximise(counts: Counts) -> Tables:
            answer, density = self._weigh(counts.answers + known, known)
            return Tables(prior, answer, density)

        start: FloatArray | Tables = _believe_majority(votes)
        if record.any():
            start = Tables(prior, self._weigh(record, known)[0])
        fit = iterate(votes, maximise, start, max_steps=self.max_steps, tolerance=0.5, hard=True, progress=progress)
        expect(votes.rows, prior, fit.tables.answer, False, fit.probability)
        reliability = np.exp(np.einsum("jkk->jk", fit.tables.answer))
        parameters = {
            "accuracy": reliability @ normalise(fit.counts.classes[0], 0),
            "reliability": reliability,
            "answers": (fit.counts.answers + known).transpose(0, 2, 1),
        }
        return fit.posterior(votes, self.name, parameters)

    def _weigh(self, answers: FloatArray, known: FloatArray) -> tuple[FloatArray, float]:
        """Log tables from a judge's whole record, and the log density of what was counted beforehand."""
        grades = answers.shape[1]
        right = np.einsum("jkk->jk", answers) + self.smoothing
        share = right / (answers.sum(axis=1) + 2 * self.smoothing)
        wrong = (1 - share) / max(grades - 1, 1)
        answer = log(np.where(np.eye(grades, dtype=bool), share[:, None], wrong[:, None]))
        density = self.smoothing * (np.log(share) + np.log(1 - share)).sum() + (known * answer).sum()
        return answer, float(density)
