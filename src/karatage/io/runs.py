"""TREC runs, and checks of run files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karatage.data.axes import Coded, FloatArray, IntArray
from karatage.data.runs import Runs
from karatage.errors import InputFileError, RowError
from karatage.io.fields import Fields, Interner, split
from karatage.io.files import PathLike
from karatage.io.frames import Frame, as_frame, flatten, is_frame, is_nested, name_column, plain_column
from karatage.io.rows import find_columns, require
from karatage.io.sources import Source, check_text, expand
from karatage.kernels.text import OffsetArray
from karatage.progress import follow
from karatage.text import shorten

TOPIC, _, DOCUMENT, _, SCORE, TAG = range(6)
_FILES_AHEAD = 8
RunDict = Mapping[str, Mapping[str, Mapping[str, float]]]


def read_runs(source: PathLike | Iterable[PathLike] | Frame | RunDict) -> Runs:
    """Read what systems retrieved.

    Args:
        source: TREC run files (six columns, also .gz or .zst), folders or globs, `-` for standard input; or a
            data frame with columns for system, topic, document and score; or {system: {topic: {document: score}}}.

    A system has the name of its run tag, or of its file if two files have the same tag. The rank column is
    ignored, as in trec_eval.
    """
    if is_nested(source):
        return _from_frame(flatten(source, ["system", "topic", "document", "score"]))
    if is_frame(source):
        return _from_frame(as_frame(source))
    return _from_files(expand(source), two=isinstance(source, list | tuple) and len(source) == 2)


def _from_frame(frame: pl.DataFrame) -> Runs:
    found = find_columns(frame.columns)
    coded = {
        role: Coded.of(name_column(frame[require(found, role, frame)], role))
        for role in ("system", "topic", "document")
    }
    given = plain_column(frame[require(found, "score", frame)], "score")
    score = given.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = np.flatnonzero(~np.isfinite(score))
    if bad.size:
        raise RowError(int(bad[0]), f"score '{shorten(str(given[int(bad[0])]))}' is not a finite number")
    return Runs.build(**coded, score=score)


def _from_files(sources: list[Source], *, two: bool) -> Runs:
    topics, documents, tags = Interner(), Interner(), Interner()
    parts: list[tuple[Source, OffsetArray]] = []
    columns: list[tuple[IntArray, IntArray, IntArray, FloatArray]] = []
    for fields, score in follow(_parse_files(sources), len(sources), "files of runs"):
        parts.append((fields.source, fields.line))
        columns.append((topics.add(fields, TOPIC), documents.add(fields, DOCUMENT), tags.add(fields, TAG), score))
    topic, document, tag, score = (np.concatenate(column) for column in zip(*columns, strict=True))
    columns.clear()  # half of the memory at its peak
    system, names = _name_systems(tag, tags.names().to_list(), parts)
    try:
        found = Runs.build(
            system=Coded.sorting(system, pl.Series(names, dtype=pl.String)),
            topic=topics.coded(topic),
            document=documents.coded(document),
            score=score,
        )
    except RowError as problem:
        row = problem.row
        for source, line in parts:
            if row < len(line):
                raise InputFileError(source.name, int(line[row]), problem.message) from None
            row -= len(line)
        raise
    if not two or len(found.systems) != 2:
        return found
    first = names[int(system[0])]
    return replace(found, named=tuple(sorted(found.systems, key=lambda name: name != first)))


def _parse_files(sources: list[Source]) -> Iterator[tuple[Fields, FloatArray]]:
    """Unpack and split files in threads, a few ahead of the caller, to limit memory."""

    def parse(source: Source) -> tuple[Fields, FloatArray]:
        fields = split(source, check_text(source, source.read()), columns=6)
        fields.hash_column(DOCUMENT)
        return fields, fields.numbers(SCORE, "score")

    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1)) as pool:
        waiting = deque(pool.submit(parse, source) for source in sources[:_FILES_AHEAD])
        for source in [*sources[_FILES_AHEAD:], *[None] * len(waiting)]:
            done = waiting.popleft().result()
            if source is not None:
                waiting.append(pool.submit(parse, source))
            yield done


def _name_systems(
    tag: IntArray, names: list[str], parts: list[tuple[Source, OffsetArray]]
) -> tuple[IntArray, list[str]]:
    """Number systems by tag, or by file name where several files share a tag."""
    ends = np.cumsum([len(line) for _, line in parts])
    slices = [slice(end - len(line), end) for end, (_, line) in zip(ends, parts, strict=True)]
    tags_of_file = [np.flatnonzero(np.bincount(tag[rows])) for rows in slices]
    files_of_tag = np.bincount(np.concatenate(tags_of_file), minlength=len(names))
    if files_of_tag.max() == 1:
        return tag, names
    system = np.empty_like(tag)
    named: list[str] = []
    for (source, _), rows, tags in zip(parts, slices, tags_of_file, strict=True):
        for own in tags:
            plain = names[own] if files_of_tag[own] == 1 else source.stem
            name = plain if files_of_tag[own] == 1 or len(tags) == 1 else f"{plain}:{names[own]}"
            if name in named:
                message = f"another run has the name '{shorten(name)}'; rename the file or the run tag"
                raise InputFileError(source.name, None, message)
            system[rows][tag[rows] == own] = len(named)
            named.append(name)
    return system, named


RANK = 3


@dataclass(frozen=True, kw_only=True)
class Listing:
    """One run file."""

    source: str
    system: str  # its first run tag
    shown: int  # documents in the first ranks, up to the depth
    tied: int  # of these, documents with the score of a neighbour
    rises: int  # places where a lower rank has a higher score
    line: int | None  # of the first such place


def read_listing(source: Source, depth: int | None) -> Listing:
    """Check one run file; `depth` ranks count, None: all of them."""
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
    """Rows ranked below a row of the same topic with a lower score; empty if ranks are not numbers."""
    try:
        rank = fields.numbers(RANK, "rank")
    except InputFileError:
        return np.zeros(0, np.int32)
    order = np.lexsort((rank, topic))
    before, after = order[:-1], order[1:]
    rises = (topic[before] == topic[after]) & (rank[before] < rank[after]) & (score[before] < score[after])
    found: IntArray = after[rises].astype(np.int32)
    return found
