"""How gold items were chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from karatage.data.axes import BoolArray, FloatArray, IntArray, LongArray, freeze


@dataclass(frozen=True, eq=False, kw_only=True)
class Draw:
    """The chance with which each graded item was drawn, one row each.

    Items come in batches: `pi` is the chance to be drawn in that batch, given what the earlier ones had drawn.
    """

    pi: FloatArray  # (row,) in (0, 1]
    batch: IntArray  # (row,) from 1
    measure: str | None = None  # for which the items were chosen
    frame: str | None = None  # fingerprint of the items that could have been drawn

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.pi, self.batch)

    def to_columns(self) -> list[pl.Series]:
        """As in a queue's file; what was never said is left out."""
        columns = [pl.Series("pi", self.pi)]
        if self.frame is not None or (self.batch != 1).any():
            columns.append(pl.Series("batch", self.batch))
        said = {"measure": self.measure, "frame": self.frame}
        return columns + [pl.Series(name, [text] * len(self.pi)) for name, text in said.items() if text is not None]

    def take(self, rows: LongArray | BoolArray) -> Draw:
        """The same for some of the rows."""
        return replace(self, pi=self.pi[rows], batch=self.batch[rows])
