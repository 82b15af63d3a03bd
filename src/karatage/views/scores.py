"""Scores of systems by every judge."""

from __future__ import annotations

from functools import partial

import polars as pl

from karatage.data.scores import Scores
from karatage.text import counted
from karatage.views.evaluation_charts import MOST, draw_score_map, draw_systems, frame_systems
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table

ALONE = """Every judge's grades are taken as correct here: nothing is merged, and no error is corrected. Where judges
put systems in different orders, some of them are wrong."""


@shows(Scores)
def view_scores(scores: Scores) -> Page:
    """Systems by all judges, and judge by judge."""
    judges = len(scores.judges)
    figures = [Figure(partial(draw_systems, scores), f"{scores.measure} of each system", "systems")]
    if 1 < judges <= MOST:
        caption = f"{scores.measure} by judge and system"
        figures.append(Figure(partial(draw_score_map, scores), caption, "judges", tabulate_judges(scores)))
    title = f"{scores.measure} by {counted(judges, 'judge')}"
    facts = list_options(measure=scores.measure, judges=judges, topics=len(scores.topics), systems=len(scores.systems))
    text = ALONE if judges > 1 else ""
    section = Section("Scores", "", [tabulate_systems(scores)], figures, background=text)
    return Page(title, scores.sentence, [section], scores.notes, facts)


def tabulate_systems(scores: Scores) -> Table:
    """Systems from best to worst: their scores by the judges, and how many rank them first."""
    frame = frame_systems(scores)
    columns = {"value": "median", "low": "lowest", "high": "highest", "best": "first for"}
    if len(scores.judges) == 1:
        frame = frame.with_columns(error=pl.col("high") - pl.col("value"))
        columns = {"value": "score", "error": "± s.e."}
    told = f"{counted(len(scores.judges), 'judge')}, {counted(len(scores.topics), 'topic')}"
    columns = {"system": "system", **columns}
    return Table(frame, f"{scores.measure}, {told}", name="systems", about="system", columns=columns)


def tabulate_judges(scores: Scores) -> Table:
    """Systems by judges: means over topics, as far as there is room for judges."""
    mean = scores.mean
    judges = {f"judge-{j}": name for j, name in enumerate(scores.judges[:MOST])}
    values = {column: pl.Series(mean[j]).fill_nan(None) for j, column in enumerate(judges)}
    frame = pl.DataFrame({"system": pl.Series(scores.systems, dtype=pl.String), **values})
    order = pl.DataFrame({"system": frame_systems(scores)["system"]})
    frame = order.join(frame, on="system", how="left", maintain_order="left")
    columns = {"system": "system", **judges}
    return Table(frame, f"{scores.measure} by judge", name="scores-by-judge", about="system", columns=columns)
