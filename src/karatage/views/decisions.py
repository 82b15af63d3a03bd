"""Charts of decisions: a leaderboard with tied groups, its differences, two systems by every opinion, and one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.board import ADJUSTMENTS
from karatage.data.standing import find_flips
from karatage.errors import DataError, UnknownNameError
from karatage.text import counted, percent, shorten
from karatage.views.choosing import NAME, finite, let_choose, place_values, tell
from karatage.views.marks import CORRECTED, GAP, GREY_TOP, JUDGES, Axis, Key, Rows, lay_panel, mark, mark_diagonal
from karatage.views.table import keep_finite

if TYPE_CHECKING:
    import altair as alt

    from karatage.comparison.paired import PairedTest, UnpairedTest
    from karatage.data.board import Board
    from karatage.data.comparison import Comparison
    from karatage.data.standing import Differences

COLUMN, ALL_COLUMNS = 9, 110  # pixels, for each group and for all of them
SHADES = Key("by", {"judges": JUDGES, "corrected": CORRECTED})
FORMS = Key("by", {"judges": "diamond", "corrected": "circle"})
TOLD, NOT_TOLD, DOUBTED = "told apart", "not told apart", "doubted by gold"
FLIPS = {
    "falls": "significant only without correction",
    "arises": "significant only with correction",
    "turns": "reversed",
}
RING = "M0,-1A1,1,0,0,1,0,1A1,1,0,0,1,0,-1ZM0,-0.5A0.5,0.5,0,0,0,0,0.5A0.5,0.5,0,0,0,0,-0.5Z"
VERDICTS = Key(
    "verdict",
    {
        TOLD: "circle",
        NOT_TOLD: RING,
        FLIPS["falls"]: "cross",
        FLIPS["arises"]: "triangle-up",
        FLIPS["turns"]: "diamond",
        DOUBTED: "square",
    },
    legend=GREY_TOP,
)
SIDE = 330  # pixels of a square panel
MARGIN = 0.04  # of a scale, so that its first and last mark are seen whole


def draw_board(board: Board) -> alt.HConcatChart:
    """Systems best first, by the judges and corrected with intervals; beside them, a line for each tied group.

    Two systems with dots on a common line cannot be told apart; those that can be told from the best one are pale.
    """
    ways, groups = _list_ways(board), [group for group in board.groups if len(group) > 1]
    rows = Rows(
        _lay_out(board),
        "system",
        tell("system:N", "by:N", "score:Q", "low:Q", "high:Q", "rank:Q", "letters:N"),
        {"color": SHADES.only(ways), "shape": FORMS.only(ways)},
        natural=ways[-1],
        orders={"judges": "at_judges"},
        apart=ways,
        pale="!datum.top",
    )
    width = max(min(COLUMN * len(board.groups), ALL_COLUMNS), COLUMN)
    panels = [
        rows.draw_dots(Axis("score:Q", board.measure), rows.width - width - GAP, size=34),
        rows.draw_letters([[board.systems[s] for s in group] for group in groups], width),
    ]
    said = [f"{percent(board.confidence)} intervals, each system on its own"]
    if groups:
        said.append("systems with dots on a common line are not significantly different; pale: worse than the best")
    title = f"{board.measure}, {counted(board.topics, 'topic')}: {counted(len(board.systems), 'system')}"
    return rows.put_together(panels, title, said)


def _list_ways(board: Board) -> list[str]:
    return ["judges"] if board.corrected is None else ["judges", "corrected"]


def _lay_out(board: Board) -> pl.DataFrame:
    """A row for each system and way to score it."""
    frame = board.to_frame().with_columns(
        top=pl.col("system").is_in(board.top),
        at_judges=pl.Series(place_values(pl.Series(board.naive.rank), lowest_first=True)),
    )
    facts = ("score", "low", "high", "rank")
    ways = {way: "naive" if way == "judges" else way for way in _list_ways(board)}
    found = [
        frame.select("system", "letters", "top", "at_judges", by=pl.lit(way), **{f: f"{name}_{f}" for f in facts})
        for way, name in ways.items()
    ]
    return keep_finite(pl.concat(found))


def draw_differences(board: Board, reference: str | None = None) -> alt.HConcatChart:
    """Differences to a reference, default the best system, with the judges' interval and the corrected one.

    The marks tell what can be claimed of the pair, with all pairs of the board in mind; intervals are each on its own.
    """
    frame, ways = _frame_differences(board, reference), _list_ways(board)
    named = shorten(board.systems[0] if reference is None else reference, NAME)
    rows = Rows(
        frame,
        "system",
        tell("system:N", "by:N", "difference:Q", "low:Q", "high:Q", "p:Q", "verdict:N"),
        {"color": SHADES.only(ways), "shape": VERDICTS.only(frame["verdict"].to_list())},
        natural=ways[-1],
        orders={"judges": "at_judges"},
        apart=ways,
    )
    panel = rows.draw_dots(Axis("difference:Q", f"difference in {board.measure} to {named}"), rows.width, line=0.0)
    said = (
        f"{percent(board.confidence)} intervals, each on its own; marks: what holds with all pairs in mind "
        f"({ADJUSTMENTS[board.adjust]})"
    )
    return rows.put_together([panel], f"Every system against {named}", [said])


def _frame_differences(board: Board, reference: str | None = None) -> pl.DataFrame:
    """A row for each way and each system but the reference: system - reference, and what can be claimed of the two."""
    if reference is not None and reference not in board.systems:
        raise UnknownNameError("system", reference, board.systems)
    named = 0 if reference is None else board.systems.index(reference)
    pairs = np.flatnonzero((board.a == named) | (board.b == named))
    other = np.where(board.a[pairs] == named, board.b[pairs], board.a[pairs])
    verdicts = {board.systems[s]: _find_verdicts(board)[pair] for s, pair in zip(other, pairs, strict=True)}
    frame = frame_forest(board, reference=reference).join(
        _lay_out(board).select("system", "at_judges").unique(), on="system", how="left", maintain_order="left"
    )
    return frame.with_columns(verdict=pl.col("system").replace_strict(verdicts, return_dtype=pl.String))


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


def _find_verdicts(board: Board) -> list[str]:
    """What becomes of the judges' verdict on each pair; where there is nothing to compare it with, the verdict."""
    found = board.corrected_pairs or board.naive_pairs
    verdict = np.where(found.claimed, TOLD, NOT_TOLD).astype(object)
    if board.corrected_pairs is not None and board.comparable:
        for kind, flips in find_flips(board.naive_pairs, board.corrected_pairs).items():
            verdict[flips] = FLIPS[kind]
    verdict[found.doubted] = DOUBTED
    return [str(text) for text in verdict]


def draw_attenuation(board: Board) -> alt.LayerChart:
    """Every system's score by the judges over its corrected one; on the diagonal they are the same."""
    if board.corrected is None:
        raise DataError(f"nothing was corrected: {board.refusal or 'there is no gold'}")
    ends = {"low": "corrected_low", "high": "corrected_high"}
    frame = keep_finite(board.to_frame().select("system", judges="naive_score", corrected="corrected_score", **ends))
    scores = pl.concat([frame["judges"], frame["corrected"]]).drop_nulls().to_list()
    low, high = min(scores), max(scores)
    margin = MARGIN * (high - low or 1)
    scale = {"domain": [low - margin, high + margin], "nice": True, "zero": False}
    across = Axis("corrected:Q", f"{board.measure}, corrected", scale)
    up = Axis("judges:Q", f"{board.measure}, by the judges", scale)
    told = tell("system:N", "judges:Q", "corrected:Q", "low:Q", "high:Q")
    style = {"color": CORRECTED, "filled": True, "size": 48}
    points = mark(frame, "point", across, up, told=told, follow="system", shown=0.85, style=style)
    layers = [mark_diagonal(across, up, (low - margin, high + margin)), points.properties(name="systems")]
    chart = lay_panel(layers, (SIDE + 60, SIDE), "Judges' scores against corrected ones", _tell_slope(board))
    return let_choose(chart, "system")


def _tell_slope(board: Board) -> list[str]:
    """What the slope of the judges' differences means."""
    said = ["on the dashed line they are the same"]
    if board.slope is None or not np.isfinite(board.slope).all():
        return said
    slope, low, high = board.slope
    meaning = "judges shrink differences" if high < 1 else "judges stretch differences"
    meaning = "by chance or not" if low <= 1 <= high else meaning
    return [*said, f"a difference of 0.100 shows as {slope / 10:.3f} ({low / 10:.3f} to {high / 10:.3f})", meaning]


def draw_comparison(comparison: Comparison) -> alt.HConcatChart:
    """The difference by every opinion, with its interval and a line where there is none."""
    frame = comparison.to_frame().select(
        "difference",
        *("low", "high", "p_value"),
        by=pl.Series([opinion.method.label for opinion in comparison.opinions]),
        kind=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("judges")).otherwise(pl.lit("corrected")),
    )
    looks = {
        "color": Key("kind", SHADES.looks, legend=None),
        "shape": Key("kind", FORMS.looks, legend=None),
    }
    told = tell("by:N", "difference:Q", "low:Q", "high:Q", "p_value:Q")
    rows = Rows(frame, "by", told, looks, room=34)
    panel = rows.draw_dots(Axis("difference:Q", f"difference in {comparison.measure}"), rows.width, line=0.0, size=70)
    a, b = (shorten(name, NAME) for name in (comparison.a, comparison.b))
    confidence = percent(comparison.naive.difference.confidence)
    return rows.put_together([panel], f"{b} against {a}", [f"right of the line {b} is better; {confidence} intervals"])


def draw_test(found: PairedTest | UnpairedTest) -> alt.HConcatChart:
    """The difference with its interval, and a line where there is none."""
    ends = {"low": [finite(found.low)], "high": [finite(found.high)]}
    frame = pl.DataFrame(
        {"name": ["second less first"], "value": [found.difference], **ends, "p_value": [found.p_value]},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )
    rows = Rows(frame, "name", ["name:N", "value:Q", "low:Q", "high:Q", "p_value:Q"])
    panel = rows.draw_dots(Axis("value:Q", "difference"), rows.width, line=0.0)
    said = f"{percent(found.confidence)} interval; right of the dashed line the second system is better"
    return rows.put_together([panel], "The difference", [said])
