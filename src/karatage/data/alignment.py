"""Runs and judgments together: which item is at which rank, pools of documents, and checks of arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.data.axes import IntArray, LongArray, freeze, meet
from karatage.data.judgments import Judgments, find_items
from karatage.data.note import Note, tell
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError, WrongTypeError
from karatage.kernels.ordering import place_items
from karatage.text import count_names, counted, list_names


@dataclass(frozen=True, eq=False, kw_only=True)
class Alignment:
    """Runs over the judged topics, each document replaced by its item number."""

    topics: tuple[str, ...]
    systems: tuple[str, ...]
    ranked: IntArray  # (topic, system, rank) item number, -1 = not in the pool or beyond the ranking's end
    length: IntArray  # (topic, system) documents retrieved
    item_start: LongArray  # (topic + 1,) items of topic t are item_start[t]:item_start[t+1]
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.ranked, self.length, self.item_start)

    @property
    def retrieved_topics(self) -> LongArray:
        """Topics for which at least one system retrieved something."""
        return np.flatnonzero(self.length.any(axis=1))

    def only(self, topics: LongArray) -> Alignment:
        """The alignment with empty rankings for all other topics."""
        length = np.zeros_like(self.length)
        length[topics] = self.length[topics]
        return replace(self, length=length)

    def unjudged(self, depth: int) -> tuple[int, int]:
        """How many documents in the first `depth` ranks are unjudged, and how many documents there are."""
        shown = int(np.minimum(self.length, depth).sum())
        return shown - int((self.ranked[:, :, :depth] >= 0).sum()), shown


def align(runs: Runs, judgments: Judgments) -> Alignment:
    """Match runs and judgments on the judged topics; a topic that a run lacks has an empty ranking."""
    require_data(runs=runs, judgments=judgments)
    if not judgments.has_topics:
        raise DataError(
            "the judgments have items but no topics, so they cannot be matched with runs; "
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


def _tell_missing(runs: Runs, judgments: Judgments, length: IntArray, ranked: IntArray) -> tuple[Note, ...]:
    ignored = tuple(sorted(set(runs.topics) - set(judgments.topics)))
    missing = length == 0
    nobody = missing.all(axis=1)
    unanswered = tuple(judgments.topics[t] for t in np.flatnonzero(nobody))
    lacking = tuple(runs.systems[s] for s in np.flatnonzero(missing[~nobody].sum(axis=0)))
    return (
        *tell.when(not (ranked >= 0).any(), "nothing-judged"),
        *tell.when(ignored, "topics-ignored", topics=ignored),
        *tell.when(unanswered, "topics-in-no-run", topics=unanswered),
        *tell.when(lacking, "lacking-topics", systems=lacking),
    )


def widen_pool(judgments: Judgments, runs: Runs, depth: int) -> Judgments:
    """The judgments over all documents that a system has in the first `depth` ranks of a judged topic.

    Unjudged items have no row. The names of documents are no longer sorted.
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
    """All documents that a system has in the first `depth` ranks of a topic, as unjudged items."""
    if depth < 1:
        raise OptionError(f"a pool of depth {depth} is empty; give at least 1")
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
    """The pool with the items of `judgments` that it lacks, in topics that it has; they count in recall."""
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
    """The pool with more items (topic, document); `names` are the documents that it lacks."""
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


UNLIKELY = 1e-6  # for all judges together; small, since the grades of a topic are not independent


def find_short_scales(judgments: Judgments) -> dict[int, int]:
    """Judges who never use the upper grades, which is unlikely given the grades of all judges: {judge: highest grade}.

    Judges who use only grade 0, or who gave few grades, are not reported.
    """
    judge, grade = judgments.judge, judgments.grade
    if not len(grade):
        return {}
    judges = len(judgments.judges)
    items = np.bincount(judge, minlength=judges)
    top = np.full(judges, -1)
    np.maximum.at(top, judge, grade)
    below = np.cumsum(np.bincount(grade)) / len(grade)
    odd = (below[top] ** items < UNLIKELY / judges) & (top > 0)
    return {int(j): int(top[j]) for j in np.flatnonzero(odd)}


def count_short_scales(short: Mapping[int, int]) -> str:
    """How many judges have which highest grade.

    >>> count_short_scales({0: 1, 4: 1, 5: 2})
    '2 judges up to 1, 1 judge up to 2'
    """
    return ", ".join(f"{counted(n, 'judge')} up to {top}" for top, n in sorted(Counter(short.values()).items()))


def tell_scales(judgments: Judgments, gold: Judgments | None = None) -> Iterator[Note]:
    """Notes on scales that may differ: among judges, and between judges and gold."""
    short = find_short_scales(judgments)
    yield from tell.when(short, "scales-short", counts=count_short_scales(short))
    if gold is not None and gold.top_grade != judgments.top_grade:
        above = int((judgments.grade > gold.top_grade).sum())
        beyond = f" ({counted(above, 'grade')} above that)" if above else ""
        yield tell("scales-differ", judges=judgments.top_grade, gold=gold.top_grade, beyond=beyond)


READERS = {"runs": "kt.read_runs", **dict.fromkeys(("gold", "judged", "like_gold"), "kt.read_gold")}


def require_data(*optional: str, **given: object) -> None:
    """Refuse arguments that are not what their names say.

    Args:
        optional: Names of arguments that may be None.
        given: The arguments by their names, in the order in which the function takes them.
    """
    for name, value in given.items():
        if isinstance(value, Runs if name == "runs" else Judgments) or (value is None and name in optional):
            continue
        got, order = type(value).__name__, ", ".join(given)
        if isinstance(value, Runs | Judgments) and len(given) > 1:
            raise WrongTypeError(f"expected {name}, got {got}: the arguments are {order}")
        raise WrongTypeError(f"expected {name}, got {got}; give what {READERS.get(name, 'kt.read_judgments')} returns")


def require_readable(**given: object) -> None:
    """The same check where an argument may also be a path or a table."""
    if any(isinstance(value, Judgments if name == "runs" else Runs) for name, value in given.items()):
        require_data(**given)
