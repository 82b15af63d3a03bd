"""JSON: a row a line, a list of rows, or Quepid's book."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

import polars as pl

from karatage.errors import InputFileError
from karatage.io.delimited import Table
from karatage.io.sources import Source
from karatage.text import shorten

BOOK = "query_doc_pairs"
# polars overflows the stack on deep nesting; a plain row has one bracket.
_MOST_BRACKETS = 200


def read_json(source: Source, content: bytes) -> Table:
    """Read rows of JSON; quickly where nothing is unusual."""
    numbers = _plain_lines(content)
    if numbers is not None:
        try:
            frame = pl.read_ndjson(content, infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            frame = pl.DataFrame()
        if frame.columns and len(frame) == len(numbers) and not _hides_objects(frame):
            return Table(source, frame, lambda row: numbers[row], numbers[0])
    return _read_slowly(source, content)


def _hides_objects(frame: pl.DataFrame) -> bool:
    """Whether this is Quepid's book, or polars may have turned an object among texts into text."""
    return BOOK in frame.columns or any(
        column.str.contains(r"^[\[{]").any() for column in frame.select(pl.col(pl.String)).iter_columns()
    )


def _plain_lines(content: bytes) -> list[int] | None:
    """The numbers of lines with something on them; None when polars should not see them."""
    if re.search(rb"\\u[dD][89a-fA-F]", content):  # a broken pair of these makes polars write a zero
        return None
    numbers = []
    for number, line in enumerate(io.BytesIO(content), 1):
        if line.count(b"[") + line.count(b"{") > _MOST_BRACKETS:
            return None
        if line.strip():
            numbers.append(number)
    return numbers


def _read_slowly(source: Source, content: bytes) -> Table:
    """One document, or one row a line, with every mistake named."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        whole = None
    numbers: list[int | None]
    if isinstance(whole, dict) and BOOK in whole:
        records = _flatten_book(source, whole[BOOK])
        numbers = [None] * len(records)
    elif isinstance(whole, list):
        records = whole
        numbers = [None] * len(records)
    else:
        lines = list(_parse_lines(source, content))
        records = [record for _, record in lines]
        numbers = [number for number, _ in lines]
    if not records:
        raise InputFileError(source.name, None, "has no rows")
    return Table(source, _tabulate(source, records, numbers), lambda row: numbers[row], numbers[0])


def _parse_lines(source: Source, content: bytes) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(io.BytesIO(content), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as problem:
                message = f"is not JSON: {shorten(str(problem), 80)}"
                raise InputFileError(source.name, number, message) from None


def _tabulate(source: Source, records: list[object], numbers: list[int | None]) -> pl.DataFrame:
    rows = []
    for k, (record, number) in enumerate(zip(records, numbers, strict=True), 1):
        place = "" if number is not None else f"row {k}: "
        if not isinstance(record, dict):
            found = shorten(json.dumps(record))
            raise InputFileError(source.name, number, f"{place}expected a JSON object, got {found}")
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputFileError(source.name, number, f"{place}has half a character (\\ud8..-\\udf..)") from None
        rows.append(record)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        raise InputFileError(source.name, None, "has rows without any field")
    return pl.DataFrame([_column(name, [row.get(name) for row in rows]) for name in names])


def _column(name: str, values: list[object]) -> pl.Series:
    """Values as text; a column with lists or objects in it keeps only those, to be refused if it is needed."""
    nested = [[json.dumps(value)] if isinstance(value, list | dict) else None for value in values]
    if any(nested):
        return pl.Series(name, nested, dtype=pl.List(pl.String))
    plain = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, plain, dtype=pl.String)


def _flatten_book(source: Source, pairs: object) -> list[object]:
    """Quepid's book: pairs of query and document, each with its judgements."""
    rows: list[object] = []
    for k, pair in enumerate(_list(source, pairs, BOOK), 1):
        where = f"{BOOK} {k}"
        if not isinstance(pair, dict):
            raise InputFileError(source.name, None, f"{where} is no JSON object, so this is not a Quepid book")
        for judgement in _list(source, pair.get("judgements") or [], f"{where}: judgements"):
            if not isinstance(judgement, dict):
                raise InputFileError(source.name, None, f"{where} has a judgement that is no JSON object")
            if judgement.get("rating") is not None and not judgement.get("unrateable"):
                rows.append(
                    {
                        "judge": judgement.get("user_email") or "Unknown",
                        "topic": pair.get("query_text"),
                        "document": pair.get("doc_id"),
                        "grade": judgement["rating"],
                    }
                )
    if not rows:
        raise InputFileError(source.name, None, "no judge has given a grade")
    return rows


def _list(source: Source, value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise InputFileError(source.name, None, f"{what} is no list, so this is not a Quepid book")
    return value
