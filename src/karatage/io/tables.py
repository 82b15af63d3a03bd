"""Tables of grades in text, JSON lines and Parquet, with any names of columns."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import polars as pl

from karatage.errors import DataError, InputFileError
from karatage.io.fields import Interner, split
from karatage.io.parquet import MAGIC, list_columns, read_columns
from karatage.io.rows import Locate, Rows, find_columns, from_frame, is_known, plain, unpivot
from karatage.io.sources import NOTHING, Source, check_line_ends, check_text, line_of
from karatage.text import counted, shorten

csv.field_size_limit(1 << 30)
# Text after a mark that prevents spreadsheets from reading it as a formula; `encode_table` writes the mark.
_MARK = r"^'('*[=+\-@\t\r])"
_GUARDED = re.compile(rb"""(?:^|[,;"\n])'+[=+\-@\t\r]""")


@dataclass(frozen=True, eq=False)
class Table:
    """A file's rows, with the file's column names."""

    source: Source
    frame: pl.DataFrame
    line: Locate  # from a row to its line
    header: int | None = None  # the line that names the columns


@dataclass(frozen=True, eq=False)
class _Text:
    """A text of records, beginning with the header on line `header`."""

    source: Source
    content: bytes
    separator: str
    header: int

    @property
    def quote(self) -> str | None:
        """The quotation mark; none in tab-separated text."""
        return None if self.separator == "\t" else '"'

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Records with their first line and fields (none in a blank line)."""
        text = io.TextIOWrapper(io.BytesIO(self.content), "utf-8", newline="")
        if self.quote is None:
            reader = csv.reader(text, delimiter=self.separator, quoting=csv.QUOTE_NONE)
        else:
            reader = csv.reader(text, delimiter=self.separator, strict=True)
        line = self.header
        try:
            for fields in reader:
                yield line, [] if len(fields) == 1 and not fields[0].strip() else fields
                line = self.header + reader.line_num
        except csv.Error as problem:
            what = "is never closed" if "end of data" in str(problem) else "is in the middle of a field"
            raise InputFileError(self.source.name, line, f"a quotation mark {what}") from None

    def line_of_row(self, row: int) -> int | None:
        """The line on which a row begins; the header is row -1."""
        return next((line for line, _ in islice(self.records(), row + 1, None)), None)


def read_delimited(source: Source, content: bytes, separator: str) -> Table:
    """Read a table of text; rows of the wrong width are refused, blank lines skipped."""
    blank = re.match(rb"(?:[ \t\v\f\r]*\n)*", content)
    begins = blank.end() if blank else 0
    header, content = line_of(content, begins), content[begins:]
    if separator == " ":
        content, separator = b"\n".join(b"\t".join(line.split()) for line in content.split(b"\n")), "\t"
    text = _Text(source, content, separator, header)
    if not next(text.records(), (0, []))[1]:
        raise InputFileError(source.name, header, "the first line does not name the columns; add a header")
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False, quote_char=text.quote)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        frame = _read_lines_slowly(text)
    if separator != "\t" and _GUARDED.search(content):
        frame = frame.with_columns(pl.all().str.replace(_MARK, "$1"))
    frame.columns = _name_columns(text)
    frame = frame.with_row_index("row ").filter(~_is_blank(frame))
    rows, frame = frame["row "].to_numpy(), frame.drop("row ")
    if not len(frame):
        raise InputFileError(source.name, None, "has a header but no rows")
    if frame[:, -1].null_count():
        _check_widths(text)
    return Table(source, frame, lambda row: text.line_of_row(int(rows[row])), header)


def _is_blank(frame: pl.DataFrame) -> pl.Expr:
    """Rows from blank lines."""
    first, *others = (pl.col(name) for name in frame.columns)
    empty = first.is_null() | (first.str.strip_chars() == "")
    return pl.all_horizontal(empty, *(other.is_null() for other in others))


def _read_lines_slowly(text: _Text) -> pl.DataFrame:
    """Rows that polars refuses: an error with its line, or a table with unusual quotes."""
    (_, names), *records = _check_widths(text)
    rows = [[field or None for field in fields] or [None] * len(names) for _, fields in records]
    return pl.DataFrame(rows, schema=[(f"{k}", pl.String) for k in range(len(names))], orient="row")


def _check_widths(text: _Text) -> list[tuple[int, list[str]]]:
    """All records, header first; another number of fields than in the header is an error."""
    records = list(text.records())
    width = len(records[0][1])
    for line, fields in records:
        if fields and len(fields) != width:
            wide = text.separator == "," and len(fields) > width
            hint = "; a comma inside a field needs quotes around the field, and decimals need a point" if wide else ""
            raise InputFileError(text.source.name, line, f"expected {width} columns, got {len(fields)}{hint}")
    return records


def _name_columns(text: _Text) -> list[str]:
    """The header, without surrounding space; a repeated name, such as that of two judges, gets a number."""
    found: dict[str, None] = {}
    names = (name.strip() for name in next(text.records())[1])
    for name in (name if text.quote is None else re.sub(_MARK, r"\1", name) for name in names):
        if name in found and is_known(name):
            raise InputFileError(text.source.name, text.header, f"two columns are called '{shorten(name)}'")
        unique, n = name, 2
        while unique in found:
            unique, n = f"{name} ({n})", n + 1
        found[unique] = None
    return list(found)


BOOK = "query_doc_pairs"
# polars overflows the stack on deep nesting; a plain row has one bracket.
_MOST_BRACKETS = 200


def read_json(source: Source, content: bytes) -> Table:
    """Read rows of JSON, with polars where possible."""
    numbers = _plain_lines(content)
    if numbers is not None:
        try:
            frame = pl.read_ndjson(content, infer_schema_length=None)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            frame = pl.DataFrame()
        if frame.columns and len(frame) == len(numbers) and not _hides_objects(frame):
            return Table(source, frame, lambda row: numbers[row], numbers[0])
    return _read_slowly(source, content)


def _hides_objects(frame: pl.DataFrame) -> bool:
    """Whether this is Quepid's book, or polars may have converted an object to text."""
    return BOOK in frame.columns or any(
        column.str.contains(r"^[\[{]").any() for column in frame.select(pl.col(pl.String)).iter_columns()
    )


def _plain_lines(content: bytes) -> list[int] | None:
    """The numbers of lines with something on them; None when polars should not see them."""
    if re.search(rb"\\u[dD][89a-fA-F]", content):  # a broken pair of these makes polars write a zero
        return None
    numbers = []
    for number, line in enumerate(io.BytesIO(content), 1):
        if line.count(b"[") + line.count(b"{") > _MOST_BRACKETS:
            return None
        if line.strip():
            numbers.append(number)
    return numbers


def _read_slowly(source: Source, content: bytes) -> Table:
    """One document, or one row a line, with every mistake named."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        whole = None
    numbers: list[int | None]
    if isinstance(whole, dict) and BOOK in whole:
        records = _flatten_book(source, whole[BOOK])
        numbers = [None] * len(records)
    elif isinstance(whole, list):
        records = whole
        numbers = [None] * len(records)
    else:
        lines = list(_parse_lines(source, content))
        records = [record for _, record in lines]
        numbers = [number for number, _ in lines]
    if not records:
        raise InputFileError(source.name, None, "has no rows")
    return Table(source, _tabulate(source, records, numbers), lambda row: numbers[row], numbers[0])


def _parse_lines(source: Source, content: bytes) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(io.BytesIO(content), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as problem:
                message = f"is not JSON: {shorten(str(problem), 80)}"
                raise InputFileError(source.name, number, message) from None


def _tabulate(source: Source, records: list[object], numbers: list[int | None]) -> pl.DataFrame:
    rows = []
    for k, (record, number) in enumerate(zip(records, numbers, strict=True), 1):
        place = "" if number is not None else f"row {k}: "
        if not isinstance(record, dict):
            found = shorten(json.dumps(record))
            raise InputFileError(source.name, number, f"{place}expected a JSON object, got {found}")
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InputFileError(source.name, number, f"{place}has half a surrogate pair (\\ud8..-\\udf..)") from None
        rows.append(record)
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        raise InputFileError(source.name, None, "has rows without any field")
    return pl.DataFrame([_column(name, [row.get(name) for row in rows]) for name in names])


def _column(name: str, values: list[object]) -> pl.Series:
    """Values as text; a column with lists or objects in it keeps only those, to be refused if it is needed."""
    nested = [[json.dumps(value)] if isinstance(value, list | dict) else None for value in values]
    if any(nested):
        return pl.Series(name, nested, dtype=pl.List(pl.String))
    plain = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(name, plain, dtype=pl.String)


def _flatten_book(source: Source, pairs: object) -> list[object]:
    """Quepid's book: pairs of query and document, each with its judgements."""
    rows: list[object] = []
    for k, pair in enumerate(_list(source, pairs, BOOK), 1):
        where = f"{BOOK} {k}"
        if not isinstance(pair, dict):
            raise InputFileError(source.name, None, f"{where} is not a JSON object, so this is not a Quepid book")
        for judgement in _list(source, pair.get("judgements") or [], f"{where}: judgements"):
            if not isinstance(judgement, dict):
                raise InputFileError(source.name, None, f"{where} has a judgement that is not a JSON object")
            if judgement.get("rating") is not None and not judgement.get("unrateable"):
                rows.append(
                    {
                        "judge": judgement.get("user_email") or "Unknown",
                        "topic": pair.get("query_text"),
                        "document": pair.get("doc_id"),
                        "grade": judgement["rating"],
                    }
                )
    if not rows:
        raise InputFileError(source.name, None, "no judge has given a grade")
    return rows


def _list(source: Source, value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise InputFileError(source.name, None, f"{what} is not a list, so this is not a Quepid book")
    return value


# What the columns of a headless text are, by their number; for gold and for judgments.
HEADLESS = {4: ("topic", None, "document", "grade"), 3: ("document", "judge", "grade")}
HEADLESS_GOLD = {4: ("topic", None, "document", "grade"), 2: ("document", "grade")}


def read_table(source: Source, *, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """Read one file of judgments, whatever its format."""
    content = source.read()
    if content.startswith(MAGIC):
        return _pick(_read_parquet(source, content, columns, gold), columns, gold)
    content = check_text(source, content)
    first = next((line.decode() for line in io.BytesIO(content) if line.strip()), "")
    if not first:
        raise InputFileError(source.name, None, NOTHING)
    if first.lstrip().startswith(("{", "[")):
        return _pick(read_json(source, content), columns, gold)
    check_line_ends(source, content)
    separator = next((s for s in "\t,;" if s in first), " ")
    if not columns and not _is_header(_split_header(first, separator)):
        return _read_headless(source, content, first, separator, gold)
    table = read_delimited(source, content, separator)
    if not columns and _is_book(table.frame.columns):
        return unpivot(table.frame, source.name, table.line)
    return _pick(table, columns, gold)


def _split_header(first: str, separator: str) -> list[str]:
    if separator == " ":
        return first.split()
    return next(csv.reader([first.strip("\r\n")], delimiter=separator), [])


def _is_header(fields: Sequence[str]) -> bool:
    """Whether a first line names columns; one known word beside a number is rather a document called 'doc'."""
    known = sum(is_known(name) for name in fields)
    return known > 1 or (known == 1 and not any(name.strip().isdecimal() for name in fields))


def _is_book(columns: Sequence[str]) -> bool:
    """Quepid's book: query, docid, then one column per judge."""
    named = [plain(name) for name in columns[:2]] == ["query", "docid"]
    return named and len(columns) > 2 and not {"judge", "grade"} & set(find_columns(columns))


def _pick(table: Table, columns: Mapping[str, str] | None, gold: bool) -> Rows:
    """Pick columns; what is wrong with them as a whole is wrong with the header."""
    try:
        return from_frame(table.frame, table.source.name, table.line, columns=columns, gold=gold)
    except DataError as problem:
        raise InputFileError(table.source.name, table.header, f"{problem}") from None


def _read_parquet(source: Source, content: bytes, columns: Mapping[str, str] | None, gold: bool) -> Table:
    """Only the columns that are needed."""
    names = list_columns(source, content)
    try:
        needed = sorted(set(find_columns(names, columns, gold=gold).values()))
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}") from None
    frame = read_columns(source, content, needed)
    if needed and not len(frame):
        raise InputFileError(source.name, None, "has columns but no rows")
    unread = [pl.lit(None).alias(name) for name in names if name not in needed]  # named in messages
    return Table(source, frame.with_columns(unread), lambda _: None)


def _read_headless(source: Source, content: bytes, first: str, separator: str, gold: bool) -> Rows:
    """Text without a header: qrels, or SQUARE's `item judge grade` and `item grade`."""
    layouts = HEADLESS_GOLD if gold else HEADLESS
    width = len(first.split())
    if width not in layouts:
        wanted = "qrels (4 columns) or " + ("'item grade'" if gold else "'item judge grade'")
        found = len(_split_header(first, separator))
        message = f"{counted(found, 'column')} without a header that names a grade; expected a header, or {wanted}"
        line = line_of(content, len(content) - len(content.lstrip()))
        run = width == 6 and first.split()[1].upper() == "Q0"
        hint = "; this looks like a run, not a file of grades" if run else ""
        raise InputFileError(source.name, line, f"{message}, separated by spaces or tabs{hint}")
    fields = split(source, content, width)
    column = {}
    for k, role in enumerate(layouts[width]):
        if role is not None:
            interner = Interner()
            code = interner.add(fields, k)
            column[role] = interner.names().gather(code)
    if "judge" not in column and not gold:
        column["judge"] = pl.repeat(source.stem, len(fields.line), dtype=pl.String, eager=True)
    lines = fields.line.astype(np.int64)
    return Rows(
        source=source.name,
        line=lambda row: int(lines[row]),
        judge=column.get("judge"),
        topic=column.get("topic"),
        document=column["document"],
        label=column["grade"],
    )
