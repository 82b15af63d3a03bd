"""Tables with a header line: CSV, TSV, and columns set apart by spaces."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import polars as pl

from karatage.errors import InputFileError
from karatage.io.names import is_known
from karatage.io.queues import Locate
from karatage.io.sources import Source, line_of
from karatage.text import shorten

csv.field_size_limit(1 << 30)
# Text that has a mark before it so that no spreadsheet takes it for a formula, as `encode_table` writes it.
_MARK = r"^'('*[=+\-@\t\r])"
_GUARDED = re.compile(rb"""(?:^|[,;"\n])'+[=+\-@\t\r]""")


@dataclass(frozen=True, eq=False)
class Table:
    """A file's rows under the file's own column names."""

    source: Source
    frame: pl.DataFrame
    line: Locate  # from a row to the line it stands on
    header: int | None = None  # the line that names the columns


@dataclass(frozen=True, eq=False)
class _Text:
    """A text of records, beginning with the header on line `header`."""

    source: Source
    content: bytes
    separator: str
    header: int

    @property
    def quote(self) -> str | None:
        """Tab-separated text knows no quotes."""
        return None if self.separator == "\t" else '"'

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """The line each record begins on, and its fields (none in a blank line)."""
        text = io.TextIOWrapper(io.BytesIO(self.content), "utf-8", newline="")
        if self.quote is None:
            reader = csv.reader(text, delimiter=self.separator, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(text, delimiter=self.separator, strict=True)
        line = self.header
        try:
            for fields in reader:
                yield line, [] if len(fields) == 1 and not fields[0].strip() else fields
                line = self.header + reader.line_num
        except csv.Error as problem:
            what = "is never closed" if "end of data" in str(problem) else "is in the middle of a field"
            raise InputFileError(self.source.name, line, f"a quotation mark {what}") from None

    def line_of_row(self, row: int) -> int | None:
        """The line on which a row begins; the header is row -1."""
        return next((line for line, _ in islice(self.records(), row + 1, None)), None)


def read_delimited(source: Source, content: bytes, separator: str) -> Table:
    """Read a table of text; rows of the wrong width are refused, blank lines skipped."""
    blank = re.match(rb"(?:[ \t\v\f\r]*\n)*", content)
    begins = blank.end() if blank else 0
    header, content = line_of(content, begins), content[begins:]
    if separator == " ":
        content, separator = b"\n".join(b"\t".join(line.split()) for line in content.split(b"\n")), "\t"
    text = _Text(source, content, separator, header)
    if not next(text.records(), (0, []))[1]:
        raise InputFileError(source.name, header, "the first line names no columns")
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False, quote_char=text.quote)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        frame = _read_slowly(text)
    if separator != "\t" and _GUARDED.search(content):
        frame = frame.with_columns(pl.all().str.replace(_MARK, "$1"))
    frame.columns = _name_columns(text)
    frame = frame.with_row_index("row ").filter(~_is_blank(frame))
    rows, frame = frame["row "].to_numpy(), frame.drop("row ")
    if not len(frame):
        raise InputFileError(source.name, None, "has a header but no rows")
    if frame[:, -1].null_count():
        _check_widths(text)
    return Table(source, frame, lambda row: text.line_of_row(int(rows[row])), header)


def _is_blank(frame: pl.DataFrame) -> pl.Expr:
    """Rows made of a line with nothing, or with nothing but space."""
    first, *others = (pl.col(name) for name in frame.columns)
    empty = first.is_null() | (first.str.strip_chars() == "")
    return pl.all_horizontal(empty, *(other.is_null() for other in others))


def _read_slowly(text: _Text) -> pl.DataFrame:
    """What polars refuses is mostly wrong, and then told by line; else it is a matter of unusual quotes."""
    (_, names), *records = _check_widths(text)
    rows = [[field or None for field in fields] or [None] * len(names) for _, fields in records]
    return pl.DataFrame(rows, schema=[(f"{k}", pl.String) for k in range(len(names))], orient="row")


def _check_widths(text: _Text) -> list[tuple[int, list[str]]]:
    """All records, header first; one that is wider or narrower than the header is an error."""
    records = list(text.records())
    width = len(records[0][1])
    for line, fields in records:
        if fields and len(fields) != width:
            wide = text.separator == "," and len(fields) > width
            hint = "; a comma inside a field needs quotes around it, and decimals a point" if wide else ""
            raise InputFileError(text.source.name, line, f"expected {width} columns, got {len(fields)}{hint}")
    return records


def _name_columns(text: _Text) -> list[str]:
    """The header, without surrounding space; a repeated name, such as that of two judges, gets a number."""
    found: dict[str, None] = {}
    names = (name.strip() for name in next(text.records())[1])
    for name in (name if text.quote is None else re.sub(_MARK, r"\1", name) for name in names):
        if name in found and is_known(name):
            raise InputFileError(text.source.name, text.header, f"two columns are called '{shorten(name)}'")
        unique, n = name, 2
        while unique in found:
            unique, n = f"{name} ({n})", n + 1
        found[unique] = None
    return list(found)
