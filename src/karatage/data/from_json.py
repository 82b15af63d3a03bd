"""Arrays and tables read back from JSON, each cell checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.as_json import INFINITE, MONEY, TYPES
from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.entries import MOST, Entries, Value, is_number, show
from karatage.errors import DataError

MOST_DIGITS = 12


class _Kind(NamedTuple):
    """What cells may be, by their Python types."""

    types: frozenset[type]
    told: str


_WHOLE = _Kind(frozenset({int}), "a whole number")
_FLAG = _Kind(frozenset({bool}), "true or false")
_TEXT = _Kind(frozenset({str}), "text")
_NOTHING = _Kind(frozenset(), "null")


def read_numbers(entries: Entries, name: str, *shape: int) -> FloatArray:
    """Nested lists of numbers in the shape expected; null is NaN."""
    flat = _flatten(entries.get(name), shape, entries.name(name))
    return np.array(_read_floats(flat, entries.name(name), math.nan), float).reshape(shape)


def read_nested(entries: Entries, name: str, length: int) -> FloatArray:
    """The same, in whatever shape the lists have, of which there are so many."""
    value, shape = entries.get(name), [length]
    while isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
        shape.append(len(value))
    return read_numbers(entries, name, *shape)


def read_whole_numbers(entries: Entries, name: str, *shape: int, below: int) -> LongArray:
    """Nested lists of whole numbers from 0 and below a limit."""
    flat, place = _flatten(entries.get(name), shape, entries.name(name)), entries.name(name)
    _check(flat, _WHOLE, place, empty=False)
    _check_range(flat, place, 0, below - 1)
    return np.array(flat, np.int64).reshape(shape)


def read_flags(entries: Entries, name: str, *shape: int) -> BoolArray:
    """Nested lists of true and false."""
    flat = _flatten(entries.get(name), shape, entries.name(name))
    _check(flat, _FLAG, entries.name(name), empty=False)
    return np.array(flat, bool).reshape(shape)


def read_table(entries: Entries, name: str) -> pl.DataFrame:
    """Rows, whose columns are those that `types` has for them."""
    types, place = entries.object("types").object(name), entries.name(name)
    columns = types.all_names()
    rows = entries.objects(name)
    for row in rows:
        stray = next((key for key in row.all_names() if key not in columns), None)
        if stray is not None:
            raise DataError(f"{row.name(stray)} has no type in {types.place}")
    cells = {column: [row.get(column) for row in rows] for column in columns}
    return pl.DataFrame([_read_column(types.text(c), c, values, f"{place}: {c}") for c, values in cells.items()])


def read_columns(entries: Entries, name: str) -> pl.DataFrame:
    """A table that was written by columns."""
    table = entries.object(name)
    found = {column: table.object(column) for column in table.all_names()}
    columns = [_decode(column, one) for column, one in found.items()]
    heights = sorted({len(series) for series in columns})
    if len(heights) > 1:
        raise DataError(f"{table.place} has columns of unequal length: {', '.join(map(str, heights))}")
    return pl.DataFrame(columns)


def _decode(column: str, entries: Entries) -> pl.Series:
    kind, values, place = entries.text("type"), entries.several("values"), entries.name("values")
    if kind != "text":
        return _read_column(kind, column, values, place)
    names = pl.Series(entries.names("names"), dtype=pl.String)
    _check(values, _WHOLE, place, empty=True)
    _check_range(values, place, 0, len(names) - 1)
    return names.gather(pl.Series(values, dtype=pl.Int64)).alias(column)


def _flatten(value: Value, shape: Sequence[int], place: str) -> list[Value]:
    if not isinstance(value, list | tuple):
        raise DataError(f"{place} is {show(value)}, not a list")
    if len(value) != shape[0]:
        raise DataError(f"{place} has {len(value):,} entries, not {shape[0]:,}")
    if len(shape) == 1:
        return list(value)
    parts = (_flatten(part, shape[1:], f"{place}[{k}]") for k, part in enumerate(value))
    return list(chain.from_iterable(parts))


def _read_column(kind: str, name: str, values: list[Value], place: str) -> pl.Series:
    if kind == "float":
        return pl.Series(name, _read_floats(values, place, None), dtype=pl.Float64)
    if kind.startswith(MONEY):
        return pl.Series(name, _read_money(values, place), dtype=pl.Decimal(38, _find_digits(kind, place)))
    if kind not in TYPES:
        raise DataError(f"{place} is of type {show(kind)}, which is none of {', '.join(TYPES)}")
    dtype = TYPES[kind]
    if dtype.is_integer():
        _check(values, _WHOLE, place, empty=True)
        bounds = np.iinfo(kind)
        _check_range(values, place, int(bounds.min), int(bounds.max))
    else:
        _check(values, {"text": _TEXT, "bool": _FLAG}.get(kind, _NOTHING), place, empty=True)
    return pl.Series(name, values, dtype=dtype)


def _read_floats(values: list[Value], place: str, unknown: float | None) -> list[float | None]:
    return [_read_float(value, k, place, unknown) for k, value in enumerate(values)]


def _read_float(value: Value, k: int, place: str, unknown: float | None) -> float | None:
    if value is None:
        return unknown
    if is_number(value) and -MOST <= value <= MOST:
        return float(value)
    if isinstance(value, str) and value in INFINITE:
        return INFINITE[value]
    raise DataError(f"{place} has {show(value)} in place {k + 1:,}, not a number")


def _check(values: Sequence[Value], kind: _Kind, place: str, *, empty: bool) -> None:
    """All of one kind, or else which is not."""
    types = kind.types | {type(None)} if empty else kind.types
    if set(map(type, values)) <= types:
        return
    k, value = next((k, value) for k, value in enumerate(values) if type(value) not in types)
    raise DataError(f"{place} has {show(value)} in place {k + 1:,}, not {kind.told}")


def _check_range(values: Sequence[Value], place: str, low: int, high: int) -> None:
    numbers = [value for value in values if isinstance(value, int)]
    bad = next((value for value in numbers if not low <= value <= high), None)
    if bad is not None:
        raise DataError(f"{place} has {show(bad)}, not a whole number from {low:,} to {high:,}")


def _read_money(values: Sequence[Value], place: str) -> list[Decimal | None]:
    _check(values, _TEXT, place, empty=True)
    try:
        return [None if value is None else Decimal(str(value)) for value in values]
    except InvalidOperation:
        raise DataError(f"{place} has an amount of money that is no number") from None


def _find_digits(kind: str, place: str) -> int:
    digits = kind.removeprefix(MONEY)
    if not (digits.isascii() and digits.isdecimal() and int(digits) <= MOST_DIGITS):
        raise DataError(f"{place} is of type {show(kind)}; money has {MONEY}0 to {MONEY}{MOST_DIGITS}")
    return int(digits)
