"""A forest of differences: every system against the best one, or against another, by the judges and corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.board import ADJUSTMENTS
from karatage.data.standing import find_flips
from karatage.errors import UnknownNameError
from karatage.text import percent, shorten
from karatage.views.charts import PLAIN
from karatage.views.choosing import (
    NAME,
    WIDEST,
    choose,
    choose_order,
    fade,
    let_choose,
    mark_line,
    measure_names,
    measure_rows,
    name_rows,
    place_names,
    place_rows,
    tell,
)
from karatage.views.decisions import (
    BY,
    place_judges,
    shade_ways,
)
from karatage.views.table import keep_finite

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.board import Board
    from karatage.data.standing import Differences

TOLD, NOT_TOLD, DOUBTED = "told apart", "not told apart", "doubted by gold"
FLIPS = {"falls": "judges' verdict falls", "arises": "verdict arises", "turns": "verdict turns around"}
RING = "M0,-1A1,1,0,0,1,0,1A1,1,0,0,1,0,-1ZM0,-0.5A0.5,0.5,0,0,0,0,0.5A0.5,0.5,0,0,0,0,-0.5Z"
SHAPES = {
    TOLD: "circle",
    NOT_TOLD: RING,
    FLIPS["falls"]: "cross",
    FLIPS["arises"]: "triangle-up",
    FLIPS["turns"]: "diamond",
    DOUBTED: "square",
}


def draw_differences(board: Board, reference: str | None = None) -> alt.LayerChart:
    """Differences to a reference, default the best system, with the judges' interval and the corrected one.

    The marks tell what can be claimed of the pair, with all pairs of the board in mind; intervals are each on its own.
    """
    import altair as alt

    frame = lay_out_differences(board, reference)
    named = board.systems[0] if reference is None else reference
    chosen = choose("system")
    orders = {"corrected": "row", "judges": "at_judges", "name": "at_name"}
    if board.corrected_pairs is None:
        orders = {"judges": "row", "name": "at_name"}
    title = f"difference in {board.measure} to {shorten(named, NAME)}"
    rows = alt.Y("row:O", title=None, sort=alt.SortField("place"), axis=name_rows(board.systems))
    by = [way for way in BY if way in set(frame["by"])]
    drawn = (
        alt.Chart(frame)
        .transform_calculate(place=place_rows(orders))
        .encode(rows, alt.YOffset("by:N", sort=by, scale=alt.Scale(paddingOuter=0.25)), shade_ways(ways=by))
        .encode(
            opacity=fade(chosen),
            tooltip=tell("system:N", "by:N", "difference:Q", "low:Q", "high:Q", "p:Q", "verdict:N"),
        )
    )
    seen = [verdict for verdict in SHAPES if verdict in set(frame["verdict"])]
    shapes = alt.Scale(domain=seen, range=[SHAPES[verdict] for verdict in seen])
    legend = alt.Legend(orient="top", symbolFillColor=PLAIN, symbolStrokeColor=PLAIN)
    form = alt.Shape("verdict:N", title=None, scale=shapes, legend=legend)
    points = drawn.mark_point(filled=True, size=42).encode(alt.X("difference:Q", title=title), form)
    layers = [
        mark_line(0.0, title),
        drawn.mark_rule(strokeWidth=1.6).encode(alt.X("low:Q", title=title), x2="high:Q"),
        points.properties(name="differences"),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        width=WIDEST - measure_names(board.systems),
        height=measure_rows(len(board.systems)),
        title=_entitle(board, named),
    )
    return let_choose(chart.add_params(choose_order(list(orders))), "system")


def lay_out_differences(board: Board, reference: str | None = None) -> pl.DataFrame:
    """A row for each way and each system but the reference: system - reference, and what can be claimed of the two."""
    if reference is not None and reference not in board.systems:
        raise UnknownNameError("system", reference, board.systems)
    named = 0 if reference is None else board.systems.index(reference)
    pairs = np.flatnonzero((board.a == named) | (board.b == named))
    other = np.where(board.a[pairs] == named, board.b[pairs], board.a[pairs])
    places = pl.DataFrame(
        {
            "system": pl.Series(board.systems, dtype=pl.String).gather(other),
            "row": other,
            "at_judges": np.array(place_judges(board))[other],
            "at_name": np.array(place_names(board.systems))[other],
            "verdict": pl.Series(_find_verdicts(board), dtype=pl.String).gather(pairs),
        }
    )
    differences = frame_forest(board, reference=reference).drop("verdict")
    return differences.join(places, on="system", maintain_order="left")


def _find_verdicts(board: Board) -> list[str]:
    """What becomes of the judges' verdict on each pair; where there is nothing to compare it with, the verdict."""
    found = board.corrected_pairs or board.naive_pairs
    verdict = np.where(found.claimed, TOLD, NOT_TOLD).astype(object)
    if board.corrected_pairs is not None and board.comparable:
        for kind, flips in find_flips(board.naive_pairs, board.corrected_pairs).items():
            verdict[flips] = FLIPS[kind]
    verdict[found.doubted] = DOUBTED
    return [str(text) for text in verdict]


def _entitle(board: Board, reference: str) -> alt.TitleParams:
    import altair as alt

    told = (
        f"{percent(board.confidence)} intervals, each on its own; marks: what holds with all pairs in mind "
        f"({ADJUSTMENTS[board.adjust]})"
    )
    return alt.TitleParams(f"Every system against {shorten(reference, NAME)}", subtitle=told, anchor="start")


def frame_forest(board: Board, *, reference: str | None = None) -> pl.DataFrame:
    """Every other system less the reference (default: the best), by judges and corrected.

    Columns: system, by (judges or corrected), difference, low, high, p (adjusted as the board is), verdict (better,
    worse, open or doubted).
    """
    centre = 0 if reference is None else board.systems.index(reference)
    found = [("judges", board.naive_pairs)]
    found += [("corrected", board.corrected_pairs)] if board.corrected_pairs is not None else []
    return pl.concat([_compare_with(board, centre, by, pairs) for by, pairs in found])


def _compare_with(board: Board, centre: int, by: str, pairs: Differences) -> pl.DataFrame:
    there = np.flatnonzero((board.a == centre) | (board.b == centre))
    other = np.where(board.a[there] == centre, board.b[there], board.a[there])
    sign = np.where(board.b[there] == centre, -1.0, 1.0)  # pairs are b - a
    ends = np.stack([sign * pairs.low[there], sign * pairs.high[there]])
    claimed = sign * pairs.sign[there]
    words = np.select([pairs.doubted[there], claimed > 0, claimed < 0], ["doubted", "better", "worse"], "open")
    p = {"holm": pairs.holm, "bh": pairs.bh, "none": pairs.p_value}[board.adjust][there]
    frame = pl.DataFrame(
        {
            "system": pl.Series(board.systems, dtype=pl.String).gather(other),
            "by": [by] * len(there),
            "difference": sign * pairs.value[there],
            "low": ends.min(axis=0),
            "high": ends.max(axis=0),
            "p": p,
            "verdict": words.tolist(),
            "place": other,
        },
        schema_overrides={"by": pl.String, "verdict": pl.String},
    )
    return keep_finite(frame.sort("place").drop("place"))
