"""Printing: every result through `put`, as a page or for machines; notes on standard error."""

from __future__ import annotations

import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import remove_colour, wants_colour
from karatage.errors import DataError, OptionError
from karatage.text import make_printable, shorten

if TYPE_CHECKING:
    import polars as pl

    from karatage.cli.options import Format, Printing
    from karatage.views.page import Figure, Page

LINE_END = "\n"
PIECE = 1 << 20  # characters that are written at once
CHART_ENDINGS = ("html", "svg", "png")


class Result(Protocol):
    """What `put` needs from a result."""

    @property
    def notes(self) -> Sequence[object]:
        """Warnings."""
        ...

    @property
    def sentence(self) -> str:
        """The finding in one sentence."""
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
    """Print a result in the format asked for; its notes and, for machines, its sentence go to standard error.

    Args:
        result: What was found.
        to: How it is printed.
        text: Makes the text for people; default: the result's page.
        frame: Makes the one table for machines; default: the result's.
        facts: Makes everything, for JSON; default: the whole result.
        top: Rows of tables on the page; 0: all.
        output: File, or - for standard output.
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
    """The requested format, or the one that follows from the ending of the output's name."""
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
    """Write a result to a file or to standard output.

    On a terminal, control characters in names are shown and have no effect; a file or pipe gets bytes unchanged. Text
    for people comes from `write_page`, which has made it printable, apart from its own colours.
    """
    if output == STANDARD_OUTPUT:
        try:
            for part in [content] if isinstance(content, str) else _decode(content):
                sys.stdout.write(part)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as problem:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # otherwise closing it fails again
            raise DataError(f"standard output cannot be written: {problem.strerror or problem}") from None
        return
    from karatage.io.writing import write_bytes

    write_bytes(output, remove_colour(content).encode() if isinstance(content, str) else content, store=store)


def _decode(content: bytes) -> Iterator[str]:
    """A large text in pieces, so that memory holds it only once; printable on a terminal."""
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8", newline="")
    shown = sys.stdout.isatty()
    return (make_printable(part, keep="\n\t") if shown else part for part in iter(lambda: text.read(PIECE), ""))


def emit_result(facts: Mapping[str, object], output: str) -> None:
    """Write a result as JSON."""
    emit(encode_result(facts), output)


def encode_result(facts: Mapping[str, object]) -> bytes:
    """A result as JSON, with the command that computed it, so that it can be repeated."""
    from karatage.data.plain import encode_json

    return encode_json({**facts, "command": shlex.join(["karatage", *sys.argv[1:]])})


def tell(notes: Sequence[object]) -> None:
    """Print notes on standard error."""
    for note in notes:
        say(f"note: {note}")


def say(sentence: str) -> None:
    """Print a sentence for people on standard error."""
    sys.stderr.write(f"{make_printable(sentence, keep=LINE_END)}\n")


def encode_frame(frame: pl.DataFrame, style: str, *, raw: bool = False) -> bytes:
    """A table for machines; .csv is also safe for spreadsheets, unless it is `raw`."""
    from karatage.io.writing import encode_table

    return encode_table(frame, f".{style}", raw=raw)


@contextmanager
def hold_output(output: str | None) -> Iterator[None]:
    """Lock the folder for results, from before the first file is written until after the last."""
    from karatage.io.files import hold_folder, make_folder

    if output is None:
        yield
        return
    if Path(output).exists() and not Path(output).is_dir():
        raise OptionError(f"{shorten(output, 200)} is a file; results go to a folder, so give another name")
    try:
        make_folder(Path(output))
    except OSError as problem:
        reason = problem.strerror or problem
        raise DataError(f"{shorten(output, 200)}: cannot hold results: {reason}; give another folder") from None
    with hold_folder(Path(output)):
        yield


def write_folder(
    home: Path,
    tables: Mapping[str, pl.DataFrame],
    texts: Mapping[str, bytes],
    figures: Mapping[str, Figure],
    *,
    still: str | None = None,
    more: Sequence[str] = (),
) -> None:
    """Write files by their names, and charts in three formats; write nothing if one of them, or of `more`, was read."""
    from karatage.io.files import place_file, refuse_replacing
    from karatage.io.writing import write_bytes
    from karatage.views.charts import write_charts

    charts = {
        f"{name}.{ending}": figure
        for name, figure in figures.items()
        for ending in CHART_ENDINGS
        if ending != "html" or still is None or not re.search(still, name)
    }
    paths = {name: place_file(home, name) for name in (*tables, *texts, *charts, *more)}
    refuse_replacing(paths.values())
    for name, frame in tables.items():
        write_bytes(paths[name], encode_frame(frame, name.rpartition(".")[2]))
    for name, text in texts.items():
        write_bytes(paths[name], text)
    write_charts((figure.chart, paths[name]) for name, figure in charts.items())
