"""Judgments on their way in: columns of text, and where each row came from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import polars as pl

from karatage.errors import DataError, InputFileError
from karatage.io.frames import text_column
from karatage.io.names import find_columns, require

Locate = Callable[[int], int | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """One file's judgments. Without a topic, documents are items that stand for themselves."""

    source: str  # as shown in messages
    line: Locate  # from a row to the line it stands on
    judge: pl.Series | None = None
    topic: pl.Series | None = None
    document: pl.Series
    label: pl.Series
    sequence: pl.Series | None = None
    pi: pl.Series | None = None

    def error(self, row: int, message: str) -> InputFileError:
        """What is wrong with a row, and where it stands."""
        return InputFileError(self.source, self.line(row), message)


def from_frame(
    frame: pl.DataFrame, source: str, line: Locate, *, columns: Mapping[str, str] | None, gold: bool
) -> Rows:
    """Pick a table's columns by their names."""
    found = find_columns(frame.columns, columns, gold=gold)
    label = frame[require(found, "grade", frame.columns)]
    if "document" not in found and "item" not in found:
        require(found, "document", frame.columns)
    whole = "item" in found and ("topic" not in found or "document" not in found)
    if not whole and "topic" not in found:
        require(found, "topic", frame.columns)
    if not gold:
        require(found, "judge", frame.columns)
    used = {
        "judge": None if gold else found["judge"],
        "topic": found.get("topic"),
        "document": found["item"] if whole else found["document"],
    }
    text = {}
    for role, name in used.items():
        if name is None:
            text[role] = None
            continue
        text[role] = column = text_column(frame[name])
        missing = column.is_null() | (column.str.strip_chars() == "")
        if missing.any():
            raise InputFileError(source, line(int(missing.arg_max() or 0)), f"the {role} is missing")
    document = text["document"]
    assert document is not None
    sequence = found.get("time") or found.get("repeat")
    return Rows(
        source=source,
        line=line,
        judge=text["judge"],
        topic=text["topic"],
        document=document,
        label=label,
        sequence=None if sequence is None else _as_order(frame[sequence]),
        pi=None if "pi" not in found else _as_probability(frame[found["pi"]], source, line),
    )


def unpivot(frame: pl.DataFrame, source: str, line: Locate) -> Rows:
    """Quepid's book: query, docid, then one column per judge; an empty cell is no judgment."""
    query, document, *judges = frame.columns
    long = (
        frame.with_row_index("row")
        .unpivot(index=["row", query, document], on=judges, variable_name="judge ", value_name="grade ")
        .filter(pl.col("grade ").is_not_null() & (pl.col("grade ").str.strip_chars() != ""))
    )
    rows = long["row"].to_numpy()
    if not len(long):
        raise DataError(f"{source}: no judge has given a grade")
    return Rows(
        source=source,
        line=lambda row: line(int(rows[row])),
        judge=long["judge "].str.strip_chars(),
        topic=long[query].str.strip_chars(),
        document=long[document],
        label=long["grade "],
    )


def _as_order(column: pl.Series) -> pl.Series:
    """When a grade was given, as a number: as it is, or by order of the text, which suits ISO dates."""
    number = column.cast(pl.Float64, strict=False)
    if number.null_count() == column.null_count():
        return number.fill_null(float("-inf"))
    return column.cast(pl.String).rank("dense").cast(pl.Float64).fill_null(float("-inf"))


def _as_probability(column: pl.Series, source: str, line: Locate) -> pl.Series:
    number = column.cast(pl.Float64, strict=False)
    bad = number.is_null() | ~((number > 0) & (number <= 1)).fill_null(value=False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        raise InputFileError(source, line(row), f"pi '{column[row]}' is no probability in (0, 1]")
    return number
