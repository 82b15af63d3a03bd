"""White-space separated text: rows with a fixed number of fields, and names as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karatage.data.axes import Coded, FloatArray, IntArray, LongArray
from karatage.errors import InputFileError
from karatage.io.sources import LONE_RETURN, NOTHING, Source
from karatage.kernels import text
from karatage.text import hint_decimal, shorten

LAYOUTS = {  # lines without a header, by their number of columns
    6: "topic Q0 document rank score system",
    4: "topic 0 document grade",
    3: "item judge grade",
    2: "item grade",
}


@dataclass(frozen=True, eq=False)
class Fields:
    """The places of the fields in a text."""

    source: Source
    content: bytes
    start: text.OffsetArray  # (column, row)
    end: text.OffsetArray  # (column, row)
    line: text.OffsetArray  # (row,)
    _hashed: dict[int, LongArray] = field(default_factory=dict)

    def text(self, row: int, column: int) -> str:
        """One field."""
        return self.content[self.start[column, row] : self.end[column, row]].decode()

    def hash_column(self, column: int) -> None:
        """Prepare the slow part of interning a column with many names, which can run in threads."""
        self._hashed[column] = np.empty(len(self.line), np.int64)
        content = np.frombuffer(self.content, np.uint8)
        text.hash_fields(content, self.start[column], self.end[column], self._hashed[column])

    def hashed(self, column: int) -> LongArray:
        """The hashes from `hash_column`, if it was called."""
        return self._hashed.get(column, np.empty(0, np.int64))

    def numbers(self, column: int, what: str) -> FloatArray:
        """A column of finite numbers."""
        start, end = self.start[column], self.end[column]
        value = np.empty(len(start))
        text.parse_numbers(np.frombuffer(self.content, np.uint8), start, end, value)
        for row in np.flatnonzero(np.isnan(value)):
            value[row] = self._number(int(row), column, what)
        return value

    def _number(self, row: int, column: int, what: str) -> float:
        field = self.text(row, column)
        try:
            number = float(field) if "_" not in field else None
        except ValueError:
            number = None
        if number is None or not np.isfinite(number):
            problem = f"{what} '{shorten(field)}' is not a {'finite ' if number is not None else ''}number"
            raise InputFileError(self.source.name, int(self.line[row]), problem + hint_decimal(field))
        return number


def split(source: Source, content: bytes, columns: int) -> Fields:
    """Rows of `columns` fields; blank lines are skipped."""
    size = len(content) // (2 * columns) + 1  # an upper bound of rows; unused memory is not allocated
    start, end = _offsets((columns, size), content), _offsets((columns, size), content)
    line = _offsets((size,), content)
    rows, problem, number, found = text.split_fields(np.frombuffer(content, np.uint8), columns, start, end, line)
    if problem == text.LONE_RETURN:
        raise InputFileError(source.name, number, LONE_RETURN)
    if problem == text.WRONG_COLUMNS:
        raise InputFileError(
            source.name, number, f"expected {columns} columns, got {found}; a line is '{LAYOUTS[columns]}'"
        )
    if not rows:
        raise InputFileError(source.name, None, NOTHING)
    return Fields(source, content, start[:, :rows], end[:, :rows], line[:rows])


def _offsets(shape: tuple[int, ...], content: bytes) -> text.OffsetArray:
    """An array for places in `content`, of the smallest type."""
    return np.empty(shape, np.int32) if len(content) < 2**31 else np.empty(shape, np.int64)


class Interner:
    """Numbers for names over several files; equal names get equal numbers."""

    def __init__(self) -> None:
        self._pool = np.empty(1 << 16, np.uint8)
        self._offset = np.zeros(1 << 10, np.int64)
        self._table = np.full(1 << 11, -1, np.int32)
        self._known = 0

    def add(self, fields: Fields, column: int) -> IntArray:
        """Numbers for a column of fields."""
        start, end, hashed = fields.start[column], fields.end[column], fields.hashed(column)
        self._make_room(len(start), len(fields.content) + 1)
        code = np.empty(len(start), np.int32)
        content = np.frombuffer(fields.content, np.uint8)
        self._known = text.intern_fields(
            content, start, end, hashed, self._table, self._pool, self._offset, self._known, code
        )
        return code

    def names(self) -> pl.Series:
        """All names by number. They contain no white space, so polars reads them as lines.

        They have a header, since polars removes a byte order mark from the first line.
        """
        pool = b"name\n" + self._pool[: self._offset[self._known]].tobytes()
        return pl.read_csv(pool, separator="\t", quote_char=None, infer_schema=False).to_series()

    def coded(self, code: IntArray) -> Coded:
        """A column of numbers as a coded column with sorted names."""
        return Coded.sorting(code, self.names())

    def _make_room(self, rows: int, size: int) -> None:
        used = int(self._offset[self._known])
        if used + size > self._pool.size:
            self._pool = np.resize(self._pool, 2 * (used + size))
        if self._known + rows + 1 > self._offset.size:
            self._offset = np.resize(self._offset, 2 * (self._known + rows + 1))
        if 2 * (self._known + rows) > self._table.size:
            self._table = np.full(1 << int(2 * (self._known + rows)).bit_length(), -1, np.int32)
            text.rebuild_table(self._pool, self._offset, self._known, self._table)
