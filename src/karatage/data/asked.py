"""A queue as its judges get it: which document is asked of whom."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from karatage.data.axes import BoolArray, IntArray, freeze


@dataclass(frozen=True, eq=False, kw_only=True)
class AskedQueue:
    """Rows of a queue file, in the file's order and under its own column names."""

    source: str  # as shown in messages
    frame: pl.DataFrame
    topic: pl.Series
    document: pl.Series
    expert: BoolArray  # (row,) asked of an expert; the others are asked of the crowd
    judgments: IntArray  # (row,) how many the crowd is asked for; 0 where the file does not say
    batch: int | None  # the first that is asked of the crowd; None where the file has no batches
    grade: str  # the column for the grade; it need not be there yet

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.expert, self.judgments)
