"""Scores under grades that were drawn many times: intervals of scores and ranks, and which system may be the best."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import polars as pl

from karatage.data.draws import Draws
from karatage.text import percent, shorten
from karatage.views.evaluation_charts import draw_draws
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.showing import shows
from karatage.views.table import Table

MEANING = """Grades are drawn with their probabilities, and every draw is scored. Intervals show the uncertainty about
single grades; they do not cover other topics, nor judges whose errors are correlated."""


@shows(Draws)
def view_draws(draws: Draws) -> Page:
    """Systems by their mean over draws."""
    figure = Figure(partial(draw_draws, draws), "Scores over draws, and the chance to be the best", "draws")
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
    """Intervals of scores and ranks, and the chances to be best and to beat the next."""
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
