"""A page of findings: one HTML file that needs no network, drawn live in a browser and still on paper."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from karatage.errors import PictureError
from karatage.io.writing import write_bytes
from karatage.progress import remark
from karatage.views.pictures import bundle_vega, draw_picture
from karatage.views.svg import adapt_svg, clean, clean_chart
from karatage.views.tables import Table, lay_out_table

if TYPE_CHECKING:
    from concurrent.futures import Future

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

    drawn: list[_Drawing] = []
    try:
        drawn += (_Drawing.of(name, figure) for name, figure in page.figures)
        scripts = [*([bundle_vega()] if drawn else []), _read("page.js")]  # while pictures are drawn
        problems = [problem for drawing in drawn if (problem := drawing.problem) is not None]
    finally:
        for drawing in drawn:
            drawing.picture.cancel()  # or leaving on an error would wait for them
    notes = list(page.notes)
    if problems:
        notes.append(f"still pictures could not be drawn: {problems[0]}; the charts still work in a browser")
        remark(notes[-1])
    left = iter(drawn)
    return (
        _environment()
        .get_template("template.html")
        .render(
            title=clean(page.title),
            sentence=clean(page.sentence),
            sections=[_lay_out(section, number, left) for number, section in enumerate(page.sections, 1)],
            notes=[clean(note) for note in notes],
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


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A figure under its name, and its picture as soon as it is drawn."""

    name: str
    figure: Figure
    spec: str
    picture: Future[bytes]

    @staticmethod
    def of(name: str, figure: Figure) -> _Drawing:
        """Have the figure drawn; nothing from elsewhere may come into it."""
        spec = clean_chart(figure.chart)
        return _Drawing(name, figure, spec, draw_picture(spec, "svg", allowed_base_urls=[]))

    @property
    def problem(self) -> PictureError | None:
        """Why there is no picture."""
        found = self.picture.exception()
        if found is not None and not isinstance(found, PictureError):
            raise found
        return found

    def lay_out(self) -> dict[str, object]:
        """What the template shows."""
        from markupsafe import Markup

        name, figure = self.name, self.figure
        still = None if self.problem else adapt_svg(self.picture.result(), name, figure.caption)
        return {
            "name": name,
            "caption": clean(figure.caption),
            "svg": None if still is None else Markup(still),
            "spec": Markup(_embed(self.spec)),
            "table": None if figure.table is None else lay_out_table(figure.table),
        }


def _lay_out(section: Section, number: int, drawn: Iterator[_Drawing]) -> dict[str, object]:
    """What the template shows of a section; charts are the next of those drawn."""
    return {
        "name": f"section-{number}",
        "title": clean(section.title),
        "paragraphs": [clean(part.strip()) for part in re.split(r"\n\s*\n", section.text) if part.strip()],
        "tables": [lay_out_table(table) for table in section.tables],
        "figures": [next(drawn).lay_out() for _ in section.charts],
    }


def _embed(text: str) -> str:
    """JSON that can stand inside a script element, whatever its strings hold."""
    found = json.loads(text, parse_float=lambda number: float(f"{float(number):.6g}"))  # what a chart can show
    compact = json.dumps(found, separators=(",", ":"))  # ASCII only
    return compact.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("karatage.views", package_path="")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _read(name: str) -> str:
    return files("karatage.views").joinpath(name).read_text(encoding="utf-8")


def _fingerprint(script: str) -> str:
    """What lets a browser run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
