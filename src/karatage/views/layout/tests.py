"""A test of two systems as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent
from karatage.views.decisions import draw_test
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.effects import tabulate_test

if TYPE_CHECKING:
    from karatage.comparison.paired import PairedTest
    from karatage.comparison.unpaired import UnpairedTest

WORD = "Scores are taken as they are: errors of judges are not undone here."


def lay_out_paired(found: PairedTest) -> Page:
    """The same topics for both."""
    facts = list_options(test=found.test, confidence=percent(found.confidence), topics=found.topics, exact=found.exact)
    return _lay_out(found, "Two systems on the same topics", facts)


def lay_out_unpaired(found: UnpairedTest) -> Page:
    """Topics of their own for each."""
    topics = " and ".join(f"{count:,}" for count in found.topics)
    facts = list_options(test="Welch's t", confidence=percent(found.confidence), topics=topics)
    return _lay_out(found, "Two systems on topics of their own", facts)


def _lay_out(found: PairedTest | UnpairedTest, title: str, facts: list[tuple[str, str]]) -> Page:
    figure = Figure(draw_test(found), "The difference with its interval", "difference")
    return Page(
        title, found.sentence, [Section("The test", WORD, [tabulate_test(found)], [figure])], found.notes, facts
    )
