"""From runs and judgments to `Scores`: judges in blocks, topics in turn, on all cores.

Blocks keep a topic's grades in the processor's cache and memory bounded by pool x block, for any
number of judges. Every (topic, block) is independent, so results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from karatage.data.alignment import Alignment, align, require_data
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray
from karatage.data.judgments import Judgments
from karatage.data.note import Note, Texts
from karatage.data.runs import Runs
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError
from karatage.kernels.ranking import scatter_grades
from karatage.measures.registry import find_family, parse_measure
from karatage.measures.spec import Block, Measure
from karatage.memory import spread
from karatage.text import shorten

tell = Texts(
    "measures",
    {
        "few-expected": "{times:count time} less than one relevant document is expected, where {measure}, a ratio of "
        "expectations, may be far above the exact one: {where}; compare with --draws",
        "nothing-relevant": "{times:,} times a judge found nothing relevant; these {outcome}: {where}",
        "unjudged": "{missing:,} of {shown:,} positions in {where} of {systems:count system} ({share:.1%}) have "
        "unjudged documents, which count as not relevant",
    },
)


NoRelevant = Literal["zero", "drop", "drop_judge"]
JUDGES_PER_BLOCK = 256

# A piece of work: topic, the judges concerned, and how to get their grades (item, judge).
_Piece = tuple[int, IntArray, Callable[[], GradeArray]]


def score(runs: Runs, judgments: Judgments, measure: str | Measure, *, no_relevant: NoRelevant = "zero") -> Scores:
    """Score every system on every judged topic, with each judge's own grades as the truth.

    A document that a judge has not graded is not relevant for that judge; a topic that a run lacks scores 0.
    AP, nDCG, Bpref, R and Rprec are undefined where a judge found nothing relevant. There `no_relevant="zero"` scores
    0 with a note, `drop` omits the judge for that topic, and `drop_judge` omits it for all topics (both give NaN).
    """
    require_data(runs=runs, judgments=judgments)
    (scores,) = score_all(runs, judgments, [measure], no_relevant=no_relevant).values()
    return scores


def score_all(
    runs: Runs,
    judgments: Judgments,
    measures: Sequence[str | Measure],
    *,
    no_relevant: NoRelevant = "zero",
) -> dict[str, Scores]:
    """Like `score` for several measures, in one pass; keys are the names as given."""
    require_data(runs=runs, judgments=judgments)
    alignment = align(runs, judgments)
    return score_aligned(alignment, judgments, measures, no_relevant=no_relevant)


def score_aligned(
    alignment: Alignment,
    judgments: Judgments,
    measures: Sequence[str | Measure],
    *,
    no_relevant: NoRelevant = "zero",
) -> dict[str, Scores]:
    """Like `score_all`, for runs and judgments that are already aligned."""
    _check_range(judgments.grade, judgments.top_grade)
    judged = np.zeros((len(judgments.judges), len(alignment.topics)), bool)
    judged[judgments.judge, judgments.item_topic[judgments.item]] = True
    pieces = _sparse_pieces(alignment, judgments)
    return _score_pieces(alignment, pieces, judgments.judges, judged, judgments.top_grade, measures, no_relevant)


def score_grades(
    alignment: Alignment,
    grade: GradeArray,
    measures: Sequence[str | Measure],
    *,
    top_grade: int | None = None,
    no_relevant: NoRelevant = "zero",
) -> dict[str, Scores]:
    """Like `score_aligned` for complete judgment sets, such as replicates: `grade` (item, set), int8."""
    items = int(alignment.item_start[-1])
    if grade.ndim != 2 or grade.shape[0] != items or grade.dtype != np.int8:
        raise DataError(f"grades must be int8 of shape ({items}, sets), not {grade.dtype} {grade.shape}")
    top = int(grade.max(initial=0)) if top_grade is None else top_grade
    _check_range(grade, top)
    names = tuple(str(k) for k in range(grade.shape[1]))
    judged = np.ones((len(names), len(alignment.topics)), bool)
    return _score_pieces(alignment, _dense_pieces(alignment, grade), names, judged, top, measures, no_relevant)


def score_packed(
    alignment: Alignment,
    bits: NDArray[np.uint8],
    sets: slice,
    measures: Sequence[str | Measure],
    *,
    top_grade: int,
) -> dict[str, FloatArray]:
    """Values (set, topic, system) for some of the judgment sets in `bits` (item, set / 8): 1 = the top grade, or 0.

    `sets` begins at a multiple of 8. A set without a relevant document in a topic scores 0 there.
    """
    names = tuple(str(k) for k in range(sets.start, sets.stop))
    judged = np.ones((len(names), len(alignment.topics)), bool)
    pieces = _packed_pieces(alignment, bits, sets, top_grade)
    scored = _score_pieces(alignment, pieces, names, judged, top_grade, measures, "zero")
    return {name: scores.value for name, scores in scored.items()}


def _check_range(grade: GradeArray, top: int) -> None:
    """Kernels look gains up by grade, unchecked."""
    low, high = int(grade.min(initial=0)), int(grade.max(initial=0))
    if low < -1 or high > top:
        raise DataError(f"grades are from {low} to {high}; they must be from 0 to {top}, or -1 if not judged")


def _sparse_pieces(alignment: Alignment, judgments: Judgments) -> Iterator[_Piece]:
    """Blocks of the judges who graded anything in a topic."""
    column = np.empty(len(judgments.judges), np.int32)
    for t in alignment.retrieved_topics:
        low, high = alignment.item_start[t], alignment.item_start[t + 1]
        rows = slice(judgments.row_start[low], judgments.row_start[high])
        present = np.unique(judgments.judge[rows])
        column[present] = np.arange(len(present), dtype=np.int32)
        item = judgments.item[rows] - np.int32(low)
        own_column, grade = column[judgments.judge[rows]], judgments.grade[rows]
        for first in range(0, len(present), JUDGES_PER_BLOCK):
            last = min(first + JUDGES_PER_BLOCK, len(present))

            def grades(
                item: IntArray = item,
                own_column: IntArray = own_column,
                grade: GradeArray = grade,
                first: int = first,
                last: int = last,
                pool: int = int(high - low),
            ) -> GradeArray:
                dense = np.full((pool, last - first), -1, np.int8)
                scatter_grades(item, own_column, grade, first, last, dense)
                return dense

            yield t, present[first:last], grades


def _dense_pieces(alignment: Alignment, grade: GradeArray) -> Iterator[_Piece]:
    for t in alignment.retrieved_topics:
        items = slice(alignment.item_start[t], alignment.item_start[t + 1])
        for first in range(0, grade.shape[1], JUDGES_PER_BLOCK):
            judges = np.arange(first, min(first + JUDGES_PER_BLOCK, grade.shape[1]), dtype=np.int32)

            def grades(items: slice = items, judges: IntArray = judges) -> GradeArray:
                return np.ascontiguousarray(grade[items, judges[0] : judges[-1] + 1])

            yield t, judges, grades


def _packed_pieces(alignment: Alignment, bits: NDArray[np.uint8], sets: slice, top_grade: int) -> Iterator[_Piece]:
    for t in alignment.retrieved_topics:
        items = slice(alignment.item_start[t], alignment.item_start[t + 1])
        for first in range(sets.start, sets.stop, JUDGES_PER_BLOCK):
            last = min(first + JUDGES_PER_BLOCK, sets.stop)

            def grades(items: slice = items, first: int = first, last: int = last) -> GradeArray:
                block = np.unpackbits(bits[items, first // 8 : (last + 7) // 8], axis=1, count=last - first)
                return block.view(np.int8) * np.int8(top_grade)

            yield t, np.arange(first - sets.start, last - sets.start, dtype=np.int32), grades


def _score_pieces(
    alignment: Alignment,
    pieces: Iterator[_Piece],
    judges: tuple[str, ...],
    judged: BoolArray,
    top_grade: int,
    measures: Sequence[str | Measure],
    no_relevant: NoRelevant,
) -> dict[str, Scores]:
    if no_relevant not in get_args(NoRelevant):
        raise OptionError(f"no_relevant '{no_relevant}' is not one of {', '.join(get_args(NoRelevant))}")
    parsed = {str(measure): parse_measure(measure) for measure in measures}
    scorers = {name: find_family(measure).score for name, measure in parsed.items()}
    shape = (len(judges), len(alignment.topics), len(alignment.systems))
    value = {name: np.zeros(shape) for name in parsed}
    defined = {name: np.ones(shape[:2], bool) for name in parsed}

    def work(piece: _Piece) -> None:
        t, who, grades = piece
        ranked = alignment.ranked[t] - np.int32(alignment.item_start[t])
        ranked[alignment.ranked[t] < 0] = -1
        block = Block(ranked, alignment.length[t], grades(), top_grade)
        for name, measure in parsed.items():
            values, has_value = scorers[name](measure, block)
            value[name][who, t] = values.T
            if has_value is not None:
                defined[name][who, t] = has_value

    # Pieces hold no dense grades until their turn, so only as many blocks exist as there are threads.
    spread(work, pieces)
    return {
        name: Scores(
            measure=str(parsed[name]),
            judges=judges,
            topics=alignment.topics,
            systems=alignment.systems,
            value=_settle_undefined(value[name], defined[name], no_relevant),
            judged=judged.copy(),
            notes=(
                *alignment.notes,
                *tell_unjudged(alignment, parsed[name]),
                *tell_undefined(judges, alignment.topics, defined[name], no_relevant),
            ),
        )
        for name in parsed
    }


def _settle_undefined(value: FloatArray, defined: BoolArray, no_relevant: NoRelevant) -> FloatArray:
    if no_relevant == "drop":
        value[~defined] = np.nan
    elif no_relevant == "drop_judge":
        value[~defined.all(axis=1)] = np.nan
    return value


def tell_unjudged(alignment: Alignment, measure: Measure) -> Iterator[Note]:
    """A warning where documents that a measure uses have no grade."""
    missing, shown = alignment.unjudged(measure.cutoff or alignment.ranked.shape[2])
    yield from say_unjudged(missing, shown, measure, len(alignment.systems))


def say_unjudged(missing: int, shown: int, measure: Measure, systems: int) -> Iterator[Note]:
    """The same from counts of positions; a document counts once in every ranking that contains it."""
    if missing:
        where = f"the first {measure.cutoff} ranks" if measure.cutoff else "all ranks"
        yield tell("unjudged", missing=missing, shown=shown, where=where, systems=systems, share=missing / shown)


def tell_undefined(
    judges: tuple[str, ...], topics: tuple[str, ...], defined: BoolArray, no_relevant: NoRelevant
) -> tuple[Note, ...]:
    """A warning where a judge found nothing relevant, so that a score is undefined."""
    if defined.all():
        return ()
    outcome = {
        "zero": "score 0",
        "drop": "leave that judge out for that topic",
        "drop_judge": "leave that judge out altogether",
    }[no_relevant]
    where = name_pairs(judges, topics, ~defined)
    return (tell("nothing-relevant", times=int((~defined).sum()), outcome=outcome, where=where),)


def name_pairs(judges: tuple[str, ...], topics: tuple[str, ...], chosen: BoolArray) -> str:
    """Judges and topics of the `chosen` (judge, topic): the first three, and how many more there are."""
    pairs = np.argwhere(chosen)
    shown = [f"'{shorten(judges[j], 24)}' for topic '{shorten(topics[t], 16)}'" for j, t in pairs[:3]]
    return ", ".join(shown) + (f" and {len(pairs) - 3:,} more" if len(pairs) > 3 else "")
