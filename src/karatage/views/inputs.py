"""Judgments and runs: how many there are, and the first rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.views.page import Page, Section, shows
from karatage.views.table import Table

HEAD = 5  # rows


@shows(Judgments)
def view_judgments(judgments: Judgments) -> Page:
    """Grades with their counts, and the first rows."""
    counts = np.bincount(judgments.grade, minlength=judgments.top_grade + 1)
    grades = pl.DataFrame({"grade": range(len(counts)), "judgments": counts, "share": counts / max(len(judgments), 1)})
    tables = [_tabulate_head(judgments), Table(grades, "Grades", digits=1, name="grades", shares=("share",))]
    return Page("Judgments", f"{judgments!r}", [Section("Judgments", tables=tables)], judgments.notes)


@shows(Runs)
def view_runs(runs: Runs) -> Page:
    """Systems with their topics and documents, and the first rows."""
    size = runs.bounds[..., 1] - runs.bounds[..., 0]  # (topic, system)
    columns = {"topics": (size > 0).sum(axis=0), "documents": size.sum(axis=0)}
    systems = pl.DataFrame({"system": pl.Series(runs.systems, dtype=pl.String), **columns})
    tables = [_tabulate_head(runs), Table(systems, "Systems", name="systems", about="system")]
    return Page("Runs", f"{runs!r}", [Section("Runs", tables=tables)], runs.notes)


def _tabulate_head(data: Judgments | Runs) -> Table:
    return Table(data.to_frame().head(HEAD), f"The first {min(HEAD, len(data))} of {len(data):,} rows", name="head")
