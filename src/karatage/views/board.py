"""A leaderboard: scores with intervals and tied groups, all differences, and what the correction rests on."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.board import ADJUSTMENTS, Board
from karatage.text import counted, percent, shorten
from karatage.views.comparison import NAME, explain_correction
from karatage.views.decisions import draw_board, draw_differences, frame_forest
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.showing import shows
from karatage.views.table import Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.standing import Bounded

LUCK = """The best system is best in part by chance, so its lead over the others is too large on average. Each interval
is for one system or difference by itself."""
FLIPS = {
    "falls": "significant only without correction",
    "arises": "significant only when corrected",
    "turns": "reversed",
}


@shows(Board)
def view_board(board: Board) -> Page:
    """The leaderboard, and the differences."""
    facts = list_facts(
        board,
        measure=board.measure,
        approach=board.approach,
        correction=None if board.corrected is None else board.corrected.way,
        claim=board.claim,
        confidence=percent(board.confidence),
        adjust=board.adjust,
    )
    sections = [view_leaderboard(board), view_differences(board)]
    return Page(f"Leaderboard: {entitle_board(board)}", board.sentence, sections, board.notes, facts)


def view_leaderboard(board: Board) -> Section:
    """Scores with intervals and tied groups."""
    if board.corrected is not None:
        shown = f"{board.naive.method.about} {board.corrected.method.about}".strip()
    elif board.refusal is not None:
        shown = f"Only the judges' scores are shown. Correction was refused: {board.refusal}."
    else:
        shown = "Only the judges' scores are shown: without gold their errors are not corrected."
    caption = "Scores with intervals, and groups of systems that are not significantly different"
    chart = Figure(partial(draw_board, board), caption, "leaderboard")
    return Section("Leaderboard", explain_letters(board), [tabulate_leaderboard(board)], [chart], background=shown)


def view_differences(board: Board) -> Section:
    """The forest of differences, which verdicts change, and what that rests on."""
    corrected = "" if board.corrected is None else " and corrected"
    caption = f"Each system's difference to the best one, by the judges{corrected}"
    forest = Figure(partial(draw_differences, board), caption, "differences", tabulate_forest(board))
    turned = tabulate_turned(board)
    tables = [tabulate_verdicts(board), *([] if turned is None else [turned])]
    return Section("Differences", "\n\n".join(explain_board(board)), tables, [forest], background=LUCK)


def entitle_board(board: Board) -> str:
    """What was compared."""
    return f"{board.measure}, {counted(board.topics, 'topic')}, {shorten(board.approach, NAME)}"


def tabulate_leaderboard(board: Board) -> Table:
    """By judges and corrected side by side; the interval is of what decides."""
    decides = "naive" if board.corrected is None else "corrected"
    groups = pl.Series("groups", [spell_letters(text) for text in board.letters], dtype=pl.String)
    frame = board.to_frame().with_columns(groups)
    columns = {f"{decides}_rank": "#", "system": "system"}
    columns |= {} if board.corrected is None else {"naive_rank": "judges #"}
    columns["naive_score"] = "judges"
    low, high = f"{decides}_low", f"{decides}_high"
    if board.corrected is not None and np.isnan(board.corrected.value).all():  # differences are all that is known
        best = frame_forest(board).filter(by="corrected").select("system", "difference", "low", "high")
        frame = frame.join(best, on="system", how="left", maintain_order="left")
        columns["difference"] = "to the best"
        low, high = "low", "high"
    elif board.corrected is not None:
        columns["corrected_score"] = "corrected"
    columns |= {low: f"{percent(board.confidence)} from", high: "to", "groups": "letters"}
    return Table(
        keep_finite(frame), "Leaderboard", name="leaderboard", about="system", signed=("difference",), columns=columns
    )


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
    shared = "Systems that share a letter are not significantly different"
    if board.corrected_pairs is not None and board.corrected_pairs.doubted.any():
        shared += ", or gold contradicts the correction of their difference"
    return f"{shared}."


def tabulate_verdicts(board: Board) -> Table:
    """How many pairs are told apart, and which verdicts change."""
    counts = {"significant by the judges": board.naive_pairs.count}
    if board.corrected_pairs is not None:
        counts |= {"significant when corrected": board.corrected_pairs.count}
        counts |= {FLIPS[kind]: count for kind, count in board.count_flips().items()}
        if board.corrected_pairs.doubted.any():
            counts["gold contradicts the correction"] = int(board.corrected_pairs.doubted.sum())
    pairs = len(board.a)
    frame = pl.DataFrame({"verdict": list(counts), "pairs": list(counts.values())}).with_columns(
        share=pl.col("pairs") / pairs
    )
    level = f"{ADJUSTMENTS[board.adjust]}, {100 * (1 - board.confidence):.3g}%"
    return Table(
        frame,
        f"{counted(pairs, 'pair')} ({level})",
        digits=0,
        shares=("share",),
        name="verdicts",
        columns={"verdict": "", "pairs": "pairs", "share": "of all"},
    )


def tabulate_turned(board: Board) -> Table | None:
    """The pairs that judges and gold put in opposite orders, surest verdicts of the judges first; None without any."""
    if not board.count_flips().get("turns"):
        return None
    columns = {"a": "a", "b": "b", "naive_difference": "judges", "corrected_difference": "corrected"}
    frame = board.flips().filter(flip="turns")
    signed = ("naive_difference", "corrected_difference")
    return Table(frame, "Reversed verdicts", signed=signed, name="turned", columns=columns, noun="pair")


def tabulate_forest(board: Board, *, reference: str | None = None) -> Table:
    """What the judges say of every system against the reference (default: the best), and the same corrected."""
    frame = frame_forest(board, reference=reference)
    level = f"{percent(board.confidence)} from"
    headers = {"difference": "", "low": level, "high": "to", "p": "p", "verdict": "verdict"}
    shown = frame.filter(by="judges").select("system")
    columns = {"system": "system"}
    for by in frame["by"].unique(maintain_order=True):
        own = {name: f"{by}_{name}" for name in headers}
        columns |= {own[name]: header or by for name, header in headers.items()}
        part = frame.filter(by=by).select("system", *headers).rename(own)
        shown = shown.join(part, on="system", how="left", maintain_order="left")
    best = board.systems[0] if reference is None else reference
    caption = f"Differences in {board.measure} from {shorten(best, NAME)}; p: {ADJUSTMENTS[board.adjust]}"
    signed = [name for name in shown.columns if shown[name].dtype.is_float() and not name.endswith("_p")]
    return Table(shown, caption, signed=signed, columns=columns, name="differences", about="system")


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
