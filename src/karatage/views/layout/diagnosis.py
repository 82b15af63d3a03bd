"""A diagnosis of files as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.plan_charts import draw_judged
from karatage.views.tabulating.diagnosis import tabulate_checks, tabulate_judged, tabulate_measures

if TYPE_CHECKING:
    from karatage.data.diagnosis import Diagnosis


def lay_out_diagnosis(found: Diagnosis) -> Page:
    """What was checked, and what follows from it."""
    sections = [lay_out_conclusions(found)]
    if len(found.measures):
        sections.append(Section("Measures", "", [tabulate_measures(found)]))
    if len(found.systems):
        sections.append(Section("Systems", "", [], [draw_coverage(found)]))
    if found.commands:
        sections.append(Section("What to type next", "\n\n".join(found.commands)))
    return Page("What these files are fit for", found.sentence, sections, found.notes, list_facts(found))


def lay_out_conclusions(found: Diagnosis) -> Section:
    """What can and what cannot be concluded, and every check."""
    told = [f"Can be told: {line}." for line in found.can] + [f"Cannot be told: {line}." for line in found.cannot]
    return Section("What these data allow", "\n\n".join(told), [tabulate_checks(found)])


def draw_coverage(found: Diagnosis) -> Figure:
    """How much of what systems show has a grade."""
    caption = "How much of what each system shows was judged; what nobody judged counts as not relevant"
    return Figure(draw_judged(found), caption, "judged", tabulate_judged(found))
