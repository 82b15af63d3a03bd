"""Tables that are already in memory: polars, pandas and pyarrow frames, dicts of columns, nested dicts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import polars as pl

from karatage.errors import DataError, RowError
from karatage.text import shorten


@runtime_checkable
class ArrowTable(Protocol):
    """Any table with the Arrow interface: polars, pandas, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as a stream."""


Frame = ArrowTable | Mapping[str, Sequence[object]]


def is_frame(source: object) -> TypeGuard[Frame]:
    """Whether `source` is a table in memory."""
    return isinstance(source, ArrowTable | Mapping) or _is_pandas(source, "DataFrame")


def as_frame(source: Frame) -> pl.DataFrame:
    """The table in polars' form."""
    if isinstance(source, pl.DataFrame):
        return source
    if _is_pandas(source, "DataFrame"):
        return _convert_frame(source)
    try:
        if isinstance(source, Mapping):
            return pl.DataFrame({name: _convert(column, name) for name, column in source.items()})
        return pl.DataFrame(source)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"this table cannot be read: {shorten(str(problem), 200)}") from None


# pandas is converted here, since polars needs pyarrow for text and gaps, which may not be installed


def _is_pandas(source: object, kind: str) -> bool:
    """Whether `source` is a DataFrame, Series or Index of pandas, which is not imported for that."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, getattr(pandas, kind, ()))


def _convert_frame(source: Any) -> pl.DataFrame:
    """A pandas frame in polars' form; levels of its index that have a name come first, unless a column has it."""
    names = [str(name) for name in source.columns]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError(f"this table has two columns '{shorten(twice)}'; give every column its own name")
    index = source.index
    levels = {str(name): index.get_level_values(k) for k, name in enumerate(index.names) if name is not None}
    columns = {name: source.iloc[:, k] for k, name in enumerate(names)}
    return pl.DataFrame([_convert(column, name) for name, column in (levels | columns).items()])


def _convert(column: Any, name: str) -> Any:
    """A pandas Series or Index in polars' form, gaps as nulls; anything else as it is."""
    if not (_is_pandas(column, "Series") or _is_pandas(column, "Index")):
        return column
    values = column.array
    if hasattr(values, "categories") and hasattr(values, "codes"):
        codes = pl.Series(values.codes, dtype=pl.Int64)
        kinds = _convert(values.categories, name)
        return kinds.gather(codes.set(codes < 0, None)).alias(name)
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf" and column.dtype.itemsize <= 8:
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    given = values.astype(object)
    return _infer([None if gap else value for gap, value in zip(values.isna(), given, strict=True)], name)


def _infer(values: list[object], name: str) -> pl.Series:
    """Python objects as a column; mixed objects are kept, and refused if the column is used."""
    told = [value for value in values if value is not None]
    numbers = all(isinstance(value, Real) and not isinstance(value, bool | np.bool) for value in told)
    try:
        if numbers and not all(isinstance(value, int | np.integer) for value in told):
            return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)  # type: ignore[arg-type]
        return pl.Series(name, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


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
    """Names as text without surrounding space; RowError if one is missing.

    Whole numbers that pandas made fractional because of gaps are written without '.0'.
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
    """The column, unless it holds lists, objects or bytes, or text and numbers; RowError at the first of them."""
    if column.dtype == pl.Object:
        _refuse_mixture(column, role)
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        raise RowError(int(column.is_not_null().arg_max() or 0), _not_plain(column, role))
    return column


def _refuse_mixture(column: pl.Series, role: str) -> None:
    """RowError where the column changes between text and numbers."""
    first = None
    for row, value in enumerate(column.to_list()):
        kind = "text" if isinstance(value, str) else "a number" if isinstance(value, Real) else None
        if kind and first and kind != first:
            where = f"the {role} in column '{shorten(column.name)}'"
            raise RowError(row, f"{where} is {kind}, but {first} in earlier rows; make all values text or all numbers")
        first = first or kind


def _not_plain(column: pl.Series, role: str) -> str:
    return f"the {role} in column '{shorten(column.name)}' is a list, an object or bytes, not text or a number"
