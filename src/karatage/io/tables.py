"""Recognising and reading tables of judgments: CSV, TSV, JSONL, Parquet, qrels, Quepid's and SQUARE's files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from karatage.errors import DataError, InputFileError
from karatage.io.delimited import Table, read_delimited
from karatage.io.fields import Interner, split
from karatage.io.names import find_columns, is_known, plain
from karatage.io.objects import read_json
from karatage.io.parquet import MAGIC, list_columns, read_columns
from karatage.io.rows import Rows, from_frame, unpivot
from karatage.io.sources import NOTHING, Source, check_line_ends, check_text, line_of

# What the columns of a headless text are, by their number; for gold and for judgments.
HEADLESS = {4: ("topic", None, "document", "grade"), 3: ("document", "judge", "grade")}
HEADLESS_GOLD = {4: ("topic", None, "document", "grade"), 2: ("document", "grade")}


def read_table(source: Source, *, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """Read one file of judgments, whatever its format."""
    content = source.read()
    if content.startswith(MAGIC):
        return _pick(_read_parquet(source, content, columns, gold), columns, gold)
    content = check_text(source, content)
    first = next((line.decode() for line in io.BytesIO(content) if line.strip()), "")
    if not first:
        raise InputFileError(source.name, None, NOTHING)
    if first.lstrip().startswith(("{", "[")):
        return _pick(read_json(source, content), columns, gold)
    check_line_ends(source, content)
    separator = next((s for s in "\t,;" if s in first), " ")
    if not columns and not _is_header(_split_header(first, separator)):
        return _read_headless(source, content, first, separator, gold)
    table = read_delimited(source, content, separator)
    if not columns and _is_book(table.frame.columns):
        rows = unpivot(table.frame, source.name, table.line)
        return replace(rows, judge=None) if gold else rows
    return _pick(table, columns, gold)


def _split_header(first: str, separator: str) -> list[str]:
    if separator == " ":
        return first.split()
    return next(csv.reader([first.strip("\r\n")], delimiter=separator), [])


def _is_header(fields: Sequence[str]) -> bool:
    """Whether a first line names columns; one known word beside a number is rather a document called 'doc'."""
    known = sum(is_known(name) for name in fields)
    return known > 1 or (known == 1 and not any(name.strip().isdecimal() for name in fields))


def _is_book(columns: Sequence[str]) -> bool:
    """Quepid's book: query, docid, then one column per judge."""
    named = [plain(name) for name in columns[:2]] == ["query", "docid"]
    return named and len(columns) > 2 and not {"judge", "grade"} & set(find_columns(columns))


def _pick(table: Table, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """Pick columns; what is wrong with them as a whole is wrong with the header."""
    try:
        return from_frame(table.frame, table.source.name, table.line, columns=columns, gold=gold)
    except DataError as problem:
        raise InputFileError(table.source.name, table.header, f"{problem}") from None


def _read_parquet(source: Source, content: bytes, columns: Mapping[str, str] | None, gold: bool) -> Table:
    """Only the columns that are needed."""
    names = list_columns(source, content)
    try:
        needed = sorted(set(find_columns(names, columns, gold=gold).values()))
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}") from None
    frame = read_columns(source, content, needed)
    if needed and not len(frame):
        raise InputFileError(source.name, None, "has columns but no rows")
    unread = [pl.lit(None).alias(name) for name in names if name not in needed]  # named in messages
    return Table(source, frame.with_columns(unread), lambda _: None)


def _read_headless(source: Source, content: bytes, first: str, separator: str, gold: bool) -> Rows:
    """Text without a header: qrels, or SQUARE's `item judge grade` and `item grade`."""
    layouts = HEADLESS_GOLD if gold else HEADLESS
    width = len(first.split())
    if width not in layouts:
        wanted = "qrels (4 columns) or " + ("'item grade'" if gold else "'item judge grade'")
        found = len(_split_header(first, separator))
        message = f"{found} columns without a header that names a grade; expected a header, or {wanted}"
        line = line_of(content, len(content) - len(content.lstrip()))
        raise InputFileError(source.name, line, f"{message}, set apart by spaces or tabs")
    fields = split(source, content, width)
    column = {}
    for k, role in enumerate(layouts[width]):
        if role is not None:
            interner = Interner()
            code = interner.add(fields, k)
            column[role] = interner.names().gather(code)
    if "judge" not in column and not gold:
        column["judge"] = pl.repeat(source.stem, len(fields.line), dtype=pl.String, eager=True)
    lines = fields.line.astype(np.int64)
    return Rows(
        source=source.name,
        line=lambda row: int(lines[row]),
        judge=column.get("judge"),
        topic=column.get("topic"),
        document=column["document"],
        label=column["grade"],
    )
