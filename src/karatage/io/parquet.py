"""Parquet by polars, after a check of the page headers, since polars ends the process over some wrong ones.

Polars writes no checksums, so that a flipped bit may change a value unnoticed. Files of karatage have a seal: a digest
of all their bytes in the metadata, computed with zeros in the place of the seal.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence

import polars as pl

from karatage.errors import DataError, InputFileError
from karatage.io.sources import Source, require_room
from karatage.text import shorten

MAGIC = b"PAR1"
# Numbers of fields in parquet.thrift.
_ROW_GROUPS, _COLUMNS, _ROWS = 4, 1, 3
_ELSEWHERE, _METADATA = 1, 3
_VALUES, _DATA_OFFSET, _DICTIONARY_OFFSET = 5, 9, 11
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_2 = 5, 7, 8
_PAGE_VALUES = 1
# Kinds of values in Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _STRUCT = 1, 2, 3, 7, 8, 12
_INTEGERS, _LISTS = (4, 5, 6), (9, 10)

_REFUSALS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)

Struct = dict[int, object]

_VALUE_SIZE = 16  # minimum bytes of a text in polars
# A file names each judge, topic and document once: a judgment takes 64 bytes in polars, and in the file only the bits
# of its grade. 100 judges who graded the same documents have a ratio of 230, predictable grades one of thousands.
_RATIO = 5_000
_SEAL = "karatage_seal"
_BLANK = f"{0:064x}-{0:012d}"  # a digest, and the length of the file
# The seal in the metadata: name and value, each after its length.
_SEALED = re.compile(rb"karatage_seal\x18" + bytes([len(_BLANK)]) + rb"([0-9a-f]{64})-(\d{12})")


def encode_parquet(frame: pl.DataFrame) -> bytes:
    """A table as a Parquet file with a seal."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata={_SEAL: _BLANK})
    content = buffer.getvalue()
    seal = f"{hashlib.sha256(content).hexdigest()}-{len(content):012d}".encode()
    begins = content.rindex(_BLANK.encode())
    return content[:begins] + seal + content[begins + len(seal) :]


def _check_seal(content: bytes) -> None:
    """ValueError if the bytes are not those that were sealed.

    A file of another length was written by another program, which may have copied the metadata.
    """
    footer = max(0, len(content) - 8 - int.from_bytes(content[-8:-4], "little"))
    seal = next(_SEALED.finditer(content, footer), None)
    if seal is None or int(seal[2]) != len(content):
        return
    blank = content[: seal.start(1)] + _BLANK.encode() + content[seal.end(2) :]
    if hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        raise ValueError("its content is not what karatage wrote; use a copy, or write it again")


def list_columns(source: Source, content: bytes) -> list[str]:
    """The names of a file's columns, after a check of all page headers."""
    try:
        _check_seal(content)
        _check(content)
        return list(pl.read_parquet_schema(io.BytesIO(content)))
    except (IndexError, RecursionError):
        raise _unreadable(source, "its metadata are damaged") from None
    except (ValueError, *_REFUSALS) as problem:
        raise _unreadable(source, problem) from None


def read_columns(source: Source, content: bytes, names: Sequence[str]) -> pl.DataFrame:
    """Some columns of a file, unless they take too much memory, since equal values take little space in the file."""
    try:
        rows = sum(_number(group, _ROWS) for group in _structs(_read_footer(content), _ROW_GROUPS))
        require_room(len(content), _RATIO)(rows * len(names) * _VALUE_SIZE)
        return pl.read_parquet(io.BytesIO(content), columns=list(names))
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}") from None
    except _REFUSALS as problem:
        raise _unreadable(source, problem) from None


def _unreadable(source: Source, problem: object) -> InputFileError:
    return InputFileError(source.name, None, f"is not a readable Parquet file: {shorten(str(problem), 120)}")


def _check(content: bytes) -> None:
    """Check every page; ValueError or IndexError if sizes and counts contradict each other."""
    for group in _structs(_read_footer(content), _ROW_GROUPS):
        for column in _structs(group, _COLUMNS):
            metadata = column.get(_METADATA)
            if isinstance(metadata, dict) and _ELSEWHERE not in column:
                if not 0 <= _number(group, _ROWS) <= _number(metadata, _VALUES):
                    raise ValueError("a column has fewer values than rows")
                _check_chunk(content, metadata)


def _read_footer(content: bytes) -> Struct:
    size = int.from_bytes(content[-8:-4], "little")
    if len(content) < 12 or content[-4:] != MAGIC or size > len(content) - 12:
        raise ValueError("its end is missing")
    return _Compact(content, len(content) - 8 - size).struct()


def _check_chunk(content: bytes, metadata: Struct) -> None:
    at, remaining = _number(metadata, _DATA_OFFSET), _number(metadata, _VALUES)
    if 0 < _number(metadata, _DICTIONARY_OFFSET) < at:
        at = _number(metadata, _DICTIONARY_OFFSET)
    while remaining > 0:
        reader = _Compact(content, at)
        page = reader.struct()
        at = reader.at + _number(page, _PACKED_SIZE)
        counts = [
            _number(header, _PAGE_VALUES)
            for kind in (_DATA_PAGE, _DATA_PAGE_2, _DICTIONARY_PAGE)
            if isinstance(header := page.get(kind), dict)
        ]
        if at > len(content) or min(_number(page, _PACKED_SIZE), _number(page, _UNPACKED_SIZE), *counts, 0) < 0:
            raise ValueError("a page has an impossible size")
        remaining -= 0 if _DICTIONARY_PAGE in page else sum(counts)
        if remaining < 0:
            raise ValueError("a column has more values than its metadata")


def _number(struct: Struct, field: int) -> int:
    value = struct.get(field, 0)
    if not isinstance(value, int):
        raise ValueError("a number is missing")
    return value


def _structs(struct: Struct, field: int) -> list[Struct]:
    value = struct.get(field, [])
    if not isinstance(value, list) or not all(isinstance(element, dict) for element in value):
        raise ValueError("its list of columns is damaged")
    return value


class _Compact:
    """The part of Thrift's compact protocol that Parquet uses; IndexError at the end of the content."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content = content
        self.at = at
        if at < 0:
            raise ValueError("an offset is negative")

    def struct(self) -> Struct:
        """Fields by number."""
        fields: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            fields[number] = self._value(head & 15)
        return fields

    def _value(self, kind: int) -> object:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind in (_DOUBLE, _BINARY):
            return self._bytes(8 if kind == _DOUBLE else self._unsigned())
        if kind in _LISTS:
            return self._list()
        if kind == _STRUCT:
            return self.struct()
        raise ValueError("its metadata are damaged")

    def _list(self) -> list[object]:
        head = self._byte()
        kind, length = head & 15, head >> 4 if head >> 4 < 15 else self._unsigned()
        if kind in (_TRUE, _FALSE):
            return [self._byte() for _ in range(length)]
        return [self._value(kind) for _ in range(length)]

    def _byte(self) -> int:
        byte = self.content[self.at]
        self.at += 1
        return byte

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) > 127:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        zigzag = self._unsigned()
        return zigzag >> 1 ^ -(zigzag & 1)

    def _bytes(self, length: int) -> bytes:
        found = self.content[self.at : self.at + length]
        self.at += length
        if len(found) < length:
            raise IndexError
        return found
