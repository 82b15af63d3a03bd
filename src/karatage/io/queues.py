"""Queues on their way to the gold judges, and back: batches, some of them not judged yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from karatage.data.plan import GoldPlan
from karatage.errors import DataError, OptionError, RowError
from karatage.io.sources import PathLike
from karatage.io.writing import encode_table, write_bytes
from karatage.wording import counted, shorten

Locate = Callable[[int], int | None]
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")


def leave_out_unjudged(frame: pl.DataFrame, found: Mapping[str, str], line: Locate) -> tuple[pl.DataFrame, Locate]:
    """The rows that have a grade. Batches are judged as a whole, in turn: the rest may wait, single items may not."""
    blank = frame[found["grade"]].cast(pl.String, strict=False).str.strip_chars().fill_null("") == ""
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
            f"no grade yet, as for {lacking}{of}; judge whole batches: what is left out by choice biases results",
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


def write_queue(plan: GoldPlan, path: PathLike) -> None:
    """Write what goes to the gold judges; the name's ending says how: .csv, .tsv, .jsonl or .parquet, and .gz or .zst.

    Rows are by batch, then topic, then document: kind to judges, and no hint of ranks. `read_gold` reads it back.
    """
    ending = find_ending(path)
    if not plan.labels:
        raise DataError(f"{os.fspath(path)}: not written, as there is nothing to judge")
    write_bytes(path, encode_table(plan.queue, ending))


def find_ending(path: PathLike) -> str:
    """How a queue is to be written."""
    name = Path(os.fspath(path).removesuffix(".gz").removesuffix(".zst"))
    if name.suffix.lower() not in ENDINGS:
        raise OptionError(f"{os.fspath(path)}: cannot tell the queue's format; use {', '.join(ENDINGS)}")
    return name.suffix.lower()
