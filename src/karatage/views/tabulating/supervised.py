"""The s-AWARE experiment, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.supervised.findings import LOWER_IS_BETTER, PLACE
from karatage.experiments.supervised.telling import name_place, name_sizes
from karatage.text import shorten
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.experiments.supervised.findings import Place, SupervisedFindings


def tabulate_means(findings: SupervisedFindings, measure: str, outcome: str) -> Table:
    """[SAWARE20] table 1: a row for each place and size, a column for each approach; the best of a row is bold."""
    names = findings.plan.names
    frame = findings.table(measure=measure, outcome=outcome)
    best = mark_rows(frame.select(names), lowest=outcome in LOWER_IS_BETTER)
    shown = frame.select(*PLACE, pl.col("size").alias("k"), *names)
    return Table(shown, f"Mean {outcome} to gold by {measure}", mark=best, name=f"means-{outcome}")


def mark_rows(frame: pl.DataFrame, *, lowest: bool = False) -> dict[str, list[bool]]:
    """Where each row has its largest (or lowest) value.

    >>> mark_rows(pl.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.2]}))
    {'a': [False, True], 'b': [True, False]}
    """
    top = frame.select(top=pl.min_horizontal(pl.all()) if lowest else pl.max_horizontal(pl.all()))["top"]
    return {name: (frame[name] == top).fill_null(False).to_list() for name in frame.columns}


def tabulate_overall(findings: SupervisedFindings, place: Place, measure: str, outcome: str) -> Table:
    """Every approach over all sizes, and how far it is from the baseline."""
    frame = findings.overall.filter(measure=measure, outcome=outcome, **place._asdict())
    sizes = sorted(findings.frame.filter(**place._asdict())["size"].unique())
    caption = f"{name_place(findings, place)}: {outcome} by {measure}, {name_sizes(sizes)} together"
    return _list_gaps(findings, frame, ["approach"], caption)


def tabulate_by_size(findings: SupervisedFindings, place: Place, measure: str, outcome: str) -> Table:
    """The same at each size."""
    frame = findings.summary.filter(measure=measure, outcome=outcome, **place._asdict())
    caption = f"{name_place(findings, place)}: {outcome} by {measure}, by size"
    return _list_gaps(findings, frame.rename({"size": "k"}), ["k", "approach"], caption)


def _list_gaps(findings: SupervisedFindings, frame: pl.DataFrame, keys: list[str], caption: str) -> Table:
    less = f"less {shorten(findings.baseline, 20)}"
    shown = frame.select(
        *keys,
        "mean",
        pl.col("standard_error").alias("error"),
        pl.col("gap").alias(less),
        pl.col("gap_low").alias("95% from"),
        pl.col("gap_high").alias("to"),
    )
    return Table(shown, caption, signed=(less, "95% from", "to"))
