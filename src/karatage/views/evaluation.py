"""Leaderboards by several approaches, how close each is to gold, and the weights of judges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.evaluation import Evaluation, Fidelity
from karatage.errors import DataError, UnknownNameError
from karatage.text import counted
from karatage.views.choosing import (
    place_values,
    tell,
)
from karatage.views.marks import (
    COLOURS,
    CORRECTED,
    GAP,
    GOLD,
    JUDGES,
    SHAPES,
    Axis,
    Key,
    Rows,
    cycle,
)
from karatage.views.page import Figure, Page, Section, list_facts, shows
from karatage.views.scores import chart_weights, tabulate_draws, tabulate_weights
from karatage.views.table import Table, label_columns, mark_best

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt


FIDELITY = """Each approach's leaderboard is compared with gold's. tau and tau_ap are 1 if the orders are the same, RMSE
is 0 if the scores are the same. For other systems or judges, another approach may be closest to gold."""
MOST_APPROACHES = 7  # that shapes and colours can distinguish, with gold
JUDGE = "judge:"
QUALITIES = {"tau": "tau to gold's order", "tau_ap": "tau_ap, the top counts more", "rmse": "RMSE to gold's scores"}
SEVERAL = {"orient": "top", "columns": 5, "labelLimit": 160}
_SHADES, _FORMS = COLOURS[:-1], tuple(shape for shape in SHAPES if shape != "square")


@shows(Evaluation)
def view_evaluation(evaluation: Evaluation, *, weights: bool = False, explain: bool = False) -> Page:
    """A leaderboard for each measure, the distance to gold, and the weights of judges.

    Args:
        evaluation: What to show.
        weights: Whether the terminal shows weights, too.
        explain: Whether it says where the weights come from.
    """
    sections = [view_measure(evaluation, measure) for measure in evaluation.measures]
    if evaluation.fidelity:
        sections.append(view_fidelity(evaluation))
    sections += view_weights(evaluation, tables=weights)
    for found in evaluation.weights if explain else ():
        title = f"Reasons for the weights of judges, {found.approach} on {found.measure}"
        sections.append(Section(title, "\n\n".join(f"- {line}" for line in found.explain())))
    facts = list_facts(evaluation, measures=", ".join(evaluation.measures), approaches=", ".join(evaluation.approaches))
    title = f"{counted(len(evaluation.systems), 'system')} on {', '.join(evaluation.measures)}"
    return Page(title, evaluation.sentence, sections, evaluation.notes, facts)


def view_measure(evaluation: Evaluation, measure: str) -> Section:
    """Scores by every approach."""
    make = partial(chart_scores, evaluation, measure)
    chart = Figure(make, f"{measure} by each approach", f"scores-{measure}")
    drawn = [tabulate_draws(found) for found in evaluation.draws if found.measure == measure]
    return Section(f"{measure} by approach", "", [tabulate_measure(evaluation, measure), *drawn], [chart])


def view_fidelity(evaluation: Evaluation) -> Section:
    """Approaches against gold."""
    caption = "How close each approach is to gold's leaderboard"
    chart = Figure(partial(chart_fidelity, evaluation), caption, "fidelity")
    return Section("Approaches against gold", "", [tabulate_fidelity(evaluation)], [chart], background=FIDELITY)


def view_weights(evaluation: Evaluation, *, tables: bool = False) -> Iterator[Section]:
    """Weights of judges, for approaches that have them; in tables behind charts, or beside them."""
    if evaluation.weights:
        found, charts = [tabulate_weights(weights) for weights in evaluation.weights], []
        for weights, table in zip(evaluation.weights, found, strict=True):
            caption = f"Each judge's weight by {weights.approach} on {weights.measure}"
            make, name = partial(chart_weights, weights), f"weights-{weights.approach}"
            charts.append(Figure(make, caption, name, None if tables else table))
        yield Section("Weights of the judges", "", found if tables else (), charts)


def tabulate_measure(result: Evaluation, measure: str) -> Table:
    """Systems in the order of the first approach, with its standard error; then gold, and the other approaches."""
    first, *others = result.approaches
    board = result.leaderboard(measure, first)
    frame = board.select("system", pl.col("rank"), pl.col("score").alias(first), "standard_error")
    headers, caption = {"rank": "#", "standard_error": "± s.e."}, measure
    if result.gold is not None:
        frame = frame.with_columns(board["gold_score"].alias("gold"))
        headers["gold"] = result.name_gold(measure)
        caption += tell_other_topics(result, measure)
    for approach in others:
        scores = result.leaderboard(measure, approach).select("system", pl.col("score").alias(approach))
        frame = frame.join(scores, on="system", how="left", maintain_order="left")
    name = "scores" if measure == result.measures[0] else f"scores-{result.measures.index(measure) + 1}"
    return Table(frame, caption, name=name, about="system", columns=label_columns(frame, **headers))


def tabulate_fidelity(result: Evaluation) -> Table:
    """How close each approach is to gold; the closest is marked."""
    frame = pl.DataFrame(result.fidelity, schema=Fidelity._fields, orient="row")
    frame = frame.with_columns(pl.col("tau", "tau_ap", "rmse").cast(pl.Float64))
    mark = mark_best(frame, ["tau", "tau_ap"], within="measure")
    mark |= mark_best(frame, ["rmse"], within="measure", lowest=True)
    columns = {name: name for name in ("approach", "measure", "tau", "tau_ap")} | {"rmse": "RMSE", "topics": "topics"}
    return Table(frame, "Distance to gold", mark=mark, name="fidelity", columns=columns)


def chart_scores(evaluation: Evaluation, measure: str | None = None) -> alt.HConcatChart:
    """Systems with their scores by every approach and by gold, best first by gold, or by the first approach."""
    measure = measure or evaluation.measures[0]
    frame = _frame_scores(evaluation, measure)
    trusted = None if evaluation.gold is None else evaluation.name_gold(measure)
    ways = [*_choose_approaches(evaluation, measure), *([] if trusted is None else [trusted])]
    natural = trusted or ways[0]
    colours, shapes = cycle("by", ways, _SHADES, legend=SEVERAL), cycle("by", ways, _FORMS, legend=SEVERAL)
    if trusted is not None:
        colours = Key("by", {**colours.looks, trusted: GOLD}, legend=SEVERAL)
        shapes = Key("by", {**shapes.looks, trusted: "square"}, legend=SEVERAL)
    rows = Rows(
        frame,
        "system",
        tell("system:N", "by:N", "score:Q", "standard_error:Q", "rank:Q"),
        {"color": colours, "shape": shapes},
        natural=natural,
        orders={way: f"at_{k}" for k, way in enumerate(ways)},
    )
    panel = rows.chart_dots(Axis("score:Q", measure), rows.width, span=None, size=38, shown=0.9)
    many = len(evaluation.approaches) > MOST_APPROACHES
    said = _tell_choice(evaluation) if many else f"best first by {natural}"
    return rows.put_together([panel], f"{measure} by approach", [said + tell_other_topics(evaluation, measure)])


def _frame_scores(evaluation: Evaluation, measure: str) -> pl.DataFrame:
    """A row for each system and approach, and for gold; at_0, at_1 ... say where the system stands by each."""
    if measure not in evaluation.measures:
        raise UnknownNameError("measure", measure, evaluation.measures)
    boards = {name: evaluation.leaderboard(measure, name) for name in _choose_approaches(evaluation, measure)}
    first = next(iter(boards.values()))
    if "gold_score" in first.columns:
        trusted = first.select("system", rank="gold_rank", score="gold_score", standard_error=pl.lit(None, pl.Float64))
        boards[evaluation.name_gold(measure)] = trusted.sort("rank", "system", nulls_last=True)
    places = first.select("system")
    for k, board in enumerate(boards.values()):
        at = board.select("system", pl.int_range(pl.len()).alias(f"at_{k}"))
        places = places.join(at, on="system", how="left", maintain_order="left")
    natural = 0 if evaluation.gold is None else len(boards) - 1
    columns = ["system", "rank", "score", "standard_error"]
    rows = [board.select(pl.lit(name).alias("by"), *columns) for name, board in boards.items()]
    return pl.concat(rows).join(places, on="system", how="left").sort(f"at_{natural}", maintain_order=True)


def tell_other_topics(result: Evaluation, measure: str) -> str:
    """The end of a caption, where gold's scores are means over other topics than the approaches'."""
    if result.gold is None or result.name_gold(measure) == "gold":
        return ""
    own = counted(len(result.scores[measure].topics), "topic")
    gold = counted(int(result.gold[measure].judged[0].sum()), "topic")
    return f"; gold's mean is over {gold}, the approaches' over {own}"


def _choose_approaches(evaluation: Evaluation, measure: str) -> list[str]:
    """As many as readers can distinguish: the first, which decides, other merges, then judges closest to gold."""
    names = evaluation.approaches
    near = {
        found.approach: found.tau_ap
        for found in evaluation.fidelity
        if found.measure == measure and found.tau_ap is not None
    }
    merges = [name for name in names[1:] if not name.startswith(JUDGE)]
    alone = [name for name in names[1:] if name.startswith(JUDGE)]
    alone.sort(key=lambda name: near.get(name, -2.0), reverse=True)  # below any tau_ap
    kept = {names[0], *[*merges, *alone][: MOST_APPROACHES - 1]}
    return [name for name in names if name in kept]


def _tell_choice(evaluation: Evaluation) -> str:
    names = evaluation.approaches
    merges = sum(not name.startswith(JUDGE) for name in names)
    text = f"{MOST_APPROACHES} of {counted(len(names), 'approach')}"
    if merges >= MOST_APPROACHES:
        return f"{text}, the first that merge judges"
    nearest = "the judges closest to gold by tau_ap" if evaluation.fidelity else "the first judges"
    return f"{text}: {nearest}" if not merges else f"{text}: merges, and {nearest}"


def chart_fidelity(evaluation: Evaluation) -> alt.HConcatChart:
    """How close each approach is to gold's order and scores; measures, where there are several, by shape."""
    legend = {"orient": "top"} if len(evaluation.measures) > 1 else None
    rows = Rows(
        _frame_fidelity(evaluation),
        "approach",
        tell("approach:N", "measure:N", "tau:Q", "tau_ap:Q", "rmse:Q", "topics:Q"),
        {"shape": cycle("measure", evaluation.measures, _FORMS, legend=legend)},
        natural="tau",
        orders={"tau_ap": "at_tau_ap", "rmse": "at_rmse"},
    )
    scale, ticks = {"zero": False, "padding": 12}, {"tickCount": 3}
    panels = [
        rows.chart_dots(
            Axis(f"{quality}:Q", title, scale, ticks),
            rows.width // len(QUALITIES) - GAP,
            span=None,
            colour=JUDGES if quality == "rmse" else CORRECTED,
            size=52,
            named=quality == "tau",
        )
        for quality, title in QUALITIES.items()
    ]
    topics = [near.topics for near in evaluation.fidelity]  # judges who saw only some are compared with gold there
    few, most = min(topics), counted(max(topics), "topic")
    said = f"on {most if few == max(topics) else f'{few:,} to {most}'}; RMSE: less is better"
    return rows.put_together(panels, "How close approaches are to gold", [said])


def _frame_fidelity(evaluation: Evaluation) -> pl.DataFrame:
    """A row for each measure and approach, best first by the first measure's tau; its place by tau_ap and RMSE."""
    if not evaluation.fidelity:
        raise DataError("there is no gold to compare approaches with")
    frame = pl.DataFrame(
        [near._asdict() for near in evaluation.fidelity],
        schema_overrides=dict.fromkeys(QUALITIES, pl.Float64),
    )
    first = frame.filter(measure=evaluation.measures[0])
    at = {f"at_{name}": place_values(first[name], lowest_first=name == "rmse") for name in QUALITIES}
    places = pl.DataFrame({"approach": first["approach"], **at})
    return frame.join(places, on="approach", how="left").sort("at_tau", maintain_order=True).drop("at_tau")
