"""The best guess beside a result: for a board, and for two systems from the board of all runs."""

from __future__ import annotations

from collections.abc import Iterator

from karatage.data.comparison import Opinion
from karatage.decisions.case import Case, ask
from karatage.decisions.correct import Choice, correct
from karatage.decisions.estimators.contract import Guessed
from karatage.errors import DataError

LEAST_SYSTEMS = 5  # for intervals that hold on average over pairs


def guess_board(case: Case, choice: Choice) -> Guessed | None:
    """The best guess of a board's systems; None where there are too few of them, or gold does not allow it."""
    if choice.corrected is None or len(case.systems) < LEAST_SYSTEMS:
        return None
    return choice.corrected.guess(case)


def list_guesses(case: Case, choice: Choice) -> Iterator[Opinion]:
    """The best guess of the difference of two systems, from the board of all runs if gold allows it."""
    if choice.corrected is None:
        return
    board = _widen(case)
    guessed = None if board is case else guess_board(board, correct(board))
    if guessed is None:
        board, guessed = case, choice.corrected.guess(case)
    if guessed is not None:
        a, b = (board.systems.index(name) for name in case.systems)
        ways = (guessed.by_gold, guessed.usual) if len(board.systems) >= LEAST_SYSTEMS else (guessed.usual,)
        for way in ways:
            yield way.compare(a, b, case.question.confidence)


def _widen(case: Case) -> Case:
    """The case of all runs, if they can be scored together."""
    every = case.material.runs.systems
    if len(every) == len(case.systems):
        return case
    try:
        return ask(case.material, case.question, systems=every, seed=case.seed)
    except DataError:
        return case
