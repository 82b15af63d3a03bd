"""How far judges can be taken at their word, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import shorten
from karatage.views.calibration_charts import draw_calibration, draw_shift
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.calibration import tabulate_bins, tabulate_grades, tabulate_shift

if TYPE_CHECKING:
    from karatage.data.calibration import Calibration

NAME = 30


def lay_out_calibration(found: Calibration) -> Page:
    """Probabilities against what gold found, grades against gold's, and gold's items against the others."""
    facts = list_facts(found, approach=found.approach, relevant=f"grade {found.relevant} and above")
    title = f"Calibration of {shorten(found.approach, NAME)}"
    return Page(title, found.sentence, [lay_out_reliability(found)], found.notes, facts)


def lay_out_reliability(found: Calibration) -> Section:
    """The charts with their numbers."""
    charts = [
        Figure(
            draw_calibration(found),
            f"How often items are relevant by gold, by the judges' {found.forecast}; on the line both are the same",
            "calibration",
            tabulate_bins(found),
        ),
        Figure(
            draw_shift(found),
            "Which grades merged judges give to gold's items, gold to the same, and merged judges to the others",
            "shift",
            tabulate_grades(found),
        ),
    ]
    return Section("Calibration and shift", found.sentence, [tabulate_shift(found)], charts)
