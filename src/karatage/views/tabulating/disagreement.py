"""Models of disagreement, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.disagreement import DisagreementModel

DIGITS = 3
COLUMNS = {"mean": "mean over topics", "over_topics": "± over topics", "over_splits": "± over splits"}


def tabulate_rates(model: DisagreementModel) -> Table:
    """How predictions fare on held-out items."""
    frame = model.rates.with_columns(pl.col("rate").str.to_uppercase()).rename(COLUMNS)
    return Table(frame, "On held-out items", DIGITS, name="rates")


def tabulate_topics(model: DisagreementModel) -> Table:
    """What was learned on each topic, and which topics taught nothing."""
    frame = model.to_frame()
    rates = [name for name in frame.columns if name in set(model.rates["rate"])]
    names = dict.fromkeys(["topic", "items", "disagreed", "intercept", *model.features, *rates, "dropped"])
    headers = {name: name.replace("_", " ") for name in model.features} | {name: name.upper() for name in rates}
    return Table(frame.select(list(names)), "Topics", DIGITS, name="topics", headers=headers)
