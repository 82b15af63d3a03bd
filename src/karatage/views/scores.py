"""Scores of systems: by every judge, with grades that were drawn many times, and the weights of judges."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.scores import Draws, Scores, Weights, label_class
from karatage.text import counted, percent, shorten
from karatage.views.choosing import (
    WIDEST,
    let_choose,
    measure_names,
    measure_rows,
    tell_columns,
    tell_shown,
)
from karatage.views.marks import (
    CORRECTED,
    GAP,
    PLAIN,
    ROOM,
    WHOLE,
    Axis,
    Key,
    Rows,
    chart_map,
    entitle,
    tell_two,
)
from karatage.views.page import Figure, Page, Section, list_options, shows
from karatage.views.table import Table

if TYPE_CHECKING:
    import altair as alt


ALONE = """Every judge's grades are taken as correct here: nothing is merged, and no error is corrected. Where judges
rank systems in different orders, some of them are wrong."""
MEANING = """Grades are drawn with their probabilities, and every draw is scored. Intervals show the uncertainty about
single grades; they do not cover other topics, nor judges whose errors are correlated."""
MOST_REASONS = 30  # judges
MEANINGS = {
    "und": "gap from random judges who grade 5% as relevant",
    "uni": "the same with 50%",
    "ovr": "the same with 95%",
    "own": "gap from the judge's own grades, shuffled",
    "gold": "closeness to gold",
}
MOST = 40  # judges with a column each
MOST_WEIGHTS = 60  # judges with a row each
BEST = 120  # pixels
CONTENDER, BEHIND = "may be the best", "probably not the best"
CHANCES = tell_two(CONTENDER, BEHIND, (CORRECTED, PLAIN))


@shows(Scores)
def view_scores(scores: Scores) -> Page:
    """Systems by all judges, and judge by judge."""
    judges = len(scores.judges)
    figures = [Figure(partial(chart_systems, scores), f"{scores.measure} of each system", "systems")]
    if 1 < judges <= MOST:
        caption = f"{scores.measure} by judge and system"
        figures.append(Figure(partial(chart_score_map, scores), caption, "judges", tabulate_judges(scores)))
    title = f"{scores.measure} by {counted(judges, 'judge')}"
    facts = list_options(measure=scores.measure, judges=judges, topics=len(scores.topics), systems=len(scores.systems))
    text = ALONE if judges > 1 else ""
    section = Section("Scores", "", [tabulate_systems(scores)], figures, background=text)
    return Page(title, scores.sentence, [section], scores.notes, facts)


def tabulate_systems(scores: Scores) -> Table:
    """Systems from best to worst: their scores by the judges, and how many rank them first."""
    frame = frame_systems(scores)
    columns = {"value": "median", "low": "lowest", "high": "highest", "best": "first for"}
    if len(scores.judges) == 1:
        frame = frame.with_columns(error=pl.col("high") - pl.col("value"))
        columns = {"value": "score", "error": "± s.e."}
    told = f"{counted(len(scores.judges), 'judge')}, {counted(len(scores.topics), 'topic')}"
    columns = {"system": "system", **columns}
    return Table(frame, f"{scores.measure}, {told}", name="systems", about="system", columns=columns)


def tabulate_judges(scores: Scores) -> Table:
    """Systems by judges: means over topics, for the first judges."""
    mean = scores.mean
    judges = {f"judge-{j}": name for j, name in enumerate(scores.judges[:MOST])}
    values = {column: pl.Series(mean[j]).fill_nan(None) for j, column in enumerate(judges)}
    frame = pl.DataFrame({"system": pl.Series(scores.systems, dtype=pl.String), **values})
    order = pl.DataFrame({"system": frame_systems(scores)["system"]})
    frame = order.join(frame, on="system", how="left", maintain_order="left")
    columns = {"system": "system", **judges}
    return Table(frame, f"{scores.measure} by judge", name="scores-by-judge", about="system", columns=columns)


@shows(Draws)
def view_draws(draws: Draws) -> Page:
    """Systems by their mean over draws."""
    figure = Figure(partial(chart_draws, draws), "Scores over draws, and the probability of being the best", "draws")
    facts = list_options(
        measure=draws.measure,
        approach=draws.approach,
        draws=len(draws.value),
        level=percent(draws.level),
        topics=draws.topics,
        seed=draws.seed,
    )
    title = f"{draws.measure} with grades drawn from {shorten(draws.approach)}"
    section = Section("Scores over draws", "", [tabulate_draws(draws)], [figure], background=MEANING)
    return Page(title, draws.sentence, [section], draws.notes, facts)


def tabulate_draws(drawn: Draws) -> Table:
    """Intervals of scores and ranks, and the probabilities to be the best and to be better than the next."""
    frame = drawn.to_frame()
    place = [drawn.systems.index(system) for system in frame["system"]]
    beats = drawn.beats
    ahead = [float(beats[one, other]) for one, other in pairwise(place)]
    frame = frame.with_columns(
        pl.col("rank_low").floor().cast(pl.Int64).alias("rank_from"),
        pl.col("rank_high").ceil().cast(pl.Int64).alias("rank_to"),
        pl.Series("p_next", [*ahead, None], dtype=pl.Float64),
    )
    return Table(
        frame,
        f"{drawn.measure}, {len(drawn.value):,} draws from {drawn.approach}",
        digits={"p_best": 3, "p_next": 3},
        name="draws",
        about="system",
        columns={
            "system": "system",
            "draw_mean": "mean",
            "draw_low": f"{percent(drawn.level)} from",
            "draw_high": "to",
            "rank_from": "rank",
            "rank_to": "to",
            "p_best": "P(best)",
            "p_next": "P(> next)",
        },
    )


@shows(Weights)
def view_weights(weights: Weights) -> Page:
    """Weights with their range over topics, and where they come from."""
    caption = "Each judge's weight, from the lowest to the highest topic"
    figure = Figure(partial(chart_weights, weights), caption, "weights")
    lines = [f"- {line}" for line in weights.explain()]
    if len(lines) > MOST_REASONS:
        lines[MOST_REASONS:] = [f"{counted(len(lines) - MOST_REASONS, 'judge')} with lower weights left out."]
    facts = list_options(
        measure=weights.measure, approach=weights.approach, judges=len(weights.judges), topics=len(weights.topics)
    )
    title = f"Weights by {shorten(weights.approach)} on {weights.measure}"
    sections = [
        Section("Weights", "", [tabulate_weights(weights)], [figure]),
        Section("Why", "\n\n".join(lines), detail=True),
    ]
    return Page(title, weights.sentence, sections, weights.notes, facts)


def tabulate_weights(found: Weights) -> Table:
    """Judges from the highest weight to the lowest, with the distances from which weights are computed."""
    columns = {name: name for name in ("judge", "weight", "lowest", "highest")}
    columns |= {f"{found.gap}_{kind}": f"{found.gap} {kind}" for kind in found.distance}
    caption = f"Weights by {found.approach}, {found.measure}"
    meanings = {
        f"{found.gap}_{kind}": MEANINGS.get(kind, f"gap from random judges: {label_class(kind)}")
        for kind in found.distance
    }
    return Table(found.to_frame(), caption, name="weights", about="judge", columns=columns, meanings=meanings)


def chart_draws(draws: Draws) -> alt.HConcatChart:
    """Systems by mean score over draws with the middle of their scores; beside them, the chance to be the best."""
    frame = draws.to_frame().rename({"draw_mean": "value", "draw_low": "low", "draw_high": "high"})
    behind = pl.col("p_best") < (1 - draws.level) / 2
    frame = frame.with_columns(mark=pl.when(behind).then(pl.lit(BEHIND)).otherwise(pl.lit(CONTENDER)))
    told = ["system:N", *(f"{name}:Q" for name in ("value", "low", "high", "rank_low", "rank_high", "p_best"))]
    rows = Rows(frame, "system", told, CHANCES, natural="score", orders={"probability of being the best": "p_best"})
    panels = [
        rows.chart_dots(Axis("value:Q", draws.measure), rows.width - BEST - GAP),
        rows.chart_bars(Axis("p_best:Q", "P(best)", WHOLE), BEST),
    ]
    said = [
        f"lines: the middle {percent(draws.level)} of {counted(len(draws.value), 'draw')}",
        f"probably not the best: another system is best in more than {percent((1 + draws.level) / 2)} of draws",
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
        some = np.where(known.any(axis=0), mean, 0.0)  # a system without scores becomes NaN below
        value, low, high = (edge(some, axis=0) for edge in (np.nanmedian, np.nanmin, np.nanmax))
        value, low, high = (np.where(known.any(axis=0), edge, np.nan) for edge in (value, low, high))
    top = np.where(known, mean, -np.inf)
    best = ((top == top.max(axis=1, keepdims=True)) & known).sum(axis=0)
    columns = {"value": value, "low": low, "high": high, "best": best}
    frame = pl.DataFrame({"system": pl.Series(scores.systems, dtype=pl.String), **columns}).fill_nan(None)
    return frame.sort("value", "system", descending=[True, False], nulls_last=True)


def chart_systems(scores: Scores) -> alt.HConcatChart:
    """Systems from best to worst, with the range of scores over judges."""
    told = ["system:N", "value:Q", "low:Q", "high:Q", "best:Q"]
    orders = {"judges who rank it first": "best"}
    rows = Rows(frame_systems(scores), "system", told, natural="score", orders=orders)
    alone = len(scores.judges) == 1
    line = "± a standard error over topics" if alone else "from the lowest judge to the highest, dot: the median"
    title = f"{scores.measure} by {counted(len(scores.judges), 'judge')} on {counted(len(scores.topics), 'topic')}"
    panel = rows.chart_dots(Axis("value:Q", scores.measure), rows.width)
    return rows.put_together([panel], title, [f"lines: {line}"])


def chart_score_map(scores: Scores) -> alt.LayerChart:
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
    size = min(WIDEST - 80 - measure_names(systems), 26 * len(judges)), measure_rows(len(systems))
    told = ["judge:N", "system:N", "score:Q"]
    chart = chart_map(frame, systems, judges, shade, told=told, follow="system", size=size)
    chart.title = entitle(f"{scores.measure} by judge and system", ["both from the highest scores on"])
    chart.padding = ROOM
    return let_choose(chart, "system")


def chart_weights(weights: Weights) -> alt.HConcatChart:
    """Each judge's weight, from the lowest to the highest topic, and a line at equal weights."""
    every = weights.to_frame()
    frame = every.head(MOST_WEIGHTS)
    rows = Rows(frame, "judge", tell_columns(frame.drop("measure", "approach")), natural="weight")
    across = Axis("weight:Q", "weight", {"zero": True})
    panel = rows.chart_dots(across, rows.width, span=("lowest", "highest"), line=_find_equal_weight(weights), size=46)
    said = [
        *tell_shown(len(frame), len(every), "have the highest weights"),
        "line: lowest to highest topic; dashed: equal weights",
    ]
    return rows.put_together([panel], f"Weights by {weights.approach}, {weights.measure}", said)


def _find_equal_weight(weights: Weights) -> float:
    """The weight of a judge if all judges of a topic had equal weights, as a mean over topics."""
    present = weights.present.sum(axis=0)
    return float((1 / present[present > 0]).mean())
