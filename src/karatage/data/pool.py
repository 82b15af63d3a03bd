"""The pool with what nobody judged: documents that systems retrieved are items too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from karatage.data.alignment import find_items
from karatage.data.axes import IntArray, LongArray, meet
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.text import count_names


def widen_pool(judgments: Judgments, runs: Runs, depth: int) -> Judgments:
    """The same judgments over all documents that a system has in the first `depth` ranks of a judged topic.

    Items that nobody graded have no row. The documents' names are no longer sorted.
    """
    place = {name: t for t, name in enumerate(judgments.topics)}
    known = meet(runs.documents, judgments.documents).astype(np.int64)
    width = np.int64(len(runs.documents))
    keys = [np.zeros(0, np.int64)]
    for t, name in enumerate(runs.topics):
        if name in place:
            shown = [runs.listed[start : min(end, start + depth)] for start, end in runs.bounds[t]]
            keys.append(place[name] * width + np.unique(np.concatenate(shown)))
    topic, document = np.divmod(np.concatenate(keys), width)
    fresh = np.unique(document[known[document] < 0])
    known[fresh] = len(judgments.documents) + np.arange(len(fresh))
    wide = _join(judgments, runs.documents.gather(fresh), topic, known[document])
    return judgments if len(wide.item_topic) == len(judgments.item_topic) else wide


def pool_runs(runs: Runs, depth: int, topics: Sequence[str] | None = None) -> Judgments:
    """All documents that a system has in the first `depth` ranks of a topic, as items that nobody has graded."""
    if depth < 1:
        raise OptionError(f"a pool of depth {depth} is empty; give 1 at least")
    unknown = sorted(set(topics or ()) - set(runs.topics))
    if unknown:
        raise DataError(f"topics that no run has: {count_names(unknown)}")
    chosen = [t for t, name in enumerate(runs.topics) if topics is None or name in set(topics)]
    width = np.int64(len(runs.documents))
    keys = []
    for place, topic in enumerate(chosen):
        parts = [runs.listed[start : min(end, start + depth)] for start, end in runs.bounds[topic]]
        keys.append(place * width + np.unique(np.concatenate(parts)))
    key = np.concatenate(keys)
    nothing = np.zeros(0, np.int32)
    return Judgments(
        judges=(),
        topics=tuple(runs.topics[t] for t in chosen),
        documents=runs.documents,
        item_topic=(key // width).astype(np.int32),
        item_document=(key % width).astype(np.int32),
        judge=nothing,
        item=nothing.copy(),
        grade=np.zeros(0, np.int8),
        top_grade=1,
    )


def add_items(pool: Judgments, judgments: Judgments) -> Judgments:
    """The same pool with the items of `judgments` that it lacks, in topics that it has; they count in recall."""
    place = {name: t for t, name in enumerate(pool.topics)}
    topic = np.array([place.get(name, -1) for name in judgments.topics], np.int64)[judgments.item_topic]
    wanted = (find_items(judgments, pool) < 0) & (topic >= 0) & (np.diff(judgments.row_start) > 0)
    if not wanted.any():
        return pool
    known = meet(judgments.documents, pool.documents).astype(np.int64)
    fresh = np.unique(judgments.item_document[wanted & (known[judgments.item_document] < 0)])
    known[fresh] = len(pool.documents) + np.arange(len(fresh))
    document = known[judgments.item_document]
    return _join(pool, judgments.documents.gather(fresh), topic[wanted], document[wanted])


def _join(pool: Judgments, names: pl.Series, topic: LongArray, document: LongArray | IntArray) -> Judgments:
    """The same with more items (topic, document); documents beyond those of the pool are called `names`."""
    documents = pl.concat([pool.documents, names.alias(pool.documents.name)])
    width = np.int64(len(documents))
    old = pool.item_topic * width + pool.item_document
    key = np.union1d(old, topic * width + document)
    return replace(
        pool,
        documents=documents,
        item_topic=(key // width).astype(np.int32),
        item_document=(key % width).astype(np.int32),
        item=np.searchsorted(key, old).astype(np.int32)[pool.item],
        with_repeats=None,
    )
