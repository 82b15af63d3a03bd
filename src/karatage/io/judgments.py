"""Reading judgments and gold from files, frames and dicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from karatage.data.axes import Coded
from karatage.data.judgments import NO_TOPIC, Judgments, Repeats
from karatage.errors import DataError, InputFileError, RowError, shorten
from karatage.io.frames import Frame, as_frame, is_frame
from karatage.io.grades import Graded, GradeMap, Scale, convert, parse_scale
from karatage.io.rows import Rows, from_frame
from karatage.io.sources import PathLike, expand
from karatage.io.tables import read_table

GOLD = "gold"
QrelsDict = Mapping[str, Mapping[str, int]]
JudgmentsSource = PathLike | Iterable[PathLike] | Frame | Mapping[str, QrelsDict]
GoldSource = PathLike | Iterable[PathLike] | Frame | QrelsDict


def read_judgments(
    source: JudgmentsSource,
    *,
    grades: str | GradeMap | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats = "last",
) -> Judgments:
    """Read many judges' grades.

    Args:
        source: Tables (CSV, TSV, JSONL, Parquet) with columns for judge, topic, document and grade under any
            of the field's names; or a folder with one qrels file per judge; Quepid's book export; SQUARE's
            `item judge grade`; also .gz or .zst, globs, `-` for standard input. Or a data frame, a dict of columns,
            or {judge: {topic: {document: grade}}}.
        grades: What labels mean: a scale `0-3`, a mapping `no=0,yes=1,broken=drop`, or both.
        columns: Which column plays which role, where the names do not tell: {"grade": "gold_binary"}.
        repeats: Which grade counts when a judge graded an item more than once.
    """
    if isinstance(source, Mapping) and all(isinstance(v, Mapping) for v in source.values()):
        source = _flatten_judges(source)
    return _build(_read(source, columns, gold=False), parse_scale(grades), repeats)


def read_gold(
    source: GoldSource,
    *,
    grades: str | GradeMap | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats = "last",
) -> Judgments:
    """Read the grades that are trusted, as judgments by the one judge 'gold'.

    Takes what `read_judgments` takes, without a judge; as a dict, {topic: {document: grade}}.
    """
    if isinstance(source, Mapping) and all(isinstance(v, Mapping) for v in source.values()):
        source = _flatten_judges({GOLD: source})
    return _build(_read(source, columns, gold=True), parse_scale(grades), repeats)


def _flatten_judges(judges: Mapping[str, object]) -> pl.DataFrame:
    rows = [
        (str(judge), str(topic), str(document), str(grade))
        for judge, topics in judges.items()
        if isinstance(topics, Mapping)
        for topic, documents in topics.items()
        for document, grade in documents.items()
    ]
    schema = dict.fromkeys(("judge", "topic", "document", "grade"), pl.String)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _read(source: object, columns: Mapping[str, str] | None, *, gold: bool) -> list[Rows]:
    if is_frame(source):
        frame = as_frame(source)
        return [from_frame(frame, "the table, row", lambda row: row + 1, columns=columns, gold=gold)]
    parts = [read_table(file, columns=columns, gold=gold) for file in expand(source)]  # type: ignore[arg-type]
    with_topic = [part for part in parts if part.topic is not None]
    if with_topic and len(with_topic) < len(parts):
        without = next(part for part in parts if part.topic is None)
        raise DataError(f"{without.source} names no topics, but {with_topic[0].source} does; read them apart")
    return parts


def _build(parts: list[Rows], scale: Scale, repeats: Repeats) -> Judgments:
    graded = [_convert(part, scale) for part in parts]
    rows = sum(len(part.label) for part in parts)
    kept = np.concatenate([g.kept for g in graded])
    told = _tell_dropped(rows - int(kept.sum()))
    if not kept.any():
        raise DataError(
            f"{parts[0].source}: no judgment is left" if rows else f"{parts[0].source}: has no rows"
        )
    judge = _concat([part.judge for part in parts], GOLD, parts)
    told += _tell_fractions(judge, np.concatenate([g.fractional for g in graded]), int(kept.sum()))
    coded = {
        "judge": judge,
        "topic": _concat([part.topic for part in parts], NO_TOPIC, parts),
        "document": Coded.of(pl.concat([part.document for part in parts])),
    }
    sequence = _numbers([part.sequence for part in parts])
    pi = _numbers([part.pi for part in parts])
    chosen = {role: _select(column, kept) for role, column in coded.items()}
    try:
        return Judgments.build(
            **chosen,
            grade=np.concatenate([g.grade for g in graded])[kept],
            sequence=None if sequence is None else sequence[kept],
            pi=None if pi is None else pi[kept],
            repeats=repeats,
            top_grade=scale.top,
            notes=told,
        )
    except RowError as problem:
        raise _locate(parts, int(np.flatnonzero(kept)[problem.row]), problem.message) from None


def _convert(part: Rows, scale: Scale) -> Graded:
    try:
        return convert(part.label, scale)
    except RowError as problem:
        raise part.error(problem.row, problem.message) from None


def _locate(parts: list[Rows], row: int, message: str) -> InputFileError:
    for part in parts:
        if row < len(part.label):
            return part.error(row, message)
        row -= len(part.label)
    raise IndexError(row)


def _concat(columns: Sequence[pl.Series | None], name: str, parts: list[Rows]) -> Coded:
    present = [column for column in columns if column is not None]
    if not present:
        return Coded.constant(name, sum(len(part.label) for part in parts))
    return Coded.of(pl.concat(present))


def _select(column: Coded, kept: np.ndarray) -> Coded:
    """Rows that are kept, and only the names that still occur."""
    if kept.all():
        return column
    used, code = np.unique(column.code[kept], return_inverse=True)
    return Coded(code.astype(np.int32), column.names.gather(used))


def _numbers(columns: Sequence[pl.Series | None]) -> np.ndarray | None:
    """A numeric column, when every part has it."""
    present = [column for column in columns if column is not None]
    return pl.concat(present).to_numpy() if len(present) == len(columns) else None


def _tell_dropped(dropped: int) -> tuple[str, ...]:
    return (f"{dropped:,} judgments were left out by the grade mapping",) if dropped else ()


def _tell_fractions(judge: Coded, fractional: np.ndarray, rows: int) -> tuple[str, ...]:
    if not fractional.any():
        return ()
    names = judge.names.gather(np.unique(judge.code[fractional])).to_list()
    shown = ", ".join(f"'{shorten(name, 32)}'" for name in names[:4])
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return (
        f"{int(fractional.sum()):,} of {rows:,} grades are fractions, rounded to the nearest whole number "
        f"(halves up), given by {len(names):,} judges: {shown}{more}",
    )
