"""A diagnosis of files: what was checked, what can be concluded, and what to type next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.survey import Diagnosis
from karatage.views.marks import WHOLE, Axis, Rows
from karatage.views.page import Figure, Page, Section, list_facts, shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt


TITLES = {
    "files": "Files",
    "runs": "Runs",
    "pool": "Runs and judgments together",
    "judges": "Judges",
    "gold": "Gold",
    "decision": "The decision",
}


@shows(Diagnosis)
def view_diagnosis(found: Diagnosis) -> Page:
    """Checks first, then what follows from them."""
    sections = [Section("Checks", tables=[tabulate_checks(found)])]
    if len(found.systems):
        lacking = (found.systems["judged"] < 1).any() or (found.systems["short"] > 0).any()
        sections.append(Section("Systems", "", [tabulate_judged(found)] if lacking else [], [view_coverage(found)]))
    if len(found.measures):
        known = found.measures["way"].is_not_null().any()
        sections.append(Section("Measures", tables=[tabulate_measures(found)], detail=not known))
    sections += list_conclusions(found)
    if found.commands:
        sections.append(Section("What to type next", commands=found.commands))
    return Page("What these files allow", found.sentence, sections, found.notes, list_facts(found))


def list_conclusions(found: Diagnosis) -> list[Section]:
    """What can and what cannot be concluded."""
    told = {"What can be concluded": found.can, "What cannot be concluded": found.cannot}
    return [Section(title, "\n\n".join(f"- {line}" for line in lines)) for title, lines in told.items() if lines]


def view_coverage(found: Diagnosis) -> Figure:
    """How much of each system's ranking has a grade."""
    caption = "How much of each system's ranking was judged; unjudged documents count as not relevant"
    return Figure(partial(chart_judged, found), caption, "judged", tabulate_judged(found))


def tabulate_checks(found: Diagnosis) -> Table:
    """What was checked, what was found, and what to do about it."""
    frame = found.to_frame().with_columns(of=pl.col("about").replace(TITLES))
    columns = {"of": "of", "state": "state", "finding": "finding", "advice": "what to do"}
    return Table(frame, "Checks", name="checks", columns=columns, group="of", below="advice", wrap=("finding",))


def tabulate_judged(found: Diagnosis) -> Table:
    """How much of each system's ranking was judged, the least first."""
    frame = found.systems.sort("judged", nulls_last=False, maintain_order=True)
    caption = f"Judged share of the documents that count for {found.measure}"
    columns = label_columns(frame, short="short rankings")
    return Table(frame, caption, digits=1, name="judged", about="system", shares=("judged",), columns=columns)


def tabulate_measures(found: Diagnosis) -> Table:
    """Which measures can be corrected, how, and which difference could then be detected."""
    frame = found.measures.with_columns(pl.col("label").fill_null("not at all"))
    columns = {"measure": "measure", "label": "by", "detectable": "detectable difference"}
    caption = "How judges' errors can be corrected, and the difference detectable with 80% power"
    return Table(frame, caption, digits=3, name="correctable", columns=columns)


def chart_judged(found: Diagnosis) -> alt.HConcatChart:
    """The share judged, the least first: unjudged documents count as not relevant, which lowers scores."""
    frame = found.systems.sort("judged", nulls_last=False, maintain_order=True)
    frame = frame.with_columns(pl.col("judged").fill_null(0))
    rows = Rows(frame, "system", ["system:N", "judged:Q", "topics:Q", "short:Q"], natural="judged")
    bars = rows.chart_bars(Axis("judged:Q", "share judged", WHOLE), rows.width, named=True)
    return rows.put_together([bars], f"Judged share of the documents that count for {found.measure}")
