"""Merged grades, and what the merge found about its judges, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments
    from karatage.data.posterior import Posterior

DIGITS = 3


def tabulate_grades(merged: Posterior, added: Judgments | None = None) -> Table:
    """Every item with its grade, the expected one and the probabilities; gold's own items are `added`."""
    frame = merged.to_frame(added)
    chances = [name for name in frame.columns if name.startswith("p")]
    names = [name for name in frame.columns if name not in {*chances, "expected"}]
    ordered = frame.select(*names, "expected", *chances)
    return Table(_put_text_first(ordered), f"Merged by {merged.model}", DIGITS, name="grades")


def tabulate_record(merged: Posterior) -> Table:
    """What the model found about each judge."""
    frame = _put_text_first(merged.judges)
    return Table(frame, f"Judges, as {merged.model} sees them", DIGITS, name="judges", about="judge")


def _put_text_first(frame: pl.DataFrame) -> pl.DataFrame:
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.select(*texts, *(name for name in frame.columns if name not in texts))
