"""Plans of gold: which documents to judge, or how many topics and gold items are needed."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.plan import GoldPlan, SizePlan
from karatage.errors import OptionError
from karatage.text import counted, percent, shorten
from karatage.views.marks import CORRECTED, GAP, JUDGES, WHOLE, Axis, Key, Rows
from karatage.views.page import Figure, Page, Section, list_facts, list_options, shows
from karatage.views.table import Table, keep_finite, label_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt


NAME = 20  # characters of a system
DRAWN = """Documents are drawn with known probabilities, which are higher where a grade is more informative. Weights
from these probabilities let gold represent all documents, including those not drawn. The queue does not show the
judges' grades."""
CHANCES, SHARES = 200, 160  # pixels
COUNTS = {"tickMinStep": 1}
HAVE, LACK = "available", "still needed"
NEEDS = Key("mark", {HAVE: CORRECTED, LACK: JUDGES})


@shows(GoldPlan)
def view_plan(plan: GoldPlan) -> Page:
    """The expected precision, and what to judge."""
    sections = [Section("What to judge", "Nothing.")]
    if plan.labels:
        frame = frame_topics(plan)
        columns = label_columns(frame, low="lowest pi", value="median pi", high="highest pi")
        behind = Table(frame, "Labels by topic", name="topics", columns=columns)
        topics = Figure(
            partial(chart_plan, plan), "Gold labels by topic, and probabilities of being drawn", "topics", behind
        )
        tables = [tabulate_batches(plan), tabulate_forecasts(plan)]
        sections = [
            Section("What to expect", explain_forecasts(plan), tables),
            Section("What to judge", "", (), [topics], background=DRAWN),
        ]
    facts = list_facts(
        plan,
        measure=plan.measure,
        approach=plan.approach,
        confidence=percent(plan.confidence),
        earlier_labels=plan.earlier or None,
        drawn_from=f"{plan.frame_size:,} documents ({plan.frame})",
    )
    return Page(f"Gold to collect: {entitle_plan(plan)}", plan.sentence, sections, plan.notes, facts)


def entitle_plan(found: GoldPlan) -> str:
    """What the plan is for."""
    if len(found.systems) == 2:
        who = " and ".join(shorten(name, NAME) for name in found.systems)
    else:
        who = f"{len(found.systems):,} systems, {counted(found.pairs, 'pair')}"
        who += "" if found.undecided == found.pairs else f", {found.undecided:,} undecided"
    return f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, 30)}; {who}"


def tabulate_batches(found: GoldPlan) -> Table:
    """What to judge in turn."""
    columns = label_columns(found.batches, lowest_pi="lowest pi", median_pi="median pi")
    return Table(found.batches, "To judge", name="batches", columns=columns)


def tabulate_forecasts(found: GoldPlan) -> Table:
    """How precisely the difference should be known."""
    rows = [("these topics", *(found.these or (None, None)))]
    rows += [("topics like these", *found.new)] if found.new is not None else []
    schema = {"over": pl.String, "± s.e.": pl.Float64, f"± {percent(found.confidence)}": pl.Float64}
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "Expected precision", name="forecasts")


def explain_forecasts(found: GoldPlan) -> str:
    """What the forecasts are about, and what they assume."""
    of = "Of the difference" if len(found.systems) == 2 else "Of differences, the median over pairs"
    if found.census:
        return f"{of}; gold will then cover all documents that count."
    basis = (
        "from the gold so far"
        if found.informed
        else "as if the judges' grades had no information; smaller with good judges"
    )
    return f"{of}; {basis}."


@shows(SizePlan)
def view_sizes(plan: SizePlan) -> Page:
    """How many of each are needed; no chart if no number is enough."""
    caption = "Topics and gold items available and still needed, and their shares of the error"
    figures = [] if plan.refusal is not None else [Figure(partial(chart_sizes, plan), caption, "sizes")]
    section = Section("Numbers needed", "\n\n".join(explain_sizes(plan)), [tabulate_sizes(plan)], figures)
    facts = list_options(
        level=f"{plan.level:g}",
        power=None if plan.power is None else percent(plan.power),
        difference=f"{plan.difference:+.4g}",
        budget=None if plan.budget is None else f"{plan.budget:,g}",
        judges=plan.judges,
        topics="the same" if plan.paired else "separate",
    )
    return Page("How many topics and gold items", plan.sentence, [section], plan.notes, facts)


def tabulate_sizes(found: SizePlan) -> Table:
    """Topics and gold items needed and available; with prices, what they cost."""
    needed = pl.Series("needed", [need.size for need in found.needs], dtype=pl.Float64)
    columns = {"need": "", "judges": "whose", "needed": "needed", "have": "available", "share": "error share"}
    columns |= {"cost": "cost"} if is_priced(found) else {}
    return Table(
        keep_finite(found.to_frame().with_columns(needed)),
        "Numbers needed",
        digits={"needed": 0, "share": 3, "cost": 2},
        name="sizes",
        columns=columns,
    )


def is_priced(found: SizePlan) -> bool:
    """Whether there is a cost to show."""
    return found.cost is not None and found.refusal is None


def explain_sizes(found: SizePlan) -> Iterator[str]:
    """What the numbers assume, and what they show."""
    judges = "with one gold sample for both" if found.judges == "shared" else "with separate judges for each"
    topics = "the same topics" if found.paired else "separate topics"
    yield f"Systems have {topics}, {judges}."
    corrected = ", ".join("-" if math.isnan(value) else f"{value:.3f}" for value in found.estimates)
    size = found.topics_without_errors
    free = f"{size:,.0f}" if math.isfinite(size) else "no number of"
    yield f"Corrected means {corrected}; without errors of judges: {free} topics."
    if found.refusal is None:
        shown = "none" if math.isinf(found.detectable) else f"{found.detectable:.4g} or more"
        error = f"standard error {found.standard_error:.4g}, ± {found.half_width:.4g}"
        yield f"With these numbers: {error}; detectable differences: {shown}."
    if is_priced(found):
        yield f"Cost {found.cost:,.2f}."


def frame_topics(plan: GoldPlan) -> pl.DataFrame:
    """One row per topic, most labels first: topic, labels, lowest, median and highest probability of being drawn."""
    chance = pl.col("pi")
    return (
        plan.items.group_by("topic")
        .agg(labels=pl.len(), low=chance.min(), value=chance.median(), high=chance.max())
        .sort("labels", "topic", descending=[True, False])
    )


def chart_plan(plan: GoldPlan) -> alt.HConcatChart:
    """Labels by topic, and the probabilities with which documents were drawn."""
    told = ["topic:N", "labels:Q", "low:Q", "value:Q", "high:Q"]
    rows = Rows(frame_topics(plan), "topic", told, natural="labels", orders={"chance": "value"})
    chance = Axis("value:Q", "probability of being drawn (median, range)", WHOLE)
    panels = [
        rows.chart_bars(Axis("labels:Q", "gold labels", axis=COUNTS), rows.width - CHANCES - GAP, named=True),
        rows.chart_dots(chance, CHANCES, named=False),
    ]
    return rows.put_together(panels, f"{counted(plan.labels, 'gold label')} by topic")


def chart_sizes(plan: SizePlan) -> alt.HConcatChart:
    """Topics and gold items available and still needed; beside them, their share of the error."""
    if plan.refusal is not None:
        raise OptionError(f"the numbers cannot be shown: {plan.refusal}")
    frame = plan.to_frame().with_columns(
        name=pl.when(pl.col("judges") == "").then("need").otherwise(pl.format("{}, {}", "need", "judges"))
    )
    parts = {HAVE: pl.min_horizontal("have", "size"), LACK: pl.col("more")}
    both = pl.concat([frame.with_columns(mark=pl.lit(part), items=items) for part, items in parts.items()])
    told = ["name:N", "mark:N", "items:Q", "size:Q", "have:Q", "share:Q", "cost:Q"]
    rows = Rows(both, "name", told, {"color": NEEDS})
    shares = Rows(frame, "name", ["name:N", "share:Q"])
    panels = [
        rows.chart_bars(Axis("items:Q", "number", axis=COUNTS), rows.width - SHARES - GAP, named=True),
        shares.chart_bars(Axis("share:Q", "share of the error", WHOLE), SHARES),
    ]
    return rows.put_together(panels, "Numbers needed")
