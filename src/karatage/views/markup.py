"""Tables for papers and repositories: Markdown, LaTeX, CSV."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from karatage.errors import OptionError
from karatage.io.writing import encode_table, write_bytes
from karatage.text import shorten
from karatage.views.svg import clean
from karatage.views.tables import (
    MINUS,
    NOTHING,
    PLAIN_INFINITY,
    PLAIN_NOTHING,
    Table,
    is_number,
    list_marks,
    stands_right,
    write_column,
    write_header,
)

if TYPE_CHECKING:
    from karatage.io.files import PathLike

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
    "[": "{[}",  # an option or a star of the line before
    "*": "{*}",
    MINUS: "$-$",
}


def to_markdown(table: Table) -> str:
    r"""A table as GitHub's Markdown: its caption, and rows between pipes.

    >>> import polars as pl
    >>> print(to_markdown(Table(pl.DataFrame({"approach": ["mv"], "tau_ap": [0.5]}), "By AP", digits=2)))
    By AP
    <BLANKLINE>
    | approach | tau\_ap |
    | :--- | ---: |
    | mv | 0.50 |
    <BLANKLINE>
    """
    names = table.frame.columns
    heads = [_escape(write_header(table, name), MARKDOWN, LONGEST_PRINTED) for name in names]
    columns = []
    for name in names:
        texts = [_escape(text, MARKDOWN, LONGEST_PRINTED) for text in write_column(table, name)]
        marked = zip(texts, list_marks(table, name), strict=True)
        columns.append([f"**{text}**" if bold and text else text for text, bold in marked])
    sides = ["---:" if stands_right(table, name) else ":---" for name in names]
    lines = [f"| {' | '.join(row)} |" for row in (heads, sides, *zip(*columns, strict=True))]
    return "\n".join([_escape(table.caption, MARKDOWN), "", *lines, ""])


def to_latex(table: Table) -> str:
    """A table as LaTeX with the rules of booktabs; text stays UTF-8, and long names are cut."""
    names = table.frame.columns
    heads = [_escape(write_header(table, name), LATEX, LONGEST_PRINTED) for name in names]
    columns = []
    for name in names:
        number = is_number(table, name)
        texts = [_print_number(t) if number else _print_text(t) for t in write_column(table, name, plain=number)]
        marked = zip(texts, list_marks(table, name), strict=True)
        columns.append([rf"\textbf{{{text}}}" if bold else text for text, bold in marked])
    rows = [" & ".join(row) + r" \\" for row in zip(*columns, strict=True)]
    label = [rf"\label{{tab:{stem}}}"] if (stem := re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-")) else []
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_escape(table.caption, LATEX)}}}",
        *label,
        rf"\begin{{tabular}}{{{''.join('r' if stands_right(table, name) else 'l' for name in names)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _print_number(text: str) -> str:
    """A number of the terminal as LaTeX has it."""
    if text == PLAIN_NOTHING:
        return "--"
    return re.sub("([-+<]) ?", r"$\1$", text).replace(PLAIN_INFINITY, r"$\infty$").replace("%", r"\%")


def _print_text(text: str) -> str:
    return "--" if text == NOTHING else _escape(text, LATEX, LONGEST_PRINTED)


def _escape(text: str, marks: Mapping[str, str], width: int | None = None) -> str:
    """On one line, cut to `width`, with nothing that the format would take for its own."""
    line = " ".join(clean(text).split())
    return "".join(marks.get(c, c) for c in shorten(line, len(line) if width is None else width))


def write_table(table: Table, path: PathLike) -> None:
    """Write a table; the name's ending says how: .md, .tex or .csv. In LaTeX it goes by the file's name."""
    ending = Path(path).suffix.lower()
    if ending == ".csv":
        write_bytes(path, encode_table(table.frame, ending))
    elif ending in {".md", ".tex"}:
        text = to_markdown(table) if ending == ".md" else to_latex(replace(table, name=Path(path).stem))
        write_bytes(path, text.encode("utf-8", "replace"))
    else:
        raise OptionError(f"{shorten(os.fspath(path), 200)}: tables are written as .md, .tex or .csv; end the name so")
