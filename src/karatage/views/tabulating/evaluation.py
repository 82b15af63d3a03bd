"""Leaderboards under several approaches, as tables."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.evaluation import Fidelity
from karatage.text import percent
from karatage.views.evaluation_charts import tell_other_topics
from karatage.views.tables import Table, mark_best

if TYPE_CHECKING:
    from karatage.data.draws import Draws
    from karatage.data.evaluation import Evaluation
    from karatage.data.weights import Weights


def tabulate_measure(result: Evaluation, measure: str) -> Table:
    """Systems in the order of the first approach, with its standard error; then gold, and the other approaches."""
    first, *others = result.approaches
    board = result.leaderboard(measure, first)
    frame = board.select("system", pl.col("rank").alias("#"), pl.col("score").alias(first), "standard_error")
    headers, caption = {"standard_error": "± s.e."}, measure
    if result.gold is not None:
        frame = frame.with_columns(board["gold_score"].alias("gold"))
        headers["gold"] = result.name_gold(measure)
        caption += tell_other_topics(result, measure)
    for approach in others:
        scores = result.leaderboard(measure, approach).select("system", pl.col("score").alias(approach))
        frame = frame.join(scores, on="system", how="left", maintain_order="left")
    name = "scores" if measure == result.measures[0] else f"scores-{result.measures.index(measure) + 1}"
    return Table(frame, caption, name=name, about="system", headers=headers)


def tabulate_fidelity(result: Evaluation) -> Table:
    """How near each approach comes to gold; the nearest is bold."""
    frame = pl.DataFrame(result.fidelity, schema=Fidelity._fields, orient="row").select(
        "approach", "measure", "tau", "tau_ap", pl.col("rmse").alias("RMSE"), "topics"
    )
    frame = frame.with_columns(pl.col("tau", "tau_ap", "RMSE").cast(pl.Float64))
    mark = mark_best(frame, ["tau", "tau_ap"], within="measure")
    mark |= mark_best(frame, ["RMSE"], within="measure", lowest=True)
    return Table(frame, "Distance to gold", mark=mark, name="fidelity")


def tabulate_draws(drawn: Draws) -> Table:
    """Systems by their mean over draws: intervals of scores and ranks, and the chances to be best and beat the next."""
    frame = drawn.to_frame()
    place = [drawn.systems.index(system) for system in frame["system"]]
    beats = drawn.beats
    ahead = [float(beats[one, other]) for one, other in pairwise(place)]
    low = f"{percent(drawn.level)} from"
    shown = frame.select(
        "system",
        pl.col("draw_mean").alias("mean"),
        pl.col("draw_low").alias(low),
        pl.col("draw_high").alias("to"),
        pl.col("rank_low").floor().cast(pl.Int64).alias("rank"),
        pl.col("rank_high").ceil().cast(pl.Int64).alias("rank_to"),
        pl.col("p_best").alias("P(best)"),
        pl.Series("P(> next)", [*ahead, None], dtype=pl.Float64),
    )
    return Table(
        shown,
        f"{drawn.measure}, {len(drawn.value):,} draws from {drawn.approach}",
        digits={"P(best)": 3, "P(> next)": 3},
        name="draws",
        about="system",
        headers={"rank_to": "to"},
    )


def tabulate_weights(found: Weights) -> Table:
    """Judges from the heaviest to the lightest, with the distances their weights come from."""
    gaps = {f"{found.gap}_{kind}": f"{found.gap} {kind}" for kind in found.distance}
    frame = found.to_frame().select("judge", "weight", "lowest", "highest", *gaps).rename(gaps)
    return Table(frame, f"Weights by {found.approach}, {found.measure}", name="weights", about="judge")
