"""Leaderboards under several approaches, how near each comes to gold, and what judges weigh."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.evaluation import Evaluation, Fidelity
from karatage.text import counted, shorten
from karatage.views.draws import tabulate_draws
from karatage.views.evaluation_charts import draw_fidelity, draw_scores_board, draw_weights, tell_other_topics
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns, mark_best
from karatage.views.topic_charts import TopicScores, draw_topic_differences, draw_topics, lay_out_topics
from karatage.views.weights import tabulate_weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.weights import Weights

NAME = 30
FIDELITY = """Each approach ranks the systems; gold ranks them too. tau and tau_ap are 1 where the orders are the same,
RMSE is 0 where the scores are. The approach that is nearest for these systems and judges need not be so for others."""
TOPICS = """A mean does not show how many topics a difference depends on. Where it depends on a few topics, other topics
may give another one."""


@shows(Evaluation)
def view_evaluation(evaluation: Evaluation, *, weights: bool = False, explain: bool = False) -> Page:
    """A leaderboard for each measure, the distance to gold, and what judges weigh.

    Args:
        evaluation: What to show.
        weights: Whether the terminal shows weights, too.
        explain: Whether it says why judges weigh what they do.
    """
    sections = [view_measure(evaluation, measure) for measure in evaluation.measures]
    if evaluation.fidelity:
        sections.append(view_fidelity(evaluation))
    sections += view_weights(evaluation, tables=weights)
    sections += (_explain_weights(found) for found in evaluation.weights if explain)
    facts = list_facts(evaluation, measures=", ".join(evaluation.measures), approaches=", ".join(evaluation.approaches))
    title = f"{counted(len(evaluation.systems), 'system')} on {', '.join(evaluation.measures)}"
    return Page(title, evaluation.sentence, sections, evaluation.notes, facts)


def view_measure(evaluation: Evaluation, measure: str) -> Section:
    """Scores by every approach."""
    draw = partial(draw_scores_board, evaluation, measure)
    chart = Figure(draw, f"{measure} by every approach", f"scores-{measure}")
    drawn = [tabulate_draws(found) for found in evaluation.draws if found.measure == measure]
    return Section(f"{measure} by approach", "", [tabulate_measure(evaluation, measure), *drawn], [chart])


def view_fidelity(evaluation: Evaluation) -> Section:
    """Approaches against gold."""
    caption = "How near each approach comes to gold's leaderboard"
    chart = Figure(partial(draw_fidelity, evaluation), caption, "fidelity")
    return Section("Approaches against gold", "", [tabulate_fidelity(evaluation)], [chart], background=FIDELITY)


def view_weights(evaluation: Evaluation, *, tables: bool = False) -> Iterator[Section]:
    """What judges weigh, for approaches that weigh them; in tables behind charts, or beside them."""
    if evaluation.weights:
        found = [tabulate_weights(weights) for weights in evaluation.weights]
        charts = [
            _draw_weights(weights, None if tables else table)
            for weights, table in zip(evaluation.weights, found, strict=True)
        ]
        yield Section("Weights of the judges", "", found if tables else (), charts)


def _draw_weights(found: Weights, table: Table | None) -> Figure:
    caption = f"Each judge's weight by {found.approach} on {found.measure}"
    return Figure(partial(draw_weights, found), caption, f"weights-{found.approach}", table)


def _explain_weights(found: Weights) -> Section:
    title = f"Reasons for the weights of judges, {found.approach} on {found.measure}"
    return Section(title, "\n\n".join(f"- {line}" for line in found.explain()))


def view_topics(evaluation: Evaluation, a: str | None, b: str | None) -> Section:
    """Topic by topic, system b less a; without b, any that the reader follows less a; without a, less the best."""
    scores = TopicScores.of(evaluation)
    best = evaluation.lead(scores.measure, scores.approach).first if a is None else a
    other = scores.find_next(best) if b is None else b
    told = f"{shorten(other, NAME)} less {shorten(best, NAME)}"
    frame = lay_out_topics(scores, best, other)
    columns = label_columns(frame.select([name for name in ("topic", "judges", "gold") if name in frame.columns]))
    table = Table(frame, f"{told}, topic by topic", signed=("judges", "gold"), name="topics", columns=columns)
    if b is None:
        draw = partial(draw_topic_differences, evaluation, best)
        caption = f"The system that is followed ({shorten(other, NAME)} while none is), less {shorten(best, NAME)}"
    else:
        draw, caption = partial(draw_topics, evaluation, best, other), told
    figure = Figure(draw, f"{caption}, on every topic", "topics", table)
    return Section("Topic by topic", "", (), [figure], background=TOPICS)


def tabulate_measure(result: Evaluation, measure: str) -> Table:
    """Systems in the order of the first approach, with its standard error; then gold, and the other approaches."""
    first, *others = result.approaches
    board = result.leaderboard(measure, first)
    frame = board.select("system", pl.col("rank"), pl.col("score").alias(first), "standard_error")
    headers, caption = {"rank": "#", "standard_error": "± s.e."}, measure
    if result.gold is not None:
        frame = frame.with_columns(board["gold_score"].alias("gold"))
        headers["gold"] = result.name_gold(measure)
        caption += tell_other_topics(result, measure)
    for approach in others:
        scores = result.leaderboard(measure, approach).select("system", pl.col("score").alias(approach))
        frame = frame.join(scores, on="system", how="left", maintain_order="left")
    name = "scores" if measure == result.measures[0] else f"scores-{result.measures.index(measure) + 1}"
    return Table(frame, caption, name=name, about="system", columns=label_columns(frame, **headers))


def tabulate_fidelity(result: Evaluation) -> Table:
    """How near each approach comes to gold; the nearest is marked."""
    frame = pl.DataFrame(result.fidelity, schema=Fidelity._fields, orient="row")
    frame = frame.with_columns(pl.col("tau", "tau_ap", "rmse").cast(pl.Float64))
    mark = mark_best(frame, ["tau", "tau_ap"], within="measure")
    mark |= mark_best(frame, ["rmse"], within="measure", lowest=True)
    columns = {name: name for name in ("approach", "measure", "tau", "tau_ap")} | {"rmse": "RMSE", "topics": "topics"}
    return Table(frame, "Distance to gold", mark=mark, name="fidelity", columns=columns)
