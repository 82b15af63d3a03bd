"""What judges weigh as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import counted, shorten
from karatage.views.evaluation_charts import draw_weights
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.evaluation import tabulate_weights

if TYPE_CHECKING:
    from karatage.data.weights import Weights

MOST_REASONS = 30  # judges


def lay_out_weights(weights: Weights) -> Page:
    """Weights with their range over topics, and why they are what they are."""
    caption = "What each judge weighs, from the lightest to the heaviest topic"
    figure = Figure(draw_weights(weights), caption, "weights")
    lines = [f"{line}." for line in weights.explain()]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"{counted(len(lines) - MOST_REASONS, 'lighter judge')} left out."]
    text = "\n\n".join(lines)
    facts = list_options(
        measure=weights.measure, approach=weights.approach, judges=len(weights.judges), topics=len(weights.topics)
    )
    title = f"Weights by {shorten(weights.approach)} on {weights.measure}"
    sections = [Section("Weights", "", [tabulate_weights(weights)], [figure]), Section("Why", text)]
    return Page(title, weights.sentence, sections, weights.notes, facts)
