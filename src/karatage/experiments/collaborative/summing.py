"""Means over samples of the collaborative experiment, with the two doubts they have: other crowds, other topics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray
from karatage.data.estimate import CONFIDENCE, t_quantile

ABOVE, BELOW, OPEN = "above", "below", "undecided"
LIMITS = {"tau_ap": 1.0, "gap": 2.0}  # of quantities that have intervals
SPREADS = ("low", "high", "topics_low", "topics_high")


def find_interval(values: FloatArray) -> tuple[float | None, float | None]:
    """A 95 % t interval of the mean over samples; one sample tells nothing."""
    if len(values) < 2:
        return None, None
    half = t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half, float(values.mean()) + half


def find_topic_interval(value: float, errors: Sequence[float | None], topics: int) -> tuple[float | None, float | None]:
    """A 95 % t interval over topics, for one crowd: samples' variances are averaged, not divided by their number."""
    known = [error for error in errors if error is not None]
    if not known or topics < 2:
        return None, None
    half = t_quantile((1 + CONFIDENCE) / 2, topics - 1) * math.sqrt(float(np.square(known).mean()))
    return value - half, value + half


def decide(low: float | None, high: float | None) -> str | None:
    """What an interval of a difference says; nothing where there is none."""
    if low is None or high is None:
        return None
    return ABOVE if low > 0 else BELOW if high < 0 else OPEN


def summarise(
    frame: pl.DataFrame, keys: Sequence[str], quantities: Mapping[str, str | None], topics: int
) -> pl.DataFrame:
    """A row for each group of samples: means of all quantities, and intervals of those that are asked for.

    `quantities` are columns, each with that of its standard error over topics, if it is to have intervals.
    """
    schema = pl.Schema({key: frame.schema[key] for key in keys} | {"samples": pl.Int64()})
    schema |= dict.fromkeys(_name_columns(quantities), pl.Float64())
    rows = []
    for key, group in frame.group_by(keys, maintain_order=True):
        row: list[object] = [*key, len(group)]
        for name, error in quantities.items():
            values = group[name].to_numpy()
            mean = float(values.mean())
            row.append(mean)
            if error is not None:
                ends = [*find_interval(values), *find_topic_interval(mean, group[error].to_list(), topics)]
                row += [end if end is None else min(max(end, -LIMITS[name]), LIMITS[name]) for end in ends]
        rows.append(row)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _name_columns(quantities: Mapping[str, str | None]) -> list[str]:
    return [
        column
        for name, error in quantities.items()
        for column in (name, *(f"{name}_{spread}" for spread in SPREADS if error is not None))
    ]
