"""How judges answer, as far as a gold sample tells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, freeze
from karatage.data.checks import NEAR, SLACK, require_equal, require_names, require_numbers, require_shape
from karatage.data.choices import CONFIDENCE
from karatage.data.estimate import wilson_interval
from karatage.data.result import Shown
from karatage.errors import DataError


@dataclass(frozen=True, eq=False, kw_only=True)
class Accuracy(Shown):
    """What the judges said of gold items, by what gold says: kinds of grades that gain alike count as one.

    Where items were drawn with known probabilities, `share` weighs each by its inverse, and `size` is how many items of
    equal weight a kind is worth.
    """

    derived = ("condition", "rows")

    kinds: tuple[str, ...]  # lowest gain first
    count: FloatArray  # (gold, said) items
    share: FloatArray  # (gold, said) rows sum to one
    size: FloatArray  # (gold,)

    def __post_init__(self) -> None:
        """Refuse what no gold sample counts, and protect the arrays."""
        kinds = len(self.kinds)
        require_names("accuracy: kinds", self.kinds)
        for array in (self.count, self.share):
            require_shape("accuracy", array, kinds, kinds)
        require_shape("accuracy_sizes", self.size, kinds)
        require_numbers("accuracy: items", self.count, 0)
        require_numbers("accuracy: share", self.share, 0, 1, unknown=True)
        require_numbers("accuracy_sizes", self.size, 0)
        if (self.count % 1).any():
            raise DataError("accuracy: items are not whole numbers")
        items = self.count.sum(axis=1)
        require_equal("accuracy: the sum of shares", self.share.sum(axis=1), np.where(items > 0, 1.0, np.nan))
        if ((self.count == 0) & (self.share > SLACK)).any() or (self.size > items * (1 + NEAR)).any():
            raise DataError("accuracy: shares or sizes do not follow from the items")
        freeze(self.count, self.share, self.size)

    @property
    def items(self) -> int:
        """Gold items that tell of the judges."""
        return int(self.count.sum())

    @property
    def binary(self) -> bool:
        """Whether items are relevant or not, and nothing else."""
        return len(self.kinds) == 2

    @property
    def m_r(self) -> float:
        """How often judges are right about relevant items."""
        return float(self.share[-1, -1])

    @property
    def m_n(self) -> float:
        """How often judges are right about items that are not relevant."""
        return float(self.share[0, 0])

    @property
    def d(self) -> float:
        """[NOISY18]'s denominator: 1 for perfect judges, 0 for coins."""
        return self.m_r + self.m_n - 1

    @property
    def condition(self) -> float:
        """The condition number of the confusion matrix: how much inverting it magnifies errors."""
        return float(np.linalg.cond(self.share))

    def to_frame(self, *, confidence: float = CONFIDENCE) -> pl.DataFrame:
        """One row per pair of kinds: how often judges say one of items that are the other, with Wilson's interval."""
        gold, said = np.indices(self.share.shape).reshape(2, -1)
        low, high = wilson_interval(self.share * self.size[:, None], self.size[:, None], confidence=confidence)
        names = pl.Series(self.kinds, dtype=pl.String)
        return pl.DataFrame(
            {
                "gold": names.gather(gold),
                "said": names.gather(said),
                "items": self.count.ravel().astype(np.int64),
                "share": self.share.ravel(),
                "low": low.ravel(),
                "high": high.ravel(),
            }
        )

    @property
    def rows(self) -> pl.DataFrame:
        """The same, as it is written into JSON."""
        return self.to_frame()

    @property
    def sentence(self) -> str:
        """What to take away."""
        rows = self.count.sum(axis=1).astype(int)
        known = [g for g in range(len(self.kinds)) if rows[g]]
        if self.binary and len(known) == 2:
            low, high = wilson_interval(np.diag(self.share) * self.size, self.size)
            parts = [
                f"{self.share[g, g]:.1%} of {rows[g]:,} {self.kinds[g]} items ({low[g]:.1%} to {high[g]:.1%})"
                for g in (1, 0)
            ]
            return f"the judges are right about {parts[0]} and {parts[1]}"
        shown = ", ".join(f"{self.share[g, g]:.0%} of {rows[g]:,} items with {self.kinds[g]}" for g in known)
        return f"the judges are right about {shown}"
