"""The pool with what nobody judged: documents that systems retrieved are items too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karatage.data.alignment import align
from karatage.data.axes import locate
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.wording import counted


def widen_pool(judgments: Judgments, runs: Runs, depth: int) -> Judgments:
    """The same judgments over all documents that a system has in the first `depth` ranks of a judged topic.

    Items that nobody graded have no row. The documents' names are no longer sorted.
    """
    alignment = align(runs, judgments)
    rank = np.arange(alignment.ranked.shape[2])
    unseen = (alignment.ranked < 0) & (rank < np.minimum(alignment.length, depth)[:, :, None])
    topic, system, at = np.nonzero(unseen)
    if not len(topic):
        return judgments
    place = {name: t for t, name in enumerate(runs.topics)}
    run_topic = np.array([place.get(name, -1) for name in judgments.topics])[topic]
    document = runs.listed[runs.bounds[run_topic, system, 0] + at]
    known = locate(runs.documents, judgments.documents).copy()
    fresh = np.unique(document[known[document] < 0])
    known[fresh] = len(judgments.documents) + np.arange(len(fresh), dtype=np.int32)
    documents = pl.concat([judgments.documents, runs.documents.gather(fresh).alias(judgments.documents.name)])
    width = np.int64(len(documents))
    old = judgments.item_topic * width + judgments.item_document
    key = np.union1d(old, topic * width + known[document])
    return replace(
        judgments,
        documents=documents,
        item_topic=(key // width).astype(np.int32),
        item_document=(key % width).astype(np.int32),
        item=np.searchsorted(key, old).astype(np.int32)[judgments.item],
        with_repeats=None,
        notes=(
            *judgments.notes,
            f"{counted(len(key) - len(old), 'document')} in the systems' first ranks were judged by nobody",
        ),
    )
