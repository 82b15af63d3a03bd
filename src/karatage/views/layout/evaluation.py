"""Leaderboards under several approaches as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import counted
from karatage.views.evaluation_charts import draw_fidelity, draw_scores_board, draw_weights
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.evaluation import (
    tabulate_draws,
    tabulate_fidelity,
    tabulate_measure,
    tabulate_weights,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.evaluation import Evaluation
    from karatage.data.weights import Weights

FIDELITY = """Each approach ranks the systems; gold ranks them too. tau and tau_ap are 1 where the orders are the same,
RMSE is 0 where the scores are. An approach that comes nearest here, on these systems and judges, need not elsewhere."""


def lay_out_evaluation(evaluation: Evaluation) -> Page:
    """A leaderboard for each measure, how near approaches come to gold, and what judges weigh."""
    sections = [lay_out_measure(evaluation, measure) for measure in evaluation.measures]
    if evaluation.fidelity:
        sections.append(lay_out_fidelity(evaluation))
    sections += lay_out_weights(evaluation)
    facts = list_facts(evaluation, measures=", ".join(evaluation.measures), approaches=", ".join(evaluation.approaches))
    title = f"{counted(len(evaluation.systems), 'system')} on {', '.join(evaluation.measures)}"
    return Page(title, evaluation.sentence, sections, evaluation.notes, facts)


def lay_out_measure(evaluation: Evaluation, measure: str) -> Section:
    """Scores by every approach."""
    chart = Figure(draw_scores_board(evaluation, measure), f"{measure} by every approach", f"scores-{measure}")
    drawn = [tabulate_draws(found) for found in evaluation.draws if found.measure == measure]
    return Section(f"{measure} by approach", "", [tabulate_measure(evaluation, measure), *drawn], [chart])


def lay_out_fidelity(evaluation: Evaluation) -> Section:
    """Approaches against gold."""
    chart = Figure(draw_fidelity(evaluation), "How near each approach comes to gold's leaderboard", "fidelity")
    return Section("Approaches against gold", FIDELITY, [tabulate_fidelity(evaluation)], [chart])


def lay_out_weights(evaluation: Evaluation) -> Iterator[Section]:
    """What judges weigh, for approaches that weigh them."""
    if evaluation.weights:
        yield Section("Weights of the judges", "", (), [_draw(found) for found in evaluation.weights])


def _draw(found: Weights) -> Figure:
    caption = f"What each judge weighs by {found.approach} on {found.measure}"
    return Figure(draw_weights(found), caption, f"weights-{found.approach}", tabulate_weights(found))
