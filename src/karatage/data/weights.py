"""What each judge weighs in a merged score, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.checks import NEAR, require_known, require_names, require_numbers, require_shape
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, shorten

CLASSES = {"und": "5 % relevant at random", "uni": "a coin", "ovr": "95 % relevant at random"}


@dataclass(frozen=True, eq=False, kw_only=True)
class Weights(Result, kind="weights"):
    """Shares of the judges in the scores by one approach and measure, with the distances they come from.

    A distance to a class of random judges, or to the judge's own grades shuffled, is 0 where the two cannot be told
    apart; `gold` is 1 where a judge's scores are gold's. Where judges weigh differently by topic, means are given.
    """

    approach: str
    measure: str
    judges: tuple[str, ...]
    topics: tuple[str, ...]
    share: FloatArray  # (judge, topic), summing to 1 over judges
    present: BoolArray  # (judge, topic) where a judge has scores
    gap: str
    distance: Mapping[str, FloatArray] = field(default_factory=dict)  # class, or `gold` -> (judge,); NaN = unknown
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse weights that are no shares and distances that are not known here, and protect the arrays."""
        require_names("judges", self.judges)
        require_names("topics", self.topics)
        shape = len(self.judges), len(self.topics)
        require_shape("share", self.share, *shape)
        require_shape("present", self.present, *shape)
        require_numbers("share", self.share, 0, 1)
        total = self.share.sum(axis=0)
        if not (np.isclose(total, 1, atol=NEAR) | (total == 0)).all() or self.share[~self.present].any():
            raise DataError("share: the weights of a topic's judges do not sum to 1, or a judge without scores has one")
        if len(self.distance) > 1 or not self.distance.keys() <= {"gold", "own"}:
            require_known("distance", self.distance, CLASSES, "classes of random judges")
        for name, values in self.distance.items():
            require_shape(f"distance.{name}", values, len(self.judges))
            require_numbers(f"distance.{name}", values, -1 if name == "gold" else 0, unknown=True)
        freeze(self.share, self.present, *self.distance.values())

    def on_topics(self, kept: LongArray) -> Weights:
        """The same on some topics only."""
        topics = tuple(self.topics[t] for t in kept)
        return replace(self, topics=topics, share=self.share[:, kept], present=self.present[:, kept])

    @property
    def mean(self) -> FloatArray:
        """Mean share of each judge over the topics it has scores on, 0 where there are none."""
        mean: FloatArray = self.share.sum(axis=1) / np.maximum(self.present.sum(axis=1), 1)
        return mean

    @property
    def nearest(self) -> tuple[str | None, ...]:
        """The class of random judges that each judge is nearest to; None where there is no distance."""
        names = list(self.distance)
        if not names or names == ["gold"]:
            return (None,) * len(self.judges)
        table = np.stack([self.distance[name] for name in names])
        return tuple(names[int(np.nanargmin(column))] if np.isfinite(column).any() else None for column in table.T)

    def to_frame(self) -> pl.DataFrame:
        """One row per judge from the heaviest to the lightest."""
        there = np.where(self.present, self.share, np.nan)
        seen = self.present.any(axis=1)
        low, high = (np.full(len(self.judges), np.nan) for _ in range(2))
        low[seen], high[seen] = np.nanmin(there[seen], axis=1), np.nanmax(there[seen], axis=1)
        columns: dict[str, object] = {
            "measure": [self.measure] * len(self.judges),
            "approach": [self.approach] * len(self.judges),
            "judge": self.judges,
            "weight": self.mean,
            "lowest": low,
            "highest": high,
            "topics": self.present.sum(axis=1),
            "nearest": self.nearest,
        }
        columns |= {f"{self.gap}_{name}": values for name, values in self.distance.items()}
        frame = pl.DataFrame(columns, schema_overrides={"nearest": pl.String}).fill_nan(None)
        return frame.sort("weight", "judge", descending=[True, False])

    @property
    def sentence(self) -> str:
        """What to take away."""
        heaviest, *_ = self.explain()
        return f"By {self.approach} on {self.measure}, of {counted(len(self.judges), 'judge')} most weighs {heaviest}."

    def explain(self) -> list[str]:
        """A line for each judge, from the heaviest to the lightest, that says why it weighs what it does."""
        return [self._explain(row) for row in self.to_frame().iter_rows(named=True)]

    def _explain(self, row: dict[str, object]) -> str:
        judge, weight = shorten(str(row["judge"]), 32), row["weight"]
        spread = "" if row["lowest"] == row["highest"] else f" ({row['lowest']:.3f}-{row['highest']:.3f} by topic)"
        text = f"{judge}: weight {weight:.3f}{spread}"
        if not row["topics"]:
            return f"{judge}: no weight, since it has no scores"
        if not weight:
            return f"{judge}: no weight, since it tells no systems apart"
        known = {name: row[f"{self.gap}_{name}"] for name in self.distance}
        if list(known) == ["gold"]:
            near = known["gold"]
            if near is None:
                return f"{text}, the mean: no training topic in common with gold"
            return f"{text}; closeness to gold by {self.gap} {near:.3f}"
        if row["nearest"] is None:
            return text
        if list(known) == ["own"]:
            return f"{text}; {self.gap} gap to its own grades shuffled {known['own']:.3f}"
        nearest = str(row["nearest"])
        others = ", ".join(
            f"{name} {value:.3f}" for name, value in known.items() if name != nearest and value is not None
        )
        return f"{text}; nearest to {CLASSES[nearest]}: {self.gap} gap {known[nearest]:.3f} ({others})"
