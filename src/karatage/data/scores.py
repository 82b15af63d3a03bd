"""Scores of systems by topic and judge, weights of judges in them, and scores under grades drawn at random."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, FloatArray, LongArray, freeze, mean_over_topics
from karatage.data.checks import NEAR, require_known, require_names, require_numbers, require_shape
from karatage.data.note import Note
from karatage.data.options import check_confidence
from karatage.data.result import Result
from karatage.errors import DataError
from karatage.text import counted, percent, shorten

AXES = ("judge", "topic", "system")


@dataclass(frozen=True, eq=False, kw_only=True)
class Scores(Result, kind="scores"):
    """Values of one measure; on the judge axis are judges, replicates or approaches."""

    measure: str
    judges: tuple[str, ...]
    topics: tuple[str, ...]
    systems: tuple[str, ...]
    value: FloatArray  # (judge, topic, system), NaN where there is none
    judged: BoolArray  # (judge, topic) whether the judge has any grade there
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse scores of another shape than the names or below 0, and protect the arrays."""
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
        """What the scores are about."""
        judges, topics, systems = (counted(n, of) for n, of in zip(self.value.shape, AXES, strict=True))
        return f"{self.measure} of {systems} on {topics}, under {judges}."


CLASSES = {"und": "5% relevant at random", "uni": "50% relevant at random", "ovr": "95% relevant at random"}


def label_class(name: str) -> str:
    """What random judges of a class do: grade at a rate, or at the rates of a crowd's judges.

    >>> label_class("uni"), label_class("0.3"), label_class("hcb")
    ('50% relevant at random', '30% relevant at random', 'random judges with the rates of hcb')
    """
    if name in CLASSES:
        return CLASSES[name]
    try:
        return f"{percent(float(name))} relevant at random"
    except ValueError:
        return f"random judges with the rates of {shorten(name)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Weights(Result, kind="weights"):
    """Weights of the judges in the scores by one approach and measure, with the distances they are computed from.

    A distance to a class of random judges, or to the judge's own grades shuffled, is 0 if the two are the same. `gold`
    is 1 if a judge's scores are gold's. Where weights depend on the topic, means are given.
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
            known = {*CLASSES, *re.split(r"[=/,()]", self.approach)}  # others are among the options of the approach
            require_known("distance", self.distance, known, "classes of random judges")
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
        judges = counted(len(self.judges), "judge")
        return f"By {self.approach} on {self.measure}, the judge with the highest weight of {judges}: {heaviest}."

    def explain(self) -> list[str]:
        """A line for each judge with the reason for its weight, from the heaviest to the lightest."""
        return [self._explain(row) for row in self.to_frame().iter_rows(named=True)]

    def _explain(self, row: dict[str, object]) -> str:
        judge, weight = shorten(str(row["judge"]), 32), row["weight"]
        spread = "" if row["lowest"] == row["highest"] else f" ({row['lowest']:.3f}-{row['highest']:.3f} by topic)"
        text = f"{judge}: weight {weight:.3f}{spread}"
        if not row["topics"]:
            return f"{judge}: no weight, because it has no scores"
        if not weight:
            return f"{judge}: no weight, because its scores do not distinguish systems"
        known = {name: row[f"{self.gap}_{name}"] for name in self.distance}
        if list(known) == ["gold"]:
            near = known["gold"]
            if near is None:
                return f"{text}, the mean: no training topic in common with gold"
            return f"{text}; closeness to gold by {self.gap} {near:.3f}"
        if row["nearest"] is None:
            return text
        if list(known) == ["own"]:
            return f"{text}; {self.gap} gap to its own shuffled grades {known['own']:.3f}"
        return f"{text}; {self._tell_gaps({name: value for name, value in known.items() if isinstance(value, float)})}"

    def _tell_gaps(self, known: Mapping[str, float]) -> str:
        """The gaps to classes of random judges, that which decides the weight first; `med` adds them up."""
        if len(known) > 1 and re.search(r"_med(?![a-z])", self.approach):
            parts = ", ".join(f"{name} {value:.3f}" for name, value in known.items())
            return f"sum of {self.gap} gaps to random judges {sum(known.values()):.3f} ({parts})"
        # Weights by closeness are smaller, the farther the farthest class is.
        word, choose = ("farthest from", max) if "closeness=True" in self.approach else ("nearest to", min)
        first = choose(known, key=known.__getitem__)
        others = ", ".join(f"{name} {value:.3f}" for name, value in known.items() if name != first)
        told = f"{word} {label_class(first)}: {self.gap} gap {known[first]:.3f}"
        return f"{told} ({others})" if others else told


@dataclass(frozen=True, eq=False, kw_only=True)
class Draws(Result, kind="draws"):
    """Scores of systems under many sets of grades, each drawn from one posterior."""

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
        """Refuse wrong scores, and protect the array."""
        require_names("systems", self.systems)
        require_numbers("draws", len(self.value), 2)
        require_shape("value", self.value, len(self.value), len(self.systems))
        require_numbers("value", self.value)
        require_numbers("topics", self.topics, 1)
        check_confidence(self.level)
        freeze(self.value)

    @property
    def draws(self) -> int:
        """The number of draws."""
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
        """The probability that each system is the best; systems tied at the top share it."""
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
            f"{self.measure} with probability {_share(chance)}: {verdict}, on these {self.topics} topics and if the "
            f"model of {self.approach} is right."
        )


def _middle(values: FloatArray, level: float) -> FloatArray:
    edges: FloatArray = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    return edges


def _share(chance: float) -> str:
    """A probability in words, never 0 or 1."""
    return "over .99" if chance > 0.99 else "under .01" if chance < 0.01 else f"{chance:.2f}".removeprefix("0")
