"""A comparison of two systems as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent, shorten
from karatage.views.decisions import draw_comparison
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.comparison import (
    entitle_comparison,
    explain_correction,
    tabulate_difference,
    tabulate_scores,
)

if TYPE_CHECKING:
    from karatage.data.comparison import Comparison

NAME = 30


def lay_out_comparison(found: Comparison) -> Page:
    """The difference by every opinion, the scores, and what the correction rests on."""
    facts = list_facts(
        found,
        measure=found.measure,
        approach=found.approach,
        correction=None if found.corrected is None else found.corrected.way,
        claim=found.claim,
        confidence=percent(found.naive.difference.confidence),
    )
    title = f"{shorten(found.b, NAME)} against {shorten(found.a, NAME)}"
    return Page(f"{title}: {found.measure}", found.sentence, [lay_out_decision(found)], found.notes, facts)


def lay_out_decision(found: Comparison) -> Section:
    """Opinions side by side."""
    text = [f"{entitle_comparison(found)}.", *explain_correction(found)]
    if found.refusal is not None:
        text.append(f"Correction was refused: {found.refusal}.")
    chart = Figure(draw_comparison(found), "The difference by every opinion, with its interval", "comparison")
    return Section("The decision", "\n\n".join(text), [tabulate_difference(found), tabulate_scores(found)], [chart])
