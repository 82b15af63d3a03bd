"""What a measure is: a name with options, written as in a paper (`nDCG@20`, `P(rel=2)@10`), and its declaration.

`Family` is the declaration. `Block` and `Chances` are what its functions compute from, and the checks at the end read
its options. All declarations are in `registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from karatage.data.axes import HIGHEST_GRADE, BoolArray, FloatArray, GradeArray, IntArray
from karatage.kernels import ranking
from karatage.notation import print_word

Value = int | float | str | tuple[tuple[int, float], ...]
Check = Callable[[object], Value]
HIGHEST_GAIN = 1e100


@dataclass(frozen=True)
class Measure:
    """A measure with the options that were spelled out; print it to get its name back."""

    name: str
    options: tuple[tuple[str, Value], ...] = ()
    cutoff: int | None = None

    def has(self, option: str) -> bool:
        """Whether the option was spelled out."""
        return any(name == option for name, _ in self.options)

    def number(self, option: str, default: float) -> float:
        """A numeric option, or `default` where it was not given."""
        value = dict(self.options).get(option, default)
        assert isinstance(value, int | float)
        return value

    @property
    def level(self) -> int:
        """The lowest grade that counts as relevant."""
        return int(self.number("rel", 1))

    @property
    def discount(self) -> str:
        """The kind of discounted gain."""
        return str(dict(self.options).get("dcg", "log2"))

    @property
    def gains(self) -> tuple[tuple[int, float], ...]:
        """Gains given for single grades."""
        value = dict(self.options).get("gains", ())
        assert isinstance(value, tuple)
        return value

    def depth(self, deepest: int) -> int:
        """Ranks that the measure looks at, of those there are."""
        return deepest if self.cutoff is None else min(self.cutoff, deepest)

    def __str__(self) -> str:
        options = ",".join(f"{name}={_print(value)}" for name, value in self.options)
        cutoff = f"@{self.cutoff}" if self.cutoff is not None else ""
        return self.name + (f"({options})" if options else "") + cutoff


@dataclass(frozen=True, eq=False)
class Block:
    """One topic under some judges: what a measure needs to know."""

    ranked: IntArray  # (system, rank) item of this topic, negative = outside the pool
    length: IntArray  # (system,) documents retrieved
    grade: GradeArray  # (item, judge), -1 = not judged
    top_grade: int
    _count: dict[int, FloatArray] = field(default_factory=dict)

    def empty(self) -> FloatArray:
        """Zeros (system, judge) to sum into."""
        return np.zeros((self.ranked.shape[0], self.grade.shape[1]))

    def count(self, level: int) -> FloatArray:
        """Items with at least this grade, per judge; measures share it."""
        if level not in self._count:
            total = np.zeros(self.grade.shape[1])
            ranking.count_at_least(self.grade, level, total)
            self._count[level] = total
        return self._count[level]

    @property
    def deepest(self) -> int:
        """Ranks of the deepest ranking."""
        return int(self.ranked.shape[1])


@dataclass(frozen=True, eq=False)
class Chances:
    """One topic under some sets of probabilities: what an expected measure needs to know."""

    ranked: IntArray  # (system, rank) item of this topic, negative = outside the pool
    probability: FloatArray  # (set, item, grade)
    _tail: dict[int, FloatArray] = field(default_factory=dict)

    @property
    def top_grade(self) -> int:
        """The highest grade that has a probability."""
        return int(self.probability.shape[2]) - 1

    @property
    def pool(self) -> int:
        """Items of this topic."""
        return int(self.probability.shape[1])

    def empty(self) -> FloatArray:
        """Zeros (system, set) to sum into."""
        return np.zeros((self.ranked.shape[0], self.probability.shape[0]))

    def tail(self, level: int) -> FloatArray:
        """P(grade >= level), (item, set); measures share it."""
        if level not in self._tail:
            total = np.zeros(self.probability.shape[:2])
            for grade in range(self.top_grade, level - 1, -1):
                total += self.probability[:, :, grade]
            self._tail[level] = np.ascontiguousarray(np.minimum(total, 1.0).T)
        return self._tail[level]

    def relevant(self, level: int) -> FloatArray:
        """How many items are expected to reach the level, (set,)."""
        total = np.zeros(self.probability.shape[0])
        ranking.sum_items(self.tail(level), total)
        return total

    def gain(self, level: IntArray, step: FloatArray) -> FloatArray:
        """Expected gain, (item, set), where a grade gains the sum of the steps whose level it reaches."""
        total = np.zeros((self.pool, self.probability.shape[0]))
        for reached, size in zip(level.tolist(), step.tolist(), strict=True):
            total += size * self.tail(reached)
        return total

    @property
    def deepest(self) -> int:
        """Ranks of the deepest ranking."""
        return int(self.ranked.shape[1])


Score = Callable[[Measure, Block], tuple[FloatArray, BoolArray | None]]
"""Values (system, judge), and per judge whether they are defined (None = all are)."""

Expect = Callable[[Measure, Chances], tuple[FloatArray, FloatArray | None]]
"""Values (system, set), and per set how many relevant documents a ratio expects in the pool (None = no ratio)."""


class SumWeights(NamedTuple):
    """How a weighted sum of gains is made: a document's term depends only on its rank and grade."""

    rank: Callable[[Measure, int], FloatArray]  # weight of each rank, given the number of ranks
    gain: Callable[[Measure, int], tuple[IntArray, FloatArray]]  # up to a top grade: levels, and the gain each adds
    normalised: bool = False  # divided by the topic's ideal sum, which depends on all its documents


class WeightedSum(NamedTuple):
    """A topic's score is the sum over ranks of `weight[rank] * gain[grade]`."""

    weight: FloatArray  # (rank,)
    gain: FloatArray  # (grade,)
    normalised: bool = False  # divided by the topic's ideal sum, which depends on all its documents


Climb = Callable[[IntArray, FloatArray, FloatArray, FloatArray], None]
"""From items (topic, system, rank) and their gains (item,) to scores (topic, system) and derivatives (item, system)."""


class CurveParts(NamedTuple):
    """How a measure is made that is not a weighted sum, but a smooth function of gains."""

    climb: Climb
    gain: Callable[[Measure, int], FloatArray]  # of each grade, up to a top grade


class Curve(NamedTuple):
    """A topic's score as a smooth function of its documents' gains."""

    climb: Climb
    gain: FloatArray  # (grade,)
    ratio: bool  # divided by the sum of all gains of the topic


@dataclass(frozen=True, eq=False, kw_only=True)
class Family:
    """A measure's declaration: everything that holds for any of its options.

    Args:
        name: As it is printed.
        about: Its definition, in a line of Markdown.
        example: As users write it, without brackets.
        oracle: The independent implementation that it is tested against: its name in `ir_measures`, or in the tests'
            `brute_force` where ir_measures computes no such measure.
        score: Its values where grades are known.
        aliases: Other names that are read.
        options: What may be written in brackets, with the check of each value.
        only_with: Options that have a meaning only beside another one.
        cutoff: Whether a depth may follow.
        expected: Its values where probabilities of grades are known; None: it has no such form.
        ratio: Whether `expected` is the ratio of two expectations, and not the exact expectation.
        weights: How it is computed as a weighted sum; None: it is not a weighted sum.
            Gold on single documents corrects weighted sums and curves only.
        curve: How it is computed from gains that need not be those of a grade, with derivatives; None: it is not.
        bounded: Whether no score is above 1.
        of_relevance: Whether it depends on what is relevant, and not only on what was judged.
    """

    name: str
    about: str
    example: str
    oracle: str
    score: Score
    aliases: tuple[str, ...] = ()
    options: Mapping[str, Check] = field(default_factory=dict)
    only_with: Mapping[str, tuple[str, Value]] = field(default_factory=dict)
    cutoff: Literal["never", "optional", "required"] = "optional"
    expected: Expect | None = None
    ratio: bool = False
    weights: SumWeights | None = None
    curve: CurveParts | None = None
    bounded: bool = True
    of_relevance: bool = True


def _print(value: Value) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade}:{_shortest(gain)}" for grade, gain in value) + "}"
    return print_word(value)


def _shortest(number: float) -> str:
    """Digits that read back as the same number; whole numbers without a point."""
    return repr(number).removesuffix(".0")


def check_grade(value: object) -> int:
    """A grade that counts as something."""
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_GRADE:
        raise ValueError(f"must be a grade, a whole number from 1 to {HIGHEST_GRADE}")
    return value


def check_between(low: float, high: float) -> Check:
    """A number between two others, which are excluded."""

    def check(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
            raise ValueError(f"must be a number between {low:g} and {high:g}")
        return value

    return check


def check_one_of(*words: str) -> Check:
    """One of these words."""

    def check(value: object) -> str:
        if value not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return str(value)

    return check


def _is_grade(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_GRADE


def check_gains(value: object) -> tuple[tuple[int, float], ...]:
    """Gains by grade."""
    if not isinstance(value, Mapping) or not all(
        _is_grade(grade) and isinstance(gain, int | float) and 0 <= gain <= HIGHEST_GAIN
        for grade, gain in value.items()
    ):
        raise ValueError(f"must map grades to gains from 0 to {HIGHEST_GAIN:g}, like {{1:0.5,2:1}}")
    return tuple(sorted((int(g), float(v)) for g, v in value.items()))
