"""A page as HTML: one file that needs no network, with live charts and still pictures; and excerpts for notebooks.

The pictures are SVG without scripts or clashing names, the same bytes each time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING

from karatage.errors import DataError, PictureError
from karatage.io.writing import write_bytes
from karatage.progress import remark
from karatage.views.page import Figure, Page, Section, split_paragraphs
from karatage.views.pictures import bundle_vega, render_picture
from karatage.views.table import clean, keep_first, lay_out_table

if TYPE_CHECKING:
    from concurrent.futures import Future

    import altair as alt
    from jinja2 import Environment

    from karatage.io.files import PathLike

APART = 6  # pixels
ACTIVE = frozenset({"script", "foreignObject", "a", "image", "use", "style"})
OWN_NAME = re.compile(r"url\(#([^)]+)\)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}(e-?\d+)?")
DRAWN = frozenset({"d", "transform", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height", "points"})


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
        told = f"still pictures could not be made: {problems[0]}; the charts still work in a browser"
        notes.append(told)
        remark(told)
    left = iter(drawn)
    return (
        _environment()
        .get_template("template.html")
        .render(
            title=clean(page.title),
            sentence=clean(page.sentence),
            sections=[_lay_out(section, number, left) for number, section in enumerate(page.sections, 1)],
            notes=[clean(str(note)) for note in notes],
            facts=[(name, clean(value)) for name, value in page.facts],
            version=version("karatage"),
            style=Markup(_read("page.css")),
            scripts=[Markup(script) for script in scripts],
            hashes=Markup(" ".join(map(_fingerprint, scripts))),
        )
    )


def render_excerpt(page: Page) -> str:
    """The sentence, the tables without details and the notes of a page as a piece of HTML, for notebooks."""
    return (
        _environment()
        .get_template("excerpt.html")
        .render(
            sentence=clean(page.sentence),
            tables=[lay_out_table(keep_first(table)) for part in page.short.sections for table in part.tables],
            notes=[clean(str(note)) for note in page.notes],
        )
    )


@dataclass(frozen=True, eq=False)
class _Drawing:
    """A figure under its name, and its picture as soon as it is made."""

    name: str
    figure: Figure
    spec: str
    picture: Future[bytes]

    @staticmethod
    def of(name: str, figure: Figure) -> _Drawing:
        """Start to make the picture; it may load nothing from elsewhere."""
        spec = clean_chart(figure.chart)
        return _Drawing(name, figure, spec, render_picture(spec, "svg", allowed_base_urls=[]))

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
            "table": None if figure.table is None else lay_out_table(keep_first(figure.table)),
        }


def _lay_out(section: Section, number: int, drawn: Iterator[_Drawing]) -> dict[str, object]:
    """What the template shows of a section; charts are the next of those drawn."""
    return {
        "name": f"section-{number}",
        "title": clean(section.title),
        "paragraphs": [
            clean(part) for part in (*split_paragraphs(section.background), *section.paragraphs, *section.commands)
        ],
        "tables": [lay_out_table(keep_first(table)) for table in section.tables],
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
    """The hash that lets a browser run this script and no other."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def clean_chart(chart: alt.TopLevelMixin) -> str:
    """A chart as Vega-Lite: no characters in names that stop a converter, and space between labels of an axis.

    Checking it against the schema of Vega-Lite takes longer than making it; tests do that.
    """
    spec = chart.to_dict(validate=False)
    spec.setdefault("config", {}).setdefault("axis", {}).setdefault("labelSeparation", APART)
    return json.dumps(_clean_all(spec))


def adapt_svg(picture: bytes, name: str, caption: str) -> str:
    """A picture as an SVG element for HTML; its parts are named after `name`, and screen readers read the caption."""
    drawn = ET.fromstring(picture)
    numbers: dict[str, str] = {}
    for part in drawn.iter():
        part.tag = part.tag.rpartition("}")[2]
        if part.tag in ACTIVE or any(key.startswith("on") or "href" in key for key in part.attrib):
            raise DataError(
                f"a chart for a page may hold no links, pictures or scripts, and '{name}' holds <{part.tag}>"
            )
        for key in [key for key in part.attrib if key.startswith(("aria-", "role", "class"))]:
            del part.attrib[key]  # screen readers read one caption, not every point
        for key, value in part.attrib.items():
            placed = LONG_NUMBER.sub(_round, value) if key in DRAWN else value
            part.attrib[key] = _rename(key, placed, name, numbers)
    drawn.attrib.pop("version", None)
    width = float(drawn.attrib["width"])  # the page's style may shrink it, within reason
    drawn.attrib |= {"role": "img", "aria-label": clean(caption), "style": f"--width:{width:g}px"}
    return ET.tostring(drawn, encoding="unicode")


def _rename(key: str, value: str, name: str, numbers: dict[str, str]) -> str:
    """Names inside a chart count on from chart to chart and would clash with those of others."""

    def give(old: str) -> str:
        return numbers.setdefault(old, f"{name}-{len(numbers) + 1}")

    return give(value) if key == "id" else OWN_NAME.sub(lambda found: f"url(#{give(found[1])})", value)


def _round(number: re.Match[str]) -> str:
    """A thousandth of a pixel will do."""
    return str(round(float(number[0]), 3))


def _clean_all(spec: object) -> object:
    if isinstance(spec, str):
        return clean(spec)
    if isinstance(spec, list):
        return [_clean_all(part) for part in spec]
    if isinstance(spec, dict):
        return {clean(key): _clean_all(part) for key, part in spec.items()}
    return spec
