"""Charts of judging: how sure a leaderboard is, and who judges what next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.queue import CROWD, EXPERT
from karatage.text import percent
from karatage.views.charts import CORRECTED, JUDGES
from karatage.views.row_charts import GAP, WHOLE, Across, Mark, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.queue import JudgingQueue
    from karatage.data.settling import Settling

SETTLED, OPEN = "settled", "order may be wrong"
STANDINGS = {SETTLED: Mark(CORRECTED, "circle"), OPEN: Mark(JUDGES, "diamond")}
WHO = {EXPERT: Mark(CORRECTED, "circle"), CROWD: Mark(JUDGES, "diamond")}
DOUBT = 130  # pixels


def draw_settling(settling: Settling) -> alt.HConcatChart:
    """Systems best first with what more judging may make of their scores; beside them, how doubtful their order is."""
    frame = settling.to_frame().with_columns(
        value=pl.col("score"),
        low=(pl.col("score") - pl.col("spread")).clip(0),
        high=pl.col("score") + pl.col("spread"),
        mark=pl.when(pl.col("doubt") > settling.risk).then(pl.lit(OPEN)).otherwise(pl.lit(SETTLED)),
    )
    rows = Rows(frame, "system", STANDINGS, orders={"doubt": "doubt"}, natural="score")
    told = ["score:Q", "spread:Q", "doubt:Q", "mark:N"]
    doubt = Across("doubt", WHOLE, settling.risk)
    panels = [
        rows.draw_dots(Across(f"expected {settling.measure}"), rows.room - DOUBT - GAP, told),
        rows.draw_bars("doubt", doubt, DOUBT, told),
    ]
    said = [
        "lines: ± a standard deviation of what judging may still show on these topics",
        f"doubt: the highest probability that the order with another system is wrong; dashed: {percent(settling.risk)}",
    ]
    return rows.put_together(panels, f"Leaderboard by {settling.measure} so far", said)


def frame_queue(queue: JudgingQueue) -> pl.DataFrame:
    """One row per topic and who judges there, topics with most documents first."""
    return (
        queue.items.group_by("topic", pl.col("to").alias("mark"))
        .agg(documents=pl.len(), judgments=pl.col("judgments").sum(), cost=pl.col("cost").sum().cast(pl.Float64))
        .with_columns(all=pl.col("documents").sum().over("topic"))
        .sort("all", "topic", "mark", descending=[True, False, True])
    )


def draw_queue(queue: JudgingQueue) -> alt.HConcatChart:
    """Documents to judge next by topic, those for experts and those for the crowd."""
    frame = frame_queue(queue)
    marks = {who: mark for who, mark in WHO.items() if who in set(frame["mark"])}
    rows = Rows(frame, "topic", marks, natural="documents")
    told = ["mark:N", "documents:Q", "judgments:Q", "cost:Q"]
    panel = rows.draw_bars("documents", Across("documents to judge", counts=True), rows.room, told, named=True)
    return rows.put_together([panel], f"Batch {queue.batch}, in the order {queue.order}")
