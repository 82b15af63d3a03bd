"""Crowds as pages: the judges of one, and a model of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import shorten
from karatage.views.crowds import draw_crowd, draw_summary
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tables import Table
from karatage.views.tabulating.crowd import tabulate_bands, tabulate_crowd, tabulate_kinds, tabulate_model

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary

BANDS = "Judges go by TPR + TNR - 1, which is 1 for one who never errs and 0 for a coin; with few items mostly chance."
KINDS = """Judges are drawn from these kinds: each has a share of the crowd, and its judges differ in how many relevant
items they find (TPR), how many others they reject (TNR) and how much they contribute."""


def lay_out_summary(summary: CrowdSummary) -> Page:
    """Judges by quality, and the crowd against gold."""
    figures = []
    if len(summary.judges.drop_nulls(["tpr", "tnr"])):
        behind = Table(summary.judges, "Judges", digits=3, name="judges", about="judge")
        figures.append(Figure(draw_summary(summary), "Judges by what they find and what they reject", "judges", behind))
    section = Section("Judges", BANDS, [tabulate_bands(summary), tabulate_crowd(summary)], figures)
    facts = list_options(crowd=shorten(summary.name), items=f"{summary.items:,}", relevant=f"{summary.relevant:,}")
    return Page(f"A crowd like {shorten(summary.name)}", summary.sentence, [section], summary.notes, facts)


def lay_out_crowd(model: CrowdModel) -> Page:
    """Kinds of judges, and how they err."""
    figure = Figure(draw_crowd(model), "Shares of judges by rates and contribution", "kinds", tabulate_kinds(model))
    section = Section("Kinds of judges", KINDS, tabulate_model(model), [figure])
    facts = list_options(crowd=shorten(model.name), learned_from=model.source, chance_in_rates=model.noise)
    return Page(f"Crowd model {shorten(model.name)}", model.sentence, [section], model.notes, facts)
