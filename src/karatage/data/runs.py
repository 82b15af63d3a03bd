"""What each system retrieved for each topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karatage.data.axes import Coded, FloatArray, IntArray, LongArray, freeze
from karatage.data.display import Listed
from karatage.data.note import Note, tell
from karatage.errors import DataError, RowError, UnknownNameError
from karatage.kernels.ordering import find_repeat, group_rows, sort_nearly
from karatage.text import counted, shorten


@dataclass(frozen=True, eq=False, kw_only=True)
class Runs(Listed):
    """Rankings of documents, best first, by score descending, ties by document id descending.

    Scores are compared in single precision, as trec_eval does, so that scores agree with it.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    documents: pl.Series
    listed: IntArray  # (row,) documents, ranking after ranking
    bounds: LongArray  # (topic, system, 2) where a ranking begins and ends in `listed`
    notes: tuple[Note, ...] = ()
    named: tuple[str, ...] = ()  # two systems, in the order in which their files were given

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.listed, self.bounds)

    @staticmethod
    def build(*, system: Coded, topic: Coded, document: Coded, score: FloatArray) -> Runs:
        """Sort the rows of all rankings."""
        if score.size == 0:
            raise DataError("there are no retrieved documents")
        bad = np.flatnonzero(~np.isfinite(score))
        if bad.size:
            raise RowError(int(bad[0]), f"score {score[bad[0]]} is not a finite number")
        system, topic = system.in_natural_order(), topic.in_natural_order()
        systems, topics = len(system.names), len(topic.names)
        order, start = group_rows(topic.code.astype(np.int64) * systems + system.code, topics * systems)
        repeat = find_repeat(order, start, document.code, len(document.names))
        if repeat >= 0:
            name = shorten(document.names[int(document.code[repeat])])
            where = f"topic '{shorten(topic.names[int(topic.code[repeat])])}'"
            raise RowError(repeat, f"document '{name}' is listed twice for {where}; keep one of the two lines")
        with np.errstate(over="ignore"):  # scores beyond single precision become infinite, and ties
            single = score.astype(np.float32)
        _sort_rankings(order, start, single, document.code)
        return Runs(
            systems=tuple(system.names.to_list()),
            topics=tuple(topic.names.to_list()),
            documents=document.names,
            listed=document.code[order],
            bounds=np.stack([start[:-1], start[1:]], axis=1).reshape(topics, systems, 2),
            notes=_tell_lost_precision(score[order], single[order], start),
        )

    @property
    def depth(self) -> int:
        """Length of the longest ranking."""
        return int((self.bounds[..., 1] - self.bounds[..., 0]).max())

    def only(self, systems: Sequence[str]) -> Runs:
        """The runs of some systems, in this order."""
        place = {name: s for s, name in enumerate(self.systems)}
        unknown = [name for name in systems if name not in place]
        if unknown:
            raise UnknownNameError("system", unknown[0], self.systems)
        chosen = [place[name] for name in systems]
        return replace(self, systems=tuple(systems), bounds=np.ascontiguousarray(self.bounds[:, chosen]), named=())

    def to_frame(self) -> pl.DataFrame:
        """One row per retrieved document: system, topic, rank (from 1), document."""
        bounds = self.bounds.reshape(-1, 2)  # topic by topic, in each system by system
        size = bounds[:, 1] - bounds[:, 0]
        ranking = np.repeat(np.arange(len(size)), size)
        rank = np.arange(len(ranking)) - np.repeat(np.cumsum(size) - size, size)
        topic, system = np.divmod(ranking, len(self.systems))
        return pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "topic": pl.Series(self.topics, dtype=pl.String).gather(topic),
                "rank": rank + 1,
                "document": self.documents.gather(self.listed[bounds[ranking, 0] + rank]),
            }
        )

    def __len__(self) -> int:
        return int((self.bounds[..., 1] - self.bounds[..., 0]).sum())

    def __repr__(self) -> str:
        return (
            f"Runs({counted(len(self.systems), 'system')} x {counted(len(self.topics), 'topic')}, "
            f"{counted(len(self), 'document')} retrieved, depth {self.depth:,})"
        )


def _sort_rankings(order: LongArray, start: LongArray, score: NDArray[np.float32], document: IntArray) -> None:
    """By score descending, ties by document id descending, in place."""
    left = np.zeros(len(start) - 1, bool)
    sort_nearly(order, start, score, document, left)
    for g in np.flatnonzero(left):
        rows = order[start[g] : start[g + 1]]
        order[start[g] : start[g + 1]] = rows[np.lexsort((-document[rows], -score[rows]))]


def _tell_lost_precision(score: FloatArray, single: NDArray[np.float32], start: LongArray) -> tuple[Note, ...]:
    tied = (single[1:] == single[:-1]) & (score[1:] != score[:-1])
    inner = start[1:-1][(start[1:-1] > 0) & (start[1:-1] < len(score))]
    tied[inner - 1] = False
    return tell.when(tied.any(), "single-precision", pairs=int(tied.sum()))
