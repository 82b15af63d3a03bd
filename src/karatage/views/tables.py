"""Tables, built once: cells for pages, Markdown and LaTeX for papers, and what the terminal shows."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import NamedTuple

import polars as pl

from karatage.errors import OptionError
from karatage.text import shorten
from karatage.views.svg import clean

NOTHING, PLAIN_NOTHING = "–", "-"
MINUS, PLAIN_MINUS = "−", "-"
INFINITY, PLAIN_INFINITY = "∞", "inf"
DIGITS = 4
LONGEST = 200  # characters of a cell on a page


@dataclass(frozen=True, eq=False)
class Table:
    """A frame to show: numbers to the right with `digits` after the point (by column, if a mapping), text to the left.

    Args:
        frame: What it says; numbers are numbers.
        caption: What it is about.
        digits: After the point of numbers that have one.
        mark: Which rows of a column are bold; `mark_best` finds them.
        signed: Columns whose numbers carry their sign: +0.0123.
        name: Stem of the file it is written to.
        about: The column that names the system or judge of a row.
        shares: Columns of shares, shown as percent.
        headers: What readers see instead of a column's name, where two would be called the same.
        right: Columns of text that stand to the right and are not cut: numbers with something to them.
    """

    frame: pl.DataFrame
    caption: str
    digits: int | Mapping[str, int] = DIGITS
    mark: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    signed: Collection[str] = ()
    name: str = ""
    about: str = ""
    shares: Collection[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    right: Collection[str] = ()


class Cell(NamedTuple):
    """One place of a table: its text, whether it stands to the right as numbers do, whether it is bold, its number."""

    text: str
    number: bool
    bold: bool = False
    value: float | None = None


class Row(NamedTuple):
    """Cells of a row, and the system or judge they are about."""

    cells: tuple[Cell, ...]
    about: str


class LaidOut(NamedTuple):
    """A table as a page shows it."""

    caption: str
    name: str
    about: str
    headers: tuple[Cell, ...]
    rows: tuple[Row, ...]


def mark_best(
    frame: pl.DataFrame, columns: Sequence[str], *, within: str | Sequence[str] = (), lowest: bool = False
) -> dict[str, list[bool]]:
    """Where each column has its largest (or lowest) value, within each group of rows.

    >>> mark_best(pl.DataFrame({"m": ["AP", "AP", "P"], "tau": [0.1, 0.3, 0.2]}), ["tau"], within="m")
    {'tau': [False, True, True]}
    """
    groups = [within] if isinstance(within, str) else list(within)
    found = {}
    for name in columns:
        values = pl.col(name).fill_nan(None) if frame[name].dtype.is_float() else pl.col(name)
        best = values.min() if lowest else values.max()
        same = values == (best.over(groups) if groups else best)
        found[name] = frame.select(same.fill_null(False))[name].to_list()
    return found


def keep_finite(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with nothing where it has no number: JSON cannot say what it is not."""
    numbers = pl.col(pl.Float64)
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers))


def take_rows(table: Table, count: int) -> Table:
    """The first rows of a table."""
    mark = {name: list(rows)[:count] for name, rows in table.mark.items()}
    return replace(table, frame=table.frame.head(count), mark=mark)


def take_columns(table: Table, names: Sequence[str]) -> Table:
    """Some columns of a table."""
    mark = {name: rows for name, rows in table.mark.items() if name in names}
    return replace(table, frame=table.frame.select(names), mark=mark)


def write_cell(value: object, digits: int, *, signed: bool = False, share: bool = False, plain: bool = False) -> str:
    """A value as readers see it; `plain` in ASCII, for the terminal.

    >>> write_cell(-0.25, 2), write_cell(-0.25, 2, plain=True), write_cell(1e-9, 4), write_cell(0.123, 1, share=True)
    ('−0.25', '-0.25', '<0.0001', '12.3%')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return PLAIN_NOTHING if plain else NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):  # money, exact
        return write_cell(float(value), _count_digits(value), signed=signed, share=share, plain=plain)
    if not isinstance(value, int | float):
        return clean(str(value))
    shown = _write_number(value, digits, "+" if signed and value else "", "%" if share else "")
    if plain:
        return shown.replace(INFINITY, PLAIN_INFINITY).replace("<", "< ")
    return shown.replace(PLAIN_MINUS, MINUS)


def _count_digits(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def _write_number(value: float, digits: int, sign: str, unit: str) -> str:
    """With an ASCII minus; a number above 0 never shows as 0, for no p-value is 0, and 0 has no sign."""
    if math.isinf(value):
        return f"{'-' if value < 0 else sign}{INFINITY}"
    if isinstance(value, int) and not unit:
        return f"{value:{sign},}"
    shown = f"{value:{sign},.{digits}{unit or 'f'}}"
    if sign or re.search("[1-9]", shown):
        return shown
    return f"<{10**-digits:.{digits}f}{unit}" if value > 0 else f"{0:.{digits}f}{unit}"


def write_column(table: Table, name: str, *, plain: bool = False) -> list[str]:
    """The cells of a column as readers see them."""
    digits = table.digits if isinstance(table.digits, int) else table.digits.get(name, DIGITS)
    signed, share = name in table.signed, name in table.shares
    texts = [write_cell(value, digits, signed=signed, share=share, plain=plain) for value in table.frame[name]]
    if plain or name not in table.right:
        return texts
    return [re.sub(r"(?<![\w.])-(?=[\d.])", MINUS, text) for text in texts]


def write_header(table: Table, name: str, *, plain: bool = False) -> str:
    """What readers see above a column; `plain` with the terminal's minus."""
    if name not in table.headers:
        return name
    return table.headers[name].replace(MINUS, PLAIN_MINUS) if plain else table.headers[name]


def lay_out_table(table: Table) -> LaidOut:
    """What a page shows of a table: long text is cut."""
    frame = table.frame
    columns = [list(_lay_out_column(table, name)) for name in frame.columns]
    headers = [
        Cell(shorten_cell(write_header(table, name), LONGEST), stands_right(table, name)) for name in frame.columns
    ]
    names = frame[table.about].cast(pl.String).fill_null("") if table.about else [""] * len(frame)
    rows = zip(zip(*columns, strict=True), names, strict=True) if columns else ()
    return LaidOut(
        caption=clean(table.caption),
        name=table.name,
        about=table.about,
        headers=tuple(headers),
        rows=tuple(Row(cells, clean(name)) for cells, name in rows),
    )


def _lay_out_column(table: Table, name: str) -> Iterator[Cell]:
    right, number = stands_right(table, name), is_number(table, name)
    texts = write_column(table, name)
    for text, value, bold in zip(texts, table.frame[name], list_marks(table, name), strict=True):
        known = number and value is not None and not math.isnan(value)
        yield Cell(shorten_cell(text, LONGEST), right, bold, float(value) if known else None)


def list_marks(table: Table, name: str) -> list[bool]:
    """Whether each cell of a column is bold."""
    frame = table.frame
    if not set(table.mark) <= set(frame.columns) or any(len(rows) != len(frame) for rows in table.mark.values()):
        raise OptionError(f"table '{table.caption}': marks are of its columns, one for each of {len(frame):,} rows")
    return [bool(best) for best in table.mark.get(name, [False] * len(frame))]


def is_number(table: Table, name: str) -> bool:
    """Whether a column holds numbers."""
    return table.frame[name].dtype.is_numeric()


def stands_right(table: Table, name: str) -> bool:
    """Whether a column stands to the right, as numbers do."""
    return is_number(table, name) or name in table.right


def shorten_cell(text: str, width: int) -> str:
    """Text that HTML can hold, cut to `width` characters; what is short enough keeps its lines."""
    return clean(text) if len(text) <= width else shorten(clean(text[: width + 1]), width)
