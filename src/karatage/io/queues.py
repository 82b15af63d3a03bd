"""Queues on their way to the gold judges, and back: batches, some of them not judged yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from karatage.data.queue import EXPERT
from karatage.errors import DataError, OptionError, RowError
from karatage.io.files import PathLike
from karatage.text import counted, shorten

Locate = Callable[[int], int | None]
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")


def keep_experts(
    frame: pl.DataFrame, found: Mapping[str, str], line: Locate
) -> tuple[pl.DataFrame, Locate, dict[str, str], tuple[str, ...]]:
    """The rows of a queue that went to experts; where no chance drew them, those that have a grade by now."""
    to = frame[found["to"]].cast(pl.String).str.strip_chars().str.to_lowercase()
    kept = (to == EXPERT).fill_null(value=False)
    if not kept.any():
        raise DataError(f"no row has gone to an expert (column '{shorten(found['to'])}'), so there is no gold in it")
    roles = dict(found)
    notes: tuple[str, ...] = ()
    drawn = "pi" in roles and not (_is_blank(frame[roles["pi"]]) | ~kept).all()
    if not drawn:
        roles.pop("pi", None)
        blank = _is_blank(frame[roles["grade"]]) & kept
        if blank.any():
            if (blank | ~kept).all():
                raise DataError(
                    f"no expert's row has a grade yet; fill in the column '{shorten(roles['grade'])}' and come back"
                )
            notes = (f"{counted(int(blank.sum()), 'document')} that went to experts have no grade yet",)
        kept &= ~blank
    rows = kept.arg_true().to_numpy()
    return frame.filter(kept), lambda row: line(int(rows[row])), roles, notes


def _is_blank(column: pl.Series) -> pl.Series:
    return column.cast(pl.String, strict=False).str.strip_chars().fill_null("") == ""


def leave_out_unjudged(frame: pl.DataFrame, found: Mapping[str, str], line: Locate) -> tuple[pl.DataFrame, Locate]:
    """The rows that have a grade. Batches are judged as a whole, in turn: the rest may wait, single items may not."""
    blank = _is_blank(frame[found["grade"]])
    if not blank.any():
        return frame, line
    if blank.all():
        raise DataError(f"no row has a grade yet; fill in the column '{shorten(found['grade'])}' and come back")
    batch = read_batches(frame, found)
    batch = pl.repeat(1, len(frame), eager=True) if batch is None else batch
    first = int(blank.arg_max() or 0)
    number = int(batch.filter(blank).to_numpy().min())
    same = batch == number
    if not blank.filter(same).all():
        first = int((blank & same).arg_max() or 0)
        lacking = f"{int((blank & same).sum()):,} of the {counted(int(same.sum()), 'row')}"
        of = f" of batch {number}" if "batch" in found else ""
        raise RowError(
            first,
            f"no grade yet, as for {lacking}{of}; judge whole batches: what is left out by choice biases results. "
            "Where a document cannot be graded, enter the grade that users would give what they get of it (a page that "
            "is gone is not relevant: 0), and never delete the row",
        )
    if not blank.filter(batch >= number).all():
        raise RowError(first, f"batch {number} has no grades yet, but a later one does; judge batches in turn")
    rows = (~blank).arg_true().to_numpy()
    return frame.filter(~blank), lambda row: line(int(rows[row]))


def read_batches(frame: pl.DataFrame, found: Mapping[str, str], role: str = "batch") -> pl.Series | None:
    """Numbers of batches from 1, or how many items each has; None where there is no such column."""
    if role not in found:
        return None
    column = frame[found[role]]
    number = column.cast(pl.Int32, strict=False)
    bad = number.is_null() | (number < 1)
    if bad.any():
        row = int(bad.arg_max() or 0)
        what = role.replace("_", " ")
        raise RowError(row, f"{what} '{shorten(str(column[row]))}' is no whole number from 1")
    return number


def read_purpose(frame: pl.DataFrame, found: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The measure that a queue was drawn for, and the fingerprint of its frame."""
    values: list[str | None] = []
    for role in ("measure", "frame"):
        names = frame[found[role]].cast(pl.String).drop_nulls().unique().to_list() if role in found else []
        if len(names) > 1:
            raise DataError(f"rows of several queues: the column '{shorten(found[role])}' has {len(names)} values")
        values.append(names[0] if names else None)
    return values[0], values[1]


def find_ending(path: PathLike) -> str:
    """How a queue is to be written."""
    name = Path(os.fspath(path).removesuffix(".gz").removesuffix(".zst"))
    if name.suffix.lower() not in ENDINGS:
        raise OptionError(f"{os.fspath(path)}: cannot tell the queue's format; use {', '.join(ENDINGS)}")
    return name.suffix.lower()
