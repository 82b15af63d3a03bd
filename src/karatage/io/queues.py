"""Queue files for judges: written, read, and written with the experts' grades."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from karatage.data.axes import BoolArray, IntArray
from karatage.data.plan import GoldPlan
from karatage.data.queue import CROWD, EXPERT, AskedQueue, JudgingQueue
from karatage.errors import DataError, InputFileError, KaratageError, OptionError, RowError
from karatage.io.files import PathLike
from karatage.io.frames import name_column, plain_column
from karatage.io.parquet import MAGIC, list_columns, read_columns
from karatage.io.rows import blame, find_columns, find_ending, plain, read_batches, require
from karatage.io.sources import NOTHING, Source, check_line_ends, check_text, expand
from karatage.io.tables import Table, read_delimited, read_json
from karatage.io.writing import encode_table, write_bytes
from karatage.text import shorten

MOST = 2**31 - 1  # judgments of a document


_ASKED = ("topic", "document", "grade")


def read_asked(path: PathLike) -> AskedQueue:
    """Read a queue (.csv, .tsv, .jsonl, .parquet): topic, document, `to` (expert or crowd) and `judgments`.

    Without a column `to`, as in a plan of gold, all rows are for experts.
    """
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"a queue must be one file, not {len(sources)}")
    table = _read_table(sources[0], sources[0].read())
    names = {plain(name): name for name in reversed(table.frame.columns)}
    try:
        found = find_columns(table.frame.columns)
        topic = name_column(table.frame[require(found, "topic", table.frame)], "topic")
        document = name_column(table.frame[require(found, "document", table.frame)], "document")
        expert = _read_askees(table.frame, names.get("to"))
        _refuse_repeats(topic, document, expert)
        return AskedQueue(
            source=table.source.name,
            frame=table.frame,
            topic=topic,
            document=document,
            expert=expert,
            judgments=_read_numbers(table.frame, names.get("judgments"), expert),
            batch=_read_batch(table.frame, found, expert),
            grade=found.get("grade", "grade"),
        )
    except RowError as problem:
        raise blame(table.source.name, table.line, problem) from None
    except DataError as problem:
        raise InputFileError(table.source.name, table.header, f"{problem}") from None


def write_queue(plan: GoldPlan | JudgingQueue, path: PathLike, *, raw: bool = False) -> None:
    """Write a queue in the format of the file name: .csv, .tsv, .jsonl or .parquet, and .gz or .zst.

    Rows of a plan are sorted by batch, topic and document, so that judges do not see ranks. Those of a queue are sorted
    by priority, and there are none if judging may stop. `read_gold` reads both. A file with grades in it is not
    overwritten. `raw` is as for `write_judgments`.
    """
    ending = find_ending(path)
    if isinstance(plan, GoldPlan) and not plan.labels:
        raise DataError(f"{os.fspath(path)}: not written, because there is nothing to judge")
    _write_rows(plan.queue, path, ending, raw=raw)


def _write_rows(frame: pl.DataFrame, path: PathLike, ending: str, *, raw: bool) -> None:
    """Write a queue unless that would lose grades; only one of two processes makes the same file."""
    content = encode_table(frame, ending, raw=raw)
    if not Path(path).exists():
        try:
            write_bytes(path, content, new=True)
        except FileExistsError:  # another process was faster
            _write_rows(frame, path, ending, raw=raw)
        return
    if _waits_for_grades(path):
        write_bytes(path, content)
    elif not _holds(path, content):
        raise DataError(
            f"{shorten(os.fspath(path), 200)}: exists and is not a queue without grades, so judges' grades might be "
            "lost; name another file to write"
        )


def _holds(path: PathLike, content: bytes) -> bool:
    try:
        return Source(os.fspath(path)).load() == content
    except KaratageError:  # damaged
        return False


def _waits_for_grades(path: PathLike) -> bool:
    """Whether a file is certainly a queue without any grade; it has no rows if judging may stop."""
    source = Source(os.fspath(path))
    try:
        content = source.load().strip()
        if not content:
            return True
        if len(content.splitlines()) == 1 and content.isascii():
            return set(_ASKED) <= find_columns(re.split("[,;\t]", content.decode())).keys()
        frame = _read_table(source, content).frame
    except KaratageError:
        return False
    found = find_columns(frame.columns)
    return set(_ASKED) <= found.keys() and bool((_read_text(frame[found["grade"]]) == "").all())


def write_judged(queue: AskedQueue, grade: pl.Series, path: PathLike, *, raw: bool = False) -> None:
    """Write the rows for experts, with `grade` (row,) where the queue has none, and other columns unchanged."""
    ending = find_ending(path)
    filled = grade.cast(pl.String)
    if queue.grade in queue.frame.columns:
        there = _read_text(queue.frame[queue.grade])
        filled = filled.zip_with(there == "", there)
    whole = filled.cast(pl.Int64, strict=False)
    filled = whole if whole.null_count() == filled.null_count() else filled
    frame = queue.frame.with_columns(filled.alias(queue.grade))
    _write_rows(frame.filter(pl.Series(queue.expert)), path, ending, raw=raw)


def _read_table(source: Source, content: bytes) -> Table:
    if content.startswith(MAGIC):
        return Table(source, read_columns(source, content, list_columns(source, content)), lambda _: None)
    content = check_text(source, content)
    first = next((line.decode() for line in io.BytesIO(content) if line.strip()), "")
    if not first:
        raise InputFileError(source.name, None, NOTHING)
    if first.lstrip().startswith(("{", "[")):
        return read_json(source, content)
    check_line_ends(source, content)
    return read_delimited(source, content, next((s for s in "\t,;" if s in first), " "))


def _read_askees(frame: pl.DataFrame, column: str | None) -> BoolArray:
    if column is None:
        return np.ones(len(frame), bool)
    said = _read_text(frame[column]).str.to_lowercase()
    expert = (said == EXPERT).to_numpy()
    bad = np.flatnonzero(~(expert | (said == CROWD).to_numpy()))
    if bad.size:
        row = int(bad[0])
        raise RowError(row, f"'{shorten(said[row])}' in column '{shorten(column)}' is neither {EXPERT} nor {CROWD}")
    return expert


def _read_numbers(frame: pl.DataFrame, column: str | None, expert: BoolArray) -> IntArray:
    if column is None:
        return np.zeros(len(frame), np.int32)
    said = _read_text(frame[column])
    number = said.cast(pl.Float64, strict=False).fill_null(0).to_numpy()  # 5.0, as tables with gaps write it, is 5
    blank = (said == "").to_numpy()
    bad = np.flatnonzero(~(expert | blank) & ~((number >= 1) & (number <= MOST) & (np.floor(number) == number)))
    if bad.size:
        row = int(bad[0])
        raise RowError(row, f"judgments '{shorten(said[row])}' is not a whole number from 1")
    return np.where(expert | blank, 0, number).astype(np.int32)


def _read_batch(frame: pl.DataFrame, found: Mapping[str, str], expert: BoolArray) -> int | None:
    batch = read_batches(frame, found)
    return None if batch is None or expert.all() else int(batch.to_numpy()[~expert].min())


def _read_text(column: pl.Series) -> pl.Series:
    return plain_column(column, column.name).cast(pl.String).fill_null("").str.strip_chars()


def _refuse_repeats(topic: pl.Series, document: pl.Series, expert: BoolArray) -> None:
    rows = pl.DataFrame({"topic": topic, "document": document, "expert": expert})
    again = ~rows.to_struct().is_first_distinct()
    if again.any():
        row = int(again.arg_max() or 0)
        to = EXPERT if expert[row] else CROWD
        raise RowError(row, f"document '{shorten(document[row])}' of topic '{shorten(topic[row])}' goes to {to} twice")
