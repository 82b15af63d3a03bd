"""Charts of scores: a leaderboard under several approaches and gold, by judge, with drawn grades, and by weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.errors import DataError, UnknownNameError
from karatage.text import counted, percent
from karatage.views.choosing import (
    WIDEST,
    let_choose,
    measure_names,
    measure_rows,
    place_values,
    tell,
    tell_columns,
    tell_shown,
)
from karatage.views.marks import (
    COLOURS,
    CORRECTED,
    GAP,
    GOLD,
    JUDGES,
    PLAIN,
    SHAPES,
    WHOLE,
    Axis,
    Key,
    Rows,
    cycle,
    draw_map,
    entitle,
    tell_two,
)

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.draws import Draws
    from karatage.data.evaluation import Evaluation
    from karatage.data.scores import Scores
    from karatage.data.weights import Weights

MOST_APPROACHES = 7  # that shapes and colours can tell apart, with gold
MOST = 40  # judges with a column each
MOST_WEIGHTS = 60  # judges with a row each
JUDGE = "judge:"
QUALITIES = {"tau": "tau to gold's order", "tau_ap": "tau_ap, the top counts more", "rmse": "RMSE to gold's scores"}
SEVERAL = {"orient": "top", "columns": 5, "labelLimit": 160}
BEST = 120  # pixels
CONTENDER, BEHIND = "may be the best", "unlikely the best"
CHANCES = tell_two(CONTENDER, BEHIND, (CORRECTED, PLAIN))
_SHADES, _FORMS = COLOURS[:-1], tuple(shape for shape in SHAPES if shape != "square")


def draw_scores_board(evaluation: Evaluation, measure: str | None = None) -> alt.HConcatChart:
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
    panel = rows.draw_dots(Axis("score:Q", measure), rows.width, span=None, size=38, shown=0.9)
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
    """What goes on from a caption, where gold's scores are means over other topics than the approaches'."""
    if result.gold is None or result.name_gold(measure) == "gold":
        return ""
    own = counted(len(result.scores[measure].topics), "topic")
    gold = counted(int(result.gold[measure].judged[0].sum()), "topic")
    return f"; gold averages {gold}, approaches {own}"


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
    kept = {names[0], *[*merges, *alone][: MOST_APPROACHES - 1]}
    return [name for name in names if name in kept]


def _tell_choice(evaluation: Evaluation) -> str:
    names = evaluation.approaches
    merges = sum(not name.startswith(JUDGE) for name in names)
    text = f"{MOST_APPROACHES} of {counted(len(names), 'approach')}"
    if merges >= MOST_APPROACHES:
        return f"{text}, the first that merge judges"
    nearest = "the judges nearest to gold by tau_ap" if evaluation.fidelity else "the first judges"
    return f"{text}: {nearest}" if not merges else f"{text}: merges, and {nearest}"


def draw_fidelity(evaluation: Evaluation) -> alt.HConcatChart:
    """How near each approach comes to gold's order and scores; measures, where there are several, by shape."""
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
        rows.draw_dots(
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
    return rows.put_together(panels, "How near approaches come to gold", [said])


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


def draw_draws(draws: Draws) -> alt.HConcatChart:
    """Systems by mean score over draws with the middle of their scores; beside them, the chance to be the best."""
    frame = draws.to_frame().rename({"draw_mean": "value", "draw_low": "low", "draw_high": "high"})
    behind = pl.col("p_best") < (1 - draws.level) / 2
    frame = frame.with_columns(mark=pl.when(behind).then(pl.lit(BEHIND)).otherwise(pl.lit(CONTENDER)))
    told = ["system:N", *(f"{name}:Q" for name in ("value", "low", "high", "rank_low", "rank_high", "p_best"))]
    rows = Rows(frame, "system", told, CHANCES, natural="score", orders={"chance to be the best": "p_best"})
    panels = [
        rows.draw_dots(Axis("value:Q", draws.measure), rows.width - BEST - GAP),
        rows.draw_bars(Axis("p_best:Q", "P(best)", WHOLE), BEST),
    ]
    said = [
        f"lines: the middle {percent(draws.level)} of {counted(len(draws.value), 'draw')}",
        f"unlikely the best: in more than {percent((1 + draws.level) / 2)} of draws another one is",
    ]
    return rows.put_together(panels, f"{draws.measure} with grades drawn from {draws.approach}", said)


def frame_systems(scores: Scores) -> pl.DataFrame:
    """One row per system, best first: system, value (median over judges), low, high, best (judges who rank it first).

    With a single judge low and high are a standard error away.
    """
    mean = scores.mean
    known = np.isfinite(mean)
    if len(scores.judges) == 1:
        spread = scores.standard_error[0]
        value, low, high = mean[0], mean[0] - spread, mean[0] + spread
    else:
        some = np.where(known.any(axis=0), mean, 0.0)  # a system that nobody scores is undone below
        value, low, high = (edge(some, axis=0) for edge in (np.nanmedian, np.nanmin, np.nanmax))
        value, low, high = (np.where(known.any(axis=0), edge, np.nan) for edge in (value, low, high))
    top = np.where(known, mean, -np.inf)
    best = ((top == top.max(axis=1, keepdims=True)) & known).sum(axis=0)
    columns = {"value": value, "low": low, "high": high, "best": best}
    frame = pl.DataFrame({"system": pl.Series(scores.systems, dtype=pl.String), **columns}).fill_nan(None)
    return frame.sort("value", "system", descending=[True, False], nulls_last=True)


def draw_systems(scores: Scores) -> alt.HConcatChart:
    """Systems from best to worst, with all that judges make of them."""
    told = ["system:N", "value:Q", "low:Q", "high:Q", "best:Q"]
    orders = {"judges who rank it first": "best"}
    rows = Rows(frame_systems(scores), "system", told, natural="score", orders=orders)
    alone = len(scores.judges) == 1
    line = "± a standard error over topics" if alone else "from the lowest judge to the highest, dot: the median"
    title = f"{scores.measure} by {counted(len(scores.judges), 'judge')} on {counted(len(scores.topics), 'topic')}"
    panel = rows.draw_dots(Axis("value:Q", scores.measure), rows.width)
    return rows.put_together([panel], title, [f"lines: {line}"])


def draw_score_map(scores: Scores) -> alt.LayerChart:
    """Means over topics, a row for each system and a column for each judge, both from best to worst."""
    systems = frame_systems(scores)["system"].to_list()
    height = [float(np.nanmean(row)) if np.isfinite(row).any() else -np.inf for row in scores.mean]
    order = sorted(range(len(scores.judges)), key=lambda j: (-height[j], scores.judges[j]))
    judges = [scores.judges[j] for j in order]
    values = scores.mean[np.ix_(order, [scores.systems.index(system) for system in systems])]
    column, row = np.indices(values.shape).reshape(2, -1)
    frame = pl.DataFrame(
        {
            "row": row,
            "column": column,
            "system": pl.Series(systems, dtype=pl.String).gather(row),
            "judge": pl.Series(judges, dtype=pl.String).gather(column),
            "score": pl.Series(values.ravel()).fill_nan(None),
        }
    )
    shade = Key("score:Q", title=scores.measure, legend={}, scale={"scheme": "cividis"})
    size = min(WIDEST - 60 - measure_names(systems), 26 * len(judges)), measure_rows(len(systems))
    told = ["judge:N", "system:N", "score:Q"]
    chart = draw_map(frame, systems, judges, shade, told=told, follow="system", size=size)
    chart.title = entitle(f"{scores.measure} by judge and system", ["both from the highest scores on"])
    return let_choose(chart, "system")


def draw_weights(weights: Weights) -> alt.HConcatChart:
    """Each judge's weight, from the lowest to the highest topic, and a line where all would weigh the same."""
    every = weights.to_frame()
    frame = every.head(MOST_WEIGHTS)
    rows = Rows(frame, "judge", tell_columns(frame.drop("measure", "approach")), natural="weight")
    across = Axis("weight:Q", "weight", {"zero": True})
    panel = rows.draw_dots(across, rows.width, span=("lowest", "highest"), line=_weigh_alike(weights), size=46)
    said = [
        *tell_shown(len(frame), len(every), "weigh most"),
        "line: lightest to heaviest topic; dashed: all alike",
    ]
    return rows.put_together([panel], f"Weights by {weights.approach}, {weights.measure}", said)


def _weigh_alike(weights: Weights) -> float:
    """What a judge would weigh if all those heard on a topic weighed the same, as a mean over topics."""
    heard = weights.present.sum(axis=0)
    return float((1 / heard[heard > 0]).mean())
