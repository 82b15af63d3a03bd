"""What run files say beside the order of documents: ranks that contradict scores, and scores that are tied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.data.axes import FloatArray, IntArray
from karatage.errors import InputFileError
from karatage.io.fields import Fields, Interner, split
from karatage.io.runs import SCORE, TAG, TOPIC
from karatage.io.sources import Source, check_text

RANK = 3


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One run file as it is written."""

    source: str
    system: str  # its first run tag
    shown: int  # documents in the first ranks, up to the depth
    tied: int  # of these, documents that share their score with a neighbour
    rises: int  # places where the rank goes down the list and the score up
    line: int | None  # of the first such place


def read_listing(source: Source, depth: int | None) -> Listing:
    """Look at one run file; `depth` ranks count, None: all of them."""
    fields = split(source, check_text(source, source.read()), columns=6)
    topic = Interner().add(fields, TOPIC)
    with np.errstate(over="ignore"):  # in single precision, as rankings are made
        score = fields.numbers(SCORE, "score").astype(np.float32).astype(float)
    shown, tied = _count_ties(topic, score, depth)
    rises = _find_rises(fields, topic, score)
    return Listing(
        source=source.name,
        system=fields.text(0, TAG),
        shown=shown,
        tied=tied,
        rises=len(rises),
        line=int(fields.line[rises].min()) if len(rises) else None,
    )


def _count_ties(topic: IntArray, score: FloatArray, depth: int | None) -> tuple[int, int]:
    order = np.lexsort((-score, topic))
    topic, score = topic[order], score[order]
    first = np.r_[True, topic[1:] != topic[:-1]]
    start = np.flatnonzero(first)
    rank = np.arange(len(topic)) - start[np.cumsum(first) - 1]
    same = ~first[1:] & (score[1:] == score[:-1])
    tied = np.r_[same, False] | np.r_[False, same]
    shown = np.ones(len(rank), bool) if depth is None else rank < depth
    return int(shown.sum()), int((tied & shown).sum())


def _find_rises(fields: Fields, topic: IntArray, score: FloatArray) -> IntArray:
    """Rows that are ranked below a row of the same topic with a lower score; none where ranks are no numbers."""
    try:
        rank = fields.numbers(RANK, "rank")
    except InputFileError:
        return np.zeros(0, np.int32)
    order = np.lexsort((rank, topic))
    before, after = order[:-1], order[1:]
    rises = (topic[before] == topic[after]) & (rank[before] < rank[after]) & (score[before] < score[after])
    found: IntArray = after[rises].astype(np.int32)
    return found
