"""Charts of plans: where gold labels go, and how many of what it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.text import counted
from karatage.views.charts import CORRECTED, JUDGES
from karatage.views.row_charts import GAP, WHOLE, Across, Mark, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.plan import GoldPlan
    from karatage.data.sizing import SizePlan

CHANCES = 200  # pixels
SHARES = 160
HAVE, LACK = "at hand", "still needed"
NEEDS = {HAVE: Mark(CORRECTED, "circle"), LACK: Mark(JUDGES, "diamond")}


def frame_topics(plan: GoldPlan) -> pl.DataFrame:
    """One row per topic, most labels first: topic, labels, lowest, median and highest chance to be drawn."""
    chance = pl.col("pi")
    return (
        plan.items.group_by("topic")
        .agg(labels=pl.len(), low=chance.min(), value=chance.median(), high=chance.max())
        .sort("labels", "topic", descending=[True, False])
    )


def draw_plan(plan: GoldPlan) -> alt.HConcatChart:
    """Labels by topic, and with which chances documents were drawn."""
    rows = Rows(frame_topics(plan), "topic", orders={"chance": "value"}, natural="labels")
    told = ["labels:Q", "low:Q", "value:Q", "high:Q"]
    panels = [
        rows.draw_bars("labels", Across("gold labels", counts=True), rows.room - CHANCES - GAP, told, named=True),
        rows.draw_dots(Across("chance to be drawn (median, range)", WHOLE), CHANCES, told, named=False),
    ]
    return rows.put_together(panels, f"Where {counted(plan.labels, 'gold label')} go")


def draw_sizes(plan: SizePlan) -> alt.HConcatChart:
    """Topics and gold items at hand and still needed; beside them, their share of the error."""
    if plan.refusal is not None:
        raise OptionError(f"no numbers to draw: {plan.refusal}")
    frame = plan.to_frame().with_columns(
        name=pl.when(pl.col("judges") == "").then("need").otherwise(pl.format("{}, {}", "need", "judges"))
    )
    used = pl.min_horizontal("have", "size")
    parts = pl.concat(
        [
            frame.with_columns(mark=pl.lit(HAVE), items=used),
            frame.with_columns(mark=pl.lit(LACK), items=pl.col("more")),
        ]
    ).sort(pl.col("name").replace_strict({name: k for k, name in enumerate(frame["name"])}), maintain_order=True)
    rows = Rows(parts, "name", NEEDS)
    told = ["mark:N", "items:Q", "size:Q", "have:Q", "share:Q", "cost:Q"]
    shares = Rows(frame, "name")
    panels = [
        rows.draw_bars("items", Across("number", counts=True), rows.room - SHARES - GAP, told, named=True),
        shares.draw_bars("share", Across("share of the error", WHOLE), SHARES, ["share:Q"]),
    ]
    return rows.put_together(panels, "How many it takes")
