"""How gold items were chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

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

    def take(self, rows: LongArray | BoolArray) -> Draw:
        """The same for some of the rows."""
        return replace(self, pi=self.pi[rows], batch=self.batch[rows])
