"""Scores of systems by every judge, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import counted
from karatage.views.evaluation_charts import MOST, frame_systems
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.data.scores import Scores


def tabulate_systems(scores: Scores) -> Table:
    """Systems from best to worst: what judges make of them, and how many rank them first."""
    frame = frame_systems(scores)
    if len(scores.judges) == 1:
        shown = frame.select(
            "system", pl.col("value").alias("score"), (pl.col("high") - pl.col("value")).alias("± s.e.")
        )
    else:
        columns = {"value": "median", "low": "lowest", "high": "highest", "best": "first for"}
        shown = frame.select("system", *columns).rename(columns)
    told = f"{counted(len(scores.judges), 'judge')}, {counted(len(scores.topics), 'topic')}"
    return Table(shown, f"{scores.measure}, {told}", name="systems", about="system")


def tabulate_judges(scores: Scores) -> Table:
    """Systems by judges: means over topics, as far as there is room for judges."""
    mean = scores.mean
    columns = {f"judge-{j}": pl.Series(mean[j]).fill_nan(None) for j in range(min(len(scores.judges), MOST))}
    frame = pl.DataFrame({"system": pl.Series(scores.systems, dtype=pl.String), **columns})
    order = frame_systems(scores)["system"]
    places = pl.DataFrame({"system": order}).join(frame, on="system", how="left", maintain_order="left")
    headers = {f"judge-{j}": scores.judges[j] for j in range(len(columns))}
    return Table(places, f"{scores.measure} by judge", name="scores-by-judge", about="system", headers=headers)
