"""Tables that are already in memory: polars, pandas and pyarrow frames, dicts of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeGuard, runtime_checkable

import polars as pl

from karatage.errors import DataError


@runtime_checkable
class ArrowTable(Protocol):
    """Any table that speaks Arrow: polars, pandas, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table over."""


Frame = ArrowTable | Mapping[str, Sequence[object]]


def is_frame(source: object) -> TypeGuard[Frame]:
    """Whether `source` is a table in memory."""
    return isinstance(source, ArrowTable | Mapping)


def as_frame(source: Frame) -> pl.DataFrame:
    """The table in polars' form."""
    if isinstance(source, pl.DataFrame):
        return source
    try:
        return pl.DataFrame(source)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"this table cannot be read: {problem}") from None


def text_column(column: pl.Series) -> pl.Series:
    """Names as text; whole numbers that pandas made fractional because of gaps lose their '.0'."""
    if column.dtype.is_float() and bool((column.drop_nulls() % 1 == 0).all()):
        column = column.cast(pl.Int64)
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise DataError(f"column '{column.name}' holds {column.dtype}, not names") from None
