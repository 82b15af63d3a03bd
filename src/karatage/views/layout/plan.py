"""A plan of gold labels as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent
from karatage.views.layout.facts import list_facts
from karatage.views.page import Figure, Page, Section
from karatage.views.plan_charts import draw_plan, frame_topics
from karatage.views.tables import Table
from karatage.views.tabulating.plan import entitle_plan, explain_forecasts, tabulate_batches, tabulate_forecasts

if TYPE_CHECKING:
    from karatage.data.plan import GoldPlan

DRAWN = """Documents are drawn with known chances, higher where a grade would settle more; by these chances gold's
grades speak for all documents, those not drawn too. What the judges said of them is kept from gold."""


def lay_out_plan(plan: GoldPlan) -> Page:
    """What the labels should buy, and where they go."""
    sections = [Section("What to judge", "Nothing.")]
    if plan.labels:
        topics = Figure(
            draw_plan(plan), "Gold labels by topic, and chances to be drawn", "topics", _tabulate_topics(plan)
        )
        buys = Section("What it buys", explain_forecasts(plan), [tabulate_forecasts(plan), tabulate_batches(plan)])
        sections = [buys, Section("What to judge", DRAWN, (), [topics])]
    facts = list_facts(
        plan,
        measure=plan.measure,
        approach=plan.approach,
        confidence=percent(plan.confidence),
        earlier_labels=plan.earlier or None,
        drawn_from=f"{plan.frame_size:,} documents ({plan.frame})",
    )
    return Page(f"Gold to ask for: {entitle_plan(plan)}", plan.sentence, sections, plan.notes, facts)


def _tabulate_topics(plan: GoldPlan) -> Table:
    names = {"low": "lowest pi", "value": "median pi", "high": "highest pi"}
    return Table(frame_topics(plan).rename(names), "Labels by topic", name="topics")
