"""What judges weigh, and why."""

from __future__ import annotations

from functools import partial

from karatage.data.weights import Weights
from karatage.text import counted, shorten
from karatage.views.evaluation_charts import draw_weights
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table

MOST_REASONS = 30  # judges


@shows(Weights)
def view_weights(weights: Weights) -> Page:
    """Weights with their range over topics, and why they are what they are."""
    caption = "Each judge's weight, from the lowest to the highest topic"
    figure = Figure(partial(draw_weights, weights), caption, "weights")
    lines = [f"- {line}" for line in weights.explain()]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"{counted(len(lines) - MOST_REASONS, 'lighter judge')} left out."]
    facts = list_options(
        measure=weights.measure, approach=weights.approach, judges=len(weights.judges), topics=len(weights.topics)
    )
    title = f"Weights by {shorten(weights.approach)} on {weights.measure}"
    sections = [
        Section("Weights", "", [tabulate_weights(weights)], [figure]),
        Section("Why", "\n\n".join(lines), detail=True),
    ]
    return Page(title, weights.sentence, sections, weights.notes, facts)


def tabulate_weights(found: Weights) -> Table:
    """Judges from the heaviest to the lightest, with the distances their weights come from."""
    columns = {name: name for name in ("judge", "weight", "lowest", "highest")}
    columns |= {f"{found.gap}_{kind}": f"{found.gap} {kind}" for kind in found.distance}
    caption = f"Weights by {found.approach}, {found.measure}"
    return Table(found.to_frame(), caption, name="weights", about="judge", columns=columns)
