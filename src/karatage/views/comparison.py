"""Two systems compared: the difference by every opinion, the scores, and what the correction rests on."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.comparison import Comparison
from karatage.text import counted, percent, shorten
from karatage.views.decisions import draw_comparison
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.showing import shows
from karatage.views.table import MINUS, Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.board import Board
    from karatage.data.comparison import Opinion

NAME = 30  # characters


@shows(Comparison)
def view_comparison(found: Comparison) -> Page:
    """The opinions side by side."""
    facts = list_facts(
        found,
        measure=found.measure,
        approach=found.approach,
        correction=None if found.corrected is None else found.corrected.way,
        claim=found.claim,
        confidence=percent(found.naive.difference.confidence),
    )
    title = f"{shorten(found.b, NAME)} against {shorten(found.a, NAME)}: {found.measure}"
    return Page(title, found.sentence, [view_decision(found)], found.notes, facts)


def view_decision(found: Comparison) -> Section:
    """The part that a survey has, too."""
    text = [f"{entitle_comparison(found)}.", *explain_correction(found)]
    refused = "" if found.refusal is None else f"Correction was refused: {found.refusal}."
    caption = "The difference by every opinion, with its interval"
    chart = Figure(partial(draw_comparison, found), caption, "comparison")
    tables = [tabulate_difference(found), tabulate_scores(found)]
    return Section("The decision", "\n\n".join(text), tables, [chart], background=refused)


def entitle_comparison(found: Comparison) -> str:
    """What was compared."""
    return f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, NAME)}"


def _name_systems(caption: str, found: Comparison) -> str:
    """A caption that says which systems a and b are."""
    if (found.a, found.b) == ("a", "b"):
        return caption
    return f"{caption}; a = {shorten(found.a, NAME)}, b = {shorten(found.b, NAME)}"


def tabulate_difference(found: Comparison) -> Table:
    """The difference by every opinion; an exact one is called so."""
    gaps = [opinion.difference for opinion in found.opinions]
    t = [gap.value / gap.standard_error if gap.standard_error > 0 else math.nan for gap in gaps]
    labels = [opinion.method.label + (", exact" if opinion.difference.exact else "") for opinion in found.opinions]
    frame = found.to_frame().with_columns(pl.Series("by", labels, dtype=pl.String), pl.Series("t", t, dtype=pl.Float64))
    return Table(
        keep_finite(frame),
        _name_systems("Difference", found),
        digits={"t": 3},
        signed=("difference", "t", "low", "high"),
        name="difference",
        columns={
            "by": "by",
            "difference": f"b {MINUS} a",
            "standard_error": "± s.e.",
            "t": "t",
            "low": f"{percent(found.naive.difference.confidence)} from",
            "high": "to",
            "p_value": "p",
        },
    )


def tabulate_scores(found: Comparison) -> Table:
    """Both systems' scores by every opinion that has some."""
    rows = [_list_scores(opinion) for opinion in found.opinions if opinion.a is not None]
    schema = {"by": pl.String} | dict.fromkeys(("a", "a_standard_error", "b", "b_standard_error"), pl.Float64)
    return Table(
        keep_finite(pl.DataFrame(rows, schema=schema, orient="row")),
        _name_systems("Scores", found),
        name="scores",
        columns={"by": "by", "a": "a", "a_standard_error": "± s.e.", "b": "b", "b_standard_error": "± s.e."},
    )


def _list_scores(opinion: Opinion) -> list[str | float | None]:
    row: list[str | float | None] = [opinion.method.label]
    for score in (opinion.a, opinion.b):
        row += [None, None] if score is None else [score.value, score.standard_error]
    return row


def explain_correction(found: Comparison | Board) -> Iterator[str]:
    """Paragraphs on what the correction rests on."""
    if found.gold is not None:
        yield f"{found.gold[0].upper()}{found.gold[1:]}."
    if found.accuracy is not None:
        yield f"{found.accuracy.sentence[0].upper()}{found.accuracy.sentence[1:]}."
    if found.corrected is not None:
        yield f"Assumed: {'; '.join(found.assumed)}."
        yield f"The claim is about {found.claim}."
