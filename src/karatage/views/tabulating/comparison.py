"""Two systems compared, as tables and sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from karatage.text import counted, percent, shorten
from karatage.views.tables import MINUS, Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.board import Board
    from karatage.data.comparison import Comparison, Opinion

NAME = 30  # characters


def entitle_comparison(found: Comparison) -> str:
    """What was compared."""
    return f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, NAME)}"


def _name_systems(caption: str, found: Comparison) -> str:
    """A caption that says which systems a and b are."""
    if (found.a, found.b) == ("a", "b"):
        return caption
    return f"{caption}; a = {shorten(found.a, NAME)}, b = {shorten(found.b, NAME)}"


def tabulate_scores(found: Comparison) -> Table:
    """Both systems' scores by every opinion that has some."""
    rows = [_list_scores(opinion) for opinion in found.opinions if opinion.a is not None]
    schema = {"by": pl.String} | dict.fromkeys(("a", "a_standard_error", "b", "b_standard_error"), pl.Float64)
    return Table(
        keep_finite(pl.DataFrame(rows, schema=schema, orient="row")),
        _name_systems("Scores", found),
        name="scores",
        headers={"a_standard_error": "± s.e.", "b_standard_error": "± s.e."},
    )


def _list_scores(opinion: Opinion) -> list[str | float | None]:
    row: list[str | float | None] = [opinion.method.label]
    for score in (opinion.a, opinion.b):
        row += [None, None] if score is None else [score.value, score.standard_error]
    return row


def tabulate_difference(found: Comparison) -> Table:
    """The difference by every opinion; where nothing is left to chance, its name says so."""
    rows = []
    for opinion in found.opinions:
        gap = opinion.difference
        t = gap.value / gap.standard_error if gap.standard_error > 0 else math.nan
        numbers = gap.value, gap.standard_error, t, gap.low, gap.high, opinion.p_value
        rows.append([opinion.method.label + (", exact" if gap.exact else ""), *numbers])
    low = f"{percent(found.naive.difference.confidence)} from"
    names = ("b - a", "± s.e.", "t", low, "to", "p")
    return Table(
        keep_finite(pl.DataFrame(rows, schema={"by": pl.String} | dict.fromkeys(names, pl.Float64), orient="row")),
        _name_systems("Difference", found),
        digits={"t": 3},
        signed=("b - a", "t", low, "to"),
        name="difference",
        headers={"b - a": f"b {MINUS} a"},
    )


def explain_correction(found: Comparison | Board) -> Iterator[str]:
    """Paragraphs on what the correction rests on."""
    if found.gold is not None:
        yield f"{found.gold[0].upper()}{found.gold[1:]}."
    if found.accuracy is not None:
        yield f"{found.accuracy.sentence[0].upper()}{found.accuracy.sentence[1:]}."
    if found.corrected is not None:
        yield f"Assumed: {'; '.join(found.assumed)}."
        yield f"The claim is about {found.claim}."
