"""Where judges disagree [COLLAB14]: what the model is learned from, and how well it predicts other judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.data.alignment import Alignment
from karatage.data.checks import COUNT, SHARE, TEXT, maybe, require_known, require_names, require_table
from karatage.data.codec import Columns
from karatage.data.disagreement import DisagreementModel, HeldOut
from karatage.data.judgments import Judgments, find_items
from karatage.data.runs import Runs
from karatage.errors import DataError
from karatage.experiments.collection import Collection, PanelRules, binarise, fingerprint, prepare_gold
from karatage.experiments.engine import frame_rows
from karatage.orders.disagreement import (
    find_disagreement,
    learn_disagreement,
    rate_chances,
    tabulate_aligned,
    transfer,
)
from karatage.random_streams import stream
from karatage.simulation.collection import simulate_collection
from karatage.simulation.profiles import CollectionShape

RATES = {
    "topic": TEXT,
    "items": COUNT,
    "disagreed": COUNT,
    "model": TEXT,
    **dict.fromkeys(HeldOut._fields, maybe(SHARE)),
}


OTHERS = ("careful-1", "careful-3")  # of a simulated collection's judges


class Lesson(NamedTuple):
    """A collection of which other judges than gold's graded a part, too: models of disagreement are learned from it."""

    runs: Runs
    gold: Judgments
    judgments: Judgments

    def join(self, level: int) -> Judgments:
        """Gold's grades and the others' of the same documents, 0 or 1: gold's judge is one of them."""
        try:
            gold = prepare_gold(self.gold, PanelRules(level=level))
        except DataError as error:
            raise DataError(f"learning where judges disagree: {error}") from error
        return join_gold(self.judgments, gold, level)

    def identify(self, level: int) -> str:
        """A digest of all that is learned from."""
        joined = self.join(level)
        return fingerprint(Collection(name="", runs={"": self.runs}, panels={}, gold=joined))

    def learn(self, *, level: int, splits: int, seed: int) -> DisagreementModel:
        """A regression for each topic, by how the runs rank its documents."""
        rng = stream(seed, "collaborative model of disagreement")
        return learn_disagreement(self.runs, self.join(level), trials=splits, rng=rng)


class OtherJudges(NamedTuple):
    """Other judges than gold's: of the pool, and of another collection."""

    judgments: Judgments | None = None
    lesson: Lesson | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Predicted:
    """A model of disagreement, and its rates on each topic of the pool that other judges graded."""

    model: DisagreementModel
    rates: Columns

    def __post_init__(self) -> None:
        """Refuse a table with other columns or values, and models that are not there."""
        require_table("rates", self.rates, RATES)
        require_names("rates: topic", self.rates["topic"].to_list(), least=0)
        known = [topic.topic for topic in self.model.topics]
        require_known("rates: model", self.rates["model"].unique(), known, "topics of the model")
        if (self.rates["disagreed"] > self.rates["items"]).any():
            raise DataError("rates: judges disagree on more items than a topic has")

    @property
    def summary(self) -> pl.DataFrame:
        """A row for each rate: mean, median and quartiles over the topics that have it."""
        long = self.rates.unpivot(list(HeldOut._fields), variable_name="rate", value_name="value").drop_nulls()
        value = pl.col("value")
        return long.group_by("rate", maintain_order=True).agg(
            mean=value.mean(),
            median=value.median(),
            low=value.quantile(0.25, "linear"),
            high=value.quantile(0.75, "linear"),
            topics=pl.len(),
        )


def simulate_lesson(seed: int, pool: int | None = None) -> Lesson:
    """A simulated collection of other topics, of whose runs `pool` ranks are judged (None: all documents)."""
    world = simulate_collection(shape=CollectionShape(pool=pool), rng=stream(seed, "learning collection"))
    return Lesson(world.runs, world.pool, keep_others(world.judgments))


def keep_others(judgments: Judgments) -> Judgments:
    """The two judges of a simulated collection that are most like the thesis' other assessors."""
    others = np.array([name in OTHERS for name in judgments.judges])
    return judgments.keep_rows(others[judgments.judge])


def join_gold(judgments: Judgments, gold: Judgments, level: int) -> Judgments:
    """Binary gold, and other judges' grades of its items."""
    others = binarise(judgments, level)
    item = find_items(others, gold)[others.item]
    there = item >= 0
    if not there.any():
        raise DataError("gold and the other judges graded no document in common, so it is unknown where they disagree")
    judge = np.concatenate([np.zeros_like(gold.judge), others.judge[there] + 1])
    item = np.concatenate([gold.item, item[there]])
    grade = np.concatenate([gold.grade, others.grade[there]])
    order = np.lexsort((judge, item))
    return replace(
        gold,
        judges=tuple(map(str, range(len(others.judges) + 1))),
        judge=judge[order].astype(np.int32),
        item=item[order].astype(np.int32),
        grade=grade[order].astype(np.int8),
        draw=None,
        with_repeats=None,
    )


def rate_topics(model: DisagreementModel, alignment: Alignment, judged: Judgments) -> pl.DataFrame:
    """[COLLAB14] figure 3.3: each topic of the pool predicted by a model of another topic, against its judges."""
    table, outcome = tabulate_aligned(model.feature_set, alignment, judged), find_disagreement(judged)
    found = transfer(model, table, other_topics=True)

    def list_rows() -> Iterator[tuple[object, ...]]:
        for t, topic in enumerate(judged.topics):
            rows = (judged.item_topic == t) & outcome.known
            if rows.any():
                disagree = outcome.disagree[rows]
                rates = rate_chances(found.chance[rows], disagree, model.threshold)
                chosen = model.topics[found.chosen[t]].topic
                yield topic, len(disagree), int(disagree.sum()), chosen, *rates

    return frame_rows(list_rows(), RATES).fill_nan(None)
