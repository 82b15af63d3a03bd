"""A diagnosis of files, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.diagnosis import Diagnosis

TITLES = {
    "files": "Files",
    "runs": "Runs",
    "pool": "Runs and judgments together",
    "judges": "Judges",
    "gold": "Gold",
    "decision": "The decision",
}


def tabulate_checks(found: Diagnosis) -> Table:
    """What was looked at, what was found, and what to do about it."""
    shown = found.to_frame().rename({"about": "of", "advice": "what to do"})
    return Table(shown.with_columns(pl.col("of").replace(TITLES)), "Checks", name="checks")


def tabulate_judged(found: Diagnosis) -> Table:
    """How much of what each system shows was judged, the least first."""
    names = {"short": "short rankings", "judged": "judged"}
    shown = found.systems.sort("judged", nulls_last=False, maintain_order=True).rename(names)
    caption = f"How much of what counts for {found.measure} was judged"
    return Table(shown, caption, digits=1, name="judged", about="system", shares=("judged",))


def tabulate_measures(found: Diagnosis) -> Table:
    """Which measures can be corrected, how, and which difference would then show."""
    shown = found.measures.select(
        "measure",
        pl.col("label").fill_null("not at all").alias("by"),
        pl.col("detectable").alias("difference that shows"),
    )
    caption = "How judges' errors can be undone, and the difference that then shows with 80% power"
    return Table(shown, caption, digits=3, name="correctable")
