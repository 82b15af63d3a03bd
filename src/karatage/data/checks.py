"""Checks of the fields of results, both of computed ones and of those read from files.

They look at whole arrays and columns, since they run for every result. Intervals and shares may miss their bounds by
rounding errors only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from karatage.data.plain import TYPES, name_type
from karatage.errors import DataError
from karatage.text import shorten

SLACK: Final = 1e-9  # for rounding errors
LARGEST: Final = 1e150  # of numbers, squares of which can still be summed
NEAR: Final = 1e-6  # relative: how far sums and distributions may differ from machine to machine


class Column(NamedTuple):
    """What a column of a table holds: numbers from `low` to `high`, text or flags."""

    kind: str  # one of `TYPES`
    low: float = -math.inf
    high: float = math.inf
    empty: bool = False  # whether cells may be null
    endless: bool = False  # whether numbers may be infinite


TEXT: Final = Column("text")
FLAG: Final = Column("bool")
COUNT: Final = Column("int64", 0)
SHARE: Final = Column("float", 0, 1)
CORRELATION: Final = Column("float", -1, 1)
NUMBER: Final = Column("float")
AMOUNT: Final = Column("float", 0)  # a number that is not negative: an error, a width, a size


def maybe(column: Column) -> Column:
    """The same column, where cells may be null."""
    return column._replace(empty=True)


def find_schema(columns: Mapping[str, Column]) -> dict[str, pl.DataType]:
    """The types of columns."""
    return {name: TYPES[column.kind] for name, column in columns.items()}


def require_table(what: str, frame: pl.DataFrame, columns: Mapping[str, Column]) -> None:
    """Refuse a table that lacks a column, or has other types or values in it; more columns are allowed."""
    for name, column in columns.items():
        if name not in frame.columns:
            raise DataError(f"{what} has no column {name}")
        found = frame[name]
        if found.dtype != TYPES[column.kind]:
            raise DataError(f"{what}: {name} is of type {_name(found.dtype)}, not {column.kind}")
        if not column.empty and found.null_count():
            raise DataError(f"{what}: {name} has no value in some row")
        if found.dtype.is_numeric():
            require_numbers(f"{what}: {name}", found.drop_nulls(), column.low, column.high, endless=column.endless)


def _name(kind: pl.DataType) -> str:
    try:
        return name_type(kind)
    except KeyError:
        return str(kind)


def require_numbers(
    what: str,
    value: ArrayLike,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    unknown: bool = False,
    endless: bool = False,
) -> None:
    """Refuse numbers outside `low` to `high`, NaN unless they may be `unknown`, infinite ones unless `endless`."""
    numbers = np.asarray(value, float)
    if numbers.size == 0 or _is_inside(numbers, low, high, unknown=unknown):
        return
    inside = (numbers >= low - SLACK) & (numbers <= high + SLACK) & (np.isinf(numbers) | (np.abs(numbers) <= LARGEST))
    if not endless:
        inside &= np.isfinite(numbers)
    if unknown:
        inside |= np.isnan(numbers)
    if inside.all():
        return
    bad = float(numbers[~inside].ravel()[0])
    raise DataError(f"{what} is {bad:g}, not {_describe(low, high)}")


def _is_inside(numbers: NDArray[np.float64], low: float, high: float, *, unknown: bool) -> bool:
    """Whether all are inside by minimum and maximum, which needs no copy of a large array."""
    least, most = float(np.fmin.reduce(numbers, axis=None)), float(np.fmax.reduce(numbers, axis=None))
    if not unknown and np.isnan(np.min(numbers)):
        return False
    if max(abs(least), abs(most)) > LARGEST:  # infinite ones are checked one by one
        return False
    return math.isnan(least) or (least >= low - SLACK and most <= high + SLACK)


def _describe(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"a number from {low:g} to {high:g}"
    return f"a number from {low:g} on" if math.isfinite(low) else "a finite number"


def require_ordered(what: str, low: ArrayLike, value: ArrayLike, high: ArrayLike) -> None:
    """Refuse values outside their intervals, where these are known."""
    first, middle, last = np.broadcast_arrays(*(np.atleast_1d(np.asarray(part, float)) for part in (low, value, high)))
    with np.errstate(invalid="ignore"):
        slack = SLACK * np.maximum(1, np.abs(np.where(np.isfinite(middle), middle, 0)))
        wrong = (first > middle + slack) | (middle > last + slack)
    if wrong.any():
        a, x, b = (float(part[wrong][0]) for part in (first, middle, last))
        raise DataError(f"{what} is {x:g}, which is not inside its interval from {a:g} to {b:g}")


def require_names(what: str, names: Sequence[str], *, least: int = 1) -> None:
    """Refuse repeated names, and fewer than `least`."""
    if len(names) < least:
        raise DataError(f"{what} has {len(names)} names, and {least} are needed")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"{what} has '{shorten(str(twice))}' twice")


def require_known(what: str, names: Collection[str] | pl.Series, known: Collection[str], of: str) -> None:
    """Refuse names that are not among those `known`."""
    there = set(known)
    unknown = next((name for name in names if name is not None and name not in there), None)
    if unknown is not None:
        raise DataError(f"{what} has '{shorten(str(unknown))}', which is not among the {of}")


def require_shape(what: str, array: NDArray[np.generic], *shape: int) -> None:
    """Refuse an array of another shape."""
    if array.shape != shape:
        raise DataError(f"{what} has the shape {array.shape}, not {shape}")


def require_equal(what: str, found: ArrayLike, expected: ArrayLike, *, near: float = NEAR) -> None:
    """Refuse values that differ from those that follow from others; NaN equals NaN."""
    first, second = np.asarray(found), np.asarray(expected)
    if first.shape == second.shape:
        if second.dtype.kind != "f":
            same = first == second
        else:
            same = np.isclose(first, second, rtol=near, atol=SLACK, equal_nan=True)
        if bool(np.all(same)):
            return
        at = tuple(np.argwhere(~np.atleast_1d(same))[0])
        told, follows = np.atleast_1d(first)[at], np.atleast_1d(second)[at]
        raise DataError(f"{what} is {_show(told)}, where {_show(follows)} follows from the other entries")
    raise DataError(f"{what} has the shape {first.shape}, where {second.shape} follows from the other entries")


def _show(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else shorten(str(value))
