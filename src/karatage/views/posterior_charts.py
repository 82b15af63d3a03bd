"""Charts of merged grades: how sure they are, and how good the model finds the judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.text import counted
from karatage.views.charts import CORRECTED, PLAIN
from karatage.views.choosing import WIDEST, choose, fade, let_choose
from karatage.views.row_charts import DASH, WHOLE, Across, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.posterior import Posterior

SURE = 0.9
BINS = 20
ROOM, PANEL = 560, 80  # pixels
MANY_JUDGES = 60  # have no row each


def frame_sureness(posterior: Posterior) -> pl.DataFrame:
    """How many items are how sure: grade, from, to, items; only where there are some."""
    sure = posterior.probability.max(axis=1)
    place = np.clip(np.floor(sure * BINS + 1e-9), 0, BINS - 1).astype(int)
    frame = pl.DataFrame({"grade": posterior.grades, "place": place})
    counts = frame.group_by("grade", "place").agg(items=pl.len()).sort("place", "grade")
    edge = pl.col("place") / BINS
    return counts.select(pl.col("grade").cast(pl.Int64), edge.alias("from"), (edge + 1 / BINS).alias("to"), "items")


def draw_sureness(posterior: Posterior) -> alt.VConcatChart:
    """Items by the probability of the grade decided on, a panel for each grade; left of the line are the doubtful."""
    import altair as alt

    frame = frame_sureness(posterior)
    grades = sorted(frame["grade"].unique())
    least = min(*frame["from"], SURE - 1 / BINS)
    panels = [_draw_grade(frame.filter(grade=grade), least, last=grade == grades[-1]) for grade in grades]
    said = f"dashed: {SURE:.0%} sure; a scale for each grade, by the square root so that few show"
    head = alt.TitleParams(
        f"How sure {counted(len(posterior.grades), 'merged grade')} are", subtitle=said, anchor="start"
    )
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=6, title=head)
    return chart


def _draw_grade(frame: pl.DataFrame, least: float, *, last: bool) -> alt.LayerChart:
    import altair as alt

    across = alt.X(
        "from:Q",
        title="probability of the grade decided on" if last else None,
        scale=alt.Scale(domain=[least, 1], nice=False),
        axis=alt.Axis(labels=last, format=".2~f"),
    )
    roots = alt.Scale(type="sqrt", domainMin=0)
    up = alt.Y("items:Q", title=f"grade {frame['grade'][0]}", axis=alt.Axis(tickCount=3, tickMinStep=1), scale=roots)
    bars = alt.Chart(frame).mark_rect(color=CORRECTED, stroke=PLAIN, strokeWidth=0.5)
    line = alt.Chart(pl.DataFrame({"sure": [SURE]})).mark_rule(color=PLAIN, strokeDash=list(DASH))
    told = ["grade:Q", "from:Q", "to:Q", "items:Q"]
    layers = [bars.encode(across, up, x2="to:Q", y2=alt.datum(0), tooltip=told), line.encode(x="sure:Q")]
    panel: alt.LayerChart = alt.LayerChart(layer=layers, width=ROOM, height=PANEL)
    return panel


def frame_judges(posterior: Posterior) -> pl.DataFrame | None:
    """One row per judge, best first: judge, value (accuracy by the model), low and high over topics, grades if known.

    None where the model has no notion of accuracy.
    """
    judges = posterior.judges
    if "accuracy" not in judges.columns or not len(judges):
        return None
    right = pl.col("accuracy").fill_nan(None)
    columns = {"value": right.mean(), "low": right.min(), "high": right.max()}
    if "grades" in judges.columns:
        columns["grades"] = pl.col("grades").sum()
    found = judges.group_by("judge", maintain_order=True).agg(**columns)
    return found.sort("value", "judge", descending=[True, False], nulls_last=True)


def draw_judges(posterior: Posterior, frame: pl.DataFrame) -> alt.HConcatChart | alt.LayerChart:
    """Judges by their accuracy as the model has it; many of them over the number of grades that they gave."""
    title = f"Judges, as {posterior.model} sees them"
    if len(frame) > MANY_JUDGES and not posterior.judge_topics:
        return _scatter(frame, title)
    orders = {} if posterior.judge_topics else {"grades": "grades"}
    rows = Rows(frame, "judge", orders=orders, natural="accuracy")
    told = [f"{name}:Q" for name in frame.columns if name != "judge"]
    said = ["lines: from the lowest to the highest over topics"] if posterior.judge_topics else []
    return rows.put_together([rows.draw_dots(Across("accuracy", WHOLE), rows.room, told)], title, said)


def _scatter(frame: pl.DataFrame, title: str) -> alt.LayerChart:
    import altair as alt

    across = alt.X("grades:Q", title="grades given", scale=alt.Scale(type="log"))
    up = alt.Y("value:Q", title="accuracy", scale=alt.Scale(domain=list(WHOLE)))
    points = alt.Chart(frame).mark_point(filled=True, size=34, color=CORRECTED)
    drawn = points.encode(across, up, opacity=fade(choose("judge"), 0.7), tooltip=["judge", "value", "grades"])
    chart: alt.LayerChart = alt.LayerChart(
        layer=[drawn.properties(name="judge-dots")],
        width=WIDEST - 60,
        height=260,
        title=alt.TitleParams(title, anchor="start"),
    )
    return let_choose(chart, "judge")
