"""What to judge next, and how sure a leaderboard is, as pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent
from karatage.views.layout.facts import list_facts, list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.plan_charts import draw_queue, draw_settling, frame_queue
from karatage.views.tables import Table
from karatage.views.tabulating.queue import entitle_queue, explain_settling, tabulate_batch, tabulate_settling

if TYPE_CHECKING:
    from karatage.data.queue import JudgingQueue
    from karatage.data.settling import Settling

ABOUT = "This is about these topics, and about what more judging could show; other topics may order systems otherwise."


def lay_out_queue(queue: JudgingQueue) -> Page:
    """How sure the leaderboard is, and who is to judge what."""
    sections = [_lay_out_leaderboard(queue.settling)]
    if not queue.stop:
        behind = Table(frame_queue(queue).rename({"mark": "to"}).drop("all"), "By topic", digits=2, name="queue")
        figure = Figure(draw_queue(queue), "Documents to judge by topic, and by whom", "queue", behind)
        sections.append(Section("What to judge next", f"{entitle_queue(queue)}.", [tabulate_batch(queue)], [figure]))
    facts = list_facts(
        queue,
        measure=queue.settling.measure,
        order=queue.order,
        approach=queue.approach,
        budget=f"{queue.budget:f}",
        prices=f"{queue.prices.expert:f} an expert's, {queue.prices.label:f} for {queue.prices.judgments} of the crowd",
    )
    return Page("What to judge next", queue.sentence, sections, queue.notes, facts)


def lay_out_settling(settling: Settling) -> Page:
    """How sure the leaderboard is."""
    facts = list_options(
        measure=settling.measure,
        margin=f"{settling.margin:g}",
        risk=percent(settling.risk),
        draws=f"{settling.draws:,}",
    )
    return Page("Is it settled?", settling.sentence, [_lay_out_leaderboard(settling)], (), facts)


def _lay_out_leaderboard(settling: Settling) -> Section:
    text = "\n\n".join([*explain_settling(settling), ABOUT])
    figure = Figure(draw_settling(settling), "Expected scores, and how doubtful each system's place is", "settling")
    return Section("Leaderboard so far", text, [tabulate_settling(settling)], [figure])
