"""What results say, as JSON can hold it: null is a number that is not known, "infinite" one without bound."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karatage.data.axes import FloatArray

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
MONEY: Final = "money"  # and so many digits behind the point; written as text, to the last of them
_NAMES = {dtype: name for name, dtype in TYPES.items()}
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
Plain = float | str | None


def plain_number(value: float) -> Plain:
    """One number.

    >>> plain_number(0.5), plain_number(math.nan), plain_number(-math.inf)
    (0.5, None, '-infinite')
    """
    if math.isfinite(value):
        return float(value)
    return None if math.isnan(value) else "infinite" if value > 0 else "-infinite"


def plain_array(array: FloatArray | NDArray[np.generic]) -> list[object]:
    """Nested lists."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        numbers = array.astype(object)
        for place in np.argwhere(~np.isfinite(array)):
            numbers[tuple(place)] = plain_number(float(array[tuple(place)]))
        array = numbers
    nested: list[object] = array.tolist()
    return nested


def plain_rows(frame: pl.DataFrame) -> list[dict[str, object]]:
    """A table's rows, as objects."""
    columns = [_plain_column(column) for column in frame.iter_columns()]
    return [dict(zip(frame.columns, row, strict=True)) for row in zip(*columns, strict=True)]


class TableRows(Sequence[dict[str, object]]):
    """The same, made when they are read and not kept: those of a large table take much more room than the table."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    @overload
    def __getitem__(self, at: int) -> dict[str, object]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, object]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, object] | list[dict[str, object]]:
        """Some of them."""
        return plain_rows(self._frame[at]) if isinstance(at, slice) else plain_rows(self._frame[at])[0]

    def __iter__(self) -> Iterator[dict[str, object]]:
        """One after the other."""
        for part in self._frame.iter_slices():
            yield from plain_rows(part)


def plain_columns(frame: pl.DataFrame) -> dict[str, object]:
    """A table's columns with their types, which takes less room; names that repeat are numbered."""
    return {column.name: _code(column) for column in frame.iter_columns()}


def plain_types(frames: Mapping[str, pl.DataFrame]) -> dict[str, dict[str, str]]:
    """What the columns of tables hold, which rows alone cannot say where there are none."""
    return {name: {column: name_type(kind) for column, kind in frame.schema.items()} for name, frame in frames.items()}


def name_type(kind: pl.DataType) -> str:
    """What a column holds, in a word."""
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


def write_json(facts: Mapping[str, object]) -> str:
    """JSON text in lines; a list or object without another in it stands on one."""
    return "".join(_write_object(facts, "\n"))


def encode_json(facts: Mapping[str, object]) -> bytes:
    """The same as a file has it, with an end of line; of a large text nothing is held twice."""
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
