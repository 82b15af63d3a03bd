"""Feature tables: what a disagreement model looks at, and the outcome it learns, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from karatage.data.alignment import align
from karatage.data.axes import BoolArray, FloatArray, IntArray, freeze
from karatage.data.disagreement import FEATURES, FeatureSet
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.orders.features import find_features, find_vote_features
from karatage.random_streams import stream

ASKED = 2  # judges whose disagreement a model of votes predicts


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureTable:
    """Features of items, and the topics they belong to."""

    value: FloatArray  # (item, feature)
    topics: tuple[str, ...]
    item_topic: IntArray  # (item,)
    features: tuple[str, ...]
    feature_set: FeatureSet = "own"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what does not fit together, and protect the arrays."""
        if self.value.shape != (len(self.item_topic), len(self.features)):
            raise DataError(
                f"features of shape {self.value.shape} do not fit {len(self.item_topic):,} items "
                f"and {len(self.features)} names"
            )
        bad = np.argwhere(~np.isfinite(self.value))
        if len(bad):
            item, k = bad[0]
            raise DataError(f"feature {self.features[k]} of item {item} is {self.value[item, k]}, no finite number")
        freeze(self.value, self.item_topic)


class Outcome(NamedTuple):
    """Whether judges disagree."""

    known: BoolArray  # (item,) whether enough judges graded it to tell
    disagree: BoolArray  # (item,)


def tabulate(feature_set: FeatureSet, runs: Runs | None, pool: Judgments) -> FeatureTable:
    """The features of a pool's items; runs and sums need runs, votes come from the pool's own grades."""
    if feature_set not in FEATURES:
        raise OptionError(f"features '{feature_set}' are none of {', '.join(FEATURES)}")
    if feature_set == "votes":
        value = np.stack(find_vote_features(pool), axis=1)
        return _make_table(feature_set, value, pool, pool.notes)
    if runs is None:
        raise OptionError(f"features '{feature_set}' come from runs; give runs, or take features 'votes'")
    alignment = align(runs, pool)
    found = find_features(alignment.ranked, len(pool.item_topic))
    retrieval = found.weighted_retrieval / (len(runs.systems) if feature_set == "runs" else 1)
    return _make_table(feature_set, np.stack([found.meta_ap, retrieval], axis=1), pool, alignment.notes)


def find_disagreement(judgments: Judgments) -> Outcome:
    """Whether the judges of an item are unanimous, where there are two or more; any difference of grades counts."""
    start = judgments.row_start
    known = np.diff(start) >= 2
    low, high = (np.zeros(len(known), np.int8) for _ in range(2))
    if len(judgments.grade):
        graded = np.flatnonzero(np.diff(start))
        low[graded] = np.minimum.reduceat(judgments.grade, start[graded])
        high[graded] = np.maximum.reduceat(judgments.grade, start[graded])
    return Outcome(known, known & (low != high))


def split_votes(judgments: Judgments, seed: int) -> tuple[Judgments, Outcome]:
    """Two judges of each item drawn at random to tell whether they disagree, and the grades of all the others.

    Items with fewer than three judges are not used. Each topic has its own stream.
    """
    topic = judgments.item_topic[judgments.item]
    draw = np.empty(len(topic))
    for t, name in enumerate(judgments.topics):
        rows = topic == t
        draw[rows] = stream(seed, f"judges asked {name}").random(int(rows.sum()))
    order = np.lexsort((draw, judgments.item))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    asked = place - judgments.row_start[judgments.item] < ASKED
    outcome = find_disagreement(judgments.keep_rows(asked))
    known = np.diff(judgments.row_start) > ASKED
    return judgments.keep_rows(~asked), Outcome(known, known & outcome.disagree)


def _make_table(feature_set: FeatureSet, value: FloatArray, pool: Judgments, notes: tuple[str, ...]) -> FeatureTable:
    return FeatureTable(
        value=value,
        topics=pool.topics,
        item_topic=pool.item_topic,
        features=FEATURES[feature_set],
        feature_set=feature_set,
        notes=notes,
    )
