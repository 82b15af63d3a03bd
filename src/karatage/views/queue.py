"""What to judge next, how settled a leaderboard is, and where judges disagree."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.disagreement import DisagreementModel, HeldOut
from karatage.data.queue import CROWD, EXPERT, JudgingQueue, Settling
from karatage.text import percent
from karatage.views.marks import CORRECTED, GAP, JUDGES, PLAIN, WHOLE, Axis, Key, Rows, lay_panel, mark, tell_two
from karatage.views.page import Figure, Page, Section, list_facts, list_options, shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt


NOISE = 9  # digits of a spread; further ones are rounding errors where all is judged
ABOUT = "This holds for these topics and more judging of them; on other topics the order may differ."
DOUBT_TEXT = "Doubt: the highest probability that the order of the system and another one is wrong."
DIGITS = 3
HEADERS = {"mean": "mean over topics", "over_topics": "± over topics", "over_splits": "± over splits"}
DOUBT = 130
COUNTS = {"tickMinStep": 1}
WHO = Key("mark", {EXPERT: CORRECTED, CROWD: JUDGES})
SETTLED, OPEN = "settled", "order may be wrong"
STANDINGS = tell_two(SETTLED, OPEN)
RATES = {
    "tpr": "share of items with disagreement that are predicted so",
    "ppv": "share of predicted items on which judges disagree",
    "tnr": "share of items with agreement that are predicted so",
    "npv": "share of items predicted to agree on which judges agree",
    "auc": "area under the curve",
}


@shows(JudgingQueue)
def view_queue(queue: JudgingQueue) -> Page:
    """How settled the leaderboard is, and what experts and crowd are to judge."""
    board = _view_leaderboard(queue.settling)
    judged = f"{queue.by_experts:,} judged by experts, {queue.by_crowd:,} by the crowd alone"
    pool = f"Pool of {queue.pool:,} documents to depth {queue.depth}, {judged}."
    sections = [replace(board, text=f"{pool}\n\n{board.text}")]
    if not queue.stop:
        frame = frame_queue(queue).drop("all")
        columns = label_columns(frame, mark="to")
        behind = Table(frame, "By topic", digits=2, name="queue", columns=columns)
        figure = Figure(partial(chart_queue, queue), "Documents to judge by topic, and by whom", "queue", behind)
        sections.append(Section("What to judge next", "", [tabulate_batch(queue)], [figure]))
    prices = queue.prices
    facts = list_facts(
        queue,
        measure=queue.settling.measure,
        order=queue.order,
        approach=queue.approach,
        budget=f"{queue.budget:f}",
        prices=f"{prices.expert:f} an expert's, {prices.label:f} for {prices.judgments} of the crowd",
    )
    return Page("What to judge next", queue.sentence, sections, queue.notes, facts)


@shows(Settling)
def view_settling(settling: Settling) -> Page:
    """How settled the leaderboard is."""
    facts = list_options(
        measure=settling.measure,
        indifference=f"{settling.indifference:g}",
        risk=percent(settling.risk),
        draws=f"{settling.draws:,}",
    )
    return Page("Is the leaderboard settled?", settling.sentence, [_view_leaderboard(settling)], (), facts)


def _view_leaderboard(settling: Settling) -> Section:
    caption = "Expected scores, and the probability that each system's place is wrong"
    figure = Figure(partial(chart_settling, settling), caption, "settling")
    text = f"{DOUBT_TEXT}\n\nRule: {settling.rule}."
    return Section("Leaderboard so far", text, [tabulate_settling(settling)], [figure], background=ABOUT)


def tabulate_settling(found: Settling) -> Table:
    """The leaderboard so far, with the probability that each system's place is wrong."""
    frame = found.to_frame().with_columns(rounded=pl.col("spread").round(NOISE))
    columns = {"system": "system", "score": "expected", "rounded": "± s.d.", "doubt": "doubt"}
    caption = f"Leaderboard by {found.measure} so far"
    return Table(frame, caption, digits={"doubt": 3}, name="settling", about="system", columns=columns)


def tabulate_batch(found: JudgingQueue) -> Table:
    """How many documents experts and crowd get, and the cost."""
    frame = found.items.group_by("to", maintain_order=True).agg(
        pl.len().alias("documents"),
        pl.col("judgments").first().alias("judgments each"),
        pl.col("cost").sum(),
    )
    return Table(frame, f"Batch {found.batch}, in the order {found.order}", name="batch")


@shows(DisagreementModel)
def view_disagreement(model: DisagreementModel) -> Page:
    """Rates, then topics."""
    figures = []
    if model.rates["topics"].sum():
        figures.append(Figure(partial(chart_disagreement, model), "Rates on held-out items, by topic", "rates"))
    frame = model.rates.with_columns(pl.col("rate").str.to_uppercase())
    rates = Table(frame, "On held-out items", DIGITS, name="rates", columns=label_columns(frame, **HEADERS))
    if model.topics:
        caption = "Rates on held-out items of each topic; lines: ± a standard deviation over splits"
        figures.append(Figure(partial(chart_topic_rates, model), caption, "topic-rates"))
    sections = [Section("Held-out items", "", [rates], figures), Section("Topics", "", [_tabulate_topics(model)])]
    facts = list_facts(model, features=", ".join(model.features), threshold=f"{model.threshold:g}", splits=model.trials)
    return Page("Where judges disagree", model.sentence, sections, model.notes, facts)


def _tabulate_topics(model: DisagreementModel) -> Table:
    """What was learned on each topic, and which topics were left out."""
    frame = model.to_frame()
    rates = [name for name in frame.columns if name in set(model.rates["rate"])]
    columns = {name: name for name in ("topic", "items", "disagreed", "intercept")}
    columns |= {name: name.replace("_", " ") for name in model.features} | {name: name.upper() for name in rates}
    columns["dropped"] = "dropped"
    return Table(frame, "Topics", DIGITS, name="topics", noun="topic", columns=columns)


def chart_settling(settling: Settling) -> alt.HConcatChart:
    """Systems best first with the range of scores that judging may give; beside them, how uncertain their order is."""
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
        rows.chart_dots(Axis("value:Q", f"expected {settling.measure}"), rows.width - DOUBT - GAP),
        rows.chart_bars(Axis("doubt:Q", "doubt", WHOLE), DOUBT, line=settling.risk),
    ]
    said = [
        "lines: ± a standard deviation of the score once all documents of these topics are judged",
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


def chart_queue(queue: JudgingQueue) -> alt.HConcatChart:
    """Documents to judge next by topic, those for experts and those for the crowd."""
    frame = frame_queue(queue)
    told = ["topic:N", "mark:N", "documents:Q", "judgments:Q", "cost:Q"]
    rows = Rows(frame, "topic", told, {"color": WHO.only(frame["mark"].to_list())}, natural="documents")
    panel = rows.chart_bars(Axis("documents:Q", "documents to judge", axis=COUNTS), rows.width, named=True)
    return rows.put_together([panel], f"Batch {queue.batch}, in the order {queue.order}")


def chart_disagreement(model: DisagreementModel) -> alt.LayerChart:
    """Rates of predictions on held-out items: a tick for each topic, a dot for their mean."""
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


def chart_topic_rates(model: DisagreementModel) -> alt.HConcatChart:
    """[COLLAB14] figure 3.2: rates on held-out items of each topic that was kept, means and deviations over splits."""
    table = model.to_frame().filter(pl.col("dropped").is_null())
    rates = [name for name in HeldOut._fields if table[name].is_not_null().any()]
    ends = [
        (pl.col(name) + sign * pl.col(f"{name}_spread").fill_null(0)).clip(0, 1).alias(f"{name}_{end}")
        for name in rates
        for sign, end in ((-1, "low"), (1, "high"))
    ]
    told = [f"{name}:{kind}" for name, kind in (("topic", "N"), ("items", "Q"), ("disagreed", "Q"))]
    rows = Rows(table.with_columns(ends), "topic", [*told, *(f"{name}:Q" for name in rates)])
    width = (rows.width - GAP * (len(rates) - 1)) // max(len(rates), 1)
    panels = [
        rows.chart_dots(
            Axis(f"{name}:Q", name.upper(), WHOLE, {"tickCount": 3}),
            width,
            span=(f"{name}_low", f"{name}_high"),
            named=k == 0,
        )
        for k, name in enumerate(rates)
    ]
    kept = f"{len(model.topics):,} of {len(model.topics) + len(model.dropped):,} topics"
    said = [f"{kept}; mean ± standard deviation over {model.trials:,} splits"]
    return rows.put_together(panels, "Disagreement predicted within topics", said)
