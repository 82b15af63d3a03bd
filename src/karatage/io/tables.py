"""Recognising and reading tables of judgments: CSV, TSV, JSONL, Parquet, qrels, Quepid's and SQUARE's files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from itertools import islice

import numpy as np
import polars as pl

from karatage.errors import DataError, InputFileError, shorten
from karatage.io.fields import Interner, split
from karatage.io.names import find_columns, is_known, plain
from karatage.io.rows import Locate, Rows, from_frame, unpivot
from karatage.io.sources import Source, check_text, line_of

# What the columns of a headless text are, by their number; for gold and for judgments.
QRELS = ("topic", None, "document", "grade")
SQUARE = ("document", "judge", "grade")
SQUARE_GOLD = ("document", "grade")
csv.field_size_limit(1 << 30)


def read_table(source: Source, *, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """Read one file of judgments, whatever its format."""
    content = source.read()
    if content[:4] == b"PAR1":
        return _read_parquet(source, content, columns, gold)
    content = check_text(source, content)
    first = next(line for line in io.BytesIO(content) if line.strip())
    if first.lstrip()[:1] in (b"{", b"["):
        return _read_json(source, content, columns, gold)
    separator = next((s for s in "\t,;" if s.encode() in first), " ")
    header = [name.strip() for name in _split_header(first, separator)]
    if columns or any(is_known(name) for name in header):
        return _read_delimited(source, content, separator, columns, gold)
    return _read_headless(source, content, len(first.split()), gold)


def _split_header(first: bytes, separator: str) -> list[str]:
    text = first.decode().strip("\r\n")
    if separator == " ":
        return text.split()
    return next(csv.reader([text], delimiter=separator), [])


def _read_delimited(
    source: Source, content: bytes, separator: str, columns: Mapping[str, str] | None, gold: bool
) -> Rows:
    if separator == " ":
        content, separator = re.sub(rb"[ \t]+", b"\t", content), "\t"
    lone = re.search(rb"\r(?!\n|$)", content)
    if lone:
        message = "has a carriage return inside the line; convert mixed line ends, e.g. with dos2unix"
        raise InputFileError(source.name, line_of(content, lone.start()), message)
    quote = '"' if separator != "\t" else None
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False, quote_char=quote)
    except pl.exceptions.PolarsError as problem:
        raise _explain(source, content, separator, quote, problem) from None
    frame = frame.rename({name: name.strip() for name in frame.columns}, strict=False)
    frame = frame.with_row_index("row ").filter(~pl.all_horizontal(pl.exclude("row ").is_null()))
    rows = frame["row "].to_numpy()
    frame = frame.drop("row ")
    if not len(frame):
        raise InputFileError(source.name, None, "has a header but no rows")

    def line(row: int) -> int:
        records = _records(content, separator, quote)
        return next(islice(records, int(rows[row]) + 1, None))[0]

    wide = [plain(name) for name in frame.columns[:2]] == ["query", "docid"] and "grade" not in find_columns(
        frame.columns
    )
    if wide and len(frame.columns) > 2 and not columns:
        return unpivot(frame, source.name, line)
    return _named(source, frame, line, columns, gold)


def _records(content: bytes, separator: str, quote: str | None):  # noqa: ANN202
    """The line each record begins on, and its fields, blank lines before the header left out."""
    text = io.StringIO(content.decode(), newline="")
    quoting = csv.QUOTE_NONE if quote is None else csv.QUOTE_MINIMAL
    reader = csv.reader(text, delimiter=separator, quoting=quoting)
    begins, seen = 1, False
    for fields in reader:
        seen = seen or bool(fields)
        if seen:
            yield begins, fields
        begins = reader.line_num + 1


def _explain(
    source: Source, content: bytes, separator: str, quote: str | None, problem: Exception
) -> InputFileError:
    """Find the line that polars stumbled over."""
    expected = None
    for line, fields in _records(content, separator, quote):
        if expected is None:
            expected = len(fields)
        elif len(fields) > expected or (fields and len(fields) < expected and "\n" in fields[-1]):
            return InputFileError(source.name, line, f"expected {expected} columns, got {len(fields)}")
    return InputFileError(source.name, None, f"is not a proper table: {shorten(str(problem), 120)}")


def _named(
    source: Source, frame: pl.DataFrame, line: Locate, columns: Mapping[str, str] | None, gold: bool
) -> Rows:
    """Pick columns; what is wrong with them as a whole is wrong with the first line."""
    try:
        return from_frame(frame, source.name, line, columns=columns, gold=gold)
    except InputFileError:
        raise
    except DataError as problem:
        raise InputFileError(source.name, 1, f"{problem}") from None


def _read_parquet(source: Source, content: bytes, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    try:
        names = list(pl.read_parquet_schema(io.BytesIO(content)))
        try:
            needed = sorted(set(find_columns(names, columns, gold=gold).values()))
        except DataError as problem:
            raise InputFileError(source.name, None, f"{problem}") from None
        frame = pl.read_parquet(io.BytesIO(content), columns=needed) if needed else pl.DataFrame()
        frame = frame if needed else pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    except (pl.exceptions.PolarsError, OSError) as problem:
        message = f"is not a readable Parquet file: {shorten(str(problem), 120)}"
        raise InputFileError(source.name, None, message) from None
    if needed and not len(frame):
        raise InputFileError(source.name, None, "has columns but no rows")
    return _named(source, frame, lambda row: row + 1, columns, gold)


def _read_json(source: Source, content: bytes, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        frame = pl.DataFrame()
    if "query_doc_pairs" in frame.columns or not len(frame.columns):
        return _read_json_slowly(source, content, columns, gold)
    numbers = [n for n, line in enumerate(io.BytesIO(content), 1) if line.strip()]
    if len(numbers) != len(frame):
        return _read_json_slowly(source, content, columns, gold)
    return _named(source, frame, lambda row: numbers[row], columns, gold)


def _read_json_slowly(source: Source, content: bytes, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """One document (a list of rows, or Quepid's book), or one row a line with a mistake to be named."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        whole = None
    numbers: list[int] = []
    if isinstance(whole, dict) and "query_doc_pairs" in whole:
        records = _flatten_book(source, whole)
    elif isinstance(whole, list):
        records = whole
    else:
        records = []
        for number, line in enumerate(io.BytesIO(content), 1):
            if not line.strip():
                continue
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError) as problem:
                message = f"is not JSON: {shorten(str(problem), 80)}"
                raise InputFileError(source.name, number, message) from None
            numbers.append(number)
    for k, record in enumerate(records):
        if not isinstance(record, dict):
            raise InputFileError(source.name, numbers[k] if numbers else None, "expected a JSON object")
    if not records:
        raise InputFileError(source.name, None, "has no rows")
    names = list(dict.fromkeys(name for record in records for name in record))
    frame = pl.DataFrame({name: [_scalar(record.get(name)) for record in records] for name in names})
    return _named(source, frame, lambda row: numbers[row] if numbers else None, columns, gold)


def _scalar(value: object) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value)


def _flatten_book(source: Source, book: dict[str, object]) -> list[dict[str, object]]:
    """Quepid's book as JSON: pairs of query and document, each with its judgements."""
    try:
        return [
            {
                "judge": judgement.get("user_email") or "Unknown",
                "topic": pair["query_text"],
                "document": pair["doc_id"],
                "grade": judgement["rating"],
            }
            for pair in book["query_doc_pairs"]  # type: ignore[attr-defined]
            for judgement in pair.get("judgements", [])
            if not judgement.get("unrateable") and judgement.get("rating") is not None
        ]
    except (KeyError, TypeError, AttributeError) as problem:
        raise InputFileError(source.name, None, f"is not a Quepid book: {shorten(str(problem))}") from None


def _read_headless(source: Source, content: bytes, width: int, gold: bool) -> Rows:
    """Text without a header: qrels, or SQUARE's `item judge grade` and `item grade`."""
    layouts = {4: QRELS, 2: SQUARE_GOLD} if gold else {4: QRELS, 3: SQUARE}
    if width not in layouts:
        wanted = "qrels (4 columns) or 'item grade'" if gold else "qrels (4 columns) or 'item judge grade'"
        message = f"{width} columns without a header that names a grade; expected a header, or {wanted}"
        raise InputFileError(source.name, 1, message)
    fields = split(source, content, width)
    column = {}
    for k, role in enumerate(layouts[width]):
        if role is not None:
            interner = Interner()
            code = interner.add(fields, k)
            column[role] = interner.names().gather(code)
    if "judge" not in column and not gold:
        column["judge"] = pl.repeat(source.stem, len(fields.line), dtype=pl.String, eager=True)
    column["label"] = column.pop("grade")
    lines = fields.line.astype(np.int64)
    return Rows(source=source.name, line=lambda row: int(lines[row]), **column)
