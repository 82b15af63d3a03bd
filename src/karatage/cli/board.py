"""A leaderboard with all its pairs as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, render, show_table, tell_rest

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.data.board import Board

TURNED = 5  # pairs shown


def render_board(board: Board, *, top: int = 20) -> str:
    """The first systems (`top`, 0 = all), how verdicts flip, how far the judges' order is off, and the sentence."""
    from karatage.views.board import (
        entitle_board,
        explain_board,
        explain_letters,
        tabulate_leaderboard,
        tabulate_turned,
        tabulate_verdicts,
    )

    systems = tabulate_leaderboard(board)
    parts: list[RenderableType] = [fill(entitle_board(board), WIDTH), "", show_table(systems, top=top)]
    parts += tell_rest(systems, top, "system")
    parts += [fill(explain_letters(board), WIDTH), "", show_table(tabulate_verdicts(board))]
    turned = tabulate_turned(board)
    if turned is not None:
        parts.append(show_table(turned, top=TURNED))
    parts += [fill(text, WIDTH) for text in explain_board(board)]
    return render(*parts, "", fill(board.sentence, WIDTH))
