"""Charts of decisions: a leaderboard with its tied groups, and two systems by every opinion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from karatage.report.charts import COLOURS
from karatage.wording import counted, percent, shorten

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.board import Board
    from karatage.data.comparison import Comparison

CORRECTED, JUDGES, PLAIN, FRAME = COLOURS[0], COLOURS[4], "#777777", "#DDDDDD"
ROW, COLUMN = 13, 9  # pixels, for each system and each group
WIDTH = 420
NAME = 30  # characters of a system's name
WAYS = {
    "judges": "judges",
    "rates": "corrected by error rates",
    "sampled": "corrected by drawn gold",
    "topics": "corrected by gold on whole topics",
    "census": "gold alone",
    "bootstrap": "error rates, resampled",
}


def draw_board(board: Board) -> alt.HConcatChart:
    """Systems best first, by the judges and corrected with intervals; beside them, a line for each tied group.

    Two systems with dots on a common line cannot be told apart; those that can be told from the best one are pale.
    """
    import altair as alt

    frame = _lay_out(board)
    rows = alt.Y("row:O", title=None, sort=None, axis=_name_rows(board))
    height = ROW * len(board.systems)
    decided = "corrected" if board.corrected is not None else "judges"
    shades = alt.Scale(domain=["judges", "corrected"], range=[JUDGES, CORRECTED])
    shade = alt.Color("by:N", title=None, scale=shades, legend=alt.Legend(orient="top"))
    form = alt.Shape("by:N", title=None, scale=alt.Scale(domain=["judges", "corrected"], range=["diamond", "circle"]))
    told = ["system:N", "by:N", "score:Q", "low:Q", "high:Q", "rank:Q", "letters:N"]
    value = alt.X("score:Q", title=board.measure, scale=alt.Scale(zero=False))
    points = alt.Chart(frame)
    interval = points.transform_filter(f"datum.by == '{decided}'").mark_rule(strokeWidth=1.6, opacity=0.75)
    faded = alt.condition("datum.top", alt.value(1.0), alt.value(0.55))
    scores = alt.LayerChart(
        layer=[
            interval.encode(alt.X("low:Q", title=board.measure), rows, shade, x2="high:Q", opacity=faded),
            points.mark_point(filled=True, size=34).encode(value, rows, shade, form, opacity=faded, tooltip=told),
        ],
        width=WIDTH,
        height=height,
    )
    panels = [scores, _draw_groups(board, height)]
    chart: alt.HConcatChart = (
        alt.hconcat(*panels, spacing=6, title=_entitle(board)).configure_view(stroke=FRAME).configure_axis(grid=True)
    )
    return chart


def draw_comparison(comparison: Comparison) -> alt.LayerChart:
    """The difference by every opinion, with its interval and a line where there is none."""
    import altair as alt

    rows = [
        {
            "by": WAYS.get(opinion.way, opinion.way),
            "kind": "judges" if opinion.way == "judges" else "corrected",
            "difference": opinion.difference.value,
            "low": opinion.difference.low,
            "high": opinion.difference.high,
            "p_value": opinion.p_value,
        }
        for opinion in comparison.opinions
    ]
    ends = pl.col("low", "high", "p_value")
    frame = pl.DataFrame(rows).with_columns(pl.when(ends.is_finite()).then(ends))
    shades = alt.Scale(domain=["judges", "corrected"], range=[JUDGES, CORRECTED])
    shade = alt.Color("kind:N", legend=None, scale=shades)
    title = f"difference in {comparison.measure}"
    across = alt.X("difference:Q", title=title, scale=alt.Scale(zero=True))
    down = alt.Y("by:N", title=None, sort=[str(row["by"]) for row in rows], axis=alt.Axis(labelLimit=240))
    drawn = alt.Chart(frame)
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=PLAIN, strokeDash=[4, 3])
    layers = [
        zero.encode(alt.X("zero:Q", title=title)),
        drawn.mark_rule(strokeWidth=2).encode(alt.X("low:Q", title=title), down, shade, x2="high:Q"),
        drawn.mark_point(filled=True, size=70, opacity=1).encode(
            across, down, shade, tooltip=["by:N", "difference:Q", "low:Q", "high:Q", "p_value:Q"]
        ),
    ]
    confidence = percent(comparison.naive.difference.confidence)
    named = f"{shorten(comparison.b, NAME)} against {shorten(comparison.a, NAME)}, with {confidence} intervals"
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers, width=WIDTH, height=34 * len(rows), title=alt.TitleParams(named, anchor="start")
    ).configure_view(stroke=FRAME)
    return chart


def _entitle(board: Board) -> alt.TitleParams:
    import altair as alt

    first = f"{board.measure}, {counted(board.topics, 'topic')}: {counted(len(board.systems), 'system')}"
    second = (
        f"{percent(board.confidence)} intervals; systems with dots on a common line at the right cannot be told apart"
    )
    return alt.TitleParams(first, subtitle=second, anchor="start")


def _lay_out(board: Board) -> pl.DataFrame:
    """A row for each system and way to score it; `row` tells systems apart whose names are the same when cut."""
    top = set(board.top)
    rows = []
    for by, standing in (("judges", board.naive), ("corrected", board.corrected)):
        for s, name in enumerate(board.systems if standing is not None else ()):
            assert standing is not None
            bounds = [x if math.isfinite(x) else None for x in (float(standing.low[s]), float(standing.high[s]))]
            rows.append(
                {
                    "row": s,
                    "system": name,
                    "by": by,
                    "score": float(standing.value[s]),
                    "low": bounds[0],
                    "high": bounds[1],
                    "rank": int(standing.rank[s]),
                    "letters": board.letters[s],
                    "top": name in top,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def _name_rows(board: Board) -> alt.Axis:
    import json

    import altair as alt

    names = json.dumps([shorten(name, NAME) for name in board.systems])
    return alt.Axis(
        labelExpr=f"{names}[datum.value]", labelLimit=220, labelFontSize=10, labelOverlap=False, ticks=False
    )


def _draw_groups(board: Board, height: int) -> alt.LayerChart:
    """A line down the members of each group of more than one."""
    import altair as alt

    groups = [group for group in board.groups if len(group) > 1]
    frame = pl.DataFrame(
        [{"group": g, "row": s} for g, group in enumerate(groups) for s in group],
        schema={"group": pl.Int64, "row": pl.Int64},
    )
    # Rows without a tie need a place as well, or the two panels would not match.
    down = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(len(board.systems)))))
    across = alt.X("group:O", axis=None)
    drawn = alt.Chart(frame)
    layers = [
        drawn.mark_line(strokeWidth=1.4).encode(across, down, detail="group:O"),
        drawn.mark_circle(size=16, opacity=1).encode(across, down),
    ]
    panel: alt.LayerChart = alt.LayerChart(layer=layers, width=max(COLUMN * len(groups), COLUMN), height=height).encode(
        color=alt.condition("datum.group == 0", alt.value(CORRECTED), alt.value(PLAIN))
    )
    return panel
