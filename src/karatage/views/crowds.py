"""Pictures of crowds: a model's kinds of judges, and the judges of a crowd one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.crowd import CONTRIBUTION_LEVELS, RATE_LEVELS, CrowdModel
from karatage.data.crowd_summary import BANDS, name_bands
from karatage.errors import OptionError
from karatage.text import counted, shorten
from karatage.views.charts import COLOURS, CORRECTED, JUDGES, PLAIN, SHAPES
from karatage.views.choosing import choose, fade, let_choose

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.crowd_summary import CrowdSummary

_ALWAYS = 2  # levels of contribution that are shown even when nobody is there
_SIDE = 200
# From reliable to inverted.
QUALITIES = [CORRECTED, COLOURS[5], PLAIN, COLOURS[1], JUDGES]


def draw_crowd(model: CrowdModel) -> alt.HConcatChart:
    """[COLLAB14] figure 3.5: shares of judges by true positive and true negative rate, a map for each contribution.

    The maps of the two lowest contribution levels are always there, others where there are judges. The brighter a
    cell, the more judges; the scale is the same in all maps.
    """
    import altair as alt

    shares = model.shares
    shown = [k for k in range(CONTRIBUTION_LEVELS) if k < _ALWAYS or shares[:, :, k].any()]
    rows = [
        {
            "true_positive": a / RATE_LEVELS,
            "true_positive_to": (a + 1) / RATE_LEVELS,
            "true_negative": b / RATE_LEVELS,
            "true_negative_to": (b + 1) / RATE_LEVELS,
            "level": k,
            "percent": 100 * float(shares[a, b, k]),
        }
        for k in shown
        for a in range(RATE_LEVELS)
        for b in range(RATE_LEVELS)
    ]
    frame = pl.DataFrame(rows)
    top = max(float(shares.max()) * 100, 1e-9)
    # few cells hold most judges, so shades go by the square root
    shade = alt.Color("percent:Q", title="% of judges", scale=alt.Scale(domain=[0, top], scheme="cividis", type="sqrt"))
    empty = alt.value("transparent")
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f", grid=False)
    whole = alt.Scale(domain=[0, 1], nice=False)
    across = alt.X("true_positive:Q", axis=ticks, scale=whole, title="true positive rate")
    up = alt.Y("true_negative:Q", axis=ticks, scale=whole, title="true negative rate")
    panels = []
    for k in shown:
        low, high = 100 * k // CONTRIBUTION_LEVELS, 100 * (k + 1) // CONTRIBUTION_LEVELS
        within = float(shares[:, :, k].sum())
        title = alt.TitleParams(
            text=f"{low}-{high} % contribution",
            subtitle=f"{100 * within:.2g} % of judges",
            fontSize=11,
            anchor="middle",
        )
        panels.append(
            alt.Chart(frame.filter(pl.col("level") == k), width=_SIDE, height=_SIDE, title=title)
            .mark_rect(stroke=PLAIN, strokeWidth=0.2)
            .encode(
                across,
                up,
                color=alt.when("datum.percent > 0").then(shade).otherwise(empty),
                x2="true_positive_to:Q",
                y2="true_negative_to:Q",
                tooltip=["true_positive", "true_negative", "percent"],
            )
        )
    chart: alt.HConcatChart = alt.hconcat(*panels, title=f"Judges like {shorten(model.name)}")
    return chart


def draw_summary(summary: CrowdSummary) -> alt.LayerChart:
    """Judges by the shares of relevant items that they find and of others that they reject, the busiest the largest.

    Judges on the line are like coins. Those that saw one kind of items only are left out.
    """
    import altair as alt

    known = summary.judges.drop_nulls(["tpr", "tnr"])
    if known.is_empty():
        raise OptionError("no judge saw both relevant items and others, so none has two rates to draw")
    frame = known.with_columns(quality=name_bands(pl.col("tpr"), pl.col("tnr")))
    whole = alt.Scale(domain=[0, 1], nice=False)
    across = alt.X("tnr:Q", title="share of other items rejected (TNR)", scale=whole)
    up = alt.Y("tpr:Q", title="share of relevant items found (TPR)", scale=whole)
    shade = alt.Color(
        "quality:N", title="judges", sort=list(BANDS), scale=alt.Scale(domain=list(BANDS), range=QUALITIES)
    )
    form = alt.Shape(
        "quality:N", title="judges", sort=list(BANDS), scale=alt.Scale(domain=list(BANDS), range=SHAPES[:5])
    )
    size = alt.Size(
        "grades:Q", scale=alt.Scale(range=[20, 260]), legend=alt.Legend(title="grades", symbolFillColor=PLAIN)
    )
    points = alt.Chart(frame).mark_point(filled=True).encode(across, up, shade, form, size)
    points = points.encode(
        opacity=fade(choose("judge"), 0.75), tooltip=["judge:N", "quality:N", "tpr:Q", "tnr:Q", "grades:Q"]
    )
    coin = alt.Chart(pl.DataFrame({"tnr": [0.0, 1.0], "tpr": [1.0, 0.0]})).mark_line(color=PLAIN, strokeDash=[4, 3])
    said = ["dashed: as good as a coin"]
    if len(known) < len(summary.judges):
        said.append(f"{counted(len(summary.judges) - len(known), 'judge')} not shown: saw one kind of items only")
    title = alt.TitleParams(f"{counted(len(known), 'judge')} of {shorten(summary.name)}", subtitle=said, anchor="start")
    chart: alt.LayerChart = alt.LayerChart(
        layer=[coin.encode(across, up), points.properties(name="judges")], width=380, height=380, title=title
    )
    return let_choose(chart, "judge")
