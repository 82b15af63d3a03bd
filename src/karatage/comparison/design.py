"""Which row of a table belongs to which level of which factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.axes import Coded, FloatArray, IntArray, LongArray, freeze, locate
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.text import counted, list_names

Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Factor:
    """A column as levels: row r has level `levels[code[r]]`."""

    name: str
    levels: tuple[str, ...]
    code: IntArray  # (row,)

    def __post_init__(self) -> None:
        """Protect the array."""
        freeze(self.code)

    @property
    def size(self) -> LongArray:
        """Rows of each level."""
        return np.bincount(self.code, minlength=len(self.levels))

    @staticmethod
    def of(column: pl.Series) -> Factor:
        """Levels in the column's own order (numbers, enumerations); texts sorted, whole numbers among them by value."""
        without = column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)
        if without:
            raise DataError(f"factor '{column.name}' has no level in {counted(without, 'row')}; fill or drop them")
        if column.dtype == pl.String:
            coded = Coded.of(column).in_natural_order()
            return Factor(column.name, tuple(coded.names), coded.code.copy())
        names = column.unique().sort()
        return Factor(column.name, tuple(names.cast(pl.String)), locate(column, names).copy())


@dataclass(frozen=True, eq=False)
class Design:
    """A response and the factors that may explain it."""

    name: str
    response: FloatArray  # (row,)
    factors: dict[str, Factor]
    interactions: tuple[Pair, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        """Protect the array."""
        freeze(self.response)

    @staticmethod
    def of(frame: pl.DataFrame, response: str, factors: Sequence[str], interactions: Sequence[Pair]) -> Design:
        """Check a table and what is asked of it; factors of one level explain nothing and are left out with a note."""
        _check_names(frame, response, factors, interactions)
        found = {name: Factor.of(frame[name]) for name in factors}
        alone = [name for name, factor in found.items() if len(factor.levels) < 2]
        if len(alone) == len(found):
            raise DataError(f"no factor has two levels ({list_names(alone)}): there is nothing to compare")
        notes = tuple(
            f"factor '{name}' has one level only, '{found[name].levels[0]}', and is left out" for name in alone
        )
        kept = {name: factor for name, factor in found.items() if name not in alone}
        crossed = tuple((a, b) for a, b in interactions if a in kept and b in kept)
        return Design(response, _read_response(frame[response]), kept, crossed, notes)

    def factor(self, name: str) -> Factor:
        """A factor by its name."""
        if name not in self.factors:
            raise UnknownNameError("factor", name, self.factors)
        return self.factors[name]

    def cells(self, first: str, second: str) -> tuple[LongArray, int]:
        """Each row's number among the combinations of two factors, and how many combinations there are."""
        a, b = self.factor(first), self.factor(second)
        return a.code.astype(np.int64) * len(b.levels) + b.code, len(a.levels) * len(b.levels)

    @property
    def balanced(self) -> bool:
        """Whether every combination of levels has the same number of rows."""
        combinations = math.prod(len(factor.levels) for factor in self.factors.values())
        if len(self.response) % combinations:
            return False
        place = np.zeros(len(self.response), np.int64)
        for factor in self.factors.values():
            place = place * len(factor.levels) + factor.code
        size = np.bincount(place, minlength=combinations)
        return bool((size == size[0]).all())

    @property
    def model_df(self) -> LongArray:
        """Degrees of freedom of each factor and each interaction."""
        own = {name: len(factor.levels) - 1 for name, factor in self.factors.items()}
        return np.array([*own.values(), *(own[a] * own[b] for a, b in self.interactions)], np.int64)


def _check_names(frame: pl.DataFrame, response: str, factors: Sequence[str], interactions: Sequence[Pair]) -> None:
    for name in (response, *factors):
        if name not in frame.columns:
            raise UnknownNameError("column", name, frame.columns)
    if not factors:
        raise OptionError("an analysis of variance needs a factor")
    if len({response, *factors}) <= len(factors):
        raise OptionError(f"response and factors must be different columns, not {list_names([response, *factors])}")
    for pair in interactions:
        for name in pair:
            if name not in factors:
                raise UnknownNameError("factor", name, factors)
    if len({frozenset(pair) for pair in interactions if pair[0] != pair[1]}) < len(interactions):
        raise OptionError("an interaction is of two different factors, and given once")


def _read_response(column: pl.Series) -> FloatArray:
    if not column.dtype.is_numeric():
        raise DataError(f"response '{column.name}' holds {column.dtype}, not numbers")
    value = column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    bad = int((~np.isfinite(value)).sum())
    if bad:
        raise DataError(
            f"response '{column.name}' has no finite value in {counted(bad, 'row')} of {len(value):,}; "
            "find out why, or drop these rows (then the design is unbalanced)"
        )
    if len(value) and value.min() == value.max():
        raise DataError(f"response '{column.name}' is {value[0]:g} in all rows: there is no variance to analyse")
    return value
