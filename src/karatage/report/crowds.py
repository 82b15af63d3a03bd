"""A picture of a crowd model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.crowd import CONTRIBUTION_LEVELS, RATE_LEVELS, CrowdModel

if TYPE_CHECKING:
    import altair as alt

_ALWAYS = 2  # levels of contribution that are shown even when nobody is there
_SIDE = 200


def draw_crowd(model: CrowdModel) -> alt.HConcatChart:
    """[COLLAB14] figure 3.5: shares of judges by true positive and true negative rate, a map for each contribution.

    The maps of the two lowest contribution levels are always there, others where there are judges. The darker a cell,
    the more judges; the scale is the same in all maps.
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
    blue = alt.Scale(domain=[0, top], range=["#FFFFFF", "#08306B"], type="sqrt", interpolate="rgb")
    shade = alt.Color("percent:Q", title="% of judges", scale=blue)
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
            .mark_rect(stroke="#DDDDDD", strokeWidth=0.5)
            .encode(
                across,
                up,
                shade,
                x2="true_positive_to:Q",
                y2="true_negative_to:Q",
                tooltip=["true_positive", "true_negative", "percent"],
            )
        )
    chart: alt.HConcatChart = alt.hconcat(*panels, title=f"Judges like {model.name}")
    return chart
