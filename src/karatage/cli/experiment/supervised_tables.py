"""The s-AWARE experiment's tables as text, 80 columns wide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, make_table, render
from karatage.wording import shorten

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    from karatage.experiments.supervised.findings import SupervisedFindings

BEST = "*"
LABEL, NUMBER, SPACE = 5, 7, 2  # columns of text: k02, 0.6048*, and between numbers
WIDEST = 12  # of a word in a heading


def render_supervised(findings: SupervisedFindings, *, everything: bool = False) -> str:
    """[SAWARE20] table 1, all sizes together with intervals, and the closing sentence.

    With `everything`, also tau and RMSE, and the differences from the baseline at each size.
    """
    from karatage.experiments.supervised.findings import OUTCOMES

    parts: list[Table | str] = []
    for measure in findings.plan.measures:
        for outcome in OUTCOMES if everything else OUTCOMES[:1]:
            parts += [*_table1(findings, measure, outcome), *_overall(findings, measure, outcome)]
            if everything:
                parts += _by_size(findings, measure, outcome)
    return render(*parts, findings.sentence)


def _table1(findings: SupervisedFindings, measure: str, outcome: str) -> Iterator[str]:
    """A row for each place and size; as many approaches side by side as fit, the best of a row with a star."""
    from karatage.experiments.supervised.findings import LOWER_IS_BETTER, Place
    from karatage.experiments.supervised.telling import name_place

    frame = findings.table(measure=measure, outcome=outcome)
    yield f"Mean {outcome} to gold by {measure}; {BEST} marks the best of a row"
    best = min if outcome in LOWER_IS_BETTER else max
    for names in _split(findings.plan.names):
        widths = [max(NUMBER, *map(len, _words(name))) for name in names]
        yield ""
        yield from _head(names, widths)
        before = None
        for row in frame.iter_rows(named=True):
            place = Place(*(row[key] for key in Place._fields))
            if place != before:
                yield shorten(name_place(findings, place), WIDTH)
                before = place
            top = best(row[name] for name in findings.plan.names)
            cells = [f"{row[name]:.4f}{BEST if row[name] == top else ' '}" for name in names]
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


def _overall(findings: SupervisedFindings, measure: str, outcome: str) -> Iterator[Table | str]:
    """Every approach over all sizes, and how far it is from the baseline."""
    from karatage.experiments.supervised.telling import name_place, name_sizes

    for place in findings.places:
        frame = findings.overall.filter(measure=measure, outcome=outcome, **place._asdict())
        sizes = sorted(findings.frame.filter(**place._asdict())["size"].unique())
        yield f"{name_place(findings, place)}: {outcome} by {measure}, {name_sizes(sizes)} together"
        yield make_table("", ["approach", *_headers(findings)], _rows(frame, ["approach"]), text_columns=1)


def _by_size(findings: SupervisedFindings, measure: str, outcome: str) -> Iterator[Table | str]:
    """The same at each size."""
    from karatage.experiments.supervised.telling import name_place

    for place in findings.places:
        frame = findings.summary.filter(measure=measure, outcome=outcome, **place._asdict())
        yield f"{name_place(findings, place)}: {outcome} by {measure}, by size"
        yield make_table("", ["k", "approach", *_headers(findings)], _rows(frame, ["size", "approach"]), text_columns=2)


def _headers(findings: SupervisedFindings) -> list[str]:
    return ["mean", "error", f"less {shorten(findings.baseline, 20)}", "95 % interval"]


def _rows(frame: pl.DataFrame, names: list[str]) -> list[list[str]]:
    """Means with their errors, differences from the baseline with their intervals; - where one sample cannot tell."""
    about = frame.select(names).rows()
    numbers = frame.select("mean", "standard_error", "gap", "gap_low", "gap_high").rows()
    return [
        [*map(str, name), f"{mean:.4f}", "-" if error is None else f"{error:.4f}", f"{gap:+.4f}", _interval(low, high)]
        for name, (mean, error, gap, low, high) in zip(about, numbers, strict=True)
    ]


def _interval(low: float | None, high: float | None) -> str:
    return "-" if low is None or high is None else f"{low:+.4f} to {high:+.4f}"
