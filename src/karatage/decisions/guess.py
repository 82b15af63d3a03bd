"""The best guess beside a result: for a board, and for two systems from the board of all runs."""

from __future__ import annotations

from typing import NamedTuple

from karatage.correction.gathering import count_distinct
from karatage.data.comparison import Opinion
from karatage.data.note import Note
from karatage.data.records import Study
from karatage.decisions.case import Case, ask
from karatage.decisions.correct import Choice, correct
from karatage.decisions.estimators.contract import Guessed
from karatage.errors import DataError

LEAST_SYSTEMS = 5  # for intervals that hold on average over pairs


class PairGuess(NamedTuple):
    """The best guess of the difference of two systems."""

    opinions: tuple[Opinion, ...] = ()
    study: Study | None = None  # for the judge's record
    notes: tuple[Note, ...] = ()


def guess_board(case: Case, choice: Choice) -> Guessed | None:
    """The best guess of a board's systems; None where too few of them differ, or gold does not allow it."""
    if choice.corrected is None or len(case.systems) < LEAST_SYSTEMS:
        return None
    guessed = choice.corrected.guess(case)
    return guessed if guessed is not None and count_distinct(guessed.mass) >= LEAST_SYSTEMS else None


def find_study(guessed: Guessed | None, choice: Choice) -> Study | None:
    """What may be added to the judge's record: nothing if gold is a copy of a judge."""
    return None if guessed is None or choice.alarm is not None else guessed.study


def guess_pair(case: Case, choice: Choice) -> PairGuess:
    """The best guess of two systems, from the board of all runs if gold allows it."""
    if choice.corrected is None:
        return PairGuess()
    board = _widen(case)
    chosen = choice if board is case else correct(board)
    guessed = None if board is case else guess_board(board, chosen)
    if guessed is None:
        board, chosen, guessed = case, choice, choice.corrected.guess(case)
    if guessed is None:
        return PairGuess()
    whole = len(board.systems) >= LEAST_SYSTEMS
    a, b = (board.systems.index(name) for name in case.systems)
    ways = (guessed.by_gold, guessed.usual) if whole else (guessed.usual,)
    opinions = tuple(way.compare(a, b, case.question.confidence) for way in ways)
    return PairGuess(opinions, find_study(guessed, chosen) if whole else None, guessed.notes)


def _widen(case: Case) -> Case:
    """The case of all runs, if they can be scored together."""
    every = case.material.runs.systems
    if len(every) == len(case.systems):
        return case
    try:
        return ask(case.material, case.question, systems=every, seed=case.seed)
    except DataError:
        return case
