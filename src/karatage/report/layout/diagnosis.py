"""A diagnosis of files as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.report.diagnosis_charts import draw_judged
from karatage.report.layout.facts import list_facts
from karatage.report.page import Figure, Page, Section
from karatage.report.tabulating.diagnosis import tabulate_checks, tabulate_judged, tabulate_measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.diagnosis import Diagnosis


def lay_out_diagnosis(found: Diagnosis) -> Page:
    """What was checked, and what follows from it."""
    return Page(
        "What these files are fit for", found.sentence, list(_list_sections(found)), found.notes, list_facts(found)
    )


def _list_sections(found: Diagnosis) -> Iterator[Section]:
    for title, lines in {"What can be concluded": found.can, "What cannot": found.cannot}.items():
        if lines:
            yield Section(title, "\n\n".join(f"{line[0].upper()}{line[1:]}." for line in lines))
    yield Section("Checks", "", [tabulate_checks(found)])
    if len(found.measures):
        yield Section("Measures", "", [tabulate_measures(found)])
    if len(found.systems):
        chart = Figure(
            draw_judged(found), "How much of what each system shows was judged", "judged", tabulate_judged(found)
        )
        yield Section("Systems", "", [], [chart])
    if found.commands:
        yield Section("What to type next", "\n\n".join(found.commands))
