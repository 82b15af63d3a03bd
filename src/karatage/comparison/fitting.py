"""Sums of squares and marginal means of a design: a closed form where it is balanced, least squares where not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karatage.comparison.design import Design, Factor
from karatage.data.axes import FloatArray, LongArray, freeze
from karatage.errors import DataError, OptionError

if TYPE_CHECKING:
    from statsmodels.regression.linear_model import RegressionResults


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
