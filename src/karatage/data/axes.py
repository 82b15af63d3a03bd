"""Axes of arrays: names as integers, coded once when they are read; equal scores; and types of arrays."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
GradeArray = NDArray[np.int8]
BoolArray = NDArray[np.bool_]
HIGHEST_GRADE = 126
MOST_MET = 16  # pairs of lists
_met: dict[tuple[int, int], tuple[weakref.ref[pl.Series], weakref.ref[pl.Series], IntArray]] = {}


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of names: row r is called `names[code[r]]`; names are distinct and sorted."""

    code: IntArray
    names: pl.Series

    @staticmethod
    def of(column: pl.Series | Sequence[str]) -> Coded:
        """Code a column of strings; names in byte order, as trec_eval compares them.

        >>> coded = Coded.of(["b", "a", "b"])
        >>> coded.code.tolist(), coded.names.to_list()
        ([1, 0, 1], ['a', 'b'])
        """
        series = column if isinstance(column, pl.Series) else pl.Series(column, dtype=pl.String)
        names = series.unique().sort().rename("name")
        return Coded(locate(series, names), names)

    @staticmethod
    def sorting(code: IntArray, names: pl.Series) -> Coded:
        """Bring codes over unsorted distinct `names` into sorted order."""
        order = names.arg_sort().to_numpy()
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return Coded(rank[code], names.gather(order))

    @staticmethod
    def constant(name: str, rows: int) -> Coded:
        """One name in every row."""
        return Coded(np.zeros(rows, np.int32), pl.Series([name], dtype=pl.String))

    def in_natural_order(self) -> Coded:
        """The same column, sorted by number where all names are whole numbers: 9 before 10."""
        texts = self.names.to_list()
        if not all(text.isdecimal() and len(text) <= 18 for text in texts):
            return self
        order = np.array(sorted(range(len(texts)), key=lambda k: (int(texts[k]), texts[k])), dtype=np.int64)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return Coded(rank[self.code], self.names.gather(order))


def locate(column: pl.Series, names: pl.Series) -> IntArray:
    """The position of each value of `column` among the distinct `names`, -1 where it is not there."""
    places = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    joined = pl.DataFrame({"name": column}).join(places, on="name", how="left", maintain_order="left")
    return joined["place"].fill_null(-1).to_numpy()


def meet(column: pl.Series, names: pl.Series) -> IntArray:
    """The same, read-only and cached for two lists of documents that are matched repeatedly."""
    key = (id(column), id(names))
    kept = _met.get(key)
    if kept is not None and kept[0]() is column and kept[1]() is names:
        return kept[2]
    found = locate(column, names)
    freeze(found)
    while len(_met) >= MOST_MET:
        _met.pop(next(iter(_met)))
    forget = lambda _: _met.pop(key, None)  # noqa: E731
    _met[key] = (weakref.ref(column, forget), weakref.ref(names, forget), found)
    return found


def freeze(*arrays: NDArray[np.generic]) -> None:
    """Make arrays read-only."""
    for array in arrays:
        array.flags.writeable = False


STEPS = np.pi * 1e10  # in a score of 1


def settle_ties(value: FloatArray) -> FloatArray:
    """Scores in whole steps for ranking, so that equal ones do not differ by rounding errors of sums.

    The size of a step is not a round number, so that no score is likely to be exactly between two steps.
    """
    steps: FloatArray = np.rint(value * STEPS)
    return steps


def mean_over_topics(value: FloatArray) -> FloatArray:
    """Mean over axis 1 without NaN; NaN where there is nothing else."""
    count = np.isfinite(value).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, np.nansum(value, axis=1) / np.maximum(count, 1), np.nan)
