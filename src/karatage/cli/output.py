"""Printing: every result through `put`; tables of 80 columns, machine formats, notes on standard error."""

from __future__ import annotations

import io
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import remove_colour, wants_colour
from karatage.errors import DataError, OptionError
from karatage.text import make_printable, shorten

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Group, RenderableType

    from karatage.cli.options import Format, Printing
    from karatage.views.page import Page
    from karatage.views.table import Table

WIDTH = 80
NAME_WIDTH, HEADER_WIDTH = 16, 24
GAP = 3  # between columns: two of padding, one of rich's divider
LINE_END = "\n"
PIECE = 1 << 20  # characters that are written at once


class Result(Protocol):
    """What `put` has to know of a result."""

    @property
    def notes(self) -> Sequence[object]:
        """Warnings."""
        ...

    @property
    def sentence(self) -> str:
        """What to take away."""
        ...

    def to_frame(self) -> pl.DataFrame:
        """The one table for machines."""
        ...

    def to_dict(self) -> Mapping[str, object]:
        """Everything, for JSON."""
        ...


def put(
    result: Result,
    to: Printing,
    text: Callable[[], str] | None = None,
    *,
    frame: Callable[[], pl.DataFrame] | None = None,
    facts: Callable[[], Mapping[str, object]] | None = None,
    top: int = 0,
    output: str = STANDARD_OUTPUT,
) -> None:
    """Print a result in the format asked for; its notes, and where needed its sentence, go to standard error.

    Args:
        result: What was found.
        to: How it is to be printed.
        text: Makes the text for people; default: the result's page.
        frame: Makes the one table for machines; default: the result's.
        facts: Makes everything, for JSON; default: all that the result knows.
        top: Rows of tables on the page; 0: all.
        output: Where it goes.
    """
    chosen = choose_style(to.format, output)
    if chosen == "json":
        emit_result((facts or result.to_dict)(), output)
    elif chosen == "table":
        emit(text() if text else write_page(_lay_out(result), top=top), output)
    else:
        emit(encode_frame((frame or result.to_frame)(), chosen, raw=getattr(to, "raw", False)), output)
    if not to.quiet:
        tell(result.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(result.sentence)


def _lay_out(result: object) -> Page:
    from karatage.views.showing import lay_out

    return lay_out(result)


def write_page(page: Page, *then: str, top: int = 0, all_rows: str | None = None) -> str:
    """A page as text, in colour on a terminal; `then` are paragraphs below it."""
    from karatage.views.text import ALL_ROWS, render_page

    text = render_page(page, top=top, colour=wants_colour(sys.stdout), all_rows=all_rows or ALL_ROWS)
    return text + (write_paragraphs(*then) if then else "")


def write_paragraphs(*paragraphs: str) -> str:
    """Text for people, in lines of 80 columns."""
    from karatage.views.text import print_paragraphs

    return print_paragraphs(paragraphs)


def choose_style(asked: Format | None, output: str) -> str:
    """The format asked for, or the one that the output's ending tells."""
    ending = Path(output.removesuffix(".gz").removesuffix(".zst")).suffix
    known = {".csv": "csv", ".json": "json", ".tsv": "tsv", ".parquet": "parquet", ".txt": "table", "": "table"}
    if asked is not None:
        return asked
    if output != STANDARD_OUTPUT and ending not in known:
        raise OptionError(
            f"{output}: cannot tell the format; use .txt, .csv, .tsv, .json or .parquet, or pass --format"
        )
    return known.get(ending, "table")


def emit(content: str | bytes, output: str, *, store: bool = False) -> None:
    """Send a result to its place.

    A terminal shows names in it and obeys none; a file or pipe gets bytes as they are. Text for people comes from
    `render`, which has made it printable, apart from its own colours; what is for machines comes in bytes.
    """
    if output == STANDARD_OUTPUT:
        try:
            for part in [content] if isinstance(content, str) else _decode(content):
                sys.stdout.write(part)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or closing it would fail again
            raise DataError(f"standard output cannot be written: {problem.strerror or problem}") from None
        return
    from karatage.io.writing import write_bytes

    write_bytes(output, remove_colour(content).encode() if isinstance(content, str) else content, store=store)


def _decode(content: bytes) -> Iterator[str]:
    """A large text piece by piece, so that it is not held several times; printable on a terminal."""
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    shown = sys.stdout.isatty()
    return (make_printable(part, keep="\n\t") if shown else part for part in iter(lambda: text.read(PIECE), ""))


def emit_result(facts: Mapping[str, object], output: str) -> None:
    """Send a result to its place as JSON."""
    emit(encode_result(facts), output)


def encode_result(facts: Mapping[str, object]) -> bytes:
    """A result as JSON, with the command that made it, so that it can be made again."""
    from karatage.data.plain import encode_json

    return encode_json({**facts, "command": shlex.join(["karatage", *sys.argv[1:]])})


def tell(notes: Sequence[object]) -> None:
    """Say doubts on standard error."""
    for note in notes:
        say(f"note: {note}")


def say(sentence: str) -> None:
    """A sentence for people, on standard error, whatever the result itself is for."""
    sys.stderr.write(f"{make_printable(sentence, keep=LINE_END)}\n")


def encode_frame(frame: pl.DataFrame, style: str, *, raw: bool = False) -> bytes:
    """A table for machines; .csv is also for spreadsheets, unless it is to be `raw`."""
    from karatage.io.writing import encode_table

    return encode_table(frame, f".{style}", raw=raw)


def render(*parts: RenderableType, width: int = WIDTH) -> str:
    """Tables and paragraphs as plain text, or in colour on a terminal."""
    from rich.console import Console
    from rich.segment import Segment, Segments
    from rich.text import Text

    def show(part: RenderableType) -> Iterator[Segment]:
        for text, style, control in console.render(Text(part) if isinstance(part, str) else part):
            yield Segment(make_printable(text, keep=LINE_END), style, control)

    page = io.StringIO()
    console = Console(file=page, width=width, highlight=False, force_terminal=wants_colour(sys.stdout))
    for part in parts:
        console.print(Segments(show(part)), end="")
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"


def show_table(table: Table, *, top: int | None = None, wrap: Collection[str] = (), star: bool = False) -> Group:
    """A table in 80 columns, its caption above: text is cut, numbers never.

    Only the first rows are shown (`top`; 0 = all). Text in `wrap` goes on in the next line instead of being cut; with
    `star`, what is bold elsewhere has one.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    from karatage.views.table import list_marks, stands_right, take_rows, write_caption

    shown = take_rows(table, top) if top else table
    names = list(shown.columns)
    columns = [_write_texts(shown, name, star=star, longest=None if name in wrap else WIDTH) for name in names]
    widths = [min(max(Text(text).cell_len for text in column), WIDTH) for column in columns]
    texts = [k for k, name in enumerate(names) if not stands_right(shown, name)]
    while texts and sum(widths) + GAP * len(names) > WIDTH and max(widths[k] for k in texts) > 1:
        widths[max(texts, key=lambda k: widths[k])] -= 1
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False)
    rows: list[list[Text]] = [[] for _ in range(len(shown.frame) + 1)]
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        for row, text, bold in zip(rows, column, [False, *list_marks(shown, name)], strict=True):
            cell = Text("\n".join(textwrap.wrap(text, widths[k])) if name in wrap else text, "bold" if bold else "")
            if k in texts and name not in wrap:
                cell.truncate(widths[k], overflow="ellipsis")
            row.append(cell)
        grid.add_column(rows[0][k], justify="left" if k in texts else "right", no_wrap=True)
    for row in rows[1:]:
        grid.add_row(*row)
    return Group(*([Text(write_caption(shown), "italic")] if shown.caption else []), grid)


def fit_columns(table: Table, *, top: int | None = None, star: bool = False) -> Table:
    """A table without the last columns that would leave no room for names."""
    from karatage.views.table import stands_right, take_columns, take_rows

    shown = take_rows(table, top) if top else table
    room, kept = WIDTH, []
    for name in shown.columns:
        width = max(map(len, _write_texts(shown, name, star=star)))
        room -= GAP + (width if stands_right(shown, name) else min(width, NAME_WIDTH))
        if room < 0:
            break
        kept.append(name)
    return take_columns(table, kept)


def split_columns(table: Table, keys: int = 1, *, star: bool = False) -> Iterator[Table]:
    """As many columns side by side as fit, the others below; the first, which say what a row is, with all of them."""
    from karatage.views.table import take_columns

    names = list(table.columns)
    waiting = names[keys:]
    while waiting:
        part = fit_columns(take_columns(table, [*names[:keys], *waiting]), star=star)
        count = max(len(part.columns) - keys, 1)
        yield take_columns(table, [*names[:keys], *waiting[:count]])
        waiting = waiting[count:]


def _write_texts(table: Table, name: str, *, star: bool = False, longest: int | None = WIDTH) -> list[str]:
    """The header of a column and its cells, printable and on one line."""
    from karatage.views.table import list_marks, write_column, write_header

    texts = [shorten(text, longest or len(text)) for text in write_column(table, name, plain=True)]
    if star and name in table.mark:
        texts = [f"{text}*" if bold else text for text, bold in zip(texts, list_marks(table, name), strict=True)]
    return [shorten(write_header(table, name, plain=True), HEADER_WIDTH), *texts]
