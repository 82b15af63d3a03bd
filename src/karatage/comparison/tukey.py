"""Tukey's test of all pairs of levels, with the studentised range."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from karatage.comparison.anova import Anova
from karatage.comparison.notes import tell
from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.codec import unstructure
from karatage.data.display import Shown
from karatage.data.note import Note
from karatage.errors import OptionError, UnknownNameError
from karatage.kernels.multiplicity import AROUND, EDGE, FARTHEST, letters, range_above, studentised_above
from karatage.text import counted, list_names

STEP = 0.1
LEAST = -42.0  # log of the chance that the highest lies below the first point
NODES = 513
NIL = 1e-100  # a table calls what is less likely 0
LARGEST = 1e150


def survival(q: ArrayLike, groups: int, df: float) -> FloatArray:
    """P(Q > q) for each q, to about 1e-13 of its value; `df` may be infinite.

    >>> survival([3.5, 5.0], 3, 10).round(6).tolist()
    [0.077103, 0.013616]
    """
    _check(groups, df)
    values = np.asarray(q, float)
    if not (values >= 0).all():
        raise OptionError("a studentised range is a number from 0")
    flat = np.minimum(values.ravel(), LARGEST)
    out = np.empty(flat.shape)
    point, below, weight = _highest(groups)
    if math.isinf(df):
        for i, x in enumerate(flat):
            out[i] = range_above(float(x), groups, point, below, weight)
    else:
        studentised_above(flat, groups, float(df), point, below, weight, out)
    return np.where(np.isinf(values), 0.0, out.reshape(values.shape))


@lru_cache(maxsize=256)
def quantile(level: float, groups: int, df: float) -> float:
    """The q that is exceeded with probability `level`: the critical value of a test at that level.

    >>> round(quantile(0.05, 3, 10), 4)
    3.8768
    """
    from scipy.optimize import brentq

    if not NIL <= level < 1:
        raise OptionError(f"a level lies between 0 and 1, not at {level}")

    def excess(stretched: float) -> float:
        return math.log(max(float(survival(math.sinh(stretched), groups, df)), 1e-300)) - math.log(level)

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return math.sinh(brentq(excess, 0.0, high, xtol=1e-14, rtol=1e-14))


def survival_of_many(q: ArrayLike, groups: int, df: float) -> FloatArray:
    """The same as `survival`, for thousands of q, from a table: within 1e-7 of its value, falling in q, 0 below 1e-100.

    A cubic through the logs, its slopes held to where it cannot turn [FC80].
    """
    from scipy.interpolate import CubicHermiteSpline, CubicSpline

    values = np.asarray(q, float)
    largest = float(values.max(initial=0.0))
    if survival(largest, groups, df) < NIL:
        largest = quantile(NIL, groups, df)
    if largest == 0:
        return np.ones(values.shape)
    place = np.linspace(0.0, math.asinh(largest), NODES)
    height = np.log(survival(np.sinh(place), groups, df))
    secant = np.diff(height) / np.diff(place)
    steepest = 3 * np.maximum(np.append(secant, secant[-1]), np.insert(secant, 0, secant[0]))
    slope = CubicSpline(place, height)(place, 1).clip(steepest, 0.0)
    found = np.exp(CubicHermiteSpline(place, height, slope)(np.arcsinh(np.minimum(values, largest))))
    return np.where(values > largest, 0.0, np.minimum(found, 1.0))


def _highest(groups: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Points, the normal distribution function, and the density of the highest of the groups times the step."""
    from scipy.special import log_ndtr, ndtr

    z = np.arange(round(-EDGE / STEP), round((FARTHEST / 2 + AROUND) / STEP) + 1) * STEP
    z = z[groups * log_ndtr(z) > LEAST]
    log_density = math.log(groups) - z * z / 2 - math.log(2 * math.pi) / 2 + (groups - 1) * log_ndtr(z)
    return z, ndtr(z), np.exp(log_density) * STEP


def _check(groups: int, df: float) -> None:
    if groups < 2 or not df >= 1:
        raise OptionError(f"a studentised range is of 2 groups and 1 degree of freedom at least, not {groups} and {df}")


Freedom = Literal["error", "paper"]
FEW_PAIRS = 256  # for more, a table is cheaper


@dataclass(frozen=True, eq=False, kw_only=True)
class Tukey(Shown):
    """Levels of a factor, best first, and which of them differ significantly."""

    response: str
    factor: str
    levels: tuple[str, ...]
    mean: FloatArray  # (level,)
    size: LongArray  # (level,)
    half_width: FloatArray  # (level,) of comparison intervals: levels differ where these do not overlap
    margin: FloatArray  # (level, level) the least difference that is significant
    p_value: FloatArray  # (level, level) adjusted for all pairs; 1 on the diagonal
    level: float
    df: float
    lower_is_better: bool
    notes: tuple[Note, ...]

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.mean, self.size, self.half_width, self.margin, self.p_value)

    @property
    def differs(self) -> BoolArray:
        """(level, level) whether two means are farther apart than chance would have any two of them."""
        return np.asarray(np.abs(np.subtract.outer(self.mean, self.mean)) > self.margin)

    @property
    def top_group(self) -> tuple[str, ...]:
        """The best level and those that are not significantly worse."""
        return self.group_of(self.levels[0])

    def group_of(self, level: str) -> tuple[str, ...]:
        """The levels that do not differ from this one, itself among them, best first."""
        if level not in self.levels:
            raise UnknownNameError(f"level of {self.factor}", level, self.levels)
        apart = self.differs[self.levels.index(level)]
        return tuple(name for name, far in zip(self.levels, apart, strict=True) if not far)

    @property
    def letters(self) -> tuple[str, ...]:
        """A compact display: two levels share a letter exactly when they do not differ; after z comes a2."""
        return letters(self.differs)

    @property
    def sentence(self) -> str:
        """What to take away."""
        tied, others = self.top_group[1:], len(self.levels) - 1
        best = f"{self.levels[0]} is the best {self.factor} with {self.mean[0]:.4f}"
        if not tied:
            every = f"all {others:,} others" if others > 1 else "the other"
            return f"{best}, significantly better than {every} at level {self.level:g}."
        near = f"{counted(len(tied), 'other')} at level {self.level:g}: {list_names(tied)}"
        return f"{best}, not significantly better than {near}."

    def to_frame(self) -> pl.DataFrame:
        """One row per level, best first: level, mean, size, low, high (to compare), letters, top."""
        return pl.DataFrame(
            {
                "level": pl.Series(self.levels, dtype=pl.String),
                "mean": self.mean,
                "size": self.size,
                "low": self.mean - self.half_width,
                "high": self.mean + self.half_width,
                "letters": pl.Series(self.letters, dtype=pl.String),
                "top": ~self.differs[0],
            }
        )

    def pairs(self) -> pl.DataFrame:
        """One row per pair, the better first: the difference of their means, its simultaneous interval, p-value."""
        first, second = np.triu_indices(len(self.levels), 1)
        names = pl.Series(self.levels, dtype=pl.String)
        difference, margin = self.mean[first] - self.mean[second], self.margin[first, second]
        return pl.DataFrame(
            {
                "first": names.gather(first),
                "second": names.gather(second),
                "difference": difference,
                "low": difference - margin,
                "high": difference + margin,
                "p_value": self.p_value[first, second],
                "differs": self.differs[first, second],
            }
        )

    def to_json(self) -> str:
        """Levels, pairs and notes as JSON."""
        facts = {"response": self.response, "factor": self.factor, "level": self.level, "df": self.df}
        tables = {
            "levels": self.to_frame().to_dicts(),
            "pairs": self.pairs().to_dicts(),
            "notes": unstructure(self.notes),
        }
        return json.dumps({**facts, **tables, "sentence": self.sentence}, ensure_ascii=False)


def tukey(
    result: Anova, factor: str, *, level: float = 0.05, lower_is_better: bool = False, freedom: Freedom = "error"
) -> Tukey:
    """Compare all pairs of a factor's marginal means, with a family-wise error rate of `level`.

    Args:
        result: The analysis of variance, whose error mean square is used.
        factor: One of its factors.
        level: Family-wise error rate: the probability of at least one false difference.
        lower_is_better: The best level has the lowest mean, as for RMSE. This sets the order and the top
            group, not which levels differ.
        freedom: Degrees of freedom of the studentised range: those of the `error`'s mean square, or N minus the number
            of levels, as the `paper` prints. With one factor these are the same.
    """
    if freedom not in get_args(Freedom):
        raise OptionError(f"degrees of freedom are the error's or the paper's, not '{freedom}'")
    effect = result.effect(factor)
    order = np.argsort(effect.mean if lower_is_better else -effect.mean, kind="stable")
    mean, covariance = effect.mean[order], effect.covariance[np.ix_(order, order)]
    variance = np.diag(covariance)
    # A range is in units of one mean's standard error: half the variance of the difference of two, [KRA56].
    unit = np.sqrt((np.add.outer(variance, variance) - 2 * covariance) / 2 * result.error_ms)
    df = result.error_df if freedom == "error" else result.rows - len(order)
    margin = unit * quantile(level, len(order), df)
    first, second = np.triu_indices(len(order), 1)
    q = np.abs(mean[first] - mean[second]) / unit[first, second]
    p_value = np.ones((len(order), len(order)))
    p_value[first, second] = (survival if len(q) <= FEW_PAIRS else survival_of_many)(q, len(order), df)
    p_value[second, first] = p_value[first, second]
    uneven = np.ptp(margin[first, second]) > 1e-9 * margin[0, 1]
    return Tukey(
        response=result.design.name,
        factor=factor,
        levels=tuple(effect.levels[i] for i in order),
        mean=mean,
        size=effect.size[order],
        half_width=_share_margins(margin),
        margin=margin,
        p_value=p_value,
        level=level,
        df=df,
        lower_is_better=lower_is_better,
        notes=(*result.notes, *tell.when(uneven, "precision-differs")),
    )


def _share_margins(margin: FloatArray) -> FloatArray:
    """Half-widths whose sums in pairs come nearest to the margins: exactly half of them where they are all equal."""
    levels = len(margin)
    if levels == 2:
        return np.full(2, margin[0, 1] / 2)
    total = margin.sum(axis=1) - np.diag(margin)
    return np.asarray(((levels - 1) * total - total.sum() / 2) / ((levels - 1) * (levels - 2)))
