"""A page of findings: one static HTML file that needs no network and no scripts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.errors import OptionError
from karatage.io.writing import write_bytes
from karatage.report.svg import clean, make_svg

if TYPE_CHECKING:
    import altair as alt

    from karatage.io.sources import PathLike

NOTHING = "–"
MINUS = "−"


@dataclass(frozen=True, eq=False)
class Table:
    """A frame to show: numbers to the right with `digits` after the point (by column, if a mapping), text to the left.

    `mark` says which rows of a column are bold; `mark_best` finds them.
    """

    frame: pl.DataFrame
    caption: str
    digits: int | Mapping[str, int] = 4
    mark: Mapping[str, Sequence[bool]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show; the caption is also what is read out in its place."""

    chart: alt.TopLevelMixin
    caption: str


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page: paragraphs (blank lines between them), then charts, then tables."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    charts: Sequence[Figure] = ()


@dataclass(frozen=True, eq=False)
class Page:
    """What a reader is told: the sentence to take away, the evidence in sections, and every doubt."""

    title: str
    sentence: str
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()


class _Cell(NamedTuple):
    text: str
    number: bool
    bold: bool


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


def write_page(path: PathLike, page: Page) -> None:
    """Write a page as HTML."""
    write_bytes(path, render_page(page).encode("utf-8", "replace"))


def render_page(page: Page) -> str:
    """A page as HTML: the same text for the same page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("karatage.report", package_path="")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    count = 0
    sections = []
    for number, section in enumerate(page.sections, 1):
        figures = []
        for figure in section.charts:
            count += 1
            drawn = make_svg(figure.chart, f"figure-{count}", figure.caption)
            figures.append({"svg": Markup(drawn), "caption": clean(figure.caption)})
        sections.append(
            {
                "name": f"section-{number}",
                "title": clean(section.title),
                "paragraphs": _split(section.text),
                "tables": [_lay_out(table) for table in section.tables],
                "figures": figures,
            }
        )
    return environment.get_template("template.html").render(
        title=clean(page.title),
        sentence=clean(page.sentence),
        sections=sections,
        notes=[clean(note) for note in page.notes],
        version=version("karatage"),
    )


def _split(text: str) -> list[str]:
    return [clean(part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _lay_out(table: Table) -> dict[str, object]:
    """What the template shows of a table."""
    frame = table.frame
    if not set(table.mark) <= set(frame.columns) or any(len(rows) != len(frame) for rows in table.mark.values()):
        raise OptionError(f"table '{table.caption}': marks are of its columns, one for each of {len(frame):,} rows")
    columns = [list(_lay_out_column(table, name)) for name in frame.columns]
    headers = [_Cell(clean(name), frame[name].dtype.is_numeric(), bold=False) for name in frame.columns]
    return {"caption": clean(table.caption), "headers": headers, "rows": list(zip(*columns, strict=True))}


def _lay_out_column(table: Table, name: str) -> Iterator[_Cell]:
    column = table.frame[name]
    digits = table.digits if isinstance(table.digits, int) else table.digits.get(name, 4)
    bold = table.mark.get(name, [False] * len(column))
    number = column.dtype.is_numeric()
    for value, best in zip(column, bold, strict=True):
        yield _Cell(_write_value(value, digits), number, bool(best))


def _write_value(value: object, digits: int) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", MINUS)
    if not isinstance(value, float):
        return clean(str(value))
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    shown = f"{value:,.{digits}f}"
    if value > 0 and float(shown.replace(",", "")) == 0:
        return f"<{10**-digits:.{digits}f}"  # a p-value is never 0
    return (shown if float(shown.replace(",", "")) else f"{0:.{digits}f}").replace("-", MINUS)
