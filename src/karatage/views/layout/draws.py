"""Scores under grades that were drawn many times as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent, shorten
from karatage.views.evaluation_charts import draw_draws
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.evaluation import tabulate_draws

if TYPE_CHECKING:
    from karatage.data.draws import Draws

MEANING = """Grades are drawn as often as they are likely, and every draw is scored. Intervals say what the doubt about
single grades leaves open; they say nothing of other topics, nor of judges who err together."""


def lay_out_draws(draws: Draws) -> Page:
    """Intervals of scores and ranks, and who may be the best."""
    figure = Figure(draw_draws(draws), "Scores over draws, and the chance to be the best", "draws")
    facts = list_options(
        measure=draws.measure,
        approach=draws.approach,
        draws=len(draws.value),
        level=percent(draws.level),
        topics=draws.topics,
        seed=draws.seed,
    )
    title = f"{draws.measure} with grades drawn from {shorten(draws.approach)}"
    section = Section("Scores over draws", MEANING, [tabulate_draws(draws)], [figure])
    return Page(title, draws.sentence, [section], draws.notes, facts)
