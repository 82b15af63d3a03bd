"""Charts of what to judge: where gold labels go, how many it takes, the next batch, and what was judged so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.disagreement import HeldOut
from karatage.data.queue import CROWD, EXPERT
from karatage.errors import OptionError
from karatage.text import counted, percent
from karatage.views.marks import CORRECTED, GAP, JUDGES, PLAIN, WHOLE, Axis, Key, Rows, lay_panel, mark, tell_two

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.diagnosis import Diagnosis
    from karatage.data.disagreement import DisagreementModel
    from karatage.data.plan import GoldPlan
    from karatage.data.queue import JudgingQueue, Settling
    from karatage.data.sizing import SizePlan

CHANCES, SHARES, DOUBT = 200, 160, 130  # pixels
COUNTS = {"tickMinStep": 1}
HAVE, LACK = "at hand", "still needed"
NEEDS = Key("mark", {HAVE: CORRECTED, LACK: JUDGES})
WHO = Key("mark", {EXPERT: CORRECTED, CROWD: JUDGES})
SETTLED, OPEN = "settled", "order may be wrong"
STANDINGS = tell_two(SETTLED, OPEN)
RATES = {
    "tpr": "of the items judges disagree on, found",
    "ppv": "of those predicted, disagreed on",
    "tnr": "of the items judges agree on, found",
    "npv": "of those predicted to agree, agreed on",
    "auc": "area under the curve",
}


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
    told = ["topic:N", "labels:Q", "low:Q", "value:Q", "high:Q"]
    rows = Rows(frame_topics(plan), "topic", told, natural="labels", orders={"chance": "value"})
    chance = Axis("value:Q", "chance to be drawn (median, range)", WHOLE)
    panels = [
        rows.draw_bars(Axis("labels:Q", "gold labels", axis=COUNTS), rows.width - CHANCES - GAP, named=True),
        rows.draw_dots(chance, CHANCES, named=False),
    ]
    return rows.put_together(panels, f"Where {counted(plan.labels, 'gold label')} go")


def draw_sizes(plan: SizePlan) -> alt.HConcatChart:
    """Topics and gold items at hand and still needed; beside them, their share of the error."""
    if plan.refusal is not None:
        raise OptionError(f"no numbers to draw: {plan.refusal}")
    frame = plan.to_frame().with_columns(
        name=pl.when(pl.col("judges") == "").then("need").otherwise(pl.format("{}, {}", "need", "judges"))
    )
    parts = {HAVE: pl.min_horizontal("have", "size"), LACK: pl.col("more")}
    both = pl.concat([frame.with_columns(mark=pl.lit(part), items=items) for part, items in parts.items()])
    told = ["name:N", "mark:N", "items:Q", "size:Q", "have:Q", "share:Q", "cost:Q"]
    rows = Rows(both, "name", told, {"color": NEEDS})
    shares = Rows(frame, "name", ["name:N", "share:Q"])
    panels = [
        rows.draw_bars(Axis("items:Q", "number", axis=COUNTS), rows.width - SHARES - GAP, named=True),
        shares.draw_bars(Axis("share:Q", "share of the error", WHOLE), SHARES),
    ]
    return rows.put_together(panels, "How many it takes")


def draw_settling(settling: Settling) -> alt.HConcatChart:
    """Systems best first with what more judging may make of their scores; beside them, how doubtful their order is."""
    score, spread = pl.col("score"), pl.col("spread")
    frame = settling.to_frame().with_columns(
        value=score,
        low=(score - spread).clip(0),
        high=score + spread,
        mark=pl.when(pl.col("doubt") > settling.risk).then(pl.lit(OPEN)).otherwise(pl.lit(SETTLED)),
    )
    told = ["system:N", "score:Q", "spread:Q", "doubt:Q", "mark:N"]
    rows = Rows(frame, "system", told, STANDINGS, natural="score", orders={"doubt": "doubt"})
    panels = [
        rows.draw_dots(Axis("value:Q", f"expected {settling.measure}"), rows.width - DOUBT - GAP),
        rows.draw_bars(Axis("doubt:Q", "doubt", WHOLE), DOUBT, line=settling.risk),
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
    told = ["topic:N", "mark:N", "documents:Q", "judgments:Q", "cost:Q"]
    rows = Rows(frame, "topic", told, {"color": WHO.only(frame["mark"].to_list())}, natural="documents")
    panel = rows.draw_bars(Axis("documents:Q", "documents to judge", axis=COUNTS), rows.width, named=True)
    return rows.put_together([panel], f"Batch {queue.batch}, in the order {queue.order}")


def draw_judged(found: Diagnosis) -> alt.HConcatChart:
    """The share that was judged, the least first: systems with little are held down by what counts as not relevant."""
    frame = found.systems.sort("judged", nulls_last=False, maintain_order=True)
    frame = frame.with_columns(pl.col("judged").fill_null(0))
    rows = Rows(frame, "system", ["system:N", "judged:Q", "topics:Q", "short:Q"], natural="judged")
    bars = rows.draw_bars(Axis("judged:Q", "share judged", WHOLE), rows.width, named=True)
    return rows.put_together([bars], f"How much of what counts for {found.measure} was judged")


def draw_disagreement(model: DisagreementModel) -> alt.LayerChart:
    """How predictions fare on held-out items: a tick for each topic, a dot for their mean."""
    table = model.to_frame()
    rates = [name for name in HeldOut._fields if table[name].is_not_null().any()]
    frame = table.unpivot(rates, index="topic", variable_name="rate", value_name="value").drop_nulls()
    frame = frame.with_columns(about=pl.col("rate").replace(RATES), rate=pl.col("rate").str.to_uppercase())
    means = frame.group_by("rate", maintain_order=True).agg(value=pl.col("value").mean(), topics=pl.len())
    axes = Axis("value:Q", "rate on held-out items", WHOLE), Axis("rate:N", sort=[name.upper() for name in rates])
    ticks = {"color": PLAIN, "thickness": 1.5, "opacity": 0.6}
    dots = {"color": CORRECTED, "filled": True, "size": 80, "opacity": 1}
    layers = [
        mark(frame, "tick", *axes, told=["topic:N", "rate:N", "about:N", "value:Q"], style=ticks),
        mark(means, "point", *axes, told=["rate:N", "value:Q", "topics:Q"], style=dots),
    ]
    said = ["a tick for each topic, a dot for the mean over topics"]
    return lay_panel(layers, (540, 28 * len(rates)), "Predicted disagreement", said)
