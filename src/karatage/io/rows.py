"""Judgments on their way in: columns of text, and where each row came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from karatage.errors import DataError, InputFileError, RowError
from karatage.io.frames import name_column, plain_column
from karatage.io.names import find_columns, require
from karatage.io.queues import Locate, keep_experts, leave_out_unjudged, read_batches, read_purpose
from karatage.text import counted, hint_decimal, shorten


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """One file's judgments. Without a topic, documents are items that stand for themselves."""

    source: str  # as shown in messages
    line: Locate  # from a row to the line it stands on
    judge: pl.Series | None = None
    topic: pl.Series | None = None
    document: pl.Series
    label: pl.Series
    sequence: pl.Series | None = None  # when a grade was given, in the file's own terms
    pi: pl.Series | None = None
    batch: pl.Series | None = None  # of a sample that was drawn in several
    batch_size: pl.Series | None = None  # items that were drawn for the batch
    drawn_for: tuple[str | None, str | None] = (None, None)  # measure and frame of a queue
    notes: tuple[str, ...] = ()

    def error(self, row: int, message: str) -> InputFileError:
        """What is wrong with a row, and where it stands."""
        return blame(self.source, self.line, RowError(row, message))


def blame(source: str, line: Locate, problem: RowError) -> InputFileError:
    """The same problem, told by file and line, or by row where there are no lines."""
    number = line(problem.row)
    if number is None:
        return InputFileError(source, None, str(problem))
    return InputFileError(source, number, problem.message)


def from_frame(
    frame: pl.DataFrame, source: str, line: Locate, *, columns: Mapping[str, str] | None, gold: bool
) -> Rows:
    """Pick a table's columns by their names."""
    found = find_columns(frame.columns, columns, gold=gold)
    option = "--gold-columns" if gold else "--columns"
    require(found, "grade", frame, option=option)
    if "document" not in found and "item" not in found:
        require(found, "document", frame, option=option)
    whole = "item" in found and ("topic" not in found or "document" not in found)
    if not whole and "topic" not in found:
        require(found, "topic", frame, option=option)
    if not gold:
        require(found, "judge", frame, option=option)
    elif "judge" in found:
        _require_one_voice(frame, found, ["item"] if whole else ["topic", "document"])
    try:
        notes: tuple[str, ...] = ()
        if gold and "to" in found:
            frame, line, found, notes = keep_experts(frame, found, line)
        if gold and "pi" in found:
            frame, line = leave_out_unjudged(frame, found, line)
        return Rows(
            source=source,
            line=line,
            judge=None if gold else name_column(frame[found["judge"]], "judge"),
            topic=name_column(frame[found["topic"]], "topic") if "topic" in found else None,
            document=name_column(frame[found["item" if whole else "document"]], "item" if whole else "document"),
            label=plain_column(frame[found["grade"]], "grade"),
            sequence=_pick_sequence(frame, found),
            pi=_as_probability(plain_column(frame[found["pi"]], "pi")) if "pi" in found else None,
            batch=read_batches(frame, found) if gold and "pi" in found else None,
            batch_size=read_batches(frame, found, "batch_size") if gold and "pi" in found else None,
            drawn_for=read_purpose(frame, found) if gold and "pi" in found else (None, None),
            notes=notes,
        )
    except RowError as problem:
        raise blame(source, line, problem) from None


def _require_one_voice(frame: pl.DataFrame, found: Mapping[str, str], item: list[str]) -> None:
    """Gold may stand beside several judges, but they must not contradict each other: who would be trusted?"""
    voices = frame.group_by([found[role] for role in item]).agg(pl.col(found["judge"], found["grade"]).n_unique())
    several = int(((voices[found["judge"]] > 1) & (voices[found["grade"]] > 1)).sum())
    if several:
        judges = counted(frame[found["judge"]].n_unique(), "judge")
        advice = "keep one judge's rows, or merge them first with karatage aggregate"
        raise DataError(f"{several:,} items have different gold grades by several of {judges}; {advice}")


def unpivot(frame: pl.DataFrame, source: str, line: Locate) -> Rows:
    """Quepid's book: query, docid, then one column per judge; an empty cell is no judgment."""
    query, document, *judges = frame.columns
    long = (
        frame.with_row_index("row ")
        .unpivot(index=["row ", query, document], on=judges, variable_name="judge ", value_name="grade ")
        .filter(pl.col("grade ").is_not_null() & (pl.col("grade ").str.strip_chars() != ""))
    )
    rows = long["row "].to_numpy()
    if not len(long):
        raise DataError(f"{source}: no judge has given a grade")

    def locate(row: int) -> int | None:
        return line(int(rows[row]))

    try:
        return Rows(
            source=source,
            line=locate,
            judge=name_column(long["judge "], "judge"),
            topic=name_column(long[query], "topic"),
            document=name_column(long[document], "document"),
            label=long["grade "],
        )
    except RowError as problem:
        raise blame(source, locate, problem) from None


def _pick_sequence(frame: pl.DataFrame, found: Mapping[str, str]) -> pl.Series | None:
    role = next((role for role in ("time", "repeat") if role in found), None)
    return None if role is None else plain_column(frame[found[role]], role)


def _as_probability(column: pl.Series) -> pl.Series:
    number = column.cast(pl.Float64, strict=False)
    good = ((number > 0) & (number <= 1)).fill_null(value=False)
    if not good.all():
        row = int((~good).arg_max() or 0)
        if column[row] is None:
            raise RowError(row, "pi is missing; every drawn item has one, in (0, 1]")
        text = str(column[row])
        raise RowError(row, f"pi '{shorten(text)}' is no probability in (0, 1]{hint_decimal(text)}")
    return number
