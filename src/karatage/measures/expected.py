"""Expected measures, from probabilities of grades: relevance as a random variable [RANDREL18] [RANDREL19].

Items are assumed to be independent. Most measures have an exact expectation. Measures declared with `ratio` use the
ratio of two exact expectations, which is close to the expected ratio unless few relevant documents are expected. All
measures use only the tail probabilities P(grade >= level).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from karatage.data.alignment import Alignment, require_data
from karatage.data.axes import FloatArray
from karatage.data.judgments import Judgments
from karatage.data.note import Note
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError
from karatage.measures.registry import WITH_EXPECTATION, find_family, parse_measure
from karatage.measures.scoring import name_pairs, tell, tell_undefined, tell_unjudged
from karatage.measures.spec import Chances, Expect, Measure
from karatage.memory import spread
from karatage.text import counted, shorten

SETS_PER_BLOCK = 64
ROUNDING = 1e-6  # tolerance of a sum of probabilities around 1


def score_expected(
    alignment: Alignment,
    probability: FloatArray,
    measures: Sequence[str | Measure],
    *,
    names: Sequence[str] | None = None,
) -> dict[str, Scores]:
    """Expected scores of every system on every judged topic; keys are the measures as given.

    Args:
        alignment: Runs aligned with judgments.
        probability: (set, item, grade), each row a distribution over grades; items as in the alignment. A document
            outside the pool is not relevant.
        measures: Such as `AP` or `nDCG@20`; `registry.WITH_EXPECTATION` names those that have an expected form.
        names: What the sets are called; default: their numbers.
    """
    called = tuple(names) if names is not None else tuple(str(k) for k in range(len(probability)))
    _check_probability(alignment, probability, called)
    parsed = {str(measure): parse_measure(measure) for measure in measures}
    expect = {name: _find_form(measure) for name, measure in parsed.items()}
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
            values, relevant = expect[name](measure, chances)
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
    """Probabilities (judge, item, grade) from single judgments: relevant with probability .95 or .05 [RANDREL19].

    P(grade >= level) is `relevant` for levels up to the grade given and `other` for those above, so that a
    measure with any `rel=` uses the paper's two numbers. Items that a judge did not grade are not relevant.
    """
    require_data(judgments=judgments)
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


def _find_form(measure: Measure) -> Expect:
    found = find_family(measure).expected
    if found is None:
        raise OptionError(
            f"{measure.name} has no expected form; {', '.join(WITH_EXPECTATION)} have. To get the expectation of any "
            f"measure, draw grades: evaluate -a mv -m {measure} --draws 1000, or kt.stats.draw_scores"
        )
    return found


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


def _tell_few(names: tuple[str, ...], topics: tuple[str, ...], base: FloatArray, measure: Measure) -> Iterator[Note]:
    """A warning where less than one relevant document is expected, so that the ratio is a poor approximation."""
    few = (base > 0) & (base < 1)
    if few.any():
        where = name_pairs(names, topics, few)
        yield tell("few-expected", times=int(few.sum()), measure=str(measure), where=where)
