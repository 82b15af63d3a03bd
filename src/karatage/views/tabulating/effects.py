"""Tests, analyses of variance and comparisons of all levels, as tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from karatage.text import percent
from karatage.views.tables import Table, keep_finite

if TYPE_CHECKING:
    from karatage.comparison.anova import Anova
    from karatage.comparison.paired import PairedTest
    from karatage.comparison.tukey import Tukey
    from karatage.comparison.unpaired import UnpairedTest

SOURCES = {"ss": 4, "ms": 4, "f": 2, "p_value": 4, "omega_squared": 4}
FOLLOWED = ("system", "judge")  # through all charts
COLUMNS = {"p_value": "p", "omega_squared": "omega squared"}


def tabulate_test(found: PairedTest | UnpairedTest) -> Table:
    """A difference, its interval and how surprising it is."""
    low = f"{percent(found.confidence)} from"
    frame = pl.DataFrame(
        {
            "difference": [found.difference],
            low: [found.low],
            "to": [found.high],
            "statistic": [found.statistic],
            "p": [found.p_value],
        }
    )
    return Table(keep_finite(frame), "Second less first", signed=("difference", low, "to", "statistic"), name="test")


def tabulate_sources(result: Anova) -> Table:
    """The table of an analysis of variance."""
    digits = {COLUMNS.get(name, name): places for name, places in SOURCES.items()}
    caption = f"Analysis of variance of {result.design.name}"
    return Table(result.to_frame().rename(COLUMNS), caption, digits, name="anova")


def tabulate_means(result: Anova, factor: str) -> Table:
    """Marginal means of a factor."""
    means = result.means(factor).rename({"size": "rows", "low": "95% from", "high": "to"})
    return _name_levels(Table(means, f"Marginal means by {factor}", name="means"), factor)


def tabulate_levels(test: Tukey) -> Table:
    """Levels from best to worst; those that share a letter cannot be told apart."""
    frame = test.to_frame().drop("top").rename({"size": "rows", "low": "from", "high": "to"})
    caption = f"{test.response} by {test.factor}; no letter in common: different at level {test.level:g}"
    return _name_levels(Table(frame, caption, name="levels"), test.factor)


def _name_levels(table: Table, factor: str) -> Table:
    """The column of levels goes by the factor's name, which may be that of another column."""
    if factor in FOLLOWED:
        return replace(table, frame=table.frame.rename({"level": factor}), about=factor)
    return replace(table, headers={"level": factor})


def tabulate_level_pairs(test: Tukey) -> Table:
    """Pairs of levels, the better first, surest differences first."""
    names = {"low": "from", "high": "to", "p_value": "p", "differs": "different"}
    frame = test.pairs().sort("p_value", "first", "second").rename(names)
    signed = ("difference", "from", "to")
    return Table(frame, "Pairs, with simultaneous intervals", signed=signed, name="pairs")
