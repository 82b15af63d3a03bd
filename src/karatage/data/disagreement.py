"""Models of the probability that judges disagree on an item, one for each topic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from karatage.data.checks import require_known, require_names, require_numbers
from karatage.data.codec import structure, unstructure
from karatage.data.display import Shown
from karatage.data.note import Note
from karatage.data.plain import write_json
from karatage.errors import DataError
from karatage.text import counted, shorten

FeatureSet = Literal["runs", "sums", "votes", "own"]
FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "runs": ("meta_ap", "mean_retrieval"),
    "sums": ("meta_ap", "weighted_retrieval"),
    "votes": ("mean_grade", "doubt"),
}
PRIOR: Final = (1.4, 4.0)  # of the Beta distribution of probabilities on a new collection
THRESHOLD: Final = 0.3  # the lowest probability that counts as predicted disagreement
LEAST_RECALL: Final = 0.15  # a topic with a lower held-out recall is dropped


class HeldOut(NamedTuple):
    """The quality of predictions on held-out items; NaN where no split gives one."""

    tpr: float  # of the items on which judges disagree, the share predicted
    ppv: float  # of the items predicted, the share on which judges disagree
    tnr: float  # of the items on which judges agree, the share predicted
    npv: float  # of the items for which agreement is predicted, the share on which judges agree
    auc: float  # P(an item with disagreement has a higher prediction than one without); not in [COLLAB14]


@dataclass(frozen=True, kw_only=True)
class TopicModel:
    """One topic's logistic regression on all its items, and the quality of the same model on held-out items."""

    topic: str
    items: int
    disagreed: int  # of them
    intercept: float
    coefficients: tuple[float, ...]  # in the features' own units
    mean: HeldOut  # over splits
    spread: HeldOut  # standard deviation over splits

    def __post_init__(self) -> None:
        """Refuse wrong counts and shares."""
        of = f"topic '{shorten(self.topic)}'"
        require_numbers(f"{of}: items", self.items, 2)
        require_numbers(f"{of}: disagreed", self.disagreed, 1, self.items - 1)
        require_numbers(f"{of}: intercept and coefficients", (self.intercept, *self.coefficients))
        require_numbers(f"{of}: mean", self.mean, 0, 1, unknown=True)
        require_numbers(f"{of}: spread", self.spread, 0, 1, unknown=True)

    @property
    def share(self) -> float:
        """The share of items on which judges disagree."""
        return self.disagreed / self.items


@dataclass(frozen=True, kw_only=True)
class DroppedTopic:
    """A topic without a model."""

    topic: str
    items: int
    disagreed: int
    reason: str

    def __post_init__(self) -> None:
        """Refuse a wrong count."""
        require_numbers("dropped: disagreed", self.disagreed, 0, self.items)


@dataclass(frozen=True, kw_only=True)
class DisagreementModel(Shown):
    """Topic-specific regressions of disagreement between judges, for use on other topics."""

    derived = ("sentence",)

    feature_set: FeatureSet  # runs and sums: from rankings; votes: from earlier grades; own: from the caller
    features: tuple[str, ...]
    topics: tuple[TopicModel, ...]
    dropped: tuple[DroppedTopic, ...] = ()
    threshold: float = THRESHOLD
    prior: tuple[float, float] = PRIOR
    trials: int
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse wrong features, topics and options."""
        require_known("feature_set", (self.feature_set,), get_args(FeatureSet), "sets of features")
        require_names("features", self.features)
        wanted = FEATURES.get(self.feature_set, self.features)
        if self.features != wanted:
            told = f"the features of a model of {self.feature_set} are {list(wanted)}"
            raise DataError(f"{told}, not {shorten(str(list(self.features)), 80)}")
        kept, left = ([topic.topic for topic in part] for part in (self.topics, self.dropped))
        require_names("topics", [*kept, *left], least=0)
        if any(len(topic.coefficients) != len(self.features) for topic in self.topics):
            raise DataError(f"a topic does not have one coefficient for each of {len(self.features)} features")
        require_numbers("threshold", self.threshold, 0, 1)
        if not min(self.prior) > 0:
            raise DataError(f"prior Beta({self.prior[0]:g}, {self.prior[1]:g}) must have two numbers above 0")
        require_numbers("prior", self.prior, 0)
        require_numbers("trials", self.trials, 1)

    @property
    def rates(self) -> pl.DataFrame:
        """One row per rate: its mean over topics, its spread over topics, and its spread over splits of a topic."""
        rows = []
        for name in HeldOut._fields:
            found = [getattr(t.mean, name) for t in self.topics if not math.isnan(getattr(t.mean, name))]
            within = [getattr(t.spread, name) for t in self.topics if not math.isnan(getattr(t.spread, name))]
            rows.append(
                {
                    "rate": name,
                    "mean": float(np.mean(found)) if found else None,
                    "over_topics": float(np.std(found, ddof=1)) if len(found) > 1 else None,
                    "over_splits": float(np.mean(within)) if within else None,
                    "topics": len(found),
                }
            )
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(("mean", "over_topics", "over_splits"), pl.Float64))

    @property
    def sentence(self) -> str:
        """What to take away."""
        if not self.topics:
            return f"Disagreement cannot be predicted: {counted(len(self.dropped), 'topic')} were dropped."
        mean = dict(zip(self.rates["rate"], self.rates["mean"], strict=True))
        shown = ", ".join(f"{name.upper()} {_digits(mean[name])}" for name in HeldOut._fields)
        of = f" of {len(self.topics) + len(self.dropped):,}" if self.dropped else ""
        return (
            f"Disagreement predicted from {' and '.join(name.replace('_', ' ') for name in self.features)} on "
            f"{counted(len(self.topics), 'topic')}{of}; on held-out items {shown}."
        )

    def to_frame(self) -> pl.DataFrame:
        """One row per topic, also dropped ones: size, coefficients, held-out rates, their spread, why dropped."""
        schema: dict[str, type[pl.DataType]] = {
            "topic": pl.String,
            "items": pl.Int64,
            "disagreed": pl.Int64,
            "intercept": pl.Float64,
        }
        schema |= dict.fromkeys(self.features, pl.Float64)
        for rate in HeldOut._fields:
            schema |= {rate: pl.Float64, f"{rate}_spread": pl.Float64}
        schema["dropped"] = pl.String
        rows: list[dict[str, object]] = []
        for topic in self.topics:
            row: dict[str, object] = {"topic": topic.topic, "items": topic.items, "disagreed": topic.disagreed}
            row |= {"intercept": topic.intercept, **dict(zip(self.features, topic.coefficients, strict=True))}
            for rate in HeldOut._fields:
                row |= {rate: getattr(topic.mean, rate), f"{rate}_spread": getattr(topic.spread, rate)}
            rows.append(row)
        rows += [
            {"topic": left.topic, "items": left.items, "disagreed": left.disagreed, "dropped": left.reason}
            for left in self.dropped
        ]
        return pl.DataFrame(rows, schema=schema).fill_nan(None)

    def to_dict(self) -> dict[str, Any]:
        """All facts for JSON."""
        facts: dict[str, Any] = unstructure(self)
        return facts

    def to_json(self) -> str:
        """The same as JSON text."""
        return write_json(self.to_dict())

    @staticmethod
    def from_dict(found: Mapping[str, object]) -> DisagreementModel:
        """The model from the facts that `to_dict` made; wrong entries are refused."""
        return structure(found, DisagreementModel)


def _digits(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
