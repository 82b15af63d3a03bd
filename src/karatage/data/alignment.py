"""Where names disappear: rankings as item numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karatage.data.axes import GradeArray, IntArray, LongArray, freeze, meet
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError
from karatage.kernels.ordering import place_items
from karatage.text import count_names, list_names

LACKING = "systems that lack topics which others have"


@dataclass(frozen=True, eq=False, kw_only=True)
class Alignment:
    """Runs over the judged topics, each document replaced by its item number."""

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    ranked: IntArray  # (topic, system, rank) item number, -1 = not in the pool or beyond the ranking's end
    length: IntArray  # (topic, system) documents retrieved
    item_start: LongArray  # (topic + 1,) items of topic t are item_start[t]:item_start[t+1]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.ranked, self.length, self.item_start)

    @property
    def retrieved_topics(self) -> LongArray:
        """Topics for which at least one system retrieved something."""
        return np.flatnonzero(self.length.any(axis=1))

    def only(self, topics: LongArray) -> Alignment:
        """The same as if no system had retrieved anything for other topics."""
        length = np.zeros_like(self.length)
        length[topics] = self.length[topics]
        return replace(self, length=length)

    def unjudged(self, depth: int) -> tuple[int, int]:
        """How many of the documents in the first `depth` ranks no judge has seen, and of how many."""
        shown = int(np.minimum(self.length, depth).sum())
        return shown - int((self.ranked[:, :, :depth] >= 0).sum()), shown


def align(runs: Runs, judgments: Judgments) -> Alignment:
    """Meet runs and judgments on the judged topics; a topic that a run lacks has an empty ranking."""
    if not judgments.has_topics:
        raise DataError(
            "the judgments name items but no topics, so they cannot be matched with runs; "
            "give them a topic and a document column"
        )
    place = {name: t for t, name in enumerate(runs.topics)}
    topic_of_run = np.array([place.get(name, -1) for name in judgments.topics])
    if (topic_of_run < 0).all():
        raise DataError(
            f"runs and judgments share no topic: runs have {list_names(runs.topics)}, "
            f"judgments {list_names(judgments.topics)}"
        )
    bounds = runs.bounds[topic_of_run]
    bounds[topic_of_run < 0] = 0
    length = (bounds[..., 1] - bounds[..., 0]).astype(np.int32)
    ranked = np.full((*length.shape, max(int(length.max()), 1)), -1, np.int32)
    place_items(
        bounds,
        runs.listed,
        meet(runs.documents, judgments.documents),
        judgments.item_start,
        judgments.item_document,
        len(judgments.documents),
        ranked,
    )
    return Alignment(
        topics=judgments.topics,
        systems=runs.systems,
        ranked=ranked,
        length=length,
        item_start=judgments.item_start,
        notes=(*runs.notes, *judgments.notes, *_tell_missing(runs, judgments, length, ranked)),
    )


def find_items(wanted: Judgments, among: Judgments) -> LongArray:
    """The number that each item of `wanted` has in `among`, -1 where it is not there."""
    if wanted.has_topics != among.has_topics:
        raise DataError(
            "one table has topics and documents, the other names items only, so their items cannot be matched; "
            "write both alike"
        )
    place = {name: t for t, name in enumerate(among.topics)}
    topic = np.array([place.get(name, -1) for name in wanted.topics])[wanted.item_topic]
    document = meet(wanted.documents, among.documents)[wanted.item_document]
    width = np.int64(len(among.documents))
    key, sought = among.item_topic * width + among.item_document, topic * width + document
    at = np.minimum(np.searchsorted(key, sought), len(key) - 1)
    return np.where((topic >= 0) & (document >= 0) & (key[at] == sought), at, -1)


def match_gold(judgments: Judgments, gold: Judgments) -> GradeArray:
    """Gold's grade of each item of `judgments`, -1 where gold has none; of repeated grades the last."""
    grade = np.full(len(gold.item_topic) + 1, -1, np.int8)
    grade[gold.item] = gold.grade
    return grade[find_items(judgments, gold)]


def _tell_missing(runs: Runs, judgments: Judgments, length: IntArray, ranked: IntArray) -> tuple[str, ...]:
    notes = []
    if not (ranked >= 0).any():
        notes.append("no retrieved document was judged: check that document ids are written alike in both")
    ignored = sorted(set(runs.topics) - set(judgments.topics))
    if ignored:
        notes.append(f"topics of the runs without judgments, ignored: {count_names(ignored)}")
    missing = length == 0
    nobody = missing.all(axis=1)
    if nobody.any():
        names = [judgments.topics[t] for t in np.flatnonzero(nobody)]
        notes.append(f"judged topics in no run: {count_names(names)}")
    partial = missing[~nobody].sum(axis=0)
    if partial.any():
        names = [runs.systems[s] for s in np.flatnonzero(partial)]
        notes.append(f"{LACKING}, scored 0 there: {count_names(names)}")
    return tuple(notes)
