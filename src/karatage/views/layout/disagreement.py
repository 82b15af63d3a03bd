"""A model of disagreement as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.plan_charts import draw_disagreement
from karatage.views.tabulating.disagreement import tabulate_rates, tabulate_topics

if TYPE_CHECKING:
    from karatage.data.disagreement import DisagreementModel


def lay_out_disagreement(model: DisagreementModel) -> Page:
    """How predictions fare on held-out items, and what was learned on each topic."""
    figures = []
    if model.rates["topics"].sum():
        figures.append(Figure(draw_disagreement(model), "Rates on held-out items, by topic", "rates"))
    sections = [
        Section("Held-out items", "", [tabulate_rates(model)], figures),
        Section("Topics", "", [tabulate_topics(model)]),
    ]
    facts = list_facts(model, features=", ".join(model.features), threshold=f"{model.threshold:g}", splits=model.trials)
    return Page("Where judges disagree", model.sentence, sections, model.notes, facts)
