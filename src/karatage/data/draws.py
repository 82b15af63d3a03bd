"""What the judges' doubt about single items means for systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, freeze
from karatage.data.checks import require_names, require_numbers, require_shape
from karatage.data.estimate import check_confidence
from karatage.data.note import Note
from karatage.data.result import Result


@dataclass(frozen=True, eq=False, kw_only=True)
class Draws(Result, kind="draws"):
    """Scores of systems under many sets of grades, each drawn from the same posterior."""

    derived = ("sentence", "draws", "rows", "pairs", "rank")

    measure: str
    approach: str
    systems: tuple[str, ...]
    value: FloatArray  # (draw, system) mean over topics
    topics: int
    level: float = 0.95
    seed: int
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no draws are, and protect the array."""
        require_names("systems", self.systems)
        require_numbers("draws", len(self.value), 2)
        require_shape("value", self.value, len(self.value), len(self.systems))
        require_numbers("value", self.value)
        require_numbers("topics", self.topics, 1)
        check_confidence(self.level)
        freeze(self.value)

    @property
    def draws(self) -> int:
        """How many times grades were drawn."""
        return len(self.value)

    @cached_property
    def rank(self) -> FloatArray:
        """(draw, system) 1 = best; equal scores share the mean of their ranks."""
        from karatage.kernels.correlation import count_above

        above, tied = count_above(self.value)
        return above + (tied + 1) / 2

    @property
    def mean(self) -> FloatArray:
        """The mean score of each system."""
        mean: FloatArray = self.value.mean(axis=0)
        return mean

    @property
    def interval(self) -> FloatArray:
        """The middle share `level` of each system's scores, (system, 2)."""
        return _middle(self.value, self.level)

    @property
    def rank_interval(self) -> FloatArray:
        """The same for ranks."""
        return _middle(self.rank, self.level)

    @property
    def beats(self) -> FloatArray:
        """The probability that one system beats another, (system, system); a tie counts half for each."""
        value = self.value
        return np.array([((value[:, [s]] > value) + 0.5 * (value[:, [s]] == value)).mean(axis=0) for s in self._all()])

    @property
    def first(self) -> FloatArray:
        """The probability that each system is the best; systems level at the top share it."""
        top = self.value == self.value.max(axis=1, keepdims=True)
        share: FloatArray = (top / top.sum(axis=1, keepdims=True)).mean(axis=0)
        return share

    def _all(self) -> range:
        return range(len(self.systems))

    def to_frame(self) -> pl.DataFrame:
        """Systems by mean score: interval of score and rank, and the probability to be the best."""
        score, rank = self.interval, self.rank_interval
        return pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "draw_mean": self.mean,
                "draw_low": score[:, 0],
                "draw_high": score[:, 1],
                "rank_low": rank[:, 0],
                "rank_high": rank[:, 1],
                "p_best": self.first,
            }
        ).sort("draw_mean", "system", descending=[True, False])

    def pairs(self) -> pl.DataFrame:
        """One row per ordered pair of systems: the probability that `a` beats `b`."""
        beats = self.beats
        a, b = np.nonzero(~np.eye(len(self.systems), dtype=bool))
        names = pl.Series(self.systems, dtype=pl.String)
        return pl.DataFrame({"a": names.gather(a), "b": names.gather(b), "p_beats": beats[a, b]})

    @property
    def sentence(self) -> str:
        """What to take away."""
        if len(self.systems) < 2:
            low, high = self.interval[0]
            scored = f"{self.systems[0]} scores between {low:.3f} and {high:.3f} on {self.measure}"
            return f"{scored} in {self.level:.0%} of draws."
        best, second = np.argsort(-self.mean, kind="stable")[:2].tolist()
        chance = float(self.beats[best, second])
        verdict = "settled" if chance >= self.level else "open"
        return (
            f"In {len(self.value):,} draws from {self.approach}, {self.systems[best]} beats {self.systems[second]} on "
            f"{self.measure} with probability {_share(chance)}: {verdict}, on these {self.topics} topics and as far as "
            f"{self.approach} knows its judges."
        )


def _middle(values: FloatArray, level: float) -> FloatArray:
    edges: FloatArray = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    return edges


def _share(chance: float) -> str:
    """A probability in words that never claims certainty."""
    return "over .99" if chance > 0.99 else "under .01" if chance < 0.01 else f"{chance:.2f}".removeprefix("0")
