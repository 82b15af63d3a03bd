"""Printing: tables of 80 columns, machine formats, notes and progress on standard error."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from karatage.cli.options import Style
from karatage.errors import DataError, OptionError
from karatage.wording import shorten

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from karatage.experiments.engine import Progress as CellProgress

WIDTH = 80
NAME_WIDTH, NUMBER_WIDTH = 16, 6
GAP = 3  # between columns: two of padding, one of rich's divider
STANDARD_OUTPUT = "-"


def choose_style(style: Style | None, output: str) -> str:
    """The format asked for, or the one that the output's ending tells."""
    ending = Path(output.removesuffix(".gz").removesuffix(".zst")).suffix
    known = {".csv": "csv", ".json": "json", ".tsv": "tsv", ".parquet": "parquet", ".txt": "table", "": "table"}
    if style is not None:
        return style.value
    if output != STANDARD_OUTPUT and ending not in known:
        raise OptionError(
            f"{output}: cannot tell the format; use .txt, .csv, .tsv, .json or .parquet, or pass --format"
        )
    return known.get(ending, "table")


def emit(content: str | bytes, output: str) -> None:
    """Send a result to its place."""
    if output == STANDARD_OUTPUT:
        try:
            sys.stdout.write(content if isinstance(content, str) else content.decode())
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or closing it would fail again
            raise DataError(f"standard output cannot be written: {problem.strerror or problem}") from None
        return
    from karatage.io.writing import write_bytes

    write_bytes(output, content.encode() if isinstance(content, str) else content)


def refuse_overwriting(output: str, inputs: Sequence[str]) -> None:
    """A file that is read must not be written over: judgments in it would be lost."""
    if output == STANDARD_OUTPUT:
        return
    target = Path(output).resolve()
    if any(name != STANDARD_OUTPUT and Path(name).resolve() == target for name in inputs):
        raise OptionError(f"{shorten(output, 200)} would be read and written over; name another file to write")


def tell(notes: Sequence[str]) -> None:
    """Say doubts on standard error."""
    for note in notes:
        sys.stderr.write(f"note: {note}\n")


def say(sentence: str) -> None:
    """The closing sentence, where the result itself is for machines."""
    sys.stderr.write(f"{sentence}\n")


def encode_frame(frame: pl.DataFrame, style: str) -> bytes:
    """A table for machines."""
    from karatage.io.writing import encode_table

    return encode_table(frame, f".{style}")


def render(*parts: Table | str, width: int = WIDTH) -> str:
    """Tables and paragraphs as plain text, or in colour on a terminal."""
    from rich.console import Console
    from rich.text import Text

    page = io.StringIO()
    console = Console(file=page, width=width, highlight=False, force_terminal=sys.stdout.isatty() or None)
    for part in parts:
        console.print(Text(part) if isinstance(part, str) else part)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines()) + "\n"


def fits(headers: Sequence[str]) -> bool:
    """Whether a table of a name and numbers with these headers leaves room for the name."""
    return NAME_WIDTH + sum(max(len(h), NUMBER_WIDTH) + GAP for h in headers[1:]) <= WIDTH


def make_table(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]], *, text_columns: int) -> Table:
    """A table whose first `text_columns` columns are names, the others numbers; names are cut, numbers never."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [[Text(shorten(cell, WIDTH)) for cell in row] for row in [headers, *rows]]
    widths = [max(row[k].cell_len for row in cells) for k in range(len(headers))]
    while sum(widths) + GAP * len(headers) > WIDTH and max(widths[:text_columns]) > 1:
        widths[widths.index(max(widths[:text_columns]))] -= 1
    table = Table(
        title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False
    )
    for k, header in enumerate(cells[0]):
        table.add_column(header, justify="left" if k < text_columns else "right", no_wrap=True)
    for row in cells[1:]:
        for k in range(text_columns):
            row[k].truncate(widths[k], overflow="ellipsis")
        table.add_row(*row)
    return table


@contextmanager
def progress_steps(message: str, *, quiet: bool) -> Iterator[Callable[[int, float], None] | None]:
    """The same for work in steps: what to call after each, with its number and what it reached."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield lambda step, reached: status.update(f"{message}: step {step:,}, objective {reached:,.2f}")


@contextmanager
def progress(message: str, *, quiet: bool) -> Iterator[None]:
    """A sign of life on standard error while something takes its time; nothing when it is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield


@contextmanager
def progress_cells(*, quiet: bool) -> Iterator[CellProgress | None]:
    """A bar with the time left on standard error; nothing when it is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, name: bar.update(task, completed=done, total=total, description=shorten(name, 40))
