"""Scores by every judge as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import counted
from karatage.views.evaluation_charts import MOST, draw_score_map, draw_systems
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.scores import tabulate_judges, tabulate_systems

if TYPE_CHECKING:
    from karatage.data.scores import Scores

ALONE = """Every judge's grades are taken at their word here: nothing is merged and no error undone. Where judges put
systems in different orders, some of them are wrong."""


def lay_out_scores(scores: Scores) -> Page:
    """Systems by what all judges make of them, and judge by judge."""
    judges = len(scores.judges)
    figures = [Figure(draw_systems(scores), f"{scores.measure} of each system", "systems")]
    if 1 < judges <= MOST:
        behind = tabulate_judges(scores)
        figures.append(Figure(draw_score_map(scores), f"{scores.measure} by judge and system", "judges", behind))
    text = ALONE if judges > 1 else ""
    title = f"{scores.measure} by {counted(judges, 'judge')}"
    facts = list_options(measure=scores.measure, judges=judges, topics=len(scores.topics), systems=len(scores.systems))
    section = Section("Scores", text, [tabulate_systems(scores)], figures)
    return Page(title, scores.sentence, [section], scores.notes, facts)
