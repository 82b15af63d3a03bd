"""A plan of gold labels, as tables and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import counted, percent, shorten
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.plan import GoldPlan

NAME = 20  # characters of a system


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
    names = {"lowest_pi": "lowest pi", "median_pi": "median pi"}
    return Table(found.batches.rename(names), "To judge", name="batches")


def tabulate_forecasts(found: GoldPlan) -> Table:
    """How well the difference should be known."""
    rows = [("these topics", *(found.these or (None, None)))]
    rows += [("topics like these", *found.new)] if found.new is not None else []
    schema = {"over": pl.String, "± s.e.": pl.Float64, f"± {percent(found.confidence)}": pl.Float64}
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "What that buys", name="forecasts")


def explain_forecasts(found: GoldPlan) -> str:
    """What the forecasts are of, and what they rest on."""
    of = "Of the difference" if len(found.systems) == 2 else "Of differences, the median over pairs"
    if found.census:
        return f"{of}; gold will have seen all that matters."
    basis = "going by the gold so far" if found.informed else "as if the judges told nothing: less for good ones"
    return f"{of}; {basis}."
