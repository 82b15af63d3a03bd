"""Scores under every judge at once: one pass over topics and blocks of judges serves all measures.

A measure is one function `(Measure, Block) -> (values, defined)`, entered in `SCORERS` under its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray
from karatage.errors import OptionError
from karatage.kernels import ranking
from karatage.measures.spec import Measure


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

    def depth(self, measure: Measure) -> int:
        """Ranks the measure looks at, of those there are."""
        deepest = int(self.ranked.shape[1])
        return deepest if measure.cutoff is None else min(measure.cutoff, deepest)


Scored = tuple[FloatArray, BoolArray | None]
"""Values (system, judge), and per judge whether they are defined (None = all are)."""


def _per_relevant(total: FloatArray, relevant: FloatArray) -> Scored:
    return total / np.maximum(relevant, 1.0), relevant > 0


def _hits(measure: Measure, block: Block) -> FloatArray:
    out = block.empty()
    ones = np.ones(block.depth(measure))
    ranking.sum_gains(block.ranked, block.grade, np.array([measure.level], np.int32), np.ones(1), ones, out)
    return out


def _precision(measure: Measure, block: Block) -> Scored:
    assert measure.cutoff is not None
    return _hits(measure, block) / measure.cutoff, None


def _recall(measure: Measure, block: Block) -> Scored:
    return _per_relevant(_hits(measure, block), block.count(measure.level))


def _average_precision(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    ranking.sum_precisions(block.ranked, block.grade, measure.level, block.depth(measure), out)
    return _per_relevant(out, block.count(measure.level))


def _r_precision(measure: Measure, block: Block) -> Scored:
    out, relevant = block.empty(), block.count(measure.level)
    ranking.sum_r_precision_hits(block.ranked, block.grade, measure.level, relevant, out)
    return _per_relevant(out, relevant)


def _reciprocal_rank(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    ranking.find_first_relevant(block.ranked, block.grade, measure.level, block.depth(measure), out)
    return out, None


def _bpref(measure: Measure, block: Block) -> Scored:
    out, relevant = block.empty(), block.count(measure.level)
    bound = np.maximum(np.minimum(relevant, block.count(0) - relevant), 1.0)
    ranking.sum_preferences(block.ranked, block.grade, measure.level, relevant, bound, out)
    return _per_relevant(out, relevant)


def _judged(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    ones = np.ones(block.depth(measure))
    ranking.sum_gains(block.ranked, block.grade, np.zeros(1, np.int32), np.ones(1), ones, out)
    shown = np.clip(block.length, 1, block.depth(measure))
    return out / shown[:, None], None


def _rank_biased_precision(measure: Measure, block: Block) -> Scored:
    out, weight = block.empty(), rank_weights(measure, block.depth(measure))
    ranking.sum_gains(block.ranked, block.grade, np.array([measure.level], np.int32), np.ones(1), weight, out)
    return out, None


def _expected_reciprocal_rank(measure: Measure, block: Block) -> Scored:
    out, stop = block.empty(), stop_chances(measure, block.top_grade)
    ranking.sum_cascade(block.ranked, block.grade, np.r_[0.0, stop], block.depth(measure), out)
    return out, None


def _discounted_gain(measure: Measure, block: Block) -> Scored:
    out = block.empty()
    level, step = gain_steps(measure, block.top_grade)
    weight = rank_weights(measure, block.depth(measure))
    ranking.sum_gains(block.ranked, block.grade, level, step, weight, out)
    return out, None


def _normalised_gain(measure: Measure, block: Block) -> Scored:
    level, step = gain_steps(measure, block.top_grade)
    count = np.stack([block.count(int(k)) for k in level])
    ideal = np.zeros(block.grade.shape[1])
    pool = block.grade.shape[0]
    weight = rank_weights(measure, min(measure.cutoff or pool, pool))
    ranking.sum_ideal_gains(count, step, weight, ideal)
    gain, _ = _discounted_gain(measure, block)
    return gain / np.where(ideal > 0, ideal, 1.0), ideal > 0


def gain_steps(measure: Measure, top_grade: int) -> tuple[IntArray, FloatArray]:
    """A gain per grade as increments: grade g gains the sum of the steps whose level is at most g."""
    gain = np.arange(top_grade + 1, dtype=float)
    if measure.has("rel"):
        gain = (gain >= measure.level).astype(float)
    elif measure.discount == "exp-log2":
        gain = 2.0**gain - 1
    for grade, value in measure.gains:
        if 0 <= grade <= top_grade:
            gain[grade] = value
    step = np.diff(gain, prepend=0.0)
    if step.min() < 0:
        raise OptionError(f"{measure}: a higher grade must not gain less; gains are {gain.tolist()}")
    level = np.flatnonzero(step)
    if level.size == 0:
        level = np.array([1])
    return level.astype(np.int32), np.r_[step, 0.0][level]


def stop_chances(measure: Measure, top_grade: int) -> FloatArray:
    """The chance that a reader stops at a document of each grade."""
    grade = np.arange(top_grade + 1, dtype=float)
    if measure.has("gain"):
        grade[:] = measure.number("gain", 1)
    grade[: measure.level] = 0.0
    top = measure.number("max", top_grade)
    if grade.max() > top:
        raise OptionError(f"{measure}: max={top:g} is below the top grade {grade.max():g}")
    stop: FloatArray = (2.0**grade - 1) / 2.0**top
    return stop


def ceiling(measure: Measure, depth: int, top_grade: int) -> float:
    """The highest score that a ranking of `depth` documents can have; 1 for all measures but discounted gain."""
    if measure.name != "DCG":
        return 1.0
    _, step = gain_steps(measure, top_grade)
    return float(step.sum() * rank_weights(measure, min(measure.cutoff or depth, depth)).sum()) or 1.0


@lru_cache(maxsize=64)
def rank_weights(measure: Measure, depth: int) -> FloatArray:
    """What a gain at each rank counts, in RBP, DCG and nDCG."""
    rank = np.arange(1.0, depth + 1)
    weight: FloatArray
    if measure.name == "RBP":
        p = measure.number("p", 0.8)
        weight = (1 - p) * np.power(p, rank - 1)
    elif measure.discount == "jk":
        weight = 1 / np.maximum(1.0, np.log(rank) / np.log(measure.number("base", 2)))
    else:
        weight = 1 / np.log2(rank + 1)
    return weight


SCORERS: dict[str, Callable[[Measure, Block], Scored]] = {
    "AP": _average_precision,
    "Bpref": _bpref,
    "DCG": _discounted_gain,
    "ERR": _expected_reciprocal_rank,
    "Judged": _judged,
    "P": _precision,
    "R": _recall,
    "RBP": _rank_biased_precision,
    "RR": _reciprocal_rank,
    "Rprec": _r_precision,
    "nDCG": _normalised_gain,
}
