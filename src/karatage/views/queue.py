"""What to judge next, and how settled a leaderboard is."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.queue import JudgingQueue, Settling
from karatage.text import percent
from karatage.views.page import Figure, Page, Section, list_facts, list_options
from karatage.views.plan_charts import draw_queue, draw_settling, frame_queue
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

NOISE = 9  # digits from which on a spread is rounding of the machine, where all is judged
ABOUT = "This is about these topics, and about what more judging could show; on other topics the order may differ."


@shows(JudgingQueue)
def view_queue(queue: JudgingQueue) -> Page:
    """How settled the leaderboard is, and who is to judge what."""
    board = _view_leaderboard(queue.settling)
    sections = [replace(board, text=f"{entitle_queue(queue)}.\n\n{board.text}")]
    if not queue.stop:
        frame = frame_queue(queue).drop("all")
        columns = label_columns(frame, mark="to")
        behind = Table(frame, "By topic", digits=2, name="queue", columns=columns)
        figure = Figure(partial(draw_queue, queue), "Documents to judge by topic, and by whom", "queue", behind)
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
    return Page("Is it settled?", settling.sentence, [_view_leaderboard(settling)], (), facts)


def _view_leaderboard(settling: Settling) -> Section:
    caption = "Expected scores, and how doubtful each system's place is"
    figure = Figure(partial(draw_settling, settling), caption, "settling")
    text = "\n\n".join(explain_settling(settling))
    return Section("Leaderboard so far", text, [tabulate_settling(settling)], [figure], background=ABOUT)


def entitle_queue(found: JudgingQueue) -> str:
    """How many documents there are to judge, and how many are judged."""
    judged = f"{found.by_experts:,} judged by experts, {found.by_crowd:,} by the crowd alone"
    return f"Pool of {found.pool:,} documents to depth {found.depth}, {judged}"


def tabulate_settling(found: Settling) -> Table:
    """The leaderboard so far, with the doubt about each system's place."""
    frame = found.to_frame().with_columns(rounded=pl.col("spread").round(NOISE))
    columns = {"system": "system", "score": "expected", "rounded": "± s.d.", "doubt": "doubt"}
    caption = f"Leaderboard by {found.measure} so far"
    return Table(frame, caption, digits={"doubt": 3}, name="settling", about="system", columns=columns)


def explain_settling(found: Settling) -> Iterator[str]:
    """What doubt is, and when to stop."""
    yield "Doubt: the highest probability that the order of the system and another one is wrong."
    yield f"Rule: {found.rule}."


def tabulate_batch(found: JudgingQueue) -> Table:
    """How many documents go to whom, and what that costs."""
    frame = found.items.group_by("to", maintain_order=True).agg(
        pl.len().alias("documents"),
        pl.col("judgments").first().alias("judgments each"),
        pl.col("cost").sum(),
    )
    return Table(frame, f"Batch {found.batch}, in the order {found.order}", name="batch")
