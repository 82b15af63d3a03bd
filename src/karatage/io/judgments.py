"""Reading judgments and gold from files, frames and dicts; and labels as grades."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karatage.data.axes import HIGHEST_GRADE, BoolArray, Coded, FloatArray, GradeArray, IntArray
from karatage.data.judgments import NO_TOPIC, Draw, Judgments
from karatage.data.note import Note
from karatage.data.options import Repeats
from karatage.errors import DataError, InputFileError, OptionError, RowError
from karatage.io.files import PathLike
from karatage.io.frames import Frame, as_frame, flatten, is_frame, is_nested
from karatage.io.rows import Rows, from_frame, tell
from karatage.io.sources import Source, expand
from karatage.io.tables import read_table
from karatage.progress import follow
from karatage.text import hint_decimal, shorten

DROP = "drop"
GradeMap = Mapping[str | int, int | str | None]


@dataclass(frozen=True)
class Scale:
    """The grades of labels: some by a mapping (None = leave out), whole numbers as they are, up to `top`."""

    mapping: dict[str, int | None] = field(default_factory=dict)
    top: int | None = None

    def grade(self, label: str | None) -> float | None:
        """The grade of a label, which may be a fraction; None = left out; ValueError for a label without one."""
        text = "" if label is None else label.strip()
        if text in self.mapping:
            return self.mapping[text]
        try:
            number = float(text) if "_" not in text else math.nan
        except ValueError:
            number = math.nan
        key = str(int(number)) if math.isfinite(number) and number == int(number) else text
        if key in self.mapping:
            return self.mapping[key]
        if not text:
            raise ValueError("the grade is missing; remove the row, or leave out all such rows with --grades '=drop'")
        if not math.isfinite(number):
            example = f"--grades '{shorten(text, 20)}=GRADE,...' (or ={DROP} to leave it out)"
            hint = hint_decimal(text) or f"; map it: {example}"
            raise ValueError(f"grade '{shorten(text)}' is not a number{hint}")
        if number < 0:
            example = f"--grades '{key}={DROP}' or '{key}=0'"
            raise ValueError(f"grade '{shorten(text)}' is negative; map it: {example}")
        top = HIGHEST_GRADE if self.top is None else self.top
        if number > top:
            fix = "pass --grades to widen the scale" if self.top is not None else "map it with --grades"
            raise ValueError(f"grade '{shorten(text)}' is outside 0-{top}; {fix}")
        return number


@dataclass(frozen=True, eq=False)
class Graded:
    """A column of labels as grades."""

    grade: GradeArray  # (row,) of all rows, kept or not
    kept: BoolArray  # (row,)
    fractional: BoolArray  # (row,) rounded, halves up


def parse_scale(grades: str | GradeMap | None) -> Scale:
    """Read a scale: `0-3`, or a mapping `no=0,yes=1,broken=drop`, or both, or a dict.

    >>> parse_scale("0-3, -2=drop")
    Scale(mapping={'-2': None}, top=3)
    """
    if grades is None:
        return Scale()
    if isinstance(grades, Mapping):
        return Scale({str(label): _target(str(label), value) for label, value in grades.items()})
    mapping: dict[str, int | None] = {}
    top = None
    for part in grades.split(","):
        label, equals, value = part.strip().rpartition("=")
        if equals:
            mapping[label.strip()] = _target(label, value.strip())
        elif re.fullmatch(r"0-\d{1,3}", value) and int(value[2:]) <= HIGHEST_GRADE:
            top = int(value[2:])
        else:
            raise OptionError(f"grades '{shorten(part)}' is neither a scale like 0-3 nor a mapping like yes=1")
    beyond = next((label for label, grade in mapping.items() if top is not None and (grade or 0) > top), None)
    if beyond is not None:
        raise OptionError(f"grades: '{shorten(beyond)}={mapping[beyond]}' is outside the scale 0-{top}")
    return Scale(mapping, top)


def _target(label: str, value: int | str | None) -> int | None:
    if value is None or value == DROP:
        return None
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,3}", str(value)) or int(value) > HIGHEST_GRADE:
        raise OptionError(f"grades: '{shorten(label)}={value}' must map to 0-{HIGHEST_GRADE} or to {DROP}")
    return int(value)


def convert(labels: pl.Series, scale: Scale) -> Graded:
    """Grades for a column of labels; RowError at the first that has none."""
    labels = labels.fill_nan(None) if labels.dtype.is_float() else labels
    labels = labels if labels.dtype.is_numeric() else labels.cast(pl.String)
    distinct = labels.unique(maintain_order=True)
    meaning: list[float] = []
    problems: dict[int, str] = {}
    for k, label in enumerate(distinct.cast(pl.String).to_list()):
        try:
            grade = scale.grade(label)
        except ValueError as problem:
            problems[k] = str(problem)
            grade = None
        meaning.append(math.nan if grade is None else grade)
    table = pl.DataFrame({"label": distinct, "k": np.arange(len(distinct), dtype=np.int32)})
    joined = pl.DataFrame({"label": labels}).join(
        table, on="label", how="left", nulls_equal=True, maintain_order="left"
    )
    code = joined["k"].to_numpy()
    if problems:
        row = int(np.flatnonzero(np.isin(code, list(problems)))[0])
        raise RowError(row, problems[int(code[row])])
    value = np.array(meaning)
    whole = np.floor(np.nan_to_num(value) + 0.5)
    fraction = np.isfinite(value) & (value != whole)
    return Graded(whole.astype(np.int8)[code], np.isfinite(value)[code], fraction[code])


GOLD = "gold"
QrelsDict = Mapping[str, Mapping[str, int]]
JudgmentsSource = PathLike | Iterable[PathLike] | Frame | Mapping[str, QrelsDict]
GoldSource = PathLike | Iterable[PathLike] | Frame | QrelsDict


def read_judgments(
    source: JudgmentsSource,
    *,
    grades: str | GradeMap | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats | None = None,
) -> Judgments:
    """Read many judges' grades.

    Args:
        source: Tables (CSV, TSV, JSONL, Parquet) with columns for judge, topic, document and grade under any
            of the field's names; or a folder with one qrels file per judge; Quepid's book export; SQUARE's
            `item judge grade`; also .gz or .zst, globs, `-` for standard input. Or a data frame, a dict of columns,
            or {judge: {topic: {document: grade}}}.
        grades: What labels mean: a scale `0-3`, a mapping `no=0,yes=1,broken=drop`, or both.
        columns: The columns of roles that the names do not show: {"grade": "gold_binary"}.
        repeats: Which grade counts when a judge graded an item more than once. Default: merging uses every grade,
            and steps that need one grade use the last.
    """
    table = flatten(source, ["judge", "topic", "document", "grade"]) if is_nested(source) else source
    return _build(_read(table, columns, gold=False), parse_scale(grades), repeats, gold=False)


def read_gold(
    source: GoldSource,
    *,
    grades: str | GradeMap | None = None,
    columns: Mapping[str, str] | None = None,
    repeats: Repeats | None = None,
) -> Judgments:
    """Read grades that are taken as correct, as judgments by the single judge 'gold'.

    Takes what `read_judgments` takes, without a judge; as a dict, {topic: {document: grade}}. If items have grades by
    several judges of gold, or several grades by one, these are kept as `answers`: `compare` estimates gold's own error
    rate from them. Judges of gold are named by a column for the judge, or are the files that grade the same items. Of
    repeated rows without judge and time the last one counts.
    """
    table = flatten(source, ["topic", "document", "grade"]) if is_nested(source) else source
    return _build(_read(table, columns, gold=True), parse_scale(grades), repeats, gold=True)


def _read(source: object, columns: Mapping[str, str] | None, *, gold: bool) -> list[Rows]:
    if is_frame(source):
        return [from_frame(as_frame(source), "the table", lambda _: None, columns=columns, gold=gold)]
    files = expand(source)
    told = f"files of {'gold' if gold else 'judgments'}"
    parts = [read_table(file, columns=columns, gold=gold) for file in follow(files, len(files), told)]
    _require_same(parts, "topics", [part.topic is not None for part in parts])
    _require_same(parts, "inclusion probabilities (pi)", [part.pi is not None for part in parts])
    return parts


def _require_same(parts: list[Rows], what: str, present: list[bool]) -> None:
    """Refuse to mix files that have something with files that lack it."""
    if any(present) and not all(present):
        without, having = parts[present.index(False)].source, parts[present.index(True)].source
        raise DataError(f"{without}: has no {what}, but {having} does; read these files separately")


def _build(parts: list[Rows], scale: Scale, repeats: Repeats | None, *, gold: bool) -> Judgments:
    graded = [_convert(part, scale) for part in parts]
    rows = sum(len(part.label) for part in parts)
    kept = np.concatenate([g.kept for g in graded])
    if not kept.any():
        why = "no judgment is left after the grade mapping" if rows else "has no rows"
        raise DataError(f"{parts[0].source}: {why}")
    judge = _concat(_name_voices(parts) if gold else [part.judge for part in parts], GOLD, rows)
    fractional = np.concatenate([g.fractional for g in graded])
    coded = {
        "judge": judge,
        "topic": _concat([part.topic for part in parts], NO_TOPIC, rows),
        "document": _concat([part.document for part in parts], "", rows),
    }
    sequence = _as_order([part.sequence for part in parts])
    draw = _as_draw(parts)
    if draw is not None and gold and not kept.all():
        raise _locate(
            parts,
            int(np.flatnonzero(~kept)[0]),
            "a drawn item must not be dropped, because that would bias results; map its label to a grade",
        )
    told = (
        *(note for part in parts for note in part.notes),
        *tell.when(not kept.all(), "dropped", judgments=rows - int(kept.sum())),
        *_tell_fractions(judge, fractional, int(kept.sum())),
        *_tell_order(parts, sequence),
    )
    try:
        built = Judgments.build(
            **{role: _select(column, kept) for role, column in coded.items()},
            grade=np.concatenate([g.grade for g in graded])[kept],
            sequence=None if sequence is None else sequence[kept],
            draw=None if draw is None else draw.take(kept),
            repeats=repeats,
            top_grade=scale.top,
            notes=told,
        )
    except RowError as problem:
        raise _locate(parts, int(np.flatnonzero(kept)[problem.row]), problem.message) from None
    if not gold:
        return built
    told_apart = sequence is not None or len(built.judges) > 1
    return built.as_gold(GOLD, answers=told_apart or any(part.judge is not None for part in parts))


def _name_voices(parts: list[Rows]) -> list[pl.Series | None]:
    """The judges of gold: as in the files, or the files if several of them grade the same items; None: one judge."""
    named = [part.judge is not None for part in parts]
    if not any(named) and not _overlap(parts):
        return [None] * len(parts)
    stems = [Source(part.source).stem for part in parts]
    names = stems if len(set(stems)) == len(stems) else [part.source for part in parts]
    return [
        pl.repeat(GOLD if len(parts) == 1 else name, len(part.label), dtype=pl.String, eager=True)
        if part.judge is None
        else part.judge
        for part, name in zip(parts, names, strict=True)
    ]


def _overlap(parts: list[Rows]) -> bool:
    """Whether an item is in several files."""
    if len(parts) == 1:
        return False
    columns = [{"topic": part.topic, "document": part.document} for part in parts]
    items = [pl.DataFrame({name: c for name, c in own.items() if c is not None}).unique() for own in columns]
    return bool(pl.concat(items).is_duplicated().any())


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


def _concat(columns: Sequence[pl.Series | None], name: str, rows: int) -> Coded:
    """A column over all files; `name` in every row if no file has it."""
    present = [column for column in columns if column is not None]
    return Coded.of(pl.concat(present)) if present else Coded.constant(name, rows)


def _select(column: Coded, kept: BoolArray) -> Coded:
    """The rows that are kept, without unused names."""
    if kept.all():
        return column
    used, code = np.unique(column.code[kept], return_inverse=True)
    return Coded(code.astype(np.int32), column.names.gather(used))


def _as_draw(parts: list[Rows]) -> Draw | None:
    """How items were drawn, over all files; a queue's batches may be in several."""
    pi = [part.pi for part in parts if part.pi is not None]
    if len(pi) < len(parts):
        return None
    for part in parts[1:]:
        if part.drawn_for != parts[0].drawn_for:
            raise DataError(
                f"{part.source}: belongs to another queue than {parts[0].source}; compare with one queue at a time"
            )
    batch = [pl.repeat(1, len(part.label), eager=True) if part.batch is None else part.batch for part in parts]
    measure, frame = parts[0].drawn_for
    number = pl.concat(batch).cast(pl.Int32).to_numpy()
    _require_all_batches(parts[0].source, np.unique(number).tolist())
    _require_whole_batches(parts, number)
    return Draw(
        pi=pl.concat(pi).to_numpy(),
        batch=number,
        measure=measure,
        frame=frame,
    )


def _require_all_batches(source: str, found: list[int]) -> None:
    """Refuse a sample without an earlier batch, since probabilities are conditional on earlier batches."""
    missing = next((b for b in range(1, len(found) + 1) if b not in found), None)
    if missing is not None:
        raise DataError(
            f"{source}: batch {missing} is missing, though there is a batch {found[-1]}; add its rows, as batches "
            "are valid only with all earlier ones"
        )


def _require_whole_batches(parts: list[Rows], batch: IntArray) -> None:
    """Refuse a batch with missing rows, since the rest may not represent it."""
    sizes = [part.batch_size for part in parts if part.batch_size is not None]
    if len(sizes) < len(parts):
        return
    item = [pl.DataFrame({"topic": part.topic, "document": part.document}) for part in parts if part.topic is not None]
    if len(item) < len(parts):
        return
    rows = pl.concat(item).with_columns(batch=batch, size=pl.concat(sizes)).unique(["topic", "document", "batch"])
    found = (
        rows.group_by("batch").agg(pl.len(), pl.col("size").max()).filter(pl.col("len") < pl.col("size")).sort("batch")
    )
    if len(found):
        number, left, size = found.row(0)
        raise DataError(
            f"{parts[0].source}: batch {number} has {left:,} of the {size:,} documents that were drawn; add all "
            "rows, as a selection of them biases results"
        )


def _as_order(columns: Sequence[pl.Series | None]) -> FloatArray | None:
    """The times of grades as numbers: as they are, or by the order of the text, as for ISO dates."""
    present = [column for column in columns if column is not None]
    if len(present) < len(columns):
        return None
    numbers = [column.cast(pl.Float64, strict=False) for column in present]
    if any(n.null_count() > column.null_count() for n, column in zip(numbers, present, strict=True)):
        numbers = [pl.concat([column.cast(pl.String) for column in present]).rank("dense").cast(pl.Float64)]
    return pl.concat(numbers).fill_nan(None).fill_null(float("-inf")).to_numpy()


def _tell_order(parts: list[Rows], sequence: FloatArray | None) -> tuple[Note, ...]:
    if sequence is not None or all(part.sequence is None for part in parts):
        return ()
    lacking = next(part.source for part in parts if part.sequence is None)
    return (tell("no-times", source=lacking),)


def _tell_fractions(judge: Coded, fractional: BoolArray, rows: int) -> tuple[Note, ...]:
    if not fractional.any():
        return ()
    names = tuple(judge.names.gather(np.unique(judge.code[fractional])).to_list())
    return (tell("fractions", fractions=int(fractional.sum()), grades=rows, judges=names),)
