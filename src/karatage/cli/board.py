"""A leaderboard with all its pairs as text."""

from __future__ import annotations

import math
import re
from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.comparison import explain_correction
from karatage.cli.output import WIDTH, make_table, render
from karatage.data.board import ADJUSTMENTS
from karatage.wording import counted, percent, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from karatage.data.board import Board
    from karatage.data.standing import Bounded, Standing

LETTERS_WIDTH = 12
TURNED = 5  # pairs shown


def render_board(board: Board, *, top: int = 20) -> str:
    """The first systems (`top`, 0 = all), how verdicts flip, how far the judges' order is off, and the sentence."""
    title = f"{board.measure}, {counted(board.topics, 'topic')}, {shorten(board.approach, 30)}"
    parts: list[Table | str] = [fill(title, WIDTH), "", _leaderboard(board, top)]
    if top and len(board.systems) > top:
        parts.append(f"… {counted(len(board.systems) - top, 'more system')}; --top 0 shows all.")
    shared = "Systems that share a letter cannot be told apart"
    if board.corrected_pairs is not None and board.corrected_pairs.doubted.any():
        shared += ", or gold speaks against the correction of their difference"
    parts += [fill(f"{shared}.", WIDTH), "", _verdicts(board)]
    if board.count_flips().get("turns"):
        rows = [
            [row["a"], row["b"], f"{row['naive_difference']:+.4f}", f"{row['corrected_difference']:+.4f}"]
            for row in board.flips().head(TURNED).iter_rows(named=True)
            if row["flip"] == "turns"
        ]
        parts.append(make_table("Verdicts that turn around", ["a", "b", "judges", "corrected"], rows, text_columns=2))
    parts += [fill(text, WIDTH) for text in _explain(board)]
    return render(*parts, "", fill(board.sentence, WIDTH))


def _leaderboard(board: Board, top: int) -> Table:
    """By judges and corrected side by side; the interval is of what decides."""
    shown = board.corrected or board.naive
    corrected = ["judges #", "judges", "corrected"] if board.corrected is not None else ["judges"]
    headers = ["#", "system", *corrected, f"{percent(board.confidence)} from", "to", "letters"]
    rows = []
    for s, name in enumerate(board.systems[: top or None]):
        scores = [f"{board.naive.value[s]:.4f}"]
        if board.corrected is not None:
            scores = [str(board.naive.rank[s]), *scores, f"{board.corrected.value[s]:.4f}"]
        rows.append([str(shown.rank[s]), name, *scores, *_bounds(shown, s), _spell(board.letters[s])])
    return make_table("Leaderboard", headers, rows, text_columns=2)


def _bounds(shown: Standing, s: int) -> list[str]:
    return [f"{bound:.4f}" if math.isfinite(bound) else "-" for bound in (shown.low[s], shown.high[s])]


def _spell(letters: str) -> str:
    """Letters that follow each other as a span: `abcde` is `a-e`, `yza2` is `y-a2`."""
    spans: list[list[str]] = []
    last = None
    for letter, number in re.findall(r"([a-z])(\d*)", letters):
        place = ord(letter) + 26 * int(number or 1)
        if last is None or place != last + 1:
            spans.append([])
        spans[-1].append(letter + number)
        last = place
    texts = [span[0] + (f"-{span[-1]}" if len(span) > 1 else "") for span in spans]
    return shorten(",".join(texts), LETTERS_WIDTH)


def _verdicts(board: Board) -> Table:
    """How many pairs are told apart, and what becomes of the judges' verdicts."""
    pairs = len(board.a)
    rows = [["told apart by the judges", f"{board.naive_pairs.count:,}", _share(board.naive_pairs.count, pairs)]]
    if board.corrected_pairs is not None:
        names = {"falls": "verdicts that fall", "arises": "verdicts that arise", "turns": "verdicts that turn around"}
        counts = {"told apart when corrected": board.corrected_pairs.count}
        counts |= {names[kind]: count for kind, count in board.count_flips().items()}
        if board.corrected_pairs.doubted.any():
            counts["gold speaks against the correction"] = int(board.corrected_pairs.doubted.sum())
        rows += [[name, f"{count:,}", _share(count, pairs)] for name, count in counts.items()]
    level = f"{ADJUSTMENTS[board.adjust]}, {100 * (1 - board.confidence):.3g}%"
    return make_table(f"{counted(pairs, 'pair')} ({level})", ["", "pairs", "of all"], rows, text_columns=1)


def _share(count: int, pairs: int) -> str:
    return f"{count / pairs:.0%}"


def _explain(board: Board) -> Iterator[str]:
    """Paragraphs on the judges' order, and on what the correction rests on."""
    if board.tau is not None and board.tau_ap is not None:
        yield f"Judges' order against the corrected one: tau {_range(board.tau)}, tau_ap {_range(board.tau_ap)}."
    if board.slope is not None:
        yield (
            f"Slope of the judges' differences on gold's: {_range(board.slope)}; below 1 they level differences, above "
            "1 they exaggerate them."
        )
    yield from explain_correction(board)


def _range(found: Bounded) -> str:
    if math.isnan(found.low):
        return f"{found.value:.3f}"
    low, high = (f"{end:.3f}" if math.isfinite(end) else "no bound" for end in found[1:])
    return f"{found.value:.3f} [{low}, {high}]"
