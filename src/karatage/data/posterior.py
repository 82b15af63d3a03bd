"""Probabilities of items' grades after merging, and records of judges' answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from karatage.data.axes import HIGHEST_GRADE, BoolArray, FloatArray, GradeArray, freeze
from karatage.data.checks import require_equal, require_names, require_numbers, require_shape
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.plain import TableRows
from karatage.data.result import Result, list_versions
from karatage.errors import DataError, OptionError
from karatage.random_streams import generator
from karatage.text import counted

PARAMETERS = {"accuracy": (0, 1), "confusion": (0, 1), "answers": (0, np.inf)}  # ranges of the models' parameters
LEVEL = 1e-9  # smaller differences of probabilities are ties, so that rounding does not decide


@dataclass(frozen=True, eq=False, kw_only=True)
class Posterior(Result, kind="posterior"):
    """A probability for every item and grade, the grade decided on, and the model's parameters of the judges."""

    derived = ("sentence", "rows", "judges", "iterations")

    model: str
    judgments: Judgments
    probability: FloatArray  # (item, grade)
    grades: GradeArray  # (item,)
    judge_names: tuple[str, ...] = ()
    judge_topics: tuple[str, ...] = ()  # where a judge has parameters for every topic
    parameters: Mapping[str, FloatArray] = field(default_factory=dict)  # first axis: judge
    trace: FloatArray = field(default_factory=lambda: np.empty(0))  # objective after each step
    converged: bool = True
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)

    def __post_init__(self) -> None:
        """Refuse wrong probabilities and decisions that do not follow from them, and protect the arrays."""
        items = len(self.judgments.item_topic)
        require_numbers("grades", self.probability.shape[-1], 1, HIGHEST_GRADE + 1)
        require_shape("probability", self.probability, items, self.probability.shape[-1])
        require_shape("grade", self.grades, items)
        require_numbers("probability", self.probability, 0, 1)
        require_equal("the sum of an item's probabilities", self.probability.sum(axis=1), np.ones(items))
        if items:
            require_numbers("grade", self.grades, 0, self.probability.shape[1] - 1)
            chosen = self.probability[np.arange(items), self.grades]
            require_equal("the probability of an item's grade", chosen, self.probability.max(axis=1))
        require_numbers("trace", self.trace, unknown=True, endless=True)
        require_numbers("judge_topics", len(self.judge_topics), 0, len(self.judge_names))
        pairs = zip(self.judge_topics, self.judge_names, strict=True) if self.judge_topics else self.judge_names
        require_names("judges", [str(pair) for pair in pairs], least=0)
        for name, values in self.parameters.items():
            require_shape(f"parameters.{name}", values, len(self.judge_names), *values.shape[1:])
            low, high = PARAMETERS.get(name, (-np.inf, np.inf))
            require_numbers(f"parameters.{name}", values, low, high, unknown=True, endless=True)
        freeze(self.probability, self.grades, self.trace, *self.parameters.values())

    @property
    def iterations(self) -> int:
        """The number of the model's steps."""
        return len(self.trace)

    @property
    def expected(self) -> FloatArray:
        """The expected grade of each item."""
        return self.probability @ np.arange(self.probability.shape[1])

    @property
    def winners(self) -> BoolArray:
        """The grades with the highest probability, more than one in a tie; (item, grade)."""
        return find_winners(self.probability)

    @property
    def judges(self) -> pl.DataFrame:
        """One row per judge: the number of grades and the model's parameters, with a column for each number.

        `confusion_1_0` is the probability that the judge gives an item of grade 1 the grade 0.
        """
        frame = pl.DataFrame({"judge": pl.Series(self.judge_names, dtype=pl.String)})
        if self.judge_topics:
            frame = frame.with_columns(pl.Series("topic", self.judge_topics, dtype=pl.String))
        else:
            rows = np.bincount(self.judgments.every.judge, minlength=len(self.judge_names))
            frame = frame.with_columns(pl.Series("grades", rows))
        return frame.with_columns(
            pl.Series("_".join([name, *map(str, index)]), values[(slice(None), *index)])
            for name, values in self.parameters.items()
            for index in np.ndindex(*values.shape[1:])
        )

    def accuracy(self, gold: Judgments) -> float:
        """The share of gold's items with the correct grade, in expectation: each of m tied grades counts 1/m."""
        known = match_gold(self.judgments, gold)
        at = np.flatnonzero(known >= 0)
        if at.size == 0:
            raise DataError(
                "gold and judgments have no item in common, so accuracy cannot be measured; check that "
                "items are written in the same way in both"
            )
        winners = self.winners[at]
        inside = known[at] < winners.shape[1]
        right = np.zeros(len(at))
        right[inside] = (winners[inside, known[at][inside]] / winners[inside].sum(axis=1)).astype(float)
        return float(right.mean())

    def draw(self, draws: int, rng: int | np.random.Generator | None = None) -> GradeArray:
        """Grades drawn from the posterior, independently for each item; (item, draw)."""
        if draws < 0:
            raise OptionError(f"draws must be a number from 0, not {draws}")
        bound = np.cumsum(self.probability, axis=1)
        bound /= bound[:, -1:]
        chance = generator(rng).random((len(bound), draws))
        drawn = np.zeros(chance.shape, np.int8)
        for k in range(bound.shape[1] - 1):
            drawn += chance >= bound[:, k : k + 1]
        return drawn

    def as_judgments(self) -> Judgments:
        """The decided grades as judgments of the same items by one judge, named like the model."""
        source = self.judgments
        items = len(self.grades)
        return Judgments(
            judges=(self.model,),
            topics=source.topics,
            documents=source.documents,
            item_topic=source.item_topic,
            item_document=source.item_document,
            judge=np.zeros(items, np.int32),
            item=np.arange(items, dtype=np.int32),
            grade=self.grades,
            top_grade=max(source.top_grade, self.probability.shape[1] - 1),
            notes=self.notes,
        )

    def to_frame(self, gold: Judgments | None = None) -> pl.DataFrame:
        """One row per item: its grade, the probability of each, and the expected grade.

        With gold, also the items that only gold includes, whose grade is certain.
        """
        frame = self.as_judgments().to_frame().drop("judge")
        columns = [pl.Series(f"p{grade}", column) for grade, column in enumerate(self.probability.T)]
        frame = frame.with_columns([*columns, pl.Series("expected", self.expected)])
        if gold is None:
            return frame
        names = [name for name in ("topic", "document", "item") if name in frame.columns]
        rest = gold.to_frame().select(*names, "grade").join(frame, on=names, how="anti", maintain_order="left")
        grades = max(self.probability.shape[1], gold.top_grade + 1)
        frame = frame.with_columns(
            pl.lit(0.0).alias(f"p{grade}") for grade in range(self.probability.shape[1], grades)
        ).select(*names, "grade", *(f"p{grade}" for grade in range(grades)), "expected")
        certain = [(pl.col("grade") == grade).cast(pl.Float64).alias(f"p{grade}") for grade in range(grades)]
        return pl.concat([frame, rest.with_columns(*certain, pl.col("grade").cast(pl.Float64).alias("expected"))]).sort(
            names, maintain_order=True
        )

    def tell_facts(self, *, gold: Judgments | None = None) -> dict[str, Any]:
        """All facts for JSON; with gold, `added` has the items that only gold includes."""
        facts = super().tell_facts()
        if gold is not None:
            items = self.to_frame(gold)
            names = [name for name in ("topic", "document", "item") if name in items.columns]
            facts["added"] = TableRows(items.join(self.to_frame(), on=names, how="anti", maintain_order="left"))
        return facts

    @property
    def sentence(self) -> str:
        """What to take away."""
        items = len(self.grades)
        sure = self.probability.max(axis=1)
        text = f"{self.model} merged {counted(len(self.judgments.every.grade), 'grade')} by "
        text += f"{counted(len(self.judgments.judges), 'judge')} into grades for {counted(items, 'item')}"
        doubtful = int((sure < 0.9).sum())
        if not doubtful:
            return text + ", each with a probability of at least 90%."
        return (
            text + f"; {doubtful:,} ({doubtful / items:.0%}) have a probability below 90%: have these graded as gold."
        )


def find_winners(probability: FloatArray) -> BoolArray:
    """Grades within rounding of an item's best, (item, grade)."""
    best: BoolArray = probability >= probability.max(axis=1, keepdims=True) - LEVEL
    return best


def decide(probability: FloatArray) -> GradeArray:
    """The most probable grade of each item, the lowest of ties."""
    decided: GradeArray = find_winners(probability).argmax(axis=1).astype(np.int8)
    return decided


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgeRecord:
    """How often each judge gave each grade to items of each grade, as estimated by a model."""

    judges: tuple[str, ...]
    answers: FloatArray  # (judge, grade, said)

    def __post_init__(self) -> None:
        """Refuse wrong counts, and protect the array."""
        require_names("judges", self.judges)
        grades = self.answers.shape[1] if self.answers.ndim == 3 else 0
        require_shape("answers", self.answers, len(self.judges), grades, grades)
        require_numbers("answers", self.answers, 0)
        freeze(self.answers)

    def extend(self, judges: pl.DataFrame) -> pl.DataFrame:
        """A table of judges, followed by the answers of those judges in the record who are not in it."""
        absent = [j for j, name in enumerate(self.judges) if name not in set(judges["judge"])]
        columns = {
            f"answers_{grade}_{said}": self.answers[absent, grade, said]
            for grade, said in np.ndindex(*self.answers.shape[1:])
        }
        names = pl.Series("judge", [self.judges[j] for j in absent], dtype=pl.String)
        return pl.concat([judges, pl.DataFrame({"judge": names, **columns})], how="diagonal_relaxed")

    @staticmethod
    def of(posterior: Posterior) -> JudgeRecord:
        """The record from a model's parameters."""
        if "answers" not in posterior.parameters or posterior.judge_topics:
            raise OptionError(f"{posterior.model} does not estimate its judges' errors; use ds or emgz over all topics")
        return JudgeRecord(judges=posterior.judge_names, answers=posterior.parameters["answers"])
