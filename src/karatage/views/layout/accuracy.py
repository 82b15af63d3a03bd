"""How judges answer as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.views.calibration_charts import draw_accuracy
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.accuracy import tabulate_answers

if TYPE_CHECKING:
    from karatage.data.accuracy import Accuracy


def lay_out_accuracy(accuracy: Accuracy) -> Page:
    """Shares of right and wrong answers."""
    sentence = f"{accuracy.sentence[0].upper()}{accuracy.sentence[1:]}."
    figures = (
        [] if not accuracy.items else [Figure(draw_accuracy(accuracy), "What judges say, by what gold says", "answers")]
    )
    section = Section("Answers", "", [tabulate_answers(accuracy)], figures)
    facts = list_options(gold_items=f"{accuracy.items:,}", kinds=", ".join(accuracy.kinds))
    return Page("How judges answer", sentence, [section], (), facts)
