"""Arrays and tables as JSON can hold them, and back.

`null` is an unknown number, "infinite" an infinite one.
"""

from __future__ import annotations

import io
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Final, NamedTuple, TypeGuard, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karatage.errors import DataError
from karatage.text import shorten

INFINITE: Final = {"infinite": math.inf, "-infinite": -math.inf}
TYPES: Final[Mapping[str, pl.DataType]] = {
    "text": pl.String(),
    "bool": pl.Boolean(),
    "int8": pl.Int8(),
    "int32": pl.Int32(),
    "int64": pl.Int64(),
    "uint32": pl.UInt32(),
    "float": pl.Float64(),
    "nothing": pl.Null(),
}
MONEY: Final = "money"  # and the number of digits after the decimal point; written as exact text
MOST: Final = sys.float_info.max
MOST_DIGITS: Final = 12
MOST_AXES: Final = 8
_NAMES = {dtype: name for name, dtype in TYPES.items()}
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
Plain = float | str | None


class MisfitError(DataError):
    """A wrong entry: `told` follows the entry's place in a message."""

    def __init__(self, told: str, at: str = "") -> None:
        super().__init__(f"{at} {told}".strip())
        self.told = told
        self.at = at  # within the entry


class _Kind(NamedTuple):
    """The Python types that cells may have."""

    types: frozenset[type]
    told: str


_WHOLE = _Kind(frozenset({int}), "a whole number")
_FLAG = _Kind(frozenset({bool}), "true or false")
_TEXT = _Kind(frozenset({str}), "text")
_NOTHING = _Kind(frozenset(), "null")
_NUMBERS = frozenset({int, float})


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether JSON would call this a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def show(value: object) -> str:
    """A value in a message."""
    return "null" if value is None else shorten(repr(value))


def plain_number(value: float) -> Plain:
    """One number.

    >>> plain_number(0.5), plain_number(math.nan), plain_number(-math.inf)
    (0.5, None, '-infinite')
    """
    if math.isfinite(value):
        return float(value)
    return None if math.isnan(value) else "infinite" if value > 0 else "-infinite"


def read_number(value: object) -> float:
    """The same back."""
    if value is None:
        return math.nan
    if isinstance(value, str) and value in INFINITE:
        return INFINITE[value]
    if not is_number(value) or not -MOST <= value <= MOST:
        raise MisfitError(f"is {show(value)}, not a number")
    return float(value)


def plain_array(array: NDArray[np.generic]) -> object:
    """Nested lists; of an empty array of several axes, only its shape."""
    if array.size == 0 and array.ndim > 1:
        return {"shape": list(array.shape)}
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        numbers = array.astype(object)
        for place in np.argwhere(~np.isfinite(array)):
            numbers[tuple(place)] = plain_number(float(array[tuple(place)]))
        array = numbers
    return array.tolist()


def read_array(found: object, kind: np.dtype[Any]) -> NDArray[Any]:
    """The same back; lists within a list must be of one length."""
    if isinstance(found, dict):
        axes = found.get("shape")
        if len(found) > 1 or not isinstance(axes, list) or not _is_empty(axes):
            raise MisfitError(f"is {show(found)}, not a list")
        return np.empty(axes, kind)
    shape: list[int] = []
    value = found
    while isinstance(value, list) and len(shape) < MOST_AXES:
        shape.append(len(value))
        value = value[0] if value else None
    cells = _flatten(found, shape or [0], "")
    if kind.kind == "f":
        return np.array(_read_floats(cells, math.nan), float).reshape(shape)
    _check(cells, _FLAG if kind.kind == "b" else _WHOLE, empty=False)
    if kind.kind == "i":
        _check_range(cells, int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    return np.array(cells, kind).reshape(shape)


def _is_empty(shape: list[object]) -> bool:
    known = len(shape) <= MOST_AXES and all(isinstance(n, int) and 0 <= n < 2**31 for n in shape)
    return known and 0 in shape


def _flatten(found: object, shape: Sequence[int], at: str) -> list[object]:
    if not isinstance(found, list):
        raise MisfitError(f"is {show(found)}, not a list", at)
    if len(found) != shape[0]:
        raise MisfitError(f"has {len(found):,} entries, not {shape[0]:,}", at)
    if len(shape) == 1:
        return found
    return list(chain.from_iterable(_flatten(part, shape[1:], f"{at}[{k}]") for k, part in enumerate(found)))


def plain_rows(frame: pl.DataFrame) -> list[dict[str, object]]:
    """A table's rows, as objects."""
    columns = [_plain_column(column) for column in frame.iter_columns()]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


class TableRows(Sequence[dict[str, object]]):
    """The same rows, made when they are read and not kept, since they take much more memory than the table."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    @overload
    def __getitem__(self, at: int) -> dict[str, object]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, object]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, object] | list[dict[str, object]]:
        """Some rows."""
        return plain_rows(self._frame[at]) if isinstance(at, slice) else plain_rows(self._frame[at])[0]

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Rows in turn."""
        for part in self._frame.iter_slices():
            yield from plain_rows(part)


def make_rows(facts: Any) -> Any:
    """The same facts with tables as lists of rows."""
    if isinstance(facts, TableRows):
        return list(facts)
    if isinstance(facts, Mapping):
        return {name: make_rows(fact) for name, fact in facts.items()}
    return type(facts)(map(make_rows, facts)) if isinstance(facts, list | tuple) else facts


def plain_types(frame: pl.DataFrame) -> dict[str, str]:
    """The types of a table's columns, which cannot be found from rows if there are none."""
    return {column: name_type(kind) for column, kind in frame.schema.items()}


def read_rows(rows: object, types: object) -> pl.DataFrame:
    """A table from its rows, with the columns in `types`."""
    if not isinstance(rows, list):
        raise MisfitError(f"is {show(rows)}, not a list")
    if not isinstance(types, dict):
        raise MisfitError("has no types of columns")
    for k, row in enumerate(rows):
        if not isinstance(row, dict):
            raise MisfitError(f"is {show(row)}, not an object", f"[{k}]")
        if row.keys() != types.keys():
            odd = next(name for name in {**row, **types} if name not in row or name not in types)
            told = "is missing" if odd in types else "has no type in types"
            raise MisfitError(told, f"[{k}].{shorten(odd)}")
    return pl.DataFrame([_read_column(kind, name, [row[name] for row in rows], name) for name, kind in types.items()])


def plain_columns(frame: pl.DataFrame) -> dict[str, object]:
    """A table's columns with their types, which takes less space; repeated names are numbered."""
    return {column.name: _code(column) for column in frame.iter_columns()}


def read_columns(found: object) -> pl.DataFrame:
    """A table that was written by columns."""
    if not isinstance(found, dict):
        raise MisfitError(f"is {show(found)}, not an object")
    columns = [_decode(name, column) for name, column in found.items()]
    heights = sorted({len(series) for series in columns})
    if len(heights) > 1:
        raise MisfitError(f"has columns of unequal length: {', '.join(map(str, heights))}")
    return pl.DataFrame(columns)


def name_type(kind: pl.DataType) -> str:
    """The name of a column's type."""
    return f"{MONEY}{kind.scale}" if isinstance(kind, pl.Decimal) else _NAMES[kind]


def _plain_column(column: pl.Series) -> list[object]:
    if column.dtype == pl.Float64 and not column.is_finite().all():
        return [None if value is None else plain_number(value) for value in column]
    return (column.cast(pl.String) if isinstance(column.dtype, pl.Decimal) else column).to_list()


def _code(column: pl.Series) -> dict[str, object]:
    facts: dict[str, object] = {"type": name_type(column.dtype)}
    if column.dtype != pl.String:
        return {**facts, "values": _plain_column(column)}
    names = column.unique(maintain_order=True).drop_nulls()
    places = pl.DataFrame({"name": names, "place": np.arange(len(names))})
    found = pl.DataFrame({"name": column}).join(places, on="name", how="left", maintain_order="left")
    return {**facts, "names": names.to_list(), "values": found["place"].to_list()}


def _decode(name: str, column: object) -> pl.Series:
    at = f".{shorten(name)}"
    if not isinstance(column, dict):
        raise MisfitError(f"is {show(column)}, not an object", at)
    kind, values, names = column.get("type"), column.get("values"), column.get("names")
    if not isinstance(values, list):
        raise MisfitError(f"is {show(values)}, not a list", f"{at}.values")
    if kind != "text":
        return _read_column(kind, name, values, name)
    if not isinstance(names, list) or not set(map(type, names)) <= {str} or len(set(names)) < len(names):
        raise MisfitError(f"is {show(names)}, not a list of texts, each there once", f"{at}.names")
    _check(values, _WHOLE, empty=True, of=name)
    _check_range(values, 0, len(names) - 1, of=name)
    return pl.Series(names, dtype=pl.String).gather(pl.Series(values, dtype=pl.Int64)).alias(name)


def _read_column(kind: object, name: str, values: list[object], of: str) -> pl.Series:
    if kind == "float":
        return pl.Series(name, _read_floats(values, None, of), dtype=pl.Float64)
    if isinstance(kind, str) and kind.startswith(MONEY):
        return pl.Series(name, _read_money(values, of), dtype=pl.Decimal(38, _find_digits(kind, of)))
    if not isinstance(kind, str) or kind not in TYPES:
        raise MisfitError(f"{_tell(of)} is of type {show(kind)}, which is not one of {', '.join(TYPES)}")
    dtype = TYPES[kind]
    if dtype.is_integer():
        _check(values, _WHOLE, empty=True, of=of)
        _check_range(values, int(np.iinfo(kind).min), int(np.iinfo(kind).max), of=of)
    else:
        _check(values, {"text": _TEXT, "bool": _FLAG}.get(kind, _NOTHING), empty=True, of=of)
    return pl.Series(name, values, dtype=dtype)


def _tell(of: str) -> str:
    """The column, for a message."""
    return f"column {shorten(of)}" if of else ""


def _read_floats(values: list[object], unknown: float | None, of: str = "") -> list[float | None]:
    if set(map(type, values)) <= {float}:
        return values  # type: ignore[return-value]
    return [unknown if value is None else _read_float(value, k, of) for k, value in enumerate(values)]


def _read_float(value: object, k: int, of: str) -> float:
    try:
        return read_number(value)
    except MisfitError:
        raise MisfitError(f"{_tell(of)} has {show(value)} in place {k + 1:,}, not a number".strip()) from None


def _check(values: Sequence[object], kind: _Kind, *, empty: bool, of: str = "") -> None:
    """Refuse values of another kind."""
    types = kind.types | {type(None)} if empty else kind.types
    if set(map(type, values)) <= types:
        return
    k, value = next((k, value) for k, value in enumerate(values) if type(value) not in types)
    raise MisfitError(f"{_tell(of)} has {show(value)} in place {k + 1:,}, not {kind.told}".strip())


def _check_range(values: Sequence[object], low: int, high: int, *, of: str = "") -> None:
    bad = next((value for value in values if isinstance(value, int) and not low <= value <= high), None)
    if bad is not None:
        raise MisfitError(f"{_tell(of)} has {show(bad)}, not a whole number from {low:,} to {high:,}".strip())


def _read_money(values: Sequence[object], of: str) -> list[Decimal | None]:
    _check(values, _TEXT, empty=True, of=of)
    try:
        return [None if value is None else Decimal(str(value)) for value in values]
    except InvalidOperation:
        raise MisfitError(f"{_tell(of)} has an amount of money that is not a number") from None


def _find_digits(kind: str, of: str) -> int:
    digits = kind.removeprefix(MONEY)
    if not (digits.isascii() and digits.isdecimal() and int(digits) <= MOST_DIGITS):
        raise MisfitError(f"{_tell(of)} is of type {show(kind)}; money has {MONEY}0 to {MONEY}{MOST_DIGITS}")
    return int(digits)


def write_json(facts: Mapping[str, object]) -> str:
    """JSON text in lines; a list or object without another in it is on one line."""
    return "".join(_write_object(facts, "\n"))


def encode_json(facts: Mapping[str, object]) -> bytes:
    """The same as bytes with an end of line, without a second copy of a large text."""
    content = io.BytesIO()
    content.writelines(part.encode() for part in _write_object(facts, "\n"))
    content.write(b"\n")
    return content.getvalue()


def _write(value: object, line: str) -> Iterator[str]:
    if isinstance(value, Mapping) and not _is_flat(value.values()):
        yield from _write_object(value, line)
    elif isinstance(value, TableRows) and len(value):
        lead = f"[{line}  "
        for row in value:
            yield lead + _encode(row)
            lead = f",{line}  "
        yield f"{line}]"
    elif isinstance(value, list | tuple) and not _is_flat(value):
        lead = "["
        for member in value:
            yield f"{lead}{line}  "
            yield from _write(member, f"{line}  ")
            lead = ","
        yield f"{line}]"
    else:
        yield _encode([] if isinstance(value, TableRows) else value)


def _write_object(facts: Mapping[str, object], line: str) -> Iterator[str]:
    lead = "{"
    for name, member in facts.items():
        yield f"{lead}{line}  {_encode(name)}: "
        yield from _write(member, f"{line}  ")
        lead = ","
    yield f"{line}}}"


def _is_flat(members: Iterable[object]) -> bool:
    return not any(isinstance(member, Mapping | list | tuple | TableRows) for member in members)
