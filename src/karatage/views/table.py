"""Tables, built once: cells for pages and the terminal, Markdown, LaTeX and CSV for papers and repositories."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.errors import OptionError
from karatage.io.writing import encode_table, write_bytes
from karatage.text import shorten

if TYPE_CHECKING:
    from karatage.io.files import PathLike

# What XML cannot contain, which would end the converter's process; and marks that reverse text, so that a name cannot
# reverse its sentence.
UNSUITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

NOTHING, PLAIN_NOTHING = "–", "-"
MINUS, PLAIN_MINUS = "−", "-"
INFINITY, PLAIN_INFINITY = "∞", "inf"
DIGITS = 4
LONGEST = 200  # characters of a cell on a page
MOST_ROWS = 500  # on a page
LONGEST_PRINTED = 100  # characters of a cell, in a paper and in a repository
MARKDOWN = {c: f"\\{c}" for c in "\\`*_[]|~"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # or LaTeX reads it as an option, or a star, of the line before
    "*": "{*}",
    MINUS: "$-$",
    NOTHING: "--",
}


@dataclass(frozen=True, eq=False)
class Table:
    """A frame to show: numbers to the right with `digits` after the point (by column, if a mapping), text to the left.

    The frame is for machines; readers see its `columns`. Other options use the names of the frame.

    Args:
        frame: The data; numbers are numbers.
        caption: What the table is about.
        digits: After the point of numbers with a fraction.
        mark: Which rows of a column are the best, from `mark_best`. They are bold, and starred in the terminal.
        signed: Columns whose numbers have a sign: +0.0123.
        name: Stem of the file it is written to.
        about: The column that names the system or judge of a row.
        shares: Columns of shares, shown as percent.
        least: Columns in which 0 stands for all below a number, such as p-values below the smallest double.
        columns: The columns that readers see, in order, each with its header; default: all under their own names.
        right: Columns of text that are aligned right and not cut: numbers with additions.
        meanings: The meaning of columns, for the caption.
        noun: What a row is, if the terminal shows only the first ones; default: `about`.
        keys: The number of first columns that identify a row; the terminal repeats them where others do not fit beside
            them. 0: the terminal leaves out the last columns.
        group: A column of text which the terminal shows as headings between rows.
        below: A column of text which the terminal shows below its row.
        wrap: Columns of text which the terminal breaks into lines instead of cutting them.
        detail: Whether the terminal leaves it out.
    """

    frame: pl.DataFrame
    caption: str
    digits: int | Mapping[str, int] = DIGITS
    mark: Mapping[str, Sequence[bool]] = field(default_factory=dict)
    signed: Collection[str] = ()
    name: str = ""
    about: str = ""
    shares: Collection[str] = ()
    least: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    right: Collection[str] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
    noun: str = ""
    keys: int = 0
    group: str = ""
    below: str = ""
    wrap: Collection[str] = ()
    detail: bool = False

    def __post_init__(self) -> None:
        """Show all columns if none are chosen."""
        if not self.columns:
            object.__setattr__(self, "columns", label_columns(self.frame))


def label_columns(frame: pl.DataFrame, **headers: str) -> dict[str, str]:
    """All columns of a frame, some under another header.

    >>> label_columns(pl.DataFrame({"kind": [], "size": []}), kind="")
    {'kind': '', 'size': 'size'}
    """
    return {name: headers.get(name, name) for name in frame.columns}


class Cell(NamedTuple):
    """One cell of a table: its text, whether it is aligned right as numbers are, whether it is bold, its number."""

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
    """The rows where each column has its highest (or lowest) value, within each group of rows.

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


def mark_rows(frame: pl.DataFrame, *, lowest: bool = False) -> dict[str, list[bool]]:
    """The columns where each row has its highest (or lowest) value.

    >>> mark_rows(pl.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.2]}))
    {'a': [False, True], 'b': [True, False]}
    """
    top = frame.select(top=pl.min_horizontal(pl.all()) if lowest else pl.max_horizontal(pl.all()))["top"]
    return {name: (frame[name] == top).fill_null(False).to_list() for name in frame.columns}


def keep_finite(frame: pl.DataFrame) -> pl.DataFrame:
    """A frame with null where a number is not finite: JSON cannot represent such a value."""
    numbers = pl.col(pl.Float64)
    return frame.with_columns(pl.when(numbers.is_finite()).then(numbers))


def take_rows(table: Table, count: int) -> Table:
    """The first rows of a table."""
    mark = {name: list(rows)[:count] for name, rows in table.mark.items()}
    return replace(table, frame=table.frame.head(count), mark=mark)


def take_columns(table: Table, names: Sequence[str]) -> Table:
    """Some of the columns that readers see."""
    return replace(table, columns={name: table.columns[name] for name in names})


def keep_first(table: Table, most: int = MOST_ROWS) -> Table:
    """The first rows of a table that is too long for a page; its caption says how many there are."""
    rows = len(table.frame)
    if rows <= most:
        return table
    return replace(take_rows(table, most), caption=f"{table.caption}: the first {most:,} of {rows:,} rows")


def clean(text: str) -> str:
    """Text that HTML and XML can contain."""
    return UNSUITABLE.sub(REPLACEMENT, text)


def write_caption(table: Table) -> str:
    """The caption, with what the columns mean."""
    meanings = [f"{table.columns[name]}: {text}" for name, text in table.meanings.items() if name in table.columns]
    return "; ".join([table.caption, *meanings])


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
    """With an ASCII minus; a number above 0 never shows as 0 unless it has a sign, as no p-value is 0.

    What shows as 0 has no sign.
    """
    if math.isinf(value):
        return f"{'-' if value < 0 else sign}{INFINITY}"
    if isinstance(value, int) and not unit:
        return f"{value:{sign},}"
    shown = f"{value:{sign},.{digits}{unit or 'f'}}"
    if re.search("[1-9]", shown):
        return shown
    return f"<{10**-digits:.{digits}f}{unit}" if value > 0 and not sign else f"{0:.{digits}f}{unit}"


def write_column(table: Table, name: str, *, plain: bool = False) -> list[str]:
    """The cells of a column as readers see them."""
    digits = table.digits if isinstance(table.digits, int) else table.digits.get(name, DIGITS)
    signed, share = name in table.signed, name in table.shares
    values = table.frame[name]
    texts = [write_cell(value, digits, signed=signed, share=share, plain=plain) for value in values]
    if name in table.least:
        below = f"{'< ' if plain else '<'}{table.least[name]:.2g}"
        texts = [below if value == 0 else text for value, text in zip(values, texts, strict=True)]
    if plain or name not in table.right:
        return texts
    return [re.sub(r"(?<![\w.])-(?=[\d.])", MINUS, text) for text in texts]


def write_header(table: Table, name: str, *, plain: bool = False) -> str:
    """The header of a column; `plain` with the terminal's minus."""
    header = table.columns[name]
    return header.replace(MINUS, PLAIN_MINUS) if plain and header != name else header


def lay_out_table(table: Table) -> LaidOut:
    """A table as a page shows it: long text is cut."""
    frame = table.frame
    columns = [list(_lay_out_column(table, name)) for name in table.columns]
    headers = [
        Cell(shorten_cell(write_header(table, name), LONGEST), stands_right(table, name)) for name in table.columns
    ]
    names = frame[table.about].cast(pl.String).fill_null("") if table.about else [""] * len(frame)
    rows = zip(zip(*columns, strict=True), names, strict=True) if columns else ()
    return LaidOut(
        caption=clean(write_caption(table)),
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
    """Whether a column is aligned right, as numbers are."""
    return is_number(table, name) or name in table.right


def shorten_cell(text: str, width: int) -> str:
    """Text that HTML can contain, cut to `width` characters; shorter text keeps its lines."""
    return clean(text) if len(text) <= width else shorten(clean(text[: width + 1]), width)


def to_markdown(table: Table) -> str:
    r"""A table as GitHub's Markdown: its caption, and rows between pipes.

    >>> print(to_markdown(Table(pl.DataFrame({"approach": ["mv"], "tau_ap": [0.5]}), "By AP", digits=2)))
    By AP
    <BLANKLINE>
    | approach | tau\_ap |
    | :--- | ---: |
    | mv | 0.50 |
    <BLANKLINE>
    """
    heads, *rows = _print_rows(table, MARKDOWN, "**{}**", lambda text: _escape(text, MARKDOWN), plain=False)
    sides = ["---:" if stands_right(table, name) else ":---" for name in table.columns]
    lines = [f"| {' | '.join(row)} |" for row in (heads, sides, *rows)]
    return "\n".join([_escape(write_caption(table), MARKDOWN), "", *lines, ""])


def to_latex(table: Table) -> str:
    """A table as LaTeX with the rules of booktabs; text stays UTF-8, and long names are cut."""
    heads, *rows = (" & ".join(row) + r" \\" for row in _print_rows(table, LATEX, r"\textbf{{{}}}", _print_number))
    label = [rf"\label{{tab:{stem}}}"] if (stem := re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-")) else []
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(write_caption(table), LATEX)}}}",
        *label,
        rf"\begin{{tabular}}{{{''.join('r' if stands_right(table, name) else 'l' for name in table.columns)}}}",
        r"\toprule",
        heads,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _print_rows(
    table: Table, marks: Mapping[str, str], bold: str, number: Callable[[str], str], *, plain: bool = True
) -> Iterator[tuple[str, ...]]:
    """The header and all rows, with text escaped and numbers, `plain` or not, written by `number`."""
    columns = []
    for name in table.columns:
        if is_number(table, name):
            texts = [number(text) for text in write_column(table, name, plain=plain)]
        else:
            texts = [_escape(text, marks, LONGEST_PRINTED) for text in write_column(table, name)]
        marked = zip(texts, list_marks(table, name), strict=True)
        head = _escape(write_header(table, name), marks, LONGEST_PRINTED)
        columns.append([head, *(bold.format(text) if best and text else text for text, best in marked)])
    return zip(*columns, strict=True)


def _print_number(text: str) -> str:
    """A number of the terminal in LaTeX's form."""
    if text == PLAIN_NOTHING:
        return "--"
    return re.sub("([-+<]) ?", r"$\1$", text).replace(PLAIN_INFINITY, r"$\infty$").replace("%", r"\%")


def _escape(text: str, marks: Mapping[str, str], width: int | None = None) -> str:
    """On one line, cut to `width`, with everything escaped that has a meaning in the format."""
    line = " ".join(clean(text).split())
    return "".join(marks.get(c, c) for c in shorten(line, len(line) if width is None else width))


def write_table(table: Table, path: PathLike) -> None:
    """Write a table; the name's ending says how: .md, .tex or .csv. In LaTeX its label is the file's name."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        write_bytes(path, encode_table(table.frame, ending))
    elif ending in {".md", ".tex"}:
        text = to_markdown(table) if ending == ".md" else to_latex(replace(table, name=Path(path).stem))
        write_bytes(path, text.encode("utf-8", "replace"))
    else:
        raise OptionError(f"{shorten(os.fspath(path), 200)}: tables are written as .md, .tex or .csv files")
