"""How far judges can be taken at their word, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import shorten
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.calibration import Calibration

DIGITS = 3
WORDS = {
    ("leniency", "topics drawn anew"): "mean grade less gold's",
    ("total_variation", "within topics"): "grades of gold's items against others, within topics",
    ("total_variation", "between topics"): "grades in gold's topics against others, between topics",
    ("total_variation", "none"): "grades of gold's items against others",
}


def tabulate_bins(found: Calibration) -> Table:
    """A row for each span of probabilities or vote shares: the judges' mean, and gold's share with its interval."""
    shown = found.bins.select(
        "from",
        "to",
        "items",
        pl.col("probability").alias("judges"),
        pl.col("share").alias("gold"),
        pl.col("low").alias("95% from"),
        pl.col("high").alias("up to"),
    )
    kind = "Vote shares for" if found.forecast == "vote shares" else "Probability of"
    return Table(shown, f"{kind} relevance by judges, and gold's share", DIGITS, name="calibration")


def tabulate_grades(found: Calibration) -> Table:
    """How often each grade is given."""
    return Table(found.grades, f"Shares of grades decided by {shorten(found.approach)}", DIGITS, name="grades")


def tabulate_shift(found: Calibration) -> Table:
    """What is off, by how much, and whether chance explains it."""
    errors = {
        f"Brier score of {found.forecast}": found.brier,
        f"calibration error of {found.forecast}": found.ece,
        "share called relevant, less gold's": found.bias,
    }
    rows = [(name, *bounds, None) for name, bounds in errors.items()]
    shift = found.shift.select("statistic", "way", "value", "low", "high", "p_value")
    rows += [(WORDS.get((statistic, way), statistic), *numbers) for statistic, way, *numbers in shift.rows()]
    schema = {"statistic": pl.String} | dict.fromkeys(("value", "95% from", "to", "p"), pl.Float64)
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "What is off", DIGITS, name="shift")
