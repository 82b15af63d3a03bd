"""Which correction is sound for the gold there is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from karatage.data.draw import Draw
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.deciding.case import Case
from karatage.deciding.corrected import Corrected
from karatage.deciding.frame import require_frame
from karatage.deciding.guards import GuardError, find_copies, require_chances, require_possible, require_upright
from karatage.deciding.rates import correct_by_rates
from karatage.deciding.sampled import correct_by_sample
from karatage.deciding.topics import correct_by_topics
from karatage.errors import DataError

BY_DESIGN = {"sampled": "sampled", "census": "sampled", "topics": "topics", "items": "rates"}


class Choice(NamedTuple):
    """The correction that was made, or why none was; and another one for a second opinion."""

    corrected: Corrected | None
    refusal: str | None = None
    second: Corrected | None = None
    alarm: str | None = None  # why nothing may be claimed with the correction that was made
    notes: tuple[str, ...] = ()


def correct(case: Case, runs: Runs, judgments: Judgments) -> Choice:
    """Undo judges' errors in the way asked for, or in the one that gold's design allows."""
    assert case.gold is not None
    if not case.design.items and not (case.gold_item >= 0).any():
        return Choice(
            None,
            f"none of the {len(case.gold.grade):,} gold items is among the judged documents of these topics; are "
            "topics and documents written alike?",
        )
    if case.linear is not None and not np.ptp(case.linear.gain):
        return Choice(
            None,
            f"no grade from 0 to {case.top_grade}, the highest of judges and gold, gains anything by "
            f"{case.question.parsed}; ask for a lower rel",
        )
    way, notes = _choose(case)
    try:
        require_upright(case, judgments)
        if way == "sampled" and case.gold.draw is not None and case.linear is not None:
            notes += require_frame(case, runs, judgments)
        found = _apply(way, case)
    except DataError as problem:
        return Choice(None, f"{problem}", notes=notes)
    copies = find_copies(case, judgments)
    second, told = _ask_again(case, found)
    return Choice(found, second=second, alarm=copies.alarm, notes=(*notes, *copies.notes, *told))


def _apply(way: str, case: Case) -> Corrected:
    """A correction between the guards of what it rests on and of what it finds."""
    if way == "sampled":
        require_chances(case)
    return require_possible(case, CORRECTIONS[way](case))


def name_way(case: Case, found: Corrected) -> str:
    """What readers are told was done: where all topics have gold, judges have no part in it any more."""
    return "census" if found.way == "topics" and case.gold_topics.all() else found.way


def _choose(case: Case) -> tuple[str, tuple[str, ...]]:
    """The way, and why, where another one might have been expected."""
    asked, design = case.question.correction, case.design
    if asked != "auto":
        return asked, ()
    way = BY_DESIGN[design.kind]
    if design.kind == "census" and case.linear is None:
        way = "topics"
    if way == "sampled" and case.disjoint:
        return "rates", ("the systems answered different topics, so they are compared by error rates, not by items",)
    if way == "topics" and case.linear is not None:
        return way, (
            f"gold is on {design.topics} whole topics of {design.pool_topics}: judges err alike within a topic, so "
            "formulas that count items would give intervals far too narrow; topics are counted instead",
        )
    return way, ()


def _ask_again(case: Case, found: Corrected) -> tuple[Corrected | None, tuple[str, ...]]:
    """Error rates beside a drawn sample, or the other way round: the two rest on different assumptions.

    A plain sample is taken as drawn evenly from what was judged. Why chances are refused is worth a note.
    """
    assert case.gold is not None
    try:
        if found.way == "sampled" and case.gold.draw is not None and case.question.topics == "new":
            return _apply("rates", case), ()
        if found.way == "rates" and not case.disjoint:
            return _apply("even" if case.gold.draw is None else "sampled", case), ()
    except GuardError as problem:
        return None, (f"no second opinion: {problem}",)
    except DataError:
        return None, ()
    return None, ()


def _as_even_sample(case: Case) -> Case:
    assert case.gold is not None
    if case.gold.draw is not None:
        raise DataError("gold says with which chances it was drawn (pi), so it was not drawn evenly; use those")
    if not case.design.items:
        raise DataError("the judges graded no item that has gold, so gold was not drawn evenly from what they graded")
    rows = len(case.gold.grade)
    chance = min(1.0, case.design.items / case.design.pool_items)
    draw = Draw(pi=np.full(rows, chance), batch=np.ones(rows, np.int32))
    return replace(case, gold=replace(case.gold, draw=draw), even=True)


CORRECTIONS: dict[str, Callable[[Case], Corrected]] = {
    "rates": correct_by_rates,
    "sampled": correct_by_sample,
    "even": lambda case: correct_by_sample(_as_even_sample(case)),
    "topics": correct_by_topics,
}
