"""A plan of gold labels as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import STANDARD_OUTPUT, WIDTH, make_table, render
from karatage.wording import counted, percent, shorten

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.data.plan import Forecast, GoldPlan


def render_documents(found: GoldPlan, output: str, then: str) -> str:
    """Batches, what they buy, the sentence, and the command that comes next."""
    if not found.labels:
        end = "" if output == STANDARD_OUTPUT else " No queue was written."
        return render(fill(found.sentence + end, WIDTH))
    who = " and ".join(shorten(name, 20) for name in found.systems) if len(found.systems) == 2 else _count(found)
    title = f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, 30)}; {who}"
    parts: list[Table | str] = [fill(title, WIDTH), "", _batches(found), _forecasts(found)]
    parts += [_say_basis(found), "", fill(found.sentence, WIDTH)]
    if output == STANDARD_OUTPUT:
        parts.append(fill("Write the queue with -o queue.csv, let gold fill in the grades, and then:", WIDTH))
    else:
        parts.append(fill(f"The queue is in {output}: let gold fill in the grades, and then:", WIDTH))
    return render(*parts) + f"$ {then}\n"


def _count(found: GoldPlan) -> str:
    said = f"{len(found.systems):,} systems, {counted(found.pairs, 'pair')}"
    return said if found.undecided == found.pairs else f"{said}, {found.undecided:,} undecided"


def _batches(found: GoldPlan) -> Table:
    rows = [
        [
            str(row["batch"]),
            f"{row['labels']:,}",
            f"{row['topics']:,}",
            f"{row['lowest_pi']:.4f}",
            f"{row['median_pi']:.4f}",
            f"{row['certain']:,}",
        ]
        for row in found.batches.iter_rows(named=True)
    ]
    headers = ["batch", "labels", "topics", "lowest pi", "median pi", "certain"]
    return make_table("To judge", headers, rows, text_columns=0)


def _forecasts(found: GoldPlan) -> Table:
    rows = [
        _forecast("these topics", found.these),
        *([_forecast("topics like these", found.new)] if found.new is not None else []),
    ]
    headers = ["over", "± s.e.", f"± {percent(found.confidence)}"]
    return make_table("What that buys", headers, rows, text_columns=1)


def _say_basis(found: GoldPlan) -> str:
    of = "Of the difference" if len(found.systems) == 2 else "Of differences, the median over pairs"
    if found.census:
        return f"{of}; gold will have seen all that matters."
    basis = "going by the gold so far" if found.informed else "as if the judges told nothing: less for good ones"
    return f"{of}; {basis}."


def _forecast(name: str, found: Forecast | None) -> list[str]:
    return [name, "-", "-"] if found is None else [name, f"{found.standard_error:.4f}", f"{found.half_width:.4f}"]
