"""A plan of gold labels as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, render, show_table
from karatage.cli.parsing import STANDARD_OUTPUT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.data.plan import GoldPlan


def render_documents(found: GoldPlan, output: str, then: str) -> str:
    """Batches, what they buy, the sentence, and the command that comes next."""
    from karatage.views.plan import entitle_plan, explain_forecasts, tabulate_batches, tabulate_forecasts

    if not found.labels:
        end = "" if output == STANDARD_OUTPUT else " No queue was written."
        return render(fill(found.sentence + end, WIDTH))
    parts: list[RenderableType] = [fill(entitle_plan(found), WIDTH), ""]
    parts += [show_table(tabulate_batches(found)), show_table(tabulate_forecasts(found))]
    parts += [explain_forecasts(found), "", fill(found.sentence, WIDTH)]
    if output == STANDARD_OUTPUT:
        parts.append(fill("Write the queue with -o queue.csv, let gold fill in the grades, and then:", WIDTH))
    else:
        parts.append(fill(f"The queue is in {output}: let gold fill in the grades, and then:", WIDTH))
    return render(*parts) + f"$ {then}\n"
