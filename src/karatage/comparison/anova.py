"""Analysis of variance: which factors a score depends on, and how much, [AWARE17] (28), (29) and (31)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.comparison.design import Design, Effect, Fit, Pair, fit_closed, fit_unbalanced
from karatage.comparison.notes import tell
from karatage.data.axes import FloatArray, LongArray
from karatage.data.codec import unstructure
from karatage.data.note import Note
from karatage.data.result import Shown
from karatage.errors import DataError, OptionError
from karatage.text import counted

CONFIDENCE = 0.95
LEVEL = 0.05
SIZES = {"large": 0.14, "medium": 0.06, "small": 0.01}  # of omega squared, from
FEW = 10  # degrees of freedom for error
ROUNDING = 16 * float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Anova(Shown):
    """An ANOVA table, and the means behind it."""

    design: Design
    balanced: bool
    fit: Fit
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
    """[AWARE17] (29): the share of variance due to a source, the other sources left aside; 0 where negative.

    From 0.01 an effect is called small, from 0.06 medium, from 0.14 large.

    >>> round(omega_squared(33, 171.8716, 5916), 4)
    0.488
    """
    excess = max(0.0, df * (f - 1))
    return excess / (excess + rows)


def anova(frame: pl.DataFrame, response: str, *, factors: Sequence[str], interactions: Sequence[Pair] = ()) -> Anova:
    """Explain `response` by factors and interactions of two.

    A repeated-measures design such as [AWARE17] (28) is a factor for the subject (there the size of the k-tuple) that
    enters no interaction; its omega squared is computed too, though the paper prints none.

    Args:
        frame: One row for each observation.
        response: The column to explain.
        factors: Columns with levels; numbers count as levels, too.
        interactions: Pairs of factors whose joint effect may be more than the sum of the single effects.

    Returns:
        The table and the marginal means. A balanced design (as many rows in every combination of levels) has a closed
        form, as has a single factor. Any other is fitted by statsmodels, with sums of squares of type III: they test
        whether marginal means with equal weights are equal, for any number of rows behind each, and these are the
        means that are drawn and that `tukey` compares; type II weights by rows where factors interact.
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
