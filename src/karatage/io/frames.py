"""Tables that are already in memory: polars, pandas and pyarrow frames, dicts of columns, nested dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeGuard, runtime_checkable

import polars as pl

from karatage.errors import DataError, RowError
from karatage.wording import shorten


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
        raise DataError(f"this table cannot be read: {shorten(str(problem), 200)}") from None


def is_nested(source: object) -> TypeGuard[Mapping[str, object]]:
    """Whether `source` is a dict of dicts."""
    return isinstance(source, Mapping) and all(isinstance(value, Mapping) for value in source.values())


def flatten(source: Mapping[str, object], roles: Sequence[str]) -> pl.DataFrame:
    """Nested dicts as a table of text: a level of keys per role, and the values under the last role.

    >>> flatten({"411": {"d1": 2}}, ["topic", "document", "grade"]).rows()
    [('411', 'd1', '2')]
    """
    rows: list[tuple[tuple[str, ...], object]] = [((), source)]
    for role in roles[:-1]:
        deeper: list[tuple[tuple[str, ...], object]] = []
        for path, inner in rows:
            if not isinstance(inner, Mapping):
                shape = "{".join(f"{r}: " for r in roles[:-1]) + roles[-1] + "}" * (len(roles) - 1)
                found = f"a {type(inner).__name__} where a {role} was expected"
                raise DataError(f"nested dicts must be of the form {{{shape}, but under {list(path)} is {found}")
            deeper += [((*path, str(key)), value) for key, value in inner.items()]
        rows = deeper
    columns = {role: [path[k] for path, _ in rows] for k, role in enumerate(roles[:-1])}
    columns[roles[-1]] = [str(value) for _, value in rows]
    return pl.DataFrame(columns, schema=dict.fromkeys(roles, pl.String))


def name_column(column: pl.Series, role: str) -> pl.Series:
    """Names as text without surrounding space; RowError where one is missing.

    Whole numbers that pandas made fractional because of gaps lose their '.0'.
    """
    if column.dtype.is_float():
        column = column.fill_nan(None)
        if bool((column.drop_nulls() % 1 == 0).all()):
            column = column.cast(pl.Int64, strict=False)
    text = plain_column(column, role)
    if text.dtype != pl.String:
        try:
            text = text.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise DataError(_not_plain(column, role)) from None
    text = text.str.strip_chars()
    missing = text.is_null() | (text == "")
    if missing.any():
        raise RowError(int(missing.arg_max() or 0), f"the {role} is missing")
    return text


def plain_column(column: pl.Series, role: str) -> pl.Series:
    """The column, unless it holds lists, objects or bytes; RowError at the first of them."""
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        raise RowError(int(column.is_not_null().arg_max() or 0), _not_plain(column, role))
    return column


def _not_plain(column: pl.Series, role: str) -> str:
    return f"the {role} in column '{shorten(column.name)}' is a list, an object or bytes, not text or a number"
