"""Charts of an evaluation: a leaderboard under several approaches and gold, and how near each comes to gold's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import DataError, UnknownNameError
from karatage.text import counted
from karatage.views.charts import COLOURS, CORRECTED, GOLD, JUDGES, SHAPES
from karatage.views.choosing import (
    NAME,
    WIDEST,
    choose,
    choose_order,
    cut_names,
    fade,
    let_choose,
    measure_names,
    measure_rows,
    name_rows,
    place_names,
    place_rows,
    tell,
)

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.evaluation import Evaluation

MOST = 7  # approaches that shapes and colours can tell apart, with gold
JUDGE = "judge:"
QUALITIES = {"tau": "tau to gold's order", "tau_ap": "tau_ap, the top counts more", "rmse": "RMSE to gold's scores"}
ROOM = 22  # pixels of a row of a few approaches


def draw_scores_board(evaluation: Evaluation, measure: str | None = None) -> alt.LayerChart:
    """Systems with their scores by every approach and by gold, best first by gold, or by the first approach."""
    import altair as alt

    measure = measure or evaluation.measures[0]
    frame = lay_out_scores(evaluation, measure)
    ways = frame["by"].unique(maintain_order=True).to_list()
    orders = {way: f"at_{k}" for k, way in enumerate(ways)}
    trusted = None if evaluation.gold is None else evaluation.name_gold(measure)
    natural = trusted or ways[0]
    orders = {natural: orders[natural], **orders, "name": "at_name"}
    systems = frame.unique("row", maintain_order=True).sort("row")["system"].to_list()
    shades = [GOLD if way == trusted else _SHADES[k % len(_SHADES)] for k, way in enumerate(ways)]
    forms = ["square" if way == trusted else _FORMS[k % len(_FORMS)] for k, way in enumerate(ways)]
    legend = alt.Legend(orient="top", columns=5, labelLimit=160)
    told = tell("system:N", "by:N", "score:Q", "standard_error:Q", "rank:Q")
    drawn = alt.Chart(frame).transform_calculate(place=place_rows(orders))
    points = drawn.mark_point(filled=True, size=38).encode(
        alt.X("score:Q", title=measure, scale=alt.Scale(zero=False)),
        alt.Y("row:O", title=None, sort=alt.EncodingSortField("place", "min"), axis=name_rows(systems)),
        alt.Color("by:N", title=None, scale=alt.Scale(domain=ways, range=shades), legend=legend),
        alt.Shape("by:N", title=None, scale=alt.Scale(domain=ways, range=forms), legend=legend),
        opacity=fade(choose("system"), 0.9),
        tooltip=told,
    )
    said = _tell_choice(evaluation) if len(evaluation.approaches) > MOST else f"best first by {natural}"
    said += tell_other_topics(evaluation, measure)
    chart: alt.LayerChart = alt.LayerChart(
        layer=[points.properties(name="scores")],
        width=WIDEST - measure_names(systems),
        height=measure_rows(len(systems)),
        title=alt.TitleParams(f"{measure} by approach", subtitle=said, anchor="start"),
    )
    return let_choose(chart.add_params(choose_order(list(orders))), "system")


def lay_out_scores(evaluation: Evaluation, measure: str) -> pl.DataFrame:
    """A row for each system and approach, and for gold; at_0, at_1 ... say where the system stands by each."""
    if measure not in evaluation.measures:
        raise UnknownNameError("measure", measure, evaluation.measures)
    boards = {name: evaluation.leaderboard(measure, name) for name in _choose_approaches(evaluation, measure)}
    first = next(iter(boards.values()))
    if "gold_score" in first.columns:
        trusted = first.select("system", rank="gold_rank", score="gold_score", standard_error=pl.lit(None, pl.Float64))
        boards[evaluation.name_gold(measure)] = trusted.sort("rank", "system", nulls_last=True)
    places = pl.DataFrame({"system": first["system"], "at_name": place_names(first["system"].to_list())})
    for k, board in enumerate(boards.values()):
        at = board.select("system", pl.int_range(pl.len()).alias(f"at_{k}"))
        places = places.join(at, on="system", how="left", maintain_order="left")
    natural = 0 if evaluation.gold is None else len(boards) - 1
    places = places.with_columns(row=f"at_{natural}")
    columns = ["system", "rank", "score", "standard_error"]
    rows = [board.select(pl.lit(name).alias("by"), *columns) for name, board in boards.items()]
    return pl.concat(rows).join(places, on="system", how="left", maintain_order="left")


def _choose_approaches(evaluation: Evaluation, measure: str) -> list[str]:
    """As many as can be told apart: the first, which decides, other merges, then judges, nearest to gold first."""
    names = evaluation.approaches
    near = {
        found.approach: found.tau_ap
        for found in evaluation.fidelity
        if found.measure == measure and found.tau_ap is not None
    }
    merges = [name for name in names[1:] if not name.startswith(JUDGE)]
    alone = [name for name in names[1:] if name.startswith(JUDGE)]
    alone.sort(key=lambda name: near.get(name, -2.0), reverse=True)  # below all there are
    kept = {names[0], *[*merges, *alone][: MOST - 1]}
    return [name for name in names if name in kept]


def _tell_choice(evaluation: Evaluation) -> str:
    names = evaluation.approaches
    merges = sum(not name.startswith(JUDGE) for name in names)
    text = f"{MOST} of {counted(len(names), 'approach')}"
    if merges >= MOST:
        return f"{text}, the first that merge judges"
    nearest = "the judges nearest to gold by tau_ap" if evaluation.fidelity else "the first judges"
    return f"{text}: {nearest}" if not merges else f"{text}: merges, and {nearest}"


def _count_topics(evaluation: Evaluation) -> str:
    """Judges who saw only some topics are compared with gold there."""
    topics = [near.topics for near in evaluation.fidelity]
    few, most = min(topics), max(topics)
    return counted(most, "topic") if few == most else f"{few:,} to {counted(most, 'topic')}"


def draw_fidelity(evaluation: Evaluation) -> alt.HConcatChart:
    """How near each approach comes to gold's order and scores; measures, where there are several, by shape."""
    import altair as alt

    frame = lay_out_fidelity(evaluation)
    names = frame.unique("row", maintain_order=True)["approach"].to_list()
    orders = {"tau": "row"} | {quality: f"at_{quality}" for quality in ("tau_ap", "rmse")} | {"name": "at_name"}
    measures = list(evaluation.measures)
    shapes = alt.Shape(
        "measure:N",
        title=None,
        scale=alt.Scale(domain=measures, range=[_FORMS[k % len(_FORMS)] for k in range(len(measures))]),
        legend=alt.Legend(orient="top") if len(measures) > 1 else None,
    )
    width = (WIDEST - measure_names(cut_names(names, NAME))) // len(QUALITIES) - 8
    panels = []
    for k, (quality, title) in enumerate(QUALITIES.items()):
        down = alt.Y(
            "row:O",
            title=None,
            sort=alt.EncodingSortField("place", "min"),
            axis=name_rows(names) if k == 0 else alt.Axis(labels=False, ticks=False, grid=True, gridOpacity=0.3),
        )
        shown = (
            alt.Chart(frame).transform_calculate(place=place_rows(orders)).mark_point(filled=True, size=52, opacity=1)
        )
        shown = shown.encode(
            alt.X(f"{quality}:Q", title=title, scale=alt.Scale(zero=False, padding=12), axis=alt.Axis(tickCount=3)),
            down,
            shapes,
            color=alt.value(JUDGES if quality == "rmse" else CORRECTED),
            tooltip=tell("approach:N", "measure:N", "tau:Q", "tau_ap:Q", "rmse:Q", "topics:Q"),
        )
        panels.append(shown.properties(width=width, height=ROOM * len(names)))
    said = f"on {_count_topics(evaluation)}; RMSE: less is better"
    head = alt.TitleParams("How near approaches come to gold", subtitle=said, anchor="start")
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=8, title=head).add_params(choose_order(list(orders)))
    return chart


def lay_out_fidelity(evaluation: Evaluation) -> pl.DataFrame:
    """A row for each measure and approach, with its place by the first measure's tau, tau_ap and RMSE."""
    if not evaluation.fidelity:
        raise DataError("there is no gold to compare approaches with")
    frame = pl.DataFrame(
        [near._asdict() for near in evaluation.fidelity],
        schema_overrides=dict.fromkeys(("tau", "tau_ap", "rmse"), pl.Float64),
    )
    first = frame.filter(measure=evaluation.measures[0])
    places = pl.DataFrame({"approach": first["approach"], "at_name": place_names(first["approach"].to_list())})
    columns = [
        _place(first[quality], descending=quality != "rmse").alias("row" if quality == "tau" else f"at_{quality}")
        for quality in QUALITIES
    ]
    return frame.join(places.with_columns(columns), on="approach", how="left", maintain_order="left").sort(
        "row", maintain_order=True
    )


def _place(values: pl.Series, *, descending: bool) -> pl.Series:
    """From 0; what is not known comes last."""
    filled = values.fill_null(float("-inf") if descending else float("inf"))
    return filled.rank("ordinal", descending=descending).cast(pl.Int64) - 1


def _without(values: Sequence[str], *taken: str) -> tuple[str, ...]:
    return tuple(value for value in values if value not in taken)


_SHADES, _FORMS = _without(COLOURS, COLOURS[-1]), _without(SHAPES, "square")


def tell_other_topics(result: Evaluation, measure: str) -> str:
    """What goes on from a caption, where gold's scores are means over other topics than the approaches'."""
    if result.gold is None or result.name_gold(measure) == "gold":
        return ""
    own = counted(len(result.scores[measure].topics), "topic")
    gold = counted(int(result.gold[measure].judged[0].sum()), "topic")
    return f"; gold averages {gold}, approaches {own}"
