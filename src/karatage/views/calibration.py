"""How far judges' probabilities and grades can be relied on, against gold."""

from __future__ import annotations

from functools import partial

import polars as pl

from karatage.data.calibration import Calibration
from karatage.text import shorten
from karatage.views.calibration_charts import draw_calibration, draw_shift
from karatage.views.page import Figure, Page, Section, list_facts
from karatage.views.showing import shows
from karatage.views.table import Table

DIGITS = 3
NAME = 30
WORDS = {
    ("leniency", "topics resampled"): "mean grade less gold's",
    ("total_variation", "within topics"): "grades of gold's items against others, within topics",
    ("total_variation", "between topics"): "grades in gold's topics against others, between topics",
    ("total_variation", "none"): "grades of gold's items against others",
}


@shows(Calibration)
def view_calibration(found: Calibration) -> Page:
    """Probabilities against what gold found, grades against gold's, and gold's items against the others."""
    facts = list_facts(found, approach=found.approach, relevant=f"grade {found.relevant} and above")
    title = f"Calibration of {shorten(found.approach, NAME)}"
    return Page(title, found.sentence, [view_reliability(found)], found.notes, facts)


def view_reliability(found: Calibration) -> Section:
    """The part that a survey has, too."""
    bins = f"How often items are relevant by gold, by the judges' {found.forecast}; on the line both are the same"
    shift = "Which grades merged judges give to gold's items, gold to the same, and merged judges to the others"
    charts = [
        Figure(partial(draw_calibration, found), bins, "calibration", tabulate_bins(found)),
        Figure(partial(draw_shift, found), shift, "shift", tabulate_grades(found)),
    ]
    return Section("Calibration and shift", "", [tabulate_shift(found)], charts)


def tabulate_bins(found: Calibration) -> Table:
    """A row for each span of probabilities or vote shares: the judges' mean, and gold's share with its interval."""
    kind = "Vote shares for" if found.forecast == "vote shares" else "Probability of"
    columns = {"from": "from", "to": "to", "items": "items", "probability": "judges", "share": "gold"}
    columns |= {"low": "95% from", "high": "up to"}
    caption = f"{kind} relevance by judges, and gold's share"
    return Table(found.to_frame(), caption, DIGITS, name="calibration", columns=columns)


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
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "Errors and differences", DIGITS, name="shift")
