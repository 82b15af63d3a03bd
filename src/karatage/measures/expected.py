"""Measures when grades are known by their probabilities only: relevance as a random variable [RANDREL18] [RANDREL19].

Items are taken as independent. Then `EXACT` measures have their exact expectation, `RATIOS` the ratio of two exact
expectations, which is near that of the ratio unless few relevant documents are expected. All look at probabilities
through tails P(grade >= level) only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from karatage.data.alignment import Alignment
from karatage.data.axes import FloatArray, IntArray
from karatage.data.judgments import Judgments
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError
from karatage.kernels import expected
from karatage.kernels.threads import spread
from karatage.measures.graded import gain_steps, rank_weights, stop_chances
from karatage.measures.scoring import name_pairs, tell_undefined, tell_unjudged
from karatage.measures.spec import Measure, parse_measure
from karatage.text import counted, shorten

SETS_PER_BLOCK = 64
ROUNDING = 1e-6  # by how much probabilities may miss a sum of 1


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
        expected.sum_items(self.tail(level), total)
        return total

    def gain(self, level: IntArray, step: FloatArray) -> FloatArray:
        """Expected gain, (item, set), where a grade gains the sum of the steps whose level it reaches."""
        total = np.zeros((self.pool, self.probability.shape[0]))
        for reached, size in zip(level.tolist(), step.tolist(), strict=True):
            total += size * self.tail(reached)
        return total

    def depth(self, measure: Measure) -> int:
        """Ranks the measure looks at, of those there are."""
        deepest = int(self.ranked.shape[1])
        return deepest if measure.cutoff is None else min(measure.cutoff, deepest)


Scored = tuple[FloatArray, FloatArray | None]
"""Values (system, set), and per set how many relevant documents a ratio expects in the pool (None = no ratio)."""


def _weighted_gain(chances: Chances, gain: FloatArray, weight: FloatArray) -> FloatArray:
    out = chances.empty()
    expected.sum_expected_gains(chances.ranked, gain, weight, out)
    return out


def _cascade(measure: Measure, chances: Chances, stop: FloatArray) -> Scored:
    """Exact, since the chance to read on is a product over independent items."""
    out = chances.empty()
    expected.sum_expected_cascade(chances.ranked, stop, chances.depth(measure), out)
    return out, None


def _per_relevant(total: FloatArray, base: FloatArray) -> Scored:
    return total / np.where(base > 0, base, 1.0), base


def _precision(measure: Measure, chances: Chances) -> Scored:
    assert measure.cutoff is not None
    ones = np.ones(chances.depth(measure))
    return _weighted_gain(chances, chances.tail(measure.level), ones) / measure.cutoff, None


def _recall(measure: Measure, chances: Chances) -> Scored:
    hits = _weighted_gain(chances, chances.tail(measure.level), np.ones(chances.depth(measure)))
    return _per_relevant(hits, chances.relevant(measure.level))


def _average_precision(measure: Measure, chances: Chances) -> Scored:
    """The paper's eRAP: [RANDREL19], section 2.2."""
    out = chances.empty()
    expected.sum_expected_precisions(chances.ranked, chances.tail(measure.level), chances.depth(measure), out)
    return _per_relevant(out, chances.relevant(measure.level))


def _reciprocal_rank(measure: Measure, chances: Chances) -> Scored:
    return _cascade(measure, chances, chances.tail(measure.level))


def _expected_reciprocal_rank(measure: Measure, chances: Chances) -> Scored:
    step = np.diff(stop_chances(measure, chances.top_grade), prepend=0.0)
    return _cascade(measure, chances, chances.gain(np.arange(len(step), dtype=np.int32), step))


def _rank_biased_precision(measure: Measure, chances: Chances) -> Scored:
    weight = rank_weights(measure, chances.depth(measure))
    return _weighted_gain(chances, chances.tail(measure.level), weight), None


def _discounted_gain(measure: Measure, chances: Chances) -> Scored:
    gain = chances.gain(*gain_steps(measure, chances.top_grade))
    return _weighted_gain(chances, gain, rank_weights(measure, chances.depth(measure))), None


def _normalised_gain(measure: Measure, chances: Chances) -> Scored:
    """E[DCG] over the exact E[ideal DCG]: in an ideal ranking rank n reaches a level where n items of the pool do."""
    level, step = gain_steps(measure, chances.top_grade)
    weight = rank_weights(measure, min(measure.cutoff or chances.pool, chances.pool))
    ideal = np.zeros(chances.probability.shape[0])
    for reached, size in zip(level.tolist(), step.tolist(), strict=True):
        expected.add_ideal_gains(chances.tail(reached), size, weight, ideal)
    gain, _ = _discounted_gain(measure, chances)
    relevant = np.where(ideal > 0, chances.relevant(int(level[0])), 0.0)
    return gain / np.where(ideal > 0, ideal, 1.0), relevant


EXPECTED: dict[str, Callable[[Measure, Chances], Scored]] = {
    "AP": _average_precision,
    "DCG": _discounted_gain,
    "ERR": _expected_reciprocal_rank,
    "P": _precision,
    "R": _recall,
    "RBP": _rank_biased_precision,
    "RR": _reciprocal_rank,
    "nDCG": _normalised_gain,
}
RATIOS = frozenset({"AP", "R", "nDCG"})
EXACT = frozenset(EXPECTED) - RATIOS


def score_expected(
    alignment: Alignment,
    probability: FloatArray,
    measures: Sequence[str | Measure],
    *,
    names: Sequence[str] | None = None,
) -> dict[str, Scores]:
    """Expected scores of every system on every judged topic; keys are the measures as asked for.

    Args:
        alignment: Runs that have met judgments.
        probability: (set, item, grade), each row a distribution over grades; items as in the alignment. A document
            outside the pool is not relevant.
        measures: Such as `AP` or `nDCG@20`; `EXPECTED` has those that are offered.
        names: What the sets are called; default: their numbers.
    """
    called = tuple(names) if names is not None else tuple(str(k) for k in range(len(probability)))
    _check_probability(alignment, probability, called)
    parsed = {str(measure): _parse(measure) for measure in measures}
    shape = (len(called), len(alignment.topics), len(alignment.systems))
    value = {name: np.zeros(shape) for name in parsed}
    base = {name: np.full(shape[:2], np.inf) for name in parsed}

    def work(piece: tuple[int, int]) -> None:
        t, first = piece
        sets = slice(first, first + SETS_PER_BLOCK)
        low, high = alignment.item_start[t], alignment.item_start[t + 1]
        ranked = alignment.ranked[t] - np.int32(low)
        ranked[alignment.ranked[t] < 0] = -1
        chances = Chances(ranked, probability[sets, low:high])
        for name, measure in parsed.items():
            values, relevant = EXPECTED[measure.name](measure, chances)
            value[name][sets, t] = values.T
            if relevant is not None:
                base[name][sets, t] = relevant

    spread(work, [(int(t), k) for t in alignment.retrieved_topics for k in range(0, len(called), SETS_PER_BLOCK)])
    return {
        name: Scores(
            measure=str(parsed[name]),
            judges=called,
            topics=alignment.topics,
            systems=alignment.systems,
            value=value[name],
            judged=np.ones(shape[:2], bool),
            notes=(
                *alignment.notes,
                *tell_unjudged(alignment, parsed[name]),
                *tell_undefined(called, alignment.topics, base[name] > 0, "zero"),
                *_tell_few(called, alignment.topics, base[name], parsed[name]),
            ),
        )
        for name in parsed
    }


def randomise(judgments: Judgments, *, relevant: float = 0.95, other: float = 0.05) -> FloatArray:
    """Single judgments with some doubt, (judge, item, grade) [RANDREL19]: relevant with chance .95 or .05.

    P(grade >= level) is `relevant` for levels up to the grade given and `other` for those above, so that whatever
    `rel=` a measure asks for, it sees the paper's two numbers. Items that a judge did not grade are not relevant.
    """
    if not 0 <= other <= relevant <= 1:
        raise OptionError(f"expected 0 <= other <= relevant <= 1, not other {other} and relevant {relevant}")
    level = np.arange(1, judgments.top_grade + 1)
    tail = np.where(level <= np.arange(judgments.top_grade + 1)[:, None], relevant, other)
    ends = np.ones((len(tail), 1))
    row = -np.diff(np.hstack([ends, tail, 0 * ends]), axis=1)
    probability = np.zeros((len(judgments.judges), len(judgments.item_topic), len(row)))
    probability[:, :, 0] = 1.0
    probability[judgments.judge, judgments.item] = row[judgments.grade]
    return probability


def _parse(measure: str | Measure) -> Measure:
    parsed = parse_measure(measure)
    if parsed.name not in EXPECTED:
        raise OptionError(
            f"{parsed.name} has no expected form; {', '.join(sorted(EXPECTED))} have. Draw grades to get the "
            f"expectation of any measure: evaluate -a mv -m {parsed} --draws 1000, or kt.draw_scores"
        )
    return parsed


def _check_probability(alignment: Alignment, probability: FloatArray, names: tuple[str, ...]) -> None:
    items = int(alignment.item_start[-1])
    shape = probability.shape
    if probability.dtype != np.float64 or len(shape) != 3 or shape[1] != items or shape[2] < 1:
        raise DataError(
            f"probabilities must be float64 of shape (sets, {items}, grades), not {probability.dtype} {shape}"
        )
    if len(names) != shape[0]:
        raise DataError(f"there are {counted(len(names), 'name')} for {counted(shape[0], 'set')} of probabilities")
    sound = (probability >= 0).all(axis=2) & (np.abs(probability.sum(axis=2) - 1) <= ROUNDING)
    if not sound.all():
        k, item = np.argwhere(~sound)[0]
        raise DataError(
            f"probabilities of an item's grades must be at least 0 and add up to 1; those of item {item} in set "
            f"'{shorten(names[k])}' are {probability[k, item].tolist()}"
        )


def _tell_few(names: tuple[str, ...], topics: tuple[str, ...], base: FloatArray, measure: Measure) -> Iterator[str]:
    """A doubt, where so little is relevant that a ratio of expectations says little."""
    few = (base > 0) & (base < 1)
    if few.any():
        yield (
            f"{counted(int(few.sum()), 'time')} less than one relevant document is expected, where {measure}, a ratio "
            f"of expectations, may be far above the exact one: {name_pairs(names, topics, few)}; compare with --draws"
        )
