"""The s-AWARE experiment's tables as text, 80 columns wide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, render, show_table
from karatage.text import shorten

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.supervised.findings import SupervisedFindings

BEST = "*"
LABEL, NUMBER, SPACE = 5, 7, 2  # columns of text: k02, 0.6048*, and between numbers
WIDEST = 12  # of a word in a heading


def render_supervised(findings: SupervisedFindings, *, everything: bool = False) -> str:
    """[SAWARE20] table 1, all sizes together with intervals, and the closing sentence.

    With `everything`, also tau and RMSE, and the differences from the baseline at each size.
    """
    from karatage.experiments.supervised.findings import OUTCOMES
    from karatage.views.supervised import tabulate_by_size, tabulate_overall

    parts: list[RenderableType] = []
    for measure in findings.plan.measures:
        for outcome in OUTCOMES if everything else OUTCOMES[:1]:
            parts += _table1(findings, measure, outcome)
            parts += [show_table(tabulate_overall(findings, place, measure, outcome)) for place in findings.places]
            if everything:
                parts += [show_table(tabulate_by_size(findings, place, measure, outcome)) for place in findings.places]
    return render(*parts, findings.sentence)


def _table1(findings: SupervisedFindings, measure: str, outcome: str) -> Iterator[str]:
    """A row for each place and size; as many approaches side by side as fit, the best of a row with a star."""
    from karatage.experiments.supervised.findings import Place, name_place
    from karatage.views.supervised import tabulate_means

    table = tabulate_means(findings, measure, outcome)
    yield f"{table.caption}; {BEST} marks the best of a row"
    for names in _split(findings.plan.names):
        widths = [max(NUMBER, *map(len, _words(name))) for name in names]
        yield ""
        yield from _head(names, widths)
        before = None
        for n, row in enumerate(table.frame.iter_rows(named=True)):
            place = Place(*(row[key] for key in Place._fields))
            if place != before:
                yield shorten(name_place(findings, place), WIDTH)
                before = place
            cells = [f"{row[name]:.4f}{BEST if table.mark[name][n] else ' '}" for name in names]
            yield _line(f"k{row['size']:02d}", cells, widths)
    yield ""


def _words(name: str) -> list[str]:
    """The parts of an approach's name, one above the other in a heading.

    >>> _words("sup_tau_cubed(sub=True)")
    ['sup', 'tau', 'cubed', '(sub=True)']
    """
    return [shorten(word, WIDEST) for word in re.findall(r"[^_(]+|\([^)]*\)?", name)]


def _split(names: Sequence[str]) -> Iterator[list[str]]:
    """Columns in blocks that fit."""
    block: list[str] = []
    used = LABEL
    for name in names:
        width = max(NUMBER, *map(len, _words(name))) + SPACE
        if block and used + width > WIDTH:
            yield block
            block, used = [], LABEL
        block.append(name)
        used += width
    yield block


def _head(names: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Names downwards, ending at the same line."""
    columns = [list(reversed(_words(name))) for name in names]
    for line in reversed(list(zip_longest(*columns, fillvalue=""))):
        yield _line("", [f"{word} " for word in line], widths)


def _line(label: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    return f"{label:<{LABEL}}" + "".join(f"{cell:>{width + SPACE}}" for cell, width in zip(cells, widths, strict=True))
