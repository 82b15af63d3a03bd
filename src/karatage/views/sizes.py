"""How many topics and gold items are needed."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.sizing import SizePlan
from karatage.text import percent
from karatage.views.page import Figure, Page, Section, list_options
from karatage.views.plan_charts import draw_sizes
from karatage.views.showing import shows
from karatage.views.table import Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator


@shows(SizePlan)
def view_sizes(plan: SizePlan) -> Page:
    """How many of each are needed; nothing is drawn where no number is enough."""
    caption = "Topics and gold items at hand and still needed, and their shares of the error"
    figures = [] if plan.refusal is not None else [Figure(partial(draw_sizes, plan), caption, "sizes")]
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


def tabulate_sizes(found: SizePlan) -> Table:
    """Topics and gold items needed and at hand; with prices, what they cost."""
    needed = pl.Series("needed", [need.size for need in found.needs], dtype=pl.Float64)
    columns = {"need": "", "judges": "whose", "needed": "needed", "have": "at hand", "share": "error share"}
    columns |= {"cost": "cost"} if is_priced(found) else {}
    return Table(
        keep_finite(found.to_frame().with_columns(needed)),
        "How many",
        digits={"needed": 0, "share": 3, "cost": 2},
        name="sizes",
        columns=columns,
    )


def is_priced(found: SizePlan) -> bool:
    """Whether there is a cost to show."""
    return found.cost is not None and found.refusal is None


def explain_sizes(found: SizePlan) -> Iterator[str]:
    """What the numbers rest on, and what they show."""
    judges = "one gold sample for both" if found.judges == "shared" else "and each has separate judges"
    topics = "the same topics" if found.paired else "topics of their own"
    yield f"Systems have {topics}, {judges}."
    corrected = ", ".join("-" if math.isnan(value) else f"{value:.3f}" for value in found.estimates)
    size = found.topics_without_errors
    free = f"{size:,.0f}" if math.isfinite(size) else "no number of"
    yield f"Corrected means {corrected}; were judges never wrong: {free} topics."
    if found.refusal is None:
        shows_from = "no difference" if math.isinf(found.detectable) else f"differences from {found.detectable:.4g} up"
        yield f"With these numbers: standard error {found.standard_error:.4g}, ± {found.half_width:.4g}; {shows_from}."
    if is_priced(found):
        yield f"Cost {found.cost:,.2f}."
