"""Numbers of topics and gold items as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import percent
from karatage.views.layout.facts import list_options
from karatage.views.page import Figure, Page, Section
from karatage.views.plan_charts import draw_sizes
from karatage.views.tabulating.sizes import explain_sizes, tabulate_sizes

if TYPE_CHECKING:
    from karatage.data.sizing import SizePlan


def lay_out_sizes(plan: SizePlan) -> Page:
    """How many of each it takes; nothing is drawn where no number is enough."""
    caption = "Topics and gold items at hand and still needed, and their shares of the error"
    figures = [] if plan.refusal is not None else [Figure(draw_sizes(plan), caption, "sizes")]
    section = Section("How many", "\n\n".join(explain_sizes(plan)), [tabulate_sizes(plan)], figures)
    facts = list_options(
        level=f"{plan.level:g}",
        power=None if plan.power is None else percent(plan.power),
        difference=f"{plan.difference:+.4g}",
        budget=None if plan.budget is None else f"{plan.budget:,g}",
        judges=plan.judges,
        topics="the same" if plan.paired else "each its own",
    )
    return Page("How many topics and gold items", plan.sentence, [section], plan.notes, facts)
