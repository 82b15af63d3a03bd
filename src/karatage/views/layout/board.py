"""A leaderboard as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent
from karatage.views.decisions import draw_board, draw_differences
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.board import (
    entitle_board,
    explain_board,
    explain_letters,
    tabulate_forest,
    tabulate_leaderboard,
    tabulate_turned,
    tabulate_verdicts,
)

if TYPE_CHECKING:
    from karatage.data.board import Board

LUCK = """The best system is best in part by luck, so that its lead over the others is too large on average. Intervals
are for each system or difference by itself."""


def lay_out_board(board: Board) -> Page:
    """The leaderboard with its tied groups, the differences, and what the correction rests on."""
    sections = [lay_out_leaderboard(board), lay_out_differences(board)]
    facts = list_facts(
        board,
        measure=board.measure,
        approach=board.approach,
        correction=None if board.corrected is None else board.corrected.way,
        claim=board.claim,
        confidence=percent(board.confidence),
        adjust=board.adjust,
    )
    return Page(f"Leaderboard: {entitle_board(board)}", board.sentence, sections, board.notes, facts)


def lay_out_leaderboard(board: Board) -> Section:
    """Scores with intervals and tied groups."""
    text = [explain_letters(board)]
    if board.corrected is not None:
        text.insert(0, f"{board.naive.method.about} {board.corrected.method.about}".strip())
    elif board.refusal is not None:
        text.insert(0, f"Only the judges' scores are shown. Correction was refused: {board.refusal}.")
    else:
        text.insert(0, "Only the judges' scores are shown: without gold their errors are not undone.")
    table = tabulate_leaderboard(board)
    chart = Figure(
        draw_board(board), "Scores with intervals, and groups of systems that cannot be told apart", "leaderboard"
    )
    return Section("Leaderboard", "\n\n".join(text), [table], [chart])


def lay_out_differences(board: Board) -> Section:
    """The forest of differences, what becomes of the judges' verdicts, and what that rests on."""
    corrected = "" if board.corrected is None else " and corrected"
    forest = Figure(
        draw_differences(board),
        f"Each system's difference to the best one, by the judges{corrected}",
        "differences",
        tabulate_forest(board),
    )
    tables = [tabulate_verdicts(board)]
    turned = tabulate_turned(board)
    if turned is not None:
        tables.append(turned)
    return Section("Differences", "\n\n".join([LUCK, *explain_board(board)]), tables, [forest])
