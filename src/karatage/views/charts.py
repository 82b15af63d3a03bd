"""Charts as files: interactive HTML, SVG, PNG or Vega-Lite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from karatage.errors import OptionError, PictureError
from karatage.io.writing import write_bytes
from karatage.progress import remark
from karatage.text import counted, shorten
from karatage.views.html import clean_chart
from karatage.views.pictures import bundle_vega, render_picture

if TYPE_CHECKING:
    import altair as alt
    from jinja2 import Template

    from karatage.io.files import PathLike

ENDINGS = (".html", ".svg", ".png", ".json")
SHARPNESS = 144  # dots an inch


def write_chart(chart: alt.TopLevelMixin, path: PathLike) -> None:
    """Write a chart; the name's ending says how: .html (works without a network), .svg, .png or .json (Vega-Lite)."""
    try:
        _write(chart, path)
    except PictureError as problem:
        name = shorten(os.fspath(path), 200)
        raise PictureError(f"{name}: this picture could not be made: {problem}; write .html or .json instead") from None


def write_charts(charts: Iterable[tuple[alt.TopLevelMixin, PathLike]]) -> None:
    """Write many charts; one remark says which still pictures could not be made on this machine."""
    left: list[PictureError] = []
    for chart, path in charts:
        try:
            _write(chart, path)
        except PictureError as problem:
            left.append(problem)
    if left:
        files = counted(len(left), "file")
        remark(f"still pictures could not be made: {left[0]}; {files} left out")


def _write(chart: alt.TopLevelMixin, path: PathLike) -> None:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"{path}: a chart cannot be written in this format; use {', '.join(ENDINGS)}")
    if ending == ".png":
        write_bytes(path, render_picture(clean_chart(chart), "png", ppi=SHARPNESS).result())
    elif ending == ".html":
        write_bytes(path, chart.to_html(template=_get_template(), json_kwds={"cls": _InScript}).encode())
    elif ending == ".json":
        write_bytes(path, chart.to_json().encode())
    else:
        write_bytes(path, render_picture(clean_chart(chart), "svg").result())


def _get_template() -> Template:
    """The template of a page with one chart and all that a browser needs to show it."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("karatage.views", package_path="")
    return Environment(loader=loader, autoescape=True).get_template("chart.html", globals={"vega": bundle_vega()})


class _InScript(json.JSONEncoder):
    """JSON inside a script element: no name in it can end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")
