"""Charts of decisions: a leaderboard with its tied groups, and two systems by every opinion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import counted, percent, shorten
from karatage.views.charts import CORRECTED, JUDGES, PLAIN
from karatage.views.choosing import (
    NAME,
    WIDEST,
    choose,
    choose_order,
    fade,
    finite,
    let_choose,
    mark_line,
    measure_names,
    measure_rows,
    name_rows,
    place_names,
    place_rows,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt

    from karatage.data.board import Board
    from karatage.data.comparison import Comparison
    from karatage.data.standing import Standing

COLUMN, ALL_COLUMNS = 9, 110  # pixels, for each group and for all of them
BY = ("judges", "corrected")
SHADES = {"judges": JUDGES, "corrected": CORRECTED}
SHAPES = {"judges": "diamond", "corrected": "circle"}


def draw_board(board: Board) -> alt.HConcatChart:
    """Systems best first, by the judges and corrected with intervals; beside them, a line for each tied group.

    Two systems with dots on a common line cannot be told apart; those that can be told from the best one are pale.
    """
    import altair as alt

    chosen = choose("system")
    orders = {"corrected": "row", "judges": "at_judges", "name": "at_name"}
    if board.corrected is None:
        orders = {"judges": "row", "name": "at_name"}
    placed = place_rows(orders)
    by = [way for way, standing in zip(BY, (board.naive, board.corrected), strict=True) if standing is not None]
    height = measure_rows(len(board.systems))
    width = min(COLUMN * len(board.groups), ALL_COLUMNS)
    rows = alt.Y("row:O", title=None, sort=alt.SortField("place"), axis=name_rows(board.systems))
    offset = alt.YOffset("by:N", sort=by, scale=alt.Scale(paddingOuter=0.25))
    faded = fade(chosen, lesser="!datum.top")
    drawn = (
        alt.Chart(_lay_out(board))
        .transform_calculate(place=placed)
        .encode(rows, offset, shade_ways(ways=by), opacity=faded)
    )
    told = tell("system:N", "by:N", "score:Q", "low:Q", "high:Q", "rank:Q", "letters:N")
    interval = drawn.mark_rule(strokeWidth=1.6).encode(alt.X("low:Q", title=board.measure), x2="high:Q", tooltip=told)
    points = drawn.mark_point(filled=True, size=34).encode(
        alt.X("score:Q", title=board.measure, scale=alt.Scale(zero=False)), shape_ways(ways=by), tooltip=told
    )
    scores = alt.LayerChart(
        layer=[interval, points.properties(name="scores")],
        width=WIDEST - width - measure_names(board.systems),
        height=height,
    )
    panels = [scores, _draw_groups(board, placed, chosen, (width, height))]
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=6, title=_entitle(board))
    return let_choose(chart.add_params(choose_order(list(orders))), "system")


def draw_comparison(comparison: Comparison) -> alt.LayerChart:
    """The difference by every opinion, with its interval and a line where there is none."""
    import altair as alt

    rows = [
        {
            "by": opinion.method.label,
            "kind": "judges" if opinion is comparison.naive else "corrected",
            "difference": opinion.difference.value,
            "low": opinion.difference.low,
            "high": opinion.difference.high,
            "p_value": opinion.p_value,
        }
        for opinion in comparison.opinions
    ]
    ends = pl.col("low", "high", "p_value")
    frame = pl.DataFrame(rows).with_columns(pl.when(ends.is_finite()).then(ends))
    title = f"difference in {comparison.measure}"
    down = alt.Y("by:N", title=None, sort=[str(row["by"]) for row in rows], axis=alt.Axis(labelLimit=240))
    drawn = alt.Chart(frame).encode(
        down,
        shade_ways("kind", legend=False),
        shape_ways("kind", legend=False),
        tooltip=tell("by:N", "difference:Q", "low:Q", "high:Q", "p_value:Q"),
    )
    layers = [
        mark_line(0.0, title),
        drawn.mark_rule(strokeWidth=2).encode(alt.X("low:Q", title=title), x2="high:Q"),
        drawn.mark_point(filled=True, size=70, opacity=1).encode(alt.X("difference:Q", title=title)),
    ]
    confidence = percent(comparison.naive.difference.confidence)
    named = f"{shorten(comparison.b, NAME)} against {shorten(comparison.a, NAME)}"
    said = f"right of the line {shorten(comparison.b, NAME)} is better; {confidence} intervals"
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        width=WIDEST - 200,
        height=34 * len(rows),
        title=alt.TitleParams(named, subtitle=said, anchor="start"),
    )
    return chart


def shade_ways(field: str = "by", *, ways: Sequence[str] = BY, legend: bool = True) -> alt.Color:
    """The judges' colour and the corrected one, of the ways that are drawn."""
    import altair as alt

    shades = alt.Scale(domain=list(ways), range=[SHADES[way] for way in ways])
    return alt.Color(f"{field}:N", title=None, scale=shades, legend=alt.Legend(orient="top") if legend else None)


def shape_ways(field: str = "by", *, ways: Sequence[str] = BY, legend: bool = True) -> alt.Shape:
    """Their marks."""
    import altair as alt

    shapes = alt.Scale(domain=list(ways), range=[SHAPES[way] for way in ways])
    return alt.Shape(f"{field}:N", title=None, scale=shapes, legend=alt.Legend(orient="top") if legend else None)


def _entitle(board: Board) -> alt.TitleParams:
    import altair as alt

    first = f"{board.measure}, {counted(board.topics, 'topic')}: {counted(len(board.systems), 'system')}"
    second = [f"{percent(board.confidence)} intervals, each system on its own"]
    if any(len(group) > 1 for group in board.groups):
        second.append("systems with dots on a common line at the right cannot be told apart; pale: told from the best")
    return alt.TitleParams(first, subtitle=second, anchor="start")


def _lay_out(board: Board) -> pl.DataFrame:
    """A row for each system and way to score it; `row` tells systems apart whose names are the same when cut."""
    ways = zip(BY, (board.naive, board.corrected), strict=True)
    rows = [row for by, standing in ways if standing is not None for row in _list_scores(board, by, standing)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _list_scores(board: Board, by: str, standing: Standing) -> list[dict[str, object]]:
    top = set(board.top)
    at_judges, at_name = place_judges(board), place_names(board.systems)
    return [
        {
            "row": s,
            "at_judges": at_judges[s],
            "at_name": at_name[s],
            "system": name,
            "by": by,
            "score": finite(float(standing.value[s])),
            "low": finite(float(standing.low[s])),
            "high": finite(float(standing.high[s])),
            "rank": int(standing.rank[s]),
            "letters": board.letters[s],
            "top": name in top,
        }
        for s, name in enumerate(board.systems)
    ]


def place_judges(board: Board) -> list[int]:
    """Where each system stands by the judges' scores, from 0."""
    order = sorted(range(len(board.systems)), key=lambda s: int(board.naive.rank[s]))
    place = {s: at for at, s in enumerate(order)}
    return [place[s] for s in range(len(order))]


def _draw_groups(board: Board, placed: str, chosen: alt.Parameter, size: tuple[int, int]) -> alt.LayerChart:
    """A line down the members of each group of more than one."""
    import altair as alt

    groups = [group for group in board.groups if len(group) > 1]
    at_judges, at_name = place_judges(board), place_names(board.systems)
    place = {
        s: {"row": s, "system": name, "at_judges": at_judges[s], "at_name": at_name[s]}
        for s, name in enumerate(board.systems)
    }
    # Systems without a tie need a row as well, or the two panels would not match.
    rows = [{"group": g, **place[s]} for g, group in enumerate(groups) for s in group]
    tied = {s for group in groups for s in group}
    rows += [{"group": None, **place[s]} for s in place if s not in tied]
    frame = pl.DataFrame(rows, infer_schema_length=None, schema_overrides={"group": pl.Int64})
    down = alt.Y("row:O", axis=None, sort=alt.SortField("place"))
    across = alt.X("group:O", axis=None, scale=alt.Scale(domain=list(range(len(groups)))))
    drawn = alt.Chart(frame).transform_calculate(place=placed).encode(across, down)
    layers = [
        drawn.mark_line(strokeWidth=1.4, opacity=0.7).encode(detail="group:O", order="place:Q"),
        drawn.mark_circle(size=16).encode(opacity=fade(chosen), tooltip=tell("system:N")).properties(name="groups"),
    ]
    panel: alt.LayerChart = alt.LayerChart(layer=layers, width=max(size[0], COLUMN), height=size[1]).encode(
        color=alt.condition("datum.group == 0", alt.value(CORRECTED), alt.value(PLAIN))
    )
    return panel
