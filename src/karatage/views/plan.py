"""A plan of gold labels: how precise the difference should become, and which documents to judge."""

from __future__ import annotations

from functools import partial

import polars as pl

from karatage.data.plan import GoldPlan
from karatage.text import counted, percent, shorten
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.plan_charts import draw_plan, frame_topics
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

NAME = 20  # characters of a system
DRAWN = """Documents are drawn with known probabilities, higher where a grade is more informative; weighted by them,
gold's grades represent all documents, those not drawn too. The judges' grades are not shown to gold."""


@shows(GoldPlan)
def view_plan(plan: GoldPlan) -> Page:
    """What the labels should give, and where they go."""
    sections = [Section("What to judge", "Nothing.")]
    if plan.labels:
        frame = frame_topics(plan)
        columns = label_columns(frame, low="lowest pi", value="median pi", high="highest pi")
        behind = Table(frame, "Labels by topic", name="topics", columns=columns)
        topics = Figure(partial(draw_plan, plan), "Gold labels by topic, and chances to be drawn", "topics", behind)
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
    return Page(f"Gold to ask for: {entitle_plan(plan)}", plan.sentence, sections, plan.notes, facts)


def entitle_plan(found: GoldPlan) -> str:
    """What is planned for."""
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
    """What the forecasts are of, and what they rest on."""
    of = "Of the difference" if len(found.systems) == 2 else "Of differences, the median over pairs"
    if found.census:
        return f"{of}; gold will have graded all documents that matter."
    basis = "going by the gold so far" if found.informed else "as if the judges told nothing: less for good ones"
    return f"{of}; {basis}."
