"""A test of two systems."""

from __future__ import annotations

from functools import partial

import polars as pl

from karatage.comparison.paired import PairedTest, UnpairedTest
from karatage.text import percent
from karatage.views.decisions import draw_test
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table, keep_finite

ERRORS = "Scores are taken as correct: errors of judges are not corrected here."


@shows(PairedTest)
def view_paired(found: PairedTest) -> Page:
    """The same topics for both."""
    facts = list_options(test=found.test, confidence=percent(found.confidence), topics=found.topics, exact=found.exact)
    return _view(found, "Two systems on the same topics", facts)


@shows(UnpairedTest)
def view_unpaired(found: UnpairedTest) -> Page:
    """Topics of their own for each."""
    topics = " and ".join(f"{count:,}" for count in found.topics)
    facts = list_options(test="Welch's t", confidence=percent(found.confidence), topics=topics)
    return _view(found, "Two systems on separate topics", facts)


def _view(found: PairedTest | UnpairedTest, title: str, facts: list[tuple[str, str]]) -> Page:
    """A difference, its interval and its p-value."""
    columns = {"difference": "difference", "low": f"{percent(found.confidence)} from", "high": "to"}
    columns |= {"statistic": "statistic", "p_value": "p"}
    frame = keep_finite(pl.DataFrame({name: [float(getattr(found, name))] for name in columns}))
    signed = ("difference", "low", "high", "statistic")
    table = Table(frame, "Second less first", signed=signed, name="test", columns=columns)
    figure = Figure(partial(draw_test, found), "The difference with its interval", "difference")
    return Page(title, found.sentence, [Section("The test", ERRORS, [table], [figure])], found.notes, facts)
