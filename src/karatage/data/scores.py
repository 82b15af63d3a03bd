"""What a measure says of each system on each topic, under each judge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze
from karatage.data.checks import require_names, require_numbers, require_shape
from karatage.data.note import Note
from karatage.data.result import Result
from karatage.text import counted

AXES = ("judge", "topic", "system")
STEPS = np.pi * 1e10  # in a score of 1


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores(Result, kind="scores"):
    """Values of one measure; on the judge axis stand judges, replicates or approaches."""

    measure: str
    judges: tuple[str, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    value: FloatArray  # (judge, topic, system), NaN where there is none
    judged: BoolArray  # (judge, topic) whether the judge has any grade there
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse scores that do not fit their names or are no numbers, and protect the arrays."""
        for axis in ("judges", "topics", "systems"):
            require_names(axis, getattr(self, axis), least=0)
        require_shape("value", self.value, len(self.judges), len(self.topics), len(self.systems))
        require_shape("judged", self.judged, len(self.judges), len(self.topics))
        require_numbers("value", self.value, 0, unknown=True)
        freeze(self.value, self.judged)

    @property
    def mean(self) -> FloatArray:
        """Mean over the topics that have a value, (judge, system)."""
        return mean_over_topics(self.value)

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of the mean over topics, (judge, system); NaN for a single topic."""
        count = np.isfinite(self.value).sum(axis=1)
        centred = self.value - self.mean[:, None, :]
        squares = np.nansum(centred**2, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.sqrt(np.where(count > 1, squares / (count - 1) / count, np.nan))

    def on_topics(self, kept: LongArray) -> Scores:
        """The same scores on some topics only."""
        return replace(
            self,
            topics=tuple(self.topics[t] for t in kept),
            value=self.value[:, kept],
            judged=self.judged[:, kept],
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per judge, topic and system."""
        judge, topic, system = np.indices(self.value.shape, dtype=np.int32).reshape(3, -1)
        return pl.DataFrame(
            {
                "measure": pl.repeat(self.measure, judge.size, eager=True),
                "judge": pl.Series(self.judges, dtype=pl.String).gather(judge),
                "topic": pl.Series(self.topics, dtype=pl.String).gather(topic),
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "score": pl.Series(self.value.ravel()).fill_nan(None),
            }
        )

    @property
    def sentence(self) -> str:
        """What these are."""
        judges, topics, systems = (counted(n, of) for n, of in zip(self.value.shape, AXES, strict=True))
        return f"{self.measure} of {systems} on {topics}, under {judges}."


def settle_ties(value: FloatArray) -> FloatArray:
    """Scores fit for ranking: whole steps, so that equal ones do not differ by the rounding of the sums they come from.

    Steps are of no round size: a score that stands just between two, where rounding decides, would be an accident.
    """
    steps: FloatArray = np.rint(value * STEPS)
    return steps


def mean_over_topics(value: FloatArray) -> FloatArray:
    """Mean over axis 1, NaN left out, and NaN where nothing is left."""
    count = np.isfinite(value).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, np.nansum(value, axis=1) / np.maximum(count, 1), np.nan)
