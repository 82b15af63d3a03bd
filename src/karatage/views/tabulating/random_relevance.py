"""The random relevance experiment, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import shorten
from karatage.views.tables import Table, mark_best

if TYPE_CHECKING:
    from karatage.experiments.random_relevance.findings import RandomRelevanceFindings

OUTCOMES = ("tau", "tau_ap")
CONTROLS = "Controls, tau_ap: a judge who calls nothing relevant, to DGS and RGS; RGS to DGS"
NAME = 20  # characters


def _name_place(systems: str, panel: str) -> str:
    return f"{shorten(systems, NAME)}, {shorten(panel, NAME)}"


def tabulate_alone(findings: RandomRelevanceFindings, systems: str, panel: str, *, gains: bool = False) -> Table:
    """[RANDREL19] table 1; with `gains`, also over the certain measure against DGS."""
    names = [name for outcome in OUTCOMES for name in (outcome, *([f"{outcome} gain"] if gains else []))]
    columns = [column for name in names for column in (name, f"{name} ±")]
    shown = findings.table1.filter(systems=systems, panel=panel).select("gold", "measure", *columns)
    caption = f"{_name_place(systems, panel)}: {len(findings.judges)} judges alone, mean and 95 % interval"
    return Table(
        shown,
        caption,
        signed=[name for name in names if name.endswith("gain")],
        headers={column: "±" for column in columns if column.endswith("±")},
    )


def tabulate_merged(
    findings: RandomRelevanceFindings, systems: str, panel: str, *, measure: str | None = None
) -> Table:
    """[RANDREL19] table 2, by one measure or all; the best against each gold is bold."""
    frame = findings.table2().filter(systems=systems, panel=panel).drop("systems", "panel")
    family = pl.col("measure").str.strip_prefix("eR")
    if measure is not None:
        frame = frame.filter(family == measure)
    sizes = [name for name in frame.columns if name.startswith("M = ")]
    best = mark_best(frame.with_columns(family=family), sizes, within=["family", "gold"])
    by = "" if measure is None else f" by {measure}"
    caption = f"{_name_place(systems, panel)}: judges merged, mean tau_ap{by}"
    return Table(frame if measure is None else frame.drop("measure"), caption, mark=best)


def tabulate_controls(findings: RandomRelevanceFindings) -> Table:
    """What random grades do by themselves."""
    return Table(findings.controls, CONTROLS, name="controls")


def tabulate_check(findings: RandomRelevanceFindings, *, worst: bool = False) -> Table:
    """Formulas less simulation; with `worst`, only where they differ most by each measure."""
    check = findings.check
    if worst:
        far = pl.col("difference").abs()
        check = check.filter(far.rank("ordinal", descending=True).over("measure") == 1)
    names = {measure: findings.name_measure(measure, expected=True) for measure in findings.labels}
    several = [name for name in ("systems", "panel") if findings.check[name].n_unique() > 1]
    shown = check.select(
        pl.col("measure").replace(names),
        pl.concat_str(*several, "of", separator=", ").alias("grades of"),
        "difference",
        pl.col("standard_error").alias("error"),
        "tau_ap",
    )
    caption = f"Formulas less simulation ({findings.plan.draws:,} draws), where a system's score differs most"
    return Table(shown, caption, digits={"difference": 5, "error": 5}, signed=("difference",), name="check")
