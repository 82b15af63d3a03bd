"""How judges answer: shares of right and wrong answers."""

from __future__ import annotations

from functools import partial

from karatage.data.accuracy import Accuracy
from karatage.views.calibration_charts import draw_accuracy
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

CAPTION = "What judges say, by what gold says"


@shows(Accuracy)
def view_accuracy(accuracy: Accuracy) -> Page:
    """Shares of items of each kind, with 95 % intervals."""
    frame = accuracy.to_frame()
    table = Table(frame, CAPTION, 3, name="answers", columns=label_columns(frame, low="95% from", high="to"))
    figures = [Figure(partial(draw_accuracy, accuracy), CAPTION, "answers")] if accuracy.items else []
    facts = list_options(gold_items=f"{accuracy.items:,}", kinds=", ".join(accuracy.kinds))
    sentence = f"{accuracy.sentence[0].upper()}{accuracy.sentence[1:]}."
    return Page("How judges answer", sentence, [Section("Answers", "", [table], figures)], (), facts)
