"""Frozen dataclasses and named tuples as JSON can hold them, and back, by their annotations.

A class may name `derived` properties or methods, which are written beside its fields for readers of the JSON. It may
also name `unsaved` fields, which have a default and are not written, and `optional` ones, which a file may lack and
which are not written at their default. `earlier` has values of fields that older files lack, which differ from the
defaults and are not written. Tables are lists of rows, with the types of their columns in `types`. Tables annotated as
`Columns` are written by columns, which takes less space.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
from cattrs import ClassValidationError, Converter, IterableValidationError
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    is_namedtuple,
    list_structure_factory,
    namedtuple_dict_structure_factory,
    namedtuple_dict_unstructure_factory,
)
from cattrs.errors import IterableValidationNote
from cattrs.gen import (
    make_dict_structure_fn,
    make_dict_unstructure_fn,
    make_hetero_tuple_structure_fn,
    mapping_structure_factory,
    override,
)

from karatage.data.axes import FloatArray
from karatage.data.note import PLAIN, Note
from karatage.data.plain import (
    MisfitError,
    TableRows,
    plain_array,
    plain_columns,
    plain_number,
    plain_types,
    read_array,
    read_columns,
    read_number,
    read_rows,
    show,
)
from karatage.errors import DataError, KaratageError
from karatage.text import shorten

T = TypeVar("T")
Columns = Annotated[pl.DataFrame, "by columns"]
UNKNOWN: Final = "unknown"  # an unknown number, where a number may also be absent
_MONEY = re.compile(r"-?\d{1,20}(\.\d{1,12})?", re.ASCII)
_Hook = Callable[[Any, Any], Any]


def unstructure(value: object) -> Any:
    """A value as JSON can hold it; tables are `TableRows`, whose rows are made when they are written."""
    return _converter().unstructure(value)


def structure(found: object, kind: type[T]) -> T:
    """A value of a kind from its JSON; wrong entries are refused with their place."""
    try:
        return _converter().structure(found, kind)
    except Exception as problem:
        place, cause = _find_cause(problem)
        if isinstance(cause, MisfitError):
            where = f"{place}{cause.at}".removeprefix(".") or "the whole"
            raise DataError(f"{where} {cause.told}") from None
        if isinstance(cause, KaratageError):
            raise DataError(f"{place}: {cause}" if place else str(cause)) from None
        raise cause from None


def _find_cause(problem: BaseException) -> tuple[str, BaseException]:
    """The first error, and its place."""
    place = ""
    while isinstance(problem, ClassValidationError | IterableValidationError):
        located, others = problem.group_exceptions()
        if not located:
            problem = others[0]
            continue
        problem, note = located[0]
        step = note.index if isinstance(note, IterableValidationNote) else note.name
        place += f"[{step}]" if isinstance(step, int) else f".{shorten(str(step))}"
    return place.removeprefix("."), problem


@cache
def _converter() -> Converter:
    found = Converter(detailed_validation=True)
    for plain in (str, int, bool):
        found.register_unstructure_hook(plain, plain)
    found.register_unstructure_hook(float, plain_number)
    found.register_unstructure_hook(Decimal, lambda value: f"{value:f}")
    found.register_unstructure_hook(np.ndarray, plain_array)
    found.register_unstructure_hook_func(_is(np.ndarray), plain_array)
    found.register_unstructure_hook(pl.Series, lambda series: series.to_list())
    found.register_unstructure_hook(pl.DataFrame, TableRows)
    found.register_unstructure_hook_func(_is_maybe_number, _plain_maybe)
    found.register_unstructure_hook_func(_is_scalar, _plain_scalar)
    found.register_structure_hook(str, _require(str, "text"))
    found.register_structure_hook(bool, _require(bool, "true or false"))
    found.register_structure_hook(int, _read_whole)
    found.register_structure_hook(float, lambda value, _: read_number(value))
    found.register_structure_hook(Decimal, _read_money)
    found.register_structure_hook(pl.Series, _read_series)
    found.register_structure_hook(pl.DataFrame, lambda value, _: read_rows(*value))
    found.register_structure_hook_func(_is(np.ndarray), _read_array)
    found.register_structure_hook_func(_is_maybe_number, _read_maybe)
    found.register_structure_hook_func(_is_scalar, _read_scalar)
    found.register_structure_hook_func(_is(Literal), _read_choice)
    found.register_structure_hook_factory(_is(tuple, list), _make_list_reader)
    found.register_structure_hook_factory(_is(Mapping, dict), _make_mapping_reader)
    found.register_structure_hook_factory(is_namedtuple, _make_reader)
    found.register_structure_hook_factory(is_dataclass, _make_reader)
    found.register_unstructure_hook_factory(is_namedtuple, _make_writer)
    found.register_unstructure_hook_factory(is_dataclass, _make_writer)
    write_note, read_note = _make_writer(Note, found), _make_reader(Note, found)
    found.register_unstructure_hook(Note, lambda note: note.text if note.kind == PLAIN else write_note(note))
    found.register_structure_hook(
        Note,
        lambda value, _: read_note(value, _).retell() if type(value) is dict else Note.of(found.structure(value, str)),
    )
    return found


def _make_writer(kind: type, converter: Converter) -> Callable[[Any], dict[str, Any]]:
    make: Any = make_dict_unstructure_fn if is_dataclass(kind) else namedtuple_dict_unstructure_factory
    write = make(kind, converter, **_override(kind))
    frames, derived = _list_fields(kind, pl.DataFrame), getattr(kind, "derived", ())
    name = getattr(kind, "kind", None)  # of a result
    lead = {"kind": name} if name and isinstance(name, str) else {}
    earlier = getattr(kind, "earlier", {})

    def write_all(value: Any) -> dict[str, Any]:
        facts: dict[str, Any] = {**lead, **write(value)}
        for one, usual in earlier.items():
            if facts[one] == usual:
                del facts[one]
        for one in derived:
            follows = getattr(value, one)
            facts[one] = converter.unstructure(follows() if callable(follows) else follows)
        if frames:
            facts["types"] = {frame: plain_types(getattr(value, frame)) for frame in frames}
        return facts

    return write_all


def _make_reader(kind: type, converter: Converter) -> _Hook:
    make: Any = make_dict_structure_fn if is_dataclass(kind) else namedtuple_dict_structure_factory
    read, frames = make(kind, converter, **_override(kind)), _list_fields(kind, pl.DataFrame)
    needed = [name for name in _list_fields(kind) if name not in getattr(kind, "optional", ())]
    earlier = getattr(kind, "earlier", {})

    def read_all(found: Any, _: Any) -> Any:
        if not isinstance(found, dict):
            raise MisfitError(f"is {show(found)}, not an object")
        found = {**earlier, **found}
        for name in needed:
            if name not in found:
                raise MisfitError("is missing", f".{name}")
        if frames:
            held = found.get("types")
            if not isinstance(held, dict):
                raise MisfitError(f"is {show(held)}, not an object", ".types")
            found = {**found, **{name: (found[name], held.get(name)) for name in frames}}
        return read(found, kind)

    return read_all


def _override(kind: type) -> dict[str, Any]:
    """Fields that are not written, or not as others of their type."""
    by_columns = override(unstruct_hook=plain_columns, struct_hook=lambda value, _: read_columns(value))
    wide = dict.fromkeys(_list_fields(kind, Columns), by_columns)
    arrays = _list_fields(kind, FloatArray | None)  # of which == is no single truth
    spared = {name: override(omit_if_default=name not in arrays) for name in getattr(kind, "optional", ())}
    return wide | spared | {name: override(omit=True) for name in getattr(kind, "unsaved", ())}


def _list_fields(kind: Any, hint: object = None) -> list[str]:
    """Fields that are written, all or those of a type."""
    names = kind._fields if issubclass(kind, tuple) else [field.name for field in fields(kind)]
    hints, left_out = get_type_hints(kind, include_extras=True), getattr(kind, "unsaved", ())
    return [name for name in names if name not in left_out and hint in (None, hints[name])]


def _make_list_reader(kind: Any, converter: Converter) -> _Hook:
    """Read lists as cattrs does, and refuse other iterables, such as text."""
    if get_origin(kind) is list or get_args(kind)[-1] is ...:
        of = list_structure_factory if get_origin(kind) is list else homogenous_tuple_structure_factory
        return _require(list, "a list", of(kind, converter))
    size, read = len(get_args(kind)), make_hetero_tuple_structure_fn(kind, converter)

    def read_all(value: list[Any], wanted: Any) -> Any:
        if len(value) != size:
            raise MisfitError(f"has {len(value)} entries, not {size}")
        return read(value, wanted)

    return _require(list, "a list", read_all)


def _make_mapping_reader(kind: Any, converter: Converter) -> _Hook:
    return _require(dict, "an object", mapping_structure_factory(kind, converter))


def _is(*origins: Any) -> Callable[[Any], bool]:
    """Whether a type is a generic one of these."""
    return lambda kind: get_origin(kind) in origins


def _is_maybe_number(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType) and set(get_args(kind)) == {float, type(None)}


def _is_scalar(kind: Any) -> bool:
    """Text, numbers, flags or lists of names: facts of a note or of an experiment's cell."""
    return get_origin(kind) in (Union, types.UnionType) and {str, float} <= set(get_args(kind))


def _plain_maybe(value: float | None) -> object:
    return None if value is None else UNKNOWN if math.isnan(value) else plain_number(value)


def _read_maybe(value: object, _: object) -> float | None:
    return None if value is None else math.nan if value == UNKNOWN else read_number(value)


def _plain_scalar(value: object) -> object:
    return plain_number(value) if isinstance(value, float) else list(value) if isinstance(value, tuple) else value


def _read_scalar(value: object, _: object) -> object:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(value)
    if not (value is None or isinstance(value, str | bool | int | float)):
        raise MisfitError(f"is {show(value)}, not text or a number")
    return value


def _require(kind: type, told: str, read: _Hook = lambda value, _: value) -> _Hook:
    def check(value: object, wanted: object) -> object:
        if type(value) is not kind:
            raise MisfitError(f"is {show(value)}, not {told}")
        return read(value, wanted)

    return check


def _read_whole(value: object, _: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise MisfitError(f"is {show(value)}, not a whole number from 0")
    return value


def _read_choice(value: object, kind: object) -> object:
    if not isinstance(value, str) or value not in get_args(kind):
        raise MisfitError(f"is {show(value)}, not one of {', '.join(get_args(kind))}")
    return value


def _read_money(value: object, _: object) -> Decimal:
    if not isinstance(value, str) or not _MONEY.fullmatch(value):
        raise MisfitError(f"is {show(value)}, not an amount of money such as '4.05'")
    return Decimal(value)


def _read_series(value: object, _: object) -> pl.Series:
    if not isinstance(value, list) or not set(map(type, value)) <= {str}:
        raise MisfitError(f"is {show(value)}, not a list of texts")
    return pl.Series("name", value, dtype=pl.String)


def _read_array(value: object, kind: Any) -> Any:
    _, dtype = get_args(kind)
    return read_array(value, np.dtype(get_args(dtype)[0]))
