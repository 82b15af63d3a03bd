"""A leaderboard with all its pairs, as tables and sentences."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.board import ADJUSTMENTS
from karatage.text import counted, percent, shorten
from karatage.views.decisions import frame_forest
from karatage.views.tables import Table, keep_finite
from karatage.views.tabulating.comparison import NAME, explain_correction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.board import Board
    from karatage.data.standing import Bounded

TO_BEST = "to the best"  # corrected difference, where scores are not known
FLIPS = {"falls": "verdicts that fall", "arises": "verdicts that arise", "turns": "verdicts that turn around"}


def entitle_board(board: Board) -> str:
    """What was compared."""
    return f"{board.measure}, {counted(board.topics, 'topic')}, {shorten(board.approach, NAME)}"


def tabulate_leaderboard(board: Board) -> Table:
    """By judges and corrected side by side; the interval is of what decides."""
    low = f"{percent(board.confidence)} from"
    shown = board.corrected or board.naive
    columns: dict[str, object] = {"#": shown.rank, "system": pl.Series(board.systems, dtype=pl.String)}
    if board.corrected is not None:
        columns |= {"judges #": board.naive.rank}
    columns |= {"judges": board.naive.value}
    letters = pl.Series([spell_letters(text) for text in board.letters], dtype=pl.String)
    if board.corrected is not None and np.isnan(board.corrected.value).all():  # differences are all that is known
        best = frame_forest(board).filter(by="corrected")
        against = pl.DataFrame({"system": board.systems}).join(best, on="system", how="left", maintain_order="left")
        columns |= {TO_BEST: against["difference"], low: against["low"], "to": against["high"], "letters": letters}
        return Table(
            keep_finite(pl.DataFrame(columns)), "Leaderboard", name="leaderboard", about="system", signed=(TO_BEST,)
        )
    if board.corrected is not None:
        columns |= {"corrected": board.corrected.value}
    columns |= {low: shown.low, "to": shown.high, "letters": letters}
    return Table(keep_finite(pl.DataFrame(columns)), "Leaderboard", name="leaderboard", about="system")


def spell_letters(letters: str) -> str:
    """Letters that follow each other as a span.

    >>> spell_letters("abcde"), spell_letters("yza2")
    ('a-e', 'y-a2')
    """
    spans: list[list[str]] = []
    last = None
    for letter, number in re.findall(r"([a-z])(\d*)", letters):
        place = ord(letter) + 26 * int(number or 1)
        if last is None or place != last + 1:
            spans.append([])
        spans[-1].append(letter + number)
        last = place
    return ",".join(span[0] + (f"-{span[-1]}" if len(span) > 1 else "") for span in spans)


def explain_letters(board: Board) -> str:
    """What the letters of a leaderboard say."""
    shared = "Systems that share a letter cannot be told apart"
    if board.corrected_pairs is not None and board.corrected_pairs.doubted.any():
        shared += ", or gold speaks against the correction of their difference"
    return f"{shared}."


def tabulate_verdicts(board: Board) -> Table:
    """How many pairs are told apart, and what becomes of the judges' verdicts."""
    counts = {"told apart by the judges": board.naive_pairs.count}
    if board.corrected_pairs is not None:
        counts |= {"told apart when corrected": board.corrected_pairs.count}
        counts |= {FLIPS[kind]: count for kind, count in board.count_flips().items()}
        if board.corrected_pairs.doubted.any():
            counts["gold speaks against the correction"] = int(board.corrected_pairs.doubted.sum())
    pairs = len(board.a)
    frame = pl.DataFrame({"": list(counts), "pairs": list(counts.values())}).with_columns(
        (pl.col("pairs") / pairs).alias("of all")
    )
    level = f"{ADJUSTMENTS[board.adjust]}, {100 * (1 - board.confidence):.3g}%"
    caption = f"{counted(pairs, 'pair')} ({level})"
    return Table(frame, caption, digits=0, shares=("of all",), name="verdicts")


def tabulate_turned(board: Board) -> Table | None:
    """The pairs that judges and gold put in opposite orders, surest verdicts of the judges first; None without any."""
    if not board.count_flips().get("turns"):
        return None
    frame = board.flips().filter(flip="turns")
    shown = frame.select("a", "b", judges="naive_difference", corrected="corrected_difference")
    return Table(shown, "Verdicts that turn around", signed=("judges", "corrected"), name="turned")


def tabulate_forest(board: Board, *, reference: str | None = None) -> Table:
    """The same side by side: what the judges say of every system against the reference, and what is left of it."""
    frame = frame_forest(board, reference=reference)
    level = f"{percent(board.confidence)} from"
    columns = {"difference": "", "low": level, "high": "to", "p": "p", "verdict": "verdict"}
    shown = frame.filter(by="judges").select("system")
    headers: dict[str, str] = {}
    for by in frame["by"].unique(maintain_order=True):
        own = {name: f"{by} {title}".strip() for name, title in columns.items()}
        headers |= {title: columns[name] for name, title in own.items() if columns[name]}
        part = frame.filter(by=by).select("system", *columns).rename(own)
        shown = shown.join(part, on="system", how="left", maintain_order="left")
    best = board.systems[0] if reference is None else reference
    caption = f"Differences in {board.measure} from {shorten(best, NAME)}; p: {ADJUSTMENTS[board.adjust]}"
    signed = [name for name in shown.columns if shown[name].dtype.is_float() and not name.endswith(" p")]
    return Table(shown, caption, signed=signed, headers=headers, name="differences", about="system")


def explain_board(board: Board) -> Iterator[str]:
    """Paragraphs on the judges' order, and on what the correction rests on."""
    if board.corrected is not None and board.corrected.method.same_order:
        yield board.corrected.method.same_order
    else:
        yield from _explain_order(board)
    yield from explain_correction(board)


def _explain_order(board: Board) -> Iterator[str]:
    if board.tau is not None and board.tau_ap is not None:
        yield f"Judges' order against the corrected one: tau {_range(board.tau)}, tau_ap {_range(board.tau_ap)}."
    if board.slope is not None:
        yield (
            f"Slope of the judges' differences on gold's: {_range(board.slope)}; below 1 they level differences, above "
            "1 they exaggerate them."
        )


def _range(found: Bounded) -> str:
    if math.isnan(found.low):
        return f"{found.value:.3f}"
    low, high = (f"{end:.3f}" if math.isfinite(end) else "no bound" for end in found[1:])
    return f"{found.value:.3f} [{low}, {high}]"
