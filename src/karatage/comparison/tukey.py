"""Tukey's test of honestly significant differences: all levels of a factor against each other, [AWARE17] (30)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from karatage.comparison.anova import Anova
from karatage.comparison.studentised import quantile, survival, survival_of_many
from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.result import Shown
from karatage.errors import OptionError, UnknownNameError
from karatage.kernels.multiplicity import letters
from karatage.text import counted, list_names

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
    notes: tuple[str, ...]

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
        tables = {"levels": self.to_frame().to_dicts(), "pairs": self.pairs().to_dicts(), "notes": self.notes}
        return json.dumps({**facts, **tables, "sentence": self.sentence}, ensure_ascii=False)


def tukey(
    result: Anova, factor: str, *, level: float = 0.05, lower_is_better: bool = False, freedom: Freedom = "error"
) -> Tukey:
    """Compare all pairs of a factor's marginal means, with at most `level` chance of any false difference.

    Args:
        result: The analysis of variance, whose error is the yardstick.
        factor: One of its factors.
        level: Probability that any two equal levels are called different.
        lower_is_better: The best level has the lowest mean, as for RMSE; decides order and top group, not who differs.
        freedom: Degrees of freedom of the studentised range: the `error`'s, which is how the error's mean square is
            distributed, or N less the number of levels, as the `paper` prints; with one factor these are the same.
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
    notes = result.notes
    if np.ptp(margin[first, second]) > 1e-9 * margin[0, 1]:
        notes += ("levels have means of different precision: comparison intervals are approximate, p-values are not",)
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
        notes=notes,
    )


def _share_margins(margin: FloatArray) -> FloatArray:
    """Half-widths whose sums in pairs come nearest to the margins: exactly half of them where they are all equal."""
    levels = len(margin)
    if levels == 2:
        return np.full(2, margin[0, 1] / 2)
    total = margin.sum(axis=1) - np.diag(margin)
    return np.asarray(((levels - 1) * total - total.sum() / 2) / ((levels - 1) * (levels - 2)))
