"""Analysis of variance: which factors a score depends on, and how much, [AWARE17] (28), (29) and (31)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.comparison.notes import tell
from karatage.data.axes import Coded, FloatArray, IntArray, LongArray, freeze, locate
from karatage.data.codec import unstructure
from karatage.data.display import Shown
from karatage.data.note import Note
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.text import counted, list_names

if TYPE_CHECKING:
    from statsmodels.regression.linear_model import RegressionResults

Pair = tuple[str, str]
CONFIDENCE = 0.95
LEVEL = 0.05
SIZES = {"large": 0.14, "medium": 0.06, "small": 0.01}  # of omega squared, from
FEW = 10  # degrees of freedom for error
ROUNDING = 16 * float(np.finfo(float).eps)


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
class ModelFit:
    """What a model explains, and what it leaves."""

    ss: FloatArray  # (source,) factors, then interactions
    error_ss: float
    effects: Mapping[str, Effect]

    def __post_init__(self) -> None:
        """Protect the array."""
        freeze(self.ss)


def fit_closed(design: Design) -> ModelFit:
    """Of a balanced design, where effects are orthogonal: each is a table of means, minus the tables within it."""
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
    return ModelFit(ss=np.array(ss), error_ss=float((left**2).sum()), effects=effects)


def fit_unbalanced(design: Design) -> ModelFit:
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
            f"factors are confounded: {matrix.shape[1]} effects, of which only {rank} can be estimated; "
            "leave out a factor that others already determine"
        )
    fitted = OLS(design.response, matrix).fit()
    ends = np.cumsum([block.shape[1] for block in columns])
    slots = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    effects = {
        name: _marginal_means(fitted, factor, slot)
        for (name, factor), slot in zip(design.factors.items(), slots, strict=False)
    }
    return ModelFit(
        ss=np.array([_explained(fitted, slot) for slot in slots]), error_ss=float(fitted.ssr), effects=effects
    )


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


@dataclass(frozen=True, eq=False, kw_only=True)
class Anova(Shown):
    """An ANOVA table, and the means behind it."""

    design: Design
    balanced: bool
    fit: ModelFit
    notes: tuple[Note, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Factors, then interactions."""
        return (*self.design.factors, *(f"{a}*{b}" for a, b in self.design.interactions))

    @property
    def rows(self) -> int:
        """All observations."""
        return len(self.design.response)

    @property
    def df(self) -> LongArray:
        """Degrees of freedom of each source."""
        return self.design.model_df

    @property
    def error_df(self) -> int:
        """Degrees of freedom left for error."""
        return self.rows - 1 - int(self.df.sum())

    @property
    def error_ms(self) -> float:
        """Mean square of the error: the variance that the model leaves."""
        return self.fit.error_ss / self.error_df

    @property
    def f(self) -> FloatArray:
        """Mean square of each source over the error's."""
        return np.asarray(self.fit.ss / self.df / self.error_ms)

    @property
    def p_value(self) -> FloatArray:
        """Probability of such an F by chance."""
        from scipy.special import fdtrc

        return np.asarray(fdtrc(self.df, self.error_df, self.f))

    def effect(self, factor: str) -> Effect:
        """A factor's marginal means as arrays."""
        return self.fit.effects[self.design.factor(factor).name]

    def means(self, factor: str, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
        """Marginal means: level, mean, size, low, high, with t intervals from the error's mean square."""
        effect = self.effect(factor)
        half = self._half_width(np.diag(effect.covariance), confidence)
        return pl.DataFrame(
            {
                "level": pl.Series(effect.levels, dtype=pl.String),
                "mean": effect.mean,
                "size": effect.size,
                "low": effect.mean - half,
                "high": effect.mean + half,
            }
        )

    def cell_means(self, first: str, second: str, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
        """Plain means of the rows of each combination of two factors, in the model or not: first, second, mean, ..."""
        a, b = self.design.factor(first), self.design.factor(second)
        cell, cells = self.design.cells(first, second)
        size = np.bincount(cell, minlength=cells)
        has = np.flatnonzero(size)
        mean = np.bincount(cell, self.design.response, cells)[has] / size[has]
        half = self._half_width(1 / size[has], confidence)
        return pl.DataFrame(
            {
                "first": pl.Series(a.levels, dtype=pl.String).gather(has // len(b.levels)),
                "second": pl.Series(b.levels, dtype=pl.String).gather(has % len(b.levels)),
                "mean": mean,
                "size": size[has],
                "low": mean - half,
                "high": mean + half,
            }
        )

    def to_frame(self) -> pl.DataFrame:
        """The table: source, ss, df, ms, f, p_value, omega_squared; null where a row has none."""
        omega = [omega_squared(df, f, self.rows) for df, f in zip(self.df.tolist(), self.f.tolist(), strict=True)]
        return pl.DataFrame(
            {
                "source": [*self.sources, "error", "total"],
                "ss": [*self.fit.ss.tolist(), self.fit.error_ss, self._total_ss()],
                "df": [*self.df.tolist(), self.error_df, self.rows - 1],
                "ms": [*(self.fit.ss / self.df).tolist(), self.error_ms, None],
                "f": [*self.f.tolist(), None, None],
                "p_value": [*self.p_value.tolist(), None, None],
                "omega_squared": [*omega, None, None],
            }
        )

    @property
    def sentence(self) -> str:
        """What to take away."""
        found = self.to_frame().drop_nulls("omega_squared").sort("omega_squared", descending=True, maintain_order=True)
        sure = found.filter(pl.col("p_value") < LEVEL)
        sources = f"{len(sure):,} of {counted(len(found), 'source')} at level {LEVEL:g}"
        if sure.is_empty():
            none = f"does not depend significantly on {counted(len(found), 'source')}"
            return f"{self.design.name} {none} (level {LEVEL:g})."
        source, omega = sure.select("source", "omega_squared").row(0)
        return (
            f"{self.design.name} depends on {sources}, most on {source}, an effect that is {_name_size(omega)} (omega "
            f"squared {omega:.3f})."
        )

    def to_json(self) -> str:
        """Table, marginal means and notes as JSON."""
        means = {name: self.means(name).to_dicts() for name in self.fit.effects}
        table = {"response": self.design.name, "balanced": self.balanced, "table": self.to_frame().to_dicts()}
        return json.dumps(
            {**table, "means": means, "notes": unstructure(self.notes), "sentence": self.sentence}, ensure_ascii=False
        )

    def _total_ss(self) -> float:
        return float(((self.design.response - self.design.response.mean()) ** 2).sum())

    def _half_width(self, variance: FloatArray, confidence: float) -> FloatArray:
        from scipy.special import stdtrit

        if not 0 < confidence < 1:
            raise OptionError(f"confidence lies between 0 and 1, not at {confidence}")
        return np.asarray(stdtrit(self.error_df, (1 + confidence) / 2) * np.sqrt(variance * self.error_ms))


def _name_size(omega: float) -> str:
    return next((name for name, least in SIZES.items() if omega >= least), "tiny")


def omega_squared(df: float, f: float, rows: int) -> float:
    """[AWARE17] (29): the share of variance due to a source, without the other sources; 0 where negative.

    From 0.01 an effect is called small, from 0.06 medium, from 0.14 large.

    >>> round(omega_squared(33, 171.8716, 5916), 4)
    0.488
    """
    excess = max(0.0, df * (f - 1))
    return excess / (excess + rows)


def anova(frame: pl.DataFrame, response: str, *, factors: Sequence[str], interactions: Sequence[Pair] = ()) -> Anova:
    """Explain `response` by factors and interactions of two.

    A repeated-measures design such as [AWARE17] (28) is a factor for the subject (there the size of the k-tuple)
    without interactions. Its omega squared is computed too, though the paper prints none.

    Args:
        frame: One row for each observation.
        response: The column to explain.
        factors: Columns with levels; numbers count as levels, too.
        interactions: Pairs of factors whose joint effect may be more than the sum of the single effects.

    Returns:
        The table and the marginal means. A balanced design (as many rows in every combination of levels) has a closed
        form, as has a single factor. Any other is fitted by statsmodels, with sums of squares of type III. They test
        whether marginal means with equal weights are equal, for any numbers of rows; charts and `tukey` show these
        means. Type II weights by rows where factors interact.
    """
    design = Design.of(frame, response, factors, interactions)
    spent = int(design.model_df.sum())
    if len(design.response) - 1 <= spent:
        raise DataError(
            f"{counted(len(design.response), 'row')} leave no error to test {counted(spent, 'degree')} of freedom "
            "against; leave out interactions, or repeat observations"
        )
    closed = design.balanced or len(design.factors) == 1
    fit = fit_closed(design) if closed else fit_unbalanced(design)
    if fit.error_ss <= len(design.response) * (ROUNDING * float(np.abs(design.response).max())) ** 2:
        raise DataError(f"the factors explain '{response}' to the last digit: there is no error to test them against")
    result = Anova(design=design, balanced=design.balanced, fit=fit, notes=design.notes)
    few = tell.when(result.error_df < FEW, "few-degrees", degrees=result.error_df)
    return replace(result, notes=(*design.notes, *tell.when(not closed, "unbalanced"), *few))
