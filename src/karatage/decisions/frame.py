"""The items from which gold is drawn, and a fingerprint that tells whether a queue was drawn from them."""

from __future__ import annotations

import hashlib

import numpy as np

from karatage.data.alignment import find_items
from karatage.data.axes import BoolArray, LongArray
from karatage.data.judgments import Judgments
from karatage.decisions.case import Case, ask
from karatage.decisions.question import Question
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.measures.spec import parse_measure
from karatage.text import shorten

DIGITS = 16
LETTER = "f"  # in front, or a spreadsheet would take some fingerprints for numbers


def find_frame(case: Case) -> LongArray:
    """The items that can matter: documents, judged or not, that the systems rank differently."""
    return np.flatnonzero(case.matters)


def take_fingerprint(pool: Judgments, items: LongArray) -> str:
    """The same for the same items, whatever their order."""
    topic = [pool.topics[t] for t in pool.item_topic[items]]
    document = pool.documents.gather(pool.item_document[items]).to_list()
    lines = sorted(f"{t}\t{d}\n" for t, d in zip(topic, document, strict=True))
    return LETTER + hashlib.sha256("".join(lines).encode()).hexdigest()[: DIGITS - 1]


def require_frame(case: Case) -> tuple[str, ...]:
    """Refuse gold that was drawn from other items than those that matter here; notes where that cannot be told."""
    assert case.gold is not None
    assert case.gold.draw is not None
    draw = case.gold.draw
    if draw.frame is None:
        return ("gold does not say what it was drawn from: taken to be all documents of these systems that matter",)
    measure = draw.measure or str(case.question.parsed)
    try:
        parse_measure(measure)
    except (OptionError, UnknownNameError):
        raise DataError(f"the gold queue was drawn for '{shorten(measure)}', which is no measure") from None
    if measure == str(case.question.parsed) and take_fingerprint(case.pool, find_frame(case)) == draw.frame:
        return ()
    for systems in dict.fromkeys([case.systems, case.material.runs.systems]):
        question = Question(measure=measure, approach=case.question.approach)
        drawn_for = ask(case.material, question, systems=systems, seed=case.seed)
        if drawn_for.linear is None:
            break
        items = find_frame(drawn_for)
        if take_fingerprint(drawn_for.pool, items) == draw.frame:
            _require_inside(case, drawn_for.pool, items, measure)
            return ()
    raise DataError(
        f"the gold queue was planned for other systems, or with other runs or judgments (frame {shorten(draw.frame)}, "
        f"for {shorten(measure)}): name the systems that it was planned for with --a and --b, give all runs and "
        "judgments that it was planned with, or plan a queue for these systems"
    )


def _require_inside(case: Case, pool: Judgments, items: LongArray, measure: str) -> None:
    reach: BoolArray = np.zeros(len(pool.item_topic) + 1, bool)
    reach[items] = True
    place = find_items(case.pool, pool)
    lost = case.matters & ~np.where(place >= 0, reach[place], False)
    if lost.any():
        raise DataError(
            f"{int(lost.sum()):,} documents that matter for {case.question.parsed} could not be drawn for {measure}, "
            "which the gold queue was planned for; ask for that measure, or plan a queue for this one"
        )
