"""A page of findings: one HTML file that needs no network, drawn live in a browser and still on paper."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from karatage.io.writing import write_bytes
from karatage.report.svg import clean, clean_chart, make_svg
from karatage.report.tables import Table, lay_out_table

if TYPE_CHECKING:
    import altair as alt
    from jinja2 import Environment

    from karatage.io.files import PathLike


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show; the caption is also what is read out in its place, the table has the numbers behind it."""

    chart: alt.TopLevelMixin
    caption: str
    name: str = ""  # stem of its file
    table: Table | None = None


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page: paragraphs (blank lines between them), then charts, then tables."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    charts: Sequence[Figure] = ()


@dataclass(frozen=True, eq=False)
class Page:
    """What a reader is told: the sentence to take away, the evidence in sections, every doubt, and how it was made."""

    title: str
    sentence: str
    sections: Sequence[Section] = ()
    notes: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()  # versions, seed, command ...

    @property
    def figures(self) -> Iterator[tuple[str, Figure]]:
        """All charts with a name each, in order."""
        charts = [figure for section in self.sections for figure in section.charts]
        for number, figure in enumerate(charts, 1):
            yield figure.name or f"figure-{number}", figure

    @property
    def tables(self) -> Iterator[tuple[str, Table]]:
        """All tables with a name each, in order; those behind charts are among them."""
        number = 0
        for section in self.sections:
            behind = [figure.table for figure in section.charts if figure.table is not None]
            for table in (*behind, *section.tables):
                number += 1
                yield table.name or f"table-{number}", table


def write_page(path: PathLike, page: Page) -> None:
    """Write a page as HTML."""
    write_bytes(path, render_page(page).encode("utf-8", "replace"))


def render_page(page: Page) -> str:
    """A page as HTML: the same text for the same page."""
    from markupsafe import Markup

    names = [name for name, _ in page.figures]
    scripts = [*([_bundle_vega()] if names else []), _read("page.js")]
    left = iter(names)
    return (
        _environment()
        .get_template("template.html")
        .render(
            title=clean(page.title),
            sentence=clean(page.sentence),
            sections=[_lay_out(section, number, left) for number, section in enumerate(page.sections, 1)],
            notes=[clean(note) for note in page.notes],
            facts=[(name, clean(value)) for name, value in page.facts],
            version=version("karatage"),
            style=Markup(_read("page.css")),
            scripts=[Markup(script) for script in scripts],
            hashes=Markup(" ".join(map(_fingerprint, scripts))),
        )
    )


def render_excerpt(page: Page) -> str:
    """The sentence, the tables and the doubts of a page as a piece of HTML, for notebooks."""
    return (
        _environment()
        .get_template("excerpt.html")
        .render(
            sentence=clean(page.sentence),
            tables=[lay_out_table(table) for section in page.sections for table in section.tables],
            notes=[clean(note) for note in page.notes],
        )
    )


def _lay_out(section: Section, number: int, names: Iterator[str]) -> dict[str, object]:
    """What the template shows of a section; charts take the next names."""
    return {
        "name": f"section-{number}",
        "title": clean(section.title),
        "paragraphs": [clean(part.strip()) for part in re.split(r"\n\s*\n", section.text) if part.strip()],
        "tables": [lay_out_table(table) for table in section.tables],
        "figures": [_lay_out_figure(figure, next(names)) for figure in section.charts],
    }


def _lay_out_figure(figure: Figure, name: str) -> dict[str, object]:
    from markupsafe import Markup

    return {
        "name": name,
        "caption": clean(figure.caption),
        "svg": Markup(make_svg(figure.chart, name, figure.caption)),
        "spec": Markup(_embed(clean_chart(figure.chart))),
        "table": None if figure.table is None else lay_out_table(figure.table),
    }


def _embed(text: str) -> str:
    """JSON that can stand inside a script element, whatever its strings hold."""
    found = json.loads(text, parse_float=lambda number: float(f"{float(number):.6g}"))  # what a chart can show
    compact = json.dumps(found, separators=(",", ":"))  # ASCII only
    return compact.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("karatage.report", package_path="")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _read(name: str) -> str:
    return files("karatage.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _bundle_vega() -> str:
    """The library that draws the charts, as one script."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")


def _fingerprint(script: str) -> str:
    """What lets a browser run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
