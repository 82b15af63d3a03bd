"""Charts of merged grades: how sure they are, and how good the model finds the judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.text import counted
from karatage.views.choosing import WIDEST, let_choose
from karatage.views.marks import CORRECTED, PLAIN, WHOLE, Axis, Rows, entitle, lay_panel, mark, mark_line

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
    ends = {"domain": [min(*frame["from"], SURE - 1 / BINS), 1], "nice": False}
    panels = []
    for grade in grades:
        last = grade == grades[-1]
        title = "probability of the grade decided on" if last else None
        across = Axis("from:Q", title, ends, {"labels": last, "format": ".2~f"})
        ticks = {"tickCount": 3, "tickMinStep": 1}
        up = Axis("items:Q", f"grade {grade}", {"type": "sqrt", "domainMin": 0}, ticks)
        told = ["grade:Q", "from:Q", "to:Q", "items:Q"]
        style = {"color": CORRECTED, "stroke": PLAIN, "strokeWidth": 0.5}
        bars = mark(frame.filter(grade=grade), "rect", across, up, to=("to:Q", 0), told=told, style=style)
        panels.append(lay_panel([bars, mark_line(across, SURE)], (ROOM, PANEL)))
    said = f"dashed: {SURE:.0%} sure; a scale for each grade, by the square root so that few show"
    head = entitle(f"How sure {counted(len(posterior.grades), 'merged grade')} are", [said])
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=6, title=head)
    return chart


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
        axes = Axis("grades:Q", "grades given", {"type": "log"}), Axis("value:Q", "accuracy", {"domain": [0, 1]})
        style = {"filled": True, "size": 34, "color": CORRECTED}
        told = ["judge", "value", "grades"]
        points = mark(frame, "point", *axes, told=told, follow="judge", shown=0.7, style=style)
        return let_choose(lay_panel([points.properties(name="judge-value")], (WIDEST - 60, 260), title, []), "judge")
    orders = {} if posterior.judge_topics else {"grades": "grades"}
    told = ["judge:N", *(f"{name}:Q" for name in frame.columns if name != "judge")]
    rows = Rows(frame, "judge", told, natural="accuracy", orders=orders)
    said = ["lines: from the lowest to the highest over topics"] if posterior.judge_topics else []
    return rows.put_together([rows.draw_dots(Axis("value:Q", "accuracy", WHOLE), rows.width)], title, said)
