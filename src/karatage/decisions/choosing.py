"""Which estimator is sound for the gold there is, and what it finds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from karatage.decisions.case import Case
from karatage.decisions.estimators.contract import Estimator, Fitted, Objection, SecondOpinion
from karatage.decisions.estimators.registry import choose
from karatage.decisions.frame import require_frame
from karatage.decisions.guards import (
    GuardError,
    find_copies,
    require_chances,
    require_possible,
    require_spread,
    require_upright,
)
from karatage.errors import DataError


class Choice(NamedTuple):
    """What was found and by which estimator, or why nothing was; and another one's answer for a second opinion."""

    corrected: Fitted | None
    refusal: str | None = None
    estimator: Estimator | None = None
    second: SecondOpinion | Objection | None = None
    alarm: str | None = None  # why nothing may be claimed with the correction that was made
    notes: tuple[str, ...] = ()


def correct(case: Case) -> Choice:
    """Undo judges' errors in the way asked for, or in the one that gold's design allows."""
    return case.memory.once("correct", lambda: _correct(case))


def _correct(case: Case) -> Choice:
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
    notes: tuple[str, ...] = ()
    try:
        estimator, notes = choose(case)
        require_upright(case)
        if estimator.needs_chances and case.gold.draw is not None and case.linear is not None:
            notes += require_frame(case)
        found = _fit(estimator, case)
    except DataError as problem:
        return Choice(None, f"{problem}", notes=notes)
    copies = find_copies(case)
    second, told = _ask_again(case, found)
    return Choice(found, None, estimator, second, copies.alarm, (*notes, *copies.notes, *told))


def _fit(estimator: Estimator, case: Case) -> Fitted:
    """An estimate between the guards of what it rests on and of what it finds."""
    if estimator.needs_chances:
        require_chances(case)
    return require_spread(case, require_possible(case, estimator.fit(case)))


def _ask_again(case: Case, found: Fitted) -> tuple[SecondOpinion | Objection | None, tuple[str, ...]]:
    """The second opinion on what was found; why guards refuse it is worth a note."""
    try:
        return found.second_opinion(case, _fit), ()
    except GuardError as problem:
        return None, (f"no second opinion: {problem}",)
    except DataError:
        return None, ()
