"""Factors and their levels as a design, and models fitted to unbalanced ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.comparison.notes import tell
from karatage.data.axes import Coded, FloatArray, IntArray, LongArray, freeze, locate
from karatage.data.note import Note
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.text import counted, list_names

if TYPE_CHECKING:
    from statsmodels.regression.linear_model import RegressionResults

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
    notes: tuple[Note, ...]

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
        notes = tuple(tell("one-level", factor=name, level=str(found[name].levels[0])) for name in alone)
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Effect:
    """The marginal means of a factor: the mean at each level, all levels of the other factors with equal weights."""

    levels: tuple[str, ...]
    mean: FloatArray  # (level,)
    size: LongArray  # (level,) rows
    covariance: FloatArray  # (level, level) of the means, in units of the error's mean square

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.mean, self.size, self.covariance)


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """What a model explains, and what it leaves."""

    ss: FloatArray  # (source,) factors, then interactions
    error_ss: float
    effects: Mapping[str, Effect]

    def __post_init__(self) -> None:
        """Protect the array."""
        freeze(self.ss)


def fit_closed(design: Design) -> Fit:
    """Of a balanced design, where effects are orthogonal: each is a table of means, less the tables within it."""
    centre = float(design.response.mean())
    centred = design.response - centre
    left = centred.copy()
    ss, own, effects = [], {}, {}
    for name, factor in design.factors.items():
        size = factor.size
        own[name] = np.bincount(factor.code, centred, len(size)) / size
        left -= own[name][factor.code]
        ss.append(float((size * own[name] ** 2).sum()))
        effects[name] = Effect(levels=factor.levels, mean=own[name] + centre, size=size, covariance=np.diag(1 / size))
    for a, b in design.interactions:
        cell, cells = design.cells(a, b)
        size = np.bincount(cell, minlength=cells)
        joint = np.bincount(cell, centred, cells) / size - np.add.outer(own[a], own[b]).ravel()
        left -= joint[cell]
        ss.append(float((size * joint**2).sum()))
    return Fit(ss=np.array(ss), error_ss=float((left**2).sum()), effects=effects)


def fit_unbalanced(design: Design) -> Fit:
    """Least squares on effects that sum to zero; a source's sum of squares is of type III, its Wald test's."""
    try:
        from statsmodels.regression.linear_model import OLS
    except ImportError:
        raise OptionError(
            "combinations of levels have different numbers of rows, which needs statsmodels: "
            "pip install 'karatage[anova]', or give every combination as many rows"
        ) from None
    _check_cells(design)
    blocks = {name: _contrasts(factor)[factor.code] for name, factor in design.factors.items()}
    joint = [
        (blocks[a][:, :, None] * blocks[b][:, None, :]).reshape(len(blocks[a]), -1) for a, b in design.interactions
    ]
    columns = [np.ones((len(design.response), 1)), *blocks.values(), *joint]
    matrix = np.hstack(columns)
    rank = int(np.linalg.matrix_rank(matrix))
    if rank < matrix.shape[1]:
        raise DataError(
            f"factors overlap: {matrix.shape[1]} effects, of which only {rank} can be estimated; "
            "leave out a factor that others already determine"
        )
    fitted = OLS(design.response, matrix).fit()
    ends = np.cumsum([block.shape[1] for block in columns])
    slots = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    effects = {
        name: _marginal_means(fitted, factor, slot)
        for (name, factor), slot in zip(design.factors.items(), slots, strict=False)
    }
    return Fit(ss=np.array([_explained(fitted, slot) for slot in slots]), error_ss=float(fitted.ssr), effects=effects)


def _explained(fitted: RegressionResults, slot: slice) -> float:
    """How much the sum of squares grows when the coefficients in `slot` are held at zero."""
    value = fitted.params[slot]
    covariance = fitted.normalized_cov_params[slot, slot]
    return float(value @ np.linalg.solve(covariance, value))


def _marginal_means(fitted: RegressionResults, factor: Factor, slot: slice) -> Effect:
    """Intercept and own effect: all others sum to zero over the levels."""
    weight = np.zeros((len(factor.levels), len(fitted.params)))
    weight[:, 0] = 1.0
    weight[:, slot] = _contrasts(factor)
    covariance = weight @ fitted.normalized_cov_params @ weight.T
    return Effect(levels=factor.levels, mean=weight @ fitted.params, size=factor.size, covariance=covariance)


def _contrasts(factor: Factor) -> FloatArray:
    """(level, level - 1) the last level's effect is minus the sum of the others'."""
    levels = len(factor.levels)
    return np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])


def _check_cells(design: Design) -> None:
    for a, b in design.interactions:
        cell, cells = design.cells(a, b)
        empty = np.flatnonzero(np.bincount(cell, minlength=cells) == 0)
        if len(empty):
            i, j = divmod(int(empty[0]), len(design.factors[b].levels))
            first = f"'{design.factors[a].levels[i]}' with '{design.factors[b].levels[j]}'"
            raise DataError(
                f"{len(empty)} of {cells} combinations of '{a}' and '{b}' have no row ({first}), "
                "so that their interaction cannot be estimated; leave it out, or these levels"
            )
