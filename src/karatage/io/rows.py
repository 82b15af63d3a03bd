"""Rows of a table as judgments: names of columns and items, and rows of a judged queue."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from karatage.data.axes import HIGHEST_GRADE
from karatage.data.note import Note, Texts
from karatage.data.queue import EXPERT
from karatage.errors import DataError, InputFileError, OptionError, RowError
from karatage.io.files import PathLike
from karatage.io.frames import name_column, plain_column
from karatage.text import counted, hint_decimal, nearest, shorten

tell = Texts(
    "io",
    {
        "dropped": "{judgments:,} judgments were left out by the grade mapping",
        "experts-open": "{documents:count document} for experts without a grade yet",
        "fractions": "{fractions:,} of {grades:,} grades are fractions, rounded to the nearest whole number (halves "
        "up); judges concerned: {judges:names}",
        "no-times": "{source} has no times of grades, so of repeated ones the last row is the last grade",
    },
)
_WORDS = {
    "judge": "judge worker assessor annotator performer rater labeler labeller",
    "topic": "topic qid query querytext",
    "document": "document doc docid docno did passage pid",
    "grade": "grade label relevance rel rating judgment judgement",
    "item": "item task",
    "time": "time timestamp datetime date seq sequence",
    "pi": "pi",
    "batch": "batch",
    "batch_size": "batchsize",
    "measure": "measure",
    "frame": "frame",
    "repeat": "repeat",
    "to": "to",
    "system": "system run tag runtag runname",
    "score": "score sim",
}


# Of several columns with the same meaning the earliest word wins; identifiers before free text.
ALIASES = {role: _words.split() for role, _words in _WORDS.items()}


for _role in ("judge", "topic", "document", "item", "system"):
    ALIASES[_role] = [word for base in ALIASES[_role] for word in (base + "id", base)]


NEAR = 0.75  # how similar a name must be to be proposed


# Columns of queues, which are not proposed for a missing role.
QUEUED = {"to", "judgments", "priority", "pi", "cost", "batch", "order", "seed", "batchsize", "measure", "frame"}


def plain(name: str) -> str:
    """A column's name reduced to letters: `Query_ID` and `queryId` are the same."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def is_known(name: str) -> bool:
    """Whether this is the name of a role."""
    word = plain(name)
    return word == "gold" or any(word in words for words in ALIASES.values())


def find_columns(
    columns: Sequence[str], given: Mapping[str, str] | None = None, *, gold: bool = False
) -> dict[str, str]:
    """The column of each role; `given` (role -> column) overrides the names."""
    found: dict[str, str] = {}
    by_plain = {plain(name): name for name in reversed(columns)}
    for role, words in ALIASES.items():
        for word in ["gold", *words] if gold and role == "grade" else words:
            if word in by_plain:
                found[role] = by_plain[word]
                break
    for role, name in (given or {}).items():
        if role not in ALIASES:
            raise OptionError(f"columns: '{shorten(role)}' is not a role; roles are {', '.join(ALIASES)}")
        if name not in columns:
            raise DataError(f"there is no column '{shorten(name)}' for the {role}; {list_columns(columns)}")
        found[role] = name
    return found


def require(found: Mapping[str, str], role: str, frame: pl.DataFrame, *, option: str | None = None) -> str:
    """The column of a role, or an error with advice on naming it, by an `option` if there is one."""
    if role in found:
        return found[role]
    near = _guess(found, role, frame)
    said = f"rename one of them to '{role}'"
    if option is not None:
        hint = "NAME" if near is None else shorten(near)
        said = f"name it with {option} {shlex.quote(f'{role}={hint}')} (in Python columns={{'{role}': '{hint}'}})"
    raise DataError(f"there is no column for the {role}; {list_columns(frame.columns)}; {said}")


def _guess(found: Mapping[str, str], role: str, frame: pl.DataFrame) -> str | None:
    """A column with a similar name, no other role and suitable values."""
    free = [name for name in frame.columns if plain(name) not in QUEUED and name not in found.values()]
    free = [name for name in free if role != "grade" or _looks_like_grades(frame[name])]
    return next((near for word in (role, *ALIASES[role]) if (near := nearest(word, free, likeness=NEAR))), None)


def _looks_like_grades(column: pl.Series) -> bool:
    """Whether there are few different values, as in grades and labels."""
    plain_values = column.dtype != pl.Object and not column.dtype.is_nested()
    return plain_values and column.n_unique() <= HIGHEST_GRADE + 1


def list_columns(columns: Sequence[str]) -> str:
    """The columns, for a message."""
    more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
    return f"the columns are {', '.join(shorten(name, 20) for name in columns[:8])}{more}"


Locate = Callable[[int], int | None]
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")


def keep_experts(
    frame: pl.DataFrame, found: Mapping[str, str], line: Locate
) -> tuple[pl.DataFrame, Locate, dict[str, str], tuple[Note, ...]]:
    """The rows of a queue for experts; only those with a grade, if they were not drawn at random."""
    to = frame[found["to"]].cast(pl.String).str.strip_chars().str.to_lowercase()
    kept = (to == EXPERT).fill_null(value=False)
    if not kept.any():
        raise DataError(f"no row is for an expert (column '{shorten(found['to'])}'), so there is no gold in it")
    roles = dict(found)
    notes: tuple[Note, ...] = ()
    drawn = "pi" in roles and not (_is_blank(frame[roles["pi"]]) | ~kept).all()
    if not drawn:
        roles.pop("pi", None)
        blank = _is_blank(frame[roles["grade"]]) & kept
        if blank.any():
            if (blank | ~kept).all():
                raise DataError(
                    f"no expert's row has a grade yet; fill in the column '{shorten(roles['grade'])}' first"
                )
            notes = (tell("experts-open", documents=int(blank.sum())),)
        kept &= ~blank
    rows = kept.arg_true().to_numpy()
    return frame.filter(kept), lambda row: line(int(rows[row])), roles, notes


def _is_blank(column: pl.Series) -> pl.Series:
    return column.cast(pl.String, strict=False).str.strip_chars().fill_null("") == ""


def leave_out_unjudged(frame: pl.DataFrame, found: Mapping[str, str], line: Locate) -> tuple[pl.DataFrame, Locate]:
    """The rows with a grade. Batches must be judged completely and in turn; later ones may be missing."""
    blank = _is_blank(frame[found["grade"]])
    if not blank.any():
        return frame, line
    if blank.all():
        raise DataError(f"no row has a grade yet; fill in the column '{shorten(found['grade'])}' first")
    batch = read_batches(frame, found)
    batch = pl.repeat(1, len(frame), eager=True) if batch is None else batch
    first = int(blank.arg_max() or 0)
    number = int(batch.filter(blank).to_numpy().min())
    same = batch == number
    if not blank.filter(same).all():
        first = int((blank & same).arg_max() or 0)
        lacking = f"{int((blank & same).sum()):,} of the {counted(int(same.sum()), 'row')}"
        of = f" of batch {number}" if "batch" in found else ""
        raise RowError(
            first,
            f"no grade yet, as for {lacking}{of}; judge whole batches, because a selection biases results. If a "
            f"document cannot be graded, enter the grade for what users would see (0 for a missing page), and do not "
            f"delete the row",
        )
    if not blank.filter(batch >= number).all():
        raise RowError(first, f"batch {number} has no grades yet, but a later one has; judge batches in order")
    rows = (~blank).arg_true().to_numpy()
    return frame.filter(~blank), lambda row: line(int(rows[row]))


def read_batches(frame: pl.DataFrame, found: Mapping[str, str], role: str = "batch") -> pl.Series | None:
    """Numbers of batches from 1, or their sizes; None without such a column."""
    if role not in found:
        return None
    column = frame[found[role]]
    number = column.cast(pl.Int32, strict=False)
    bad = number.is_null() | (number < 1)
    if bad.any():
        row = int(bad.arg_max() or 0)
        what = role.replace("_", " ")
        raise RowError(row, f"{what} '{shorten(str(column[row]))}' is not a whole number from 1")
    return number


def read_purpose(frame: pl.DataFrame, found: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The measure for which a queue was drawn, and the fingerprint of its frame."""
    values: list[str | None] = []
    for role in ("measure", "frame"):
        names = frame[found[role]].cast(pl.String).drop_nulls().unique().to_list() if role in found else []
        if len(names) > 1:
            raise DataError(f"rows of several queues: the column '{shorten(found[role])}' has {len(names)} values")
        values.append(names[0] if names else None)
    return values[0], values[1]


def find_ending(path: PathLike) -> str:
    """The format of a queue, by the end of the file name."""
    name = Path(os.fspath(path).removesuffix(".gz").removesuffix(".zst"))
    if name.suffix.lower() not in ENDINGS:
        raise OptionError(f"{os.fspath(path)}: cannot tell the queue's format; use {', '.join(ENDINGS)}")
    return name.suffix.lower()


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows:
    """One file's judgments. Without a topic, documents are items."""

    source: str  # as shown in messages
    line: Locate  # from a row to its line
    judge: pl.Series | None = None
    topic: pl.Series | None = None
    document: pl.Series
    label: pl.Series
    sequence: pl.Series | None = None  # times of grades, as in the file
    pi: pl.Series | None = None
    batch: pl.Series | None = None  # of a sample that was drawn in batches
    batch_size: pl.Series | None = None  # items that were drawn for the batch
    drawn_for: tuple[str | None, str | None] = (None, None)  # measure and frame of a queue
    notes: tuple[Note, ...] = ()

    def error(self, row: int, message: str) -> InputFileError:
        """An error in a row, with its place."""
        return blame(self.source, self.line, RowError(row, message))


def blame(source: str, line: Locate, problem: RowError) -> InputFileError:
    """The same problem with file and line, or with the row where there are no lines."""
    number = line(problem.row)
    if number is None:
        return InputFileError(source, None, str(problem))
    return InputFileError(source, number, problem.message)


def from_frame(
    frame: pl.DataFrame, source: str, line: Locate, *, columns: Mapping[str, str] | None, gold: bool
) -> Rows:
    """Pick a table's columns by their names."""
    found = find_columns(frame.columns, columns, gold=gold)
    option = "--gold-columns" if gold else "--columns"
    require(found, "grade", frame, option=option)
    if "document" not in found and "item" not in found:
        require(found, "document", frame, option=option)
    whole = "item" in found and ("topic" not in found or "document" not in found)
    if not whole and "topic" not in found:
        require(found, "topic", frame, option=option)
    if not gold:
        require(found, "judge", frame, option=option)
    elif "judge" in found and plain(found["grade"]) == "gold":  # of a table of other judges' grades
        _require_one_grade(frame, found, ["item"] if whole else ["topic", "document"])
        del found["judge"]
    try:
        notes: tuple[Note, ...] = ()
        if gold and "to" in found:
            frame, line, found, notes = keep_experts(frame, found, line)
        if gold and "pi" in found:
            frame, line = leave_out_unjudged(frame, found, line)
        return Rows(
            source=source,
            line=line,
            judge=_name_judges(frame, found, gold=gold),
            topic=name_column(frame[found["topic"]], "topic") if "topic" in found else None,
            document=name_column(frame[found["item" if whole else "document"]], "item" if whole else "document"),
            label=plain_column(frame[found["grade"]], "grade"),
            sequence=_pick_sequence(frame, found),
            pi=_as_probability(plain_column(frame[found["pi"]], "pi")) if "pi" in found else None,
            batch=read_batches(frame, found) if gold and "pi" in found else None,
            batch_size=read_batches(frame, found, "batch_size") if gold and "pi" in found else None,
            drawn_for=read_purpose(frame, found) if gold and "pi" in found else (None, None),
            notes=notes,
        )
    except RowError as problem:
        raise blame(source, line, problem) from None


def _require_one_grade(frame: pl.DataFrame, found: Mapping[str, str], item: list[str]) -> None:
    """Refuse a column of gold that contradicts itself."""
    grades = frame.group_by([found[role] for role in item]).agg(pl.col(found["grade"]).n_unique())
    several = int((grades[found["grade"]] > 1).sum())
    if several:
        raise DataError(
            f"the column '{shorten(found['grade'])}' has different grades for {counted(several, 'item')}; give each "
            f"item one grade there, or gold in a separate file with a column '{shorten(found['judge'])}'"
        )


def _name_judges(frame: pl.DataFrame, found: Mapping[str, str], *, gold: bool) -> pl.Series | None:
    """The judges; those of gold need no name."""
    if gold and ("judge" not in found or _is_blank(frame[found["judge"]]).any()):
        return None
    return name_column(frame[found["judge"]], "judge")


def unpivot(frame: pl.DataFrame, source: str, line: Locate) -> Rows:
    """Quepid's book: query, docid, then one column per judge; empty cells are skipped."""
    query, document, *judges = frame.columns
    long = (
        frame.with_row_index("row ")
        .unpivot(index=["row ", query, document], on=judges, variable_name="judge ", value_name="grade ")
        .filter(pl.col("grade ").is_not_null() & (pl.col("grade ").str.strip_chars() != ""))
    )
    rows = long["row "].to_numpy()
    if not len(long):
        raise DataError(f"{source}: no judge has given a grade")

    def locate(row: int) -> int | None:
        return line(int(rows[row]))

    try:
        return Rows(
            source=source,
            line=locate,
            judge=name_column(long["judge "], "judge"),
            topic=name_column(long[query], "topic"),
            document=name_column(long[document], "document"),
            label=long["grade "],
        )
    except RowError as problem:
        raise blame(source, locate, problem) from None


def _pick_sequence(frame: pl.DataFrame, found: Mapping[str, str]) -> pl.Series | None:
    role = next((role for role in ("time", "repeat") if role in found), None)
    return None if role is None else plain_column(frame[found[role]], role)


def _as_probability(column: pl.Series) -> pl.Series:
    number = column.cast(pl.Float64, strict=False)
    good = ((number > 0) & (number <= 1)).fill_null(value=False)
    if not good.all():
        row = int((~good).arg_max() or 0)
        if column[row] is None:
            raise RowError(row, "pi is missing; every drawn item has one, in (0, 1]")
        text = str(column[row])
        raise RowError(row, f"pi '{shorten(text)}' is not a probability in (0, 1]{hint_decimal(text)}")
    return number
