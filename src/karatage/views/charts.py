"""Charts: the same drawing as interactive HTML, SVG, PNG or Vega-Lite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError, PictureError
from karatage.experiments.square.findings import LETTERS, QUALITIES, Benchmark
from karatage.io.writing import write_bytes
from karatage.progress import remark
from karatage.text import counted, shorten
from karatage.views.html import clean_chart
from karatage.views.pictures import bundle_vega, draw_picture

if TYPE_CHECKING:
    import altair as alt
    from jinja2 import Template

    from karatage.comparison.classification import Quality
    from karatage.io.files import PathLike

# Okabe and Ito's colours, which the colour-blind can tell apart, grey for black, which a dark page would swallow.
# Beyond eight, shapes go on telling.
COLOURS = ("#0072B2", "#C48700", "#009E73", "#CC79A7", "#D55E00", "#3D9CD3", "#888888", "#A69200")
JUDGES, CORRECTED, GOLD, PLAIN = "#D55E00", "#0072B2", "#B08D00", "#888888"  # to be told on white and on black
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
TOLD = ("data_set", "approach", "amount", "value", "gap")
LEAST_SPAN = 1.0  # points
ENDINGS = (".html", ".svg", ".png", ".json")
SHARPNESS = 144  # dots an inch
ACROSS = 4


def draw_benchmark(result: Benchmark, *, supervision: str = "none", quality: Quality = "accuracy") -> alt.ConcatChart:
    """[COLLAB14] figures 2.2 to 2.4: how far each approach is above the baseline, on each data set and on average.

    Without gold bars; with light or full supervision a line over the amount of gold. Panels have scales of their own.
    """
    import altair as alt

    if supervision not in LETTERS or quality not in QUALITIES:
        asked = f"{supervision}, {quality}"
        raise OptionError(f"a chart is of none, light or full supervision and of accuracy or f1, not {asked}")
    found = result.relative().filter((pl.col("supervision") == supervision) & (pl.col("quality") == quality))
    found = found.filter((pl.col("approach") != result.baseline) | (supervision != "none"))
    if not len(found):
        raise OptionError(f"there is no result with supervision {supervision} to compare with {result.baseline}")
    frame = pl.concat([found, _average(found, result)]).with_columns(points=pl.col("gap") * 100)
    approaches = {name: k for k, name in enumerate(result.approaches) if name in set(found["approach"])}
    draw = _draw_bars if supervision == "none" else _draw_lines
    panels = [
        draw(panel, str(name), approaches) for (name,), panel in frame.group_by(["data_set"], maintain_order=True)
    ]
    what = "F1" if quality == "f1" else "Accuracy"
    gold = "without gold" if supervision == "none" else f"with gold in {supervision} supervision"
    title = f"{what} {gold}, in points above {shorten(result.baseline, 30)} without gold"
    chart: alt.ConcatChart = alt.concat(*panels, columns=ACROSS, title=title)
    return chart


def _draw_bars(panel: pl.DataFrame, name: str, approaches: dict[str, int]) -> alt.LayerChart:
    import altair as alt

    shade = alt.Color("approach:N", sort=list(approaches), legend=None, scale=_scale(approaches, COLOURS))
    across = alt.X("approach:N", title=None, sort=list(approaches), axis=alt.Axis(labelAngle=-45, labelLimit=90))
    bars = alt.Chart(panel).mark_bar().encode(across, _height(panel), shade, tooltip=TOLD)
    return _finish(bars, name)


def _draw_lines(panel: pl.DataFrame, name: str, approaches: dict[str, int]) -> alt.LayerChart:
    import altair as alt

    shade = alt.Color("approach:N", sort=list(approaches), title="approach", scale=_scale(approaches, COLOURS))
    mark = alt.Shape("approach:N", sort=list(approaches), title="approach", scale=_scale(approaches, SHAPES))
    amounts = alt.Axis(values=sorted(panel["amount"].unique()), title="% of gold", grid=False)
    across = alt.X("amount:Q", axis=amounts, scale=alt.Scale(domain=[0, 100]))
    line = alt.Chart(panel).mark_line(point=alt.OverlayMarkDef(size=40, filled=True))
    return _finish(line.encode(across, _height(panel), shade, mark, tooltip=TOLD), name)


def _finish(drawn: alt.Chart, name: str) -> alt.LayerChart:
    """With a line for the baseline, under the data set's name."""
    import altair as alt

    zero = alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color="#777777").encode(y=alt.Y("zero:Q", title=None))
    title = alt.TitleParams(text=shorten(name, 24), fontSize=11, anchor="middle")
    chart: alt.LayerChart = alt.LayerChart(layer=[zero, drawn], width=150, height=120, title=title)
    return chart


def _height(panel: pl.DataFrame) -> alt.Y:
    """A scale that shows zero, and is never so narrow that nothing looks like much."""
    import altair as alt

    low, high = (float(edge) for edge in panel.select(pl.min("points"), pl.col("points").max().alias("top")).row(0))
    low, high = min(low, -LEAST_SPAN / 2), max(high, LEAST_SPAN / 2)
    return alt.Y("points:Q", title=None, scale=alt.Scale(domain=[low, high], nice=4), axis=alt.Axis(tickCount=5))


def _scale(approaches: dict[str, int], values: tuple[str, ...]) -> alt.Scale:
    """The same value for an approach in all charts of a benchmark."""
    import altair as alt

    return alt.Scale(domain=list(approaches), range=[values[k % len(values)] for k in approaches.values()])


def _average(found: pl.DataFrame, result: Benchmark) -> pl.DataFrame:
    """A last panel with the means over the data sets that all approaches could do."""
    common = found.filter(pl.col("data_set").is_in(result.common_sets))
    keys = ["approach", "supervision", "amount", "quality"]
    mean = common.group_by(keys, maintain_order=True).agg(pl.col("value", "gap").mean())
    name = f"mean of {counted(len(result.common_sets), 'data set')}"
    return mean.with_columns(pl.lit(name).alias("data_set")).select(found.columns)


def write_chart(chart: alt.TopLevelMixin, path: PathLike) -> None:
    """Write a chart; the name's ending says how: .html (works without a network), .svg, .png or .json (Vega-Lite)."""
    try:
        _write(chart, path)
    except PictureError as problem:
        name = shorten(os.fspath(path), 200)
        raise PictureError(
            f"{name}: this picture could not be drawn: {problem}; write .html or .json instead"
        ) from None


def write_charts(charts: Iterable[tuple[alt.TopLevelMixin, PathLike]]) -> None:
    """Write many charts; still pictures that cannot be drawn here are left out, which one remark tells."""
    left: list[PictureError] = []
    for chart, path in charts:
        try:
            _write(chart, path)
        except PictureError as problem:
            left.append(problem)
    if left:
        files = counted(len(left), "file")
        remark(f"still pictures could not be drawn: {left[0]}; {files} left out")


def _write(chart: alt.TopLevelMixin, path: PathLike) -> None:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise OptionError(f"{path}: cannot tell the format of the chart; use {', '.join(ENDINGS)}")
    if ending == ".png":
        write_bytes(path, draw_picture(clean_chart(chart), "png", ppi=SHARPNESS).result())
    elif ending == ".html":
        write_bytes(path, chart.to_html(template=_get_template(), json_kwds={"cls": _InScript}).encode())
    elif ending == ".json":
        write_bytes(path, chart.to_json().encode())
    else:
        write_bytes(path, draw_picture(clean_chart(chart), "svg").result())


def _get_template() -> Template:
    """Of a page that is one chart, with all that a browser needs to draw it."""
    from jinja2 import Environment, PackageLoader

    loader = PackageLoader("karatage.views", package_path="")
    return Environment(loader=loader, autoescape=True).get_template("chart.html", globals={"vega": bundle_vega()})


class _InScript(json.JSONEncoder):
    """JSON that may stand in a script: no name in it can end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")
