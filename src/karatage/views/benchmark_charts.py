"""Charts of a benchmark: how far approaches are above the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.square.findings import LETTERS, QUALITIES, Benchmark
from karatage.text import counted, shorten
from karatage.views.marks import Axis, lay_panel, lay_panels, mark, mark_level, mark_lines, tell_apart

if TYPE_CHECKING:
    import altair as alt

    from karatage.comparison.classification import Quality

TOLD = ("data_set", "approach", "amount", "value", "gap")
LEAST_SPAN = 1.0  # points
ACROSS, PANEL = 4, (150, 120)


def draw_benchmark(result: Benchmark, *, supervision: str = "none", quality: Quality = "accuracy") -> alt.ConcatChart:
    """[COLLAB14] figures 2.2 to 2.4: how far each approach is above the baseline, on each data set and on average.

    Without gold bars; with light or full supervision a line over the amount of gold. Panels have scales of their own.
    """
    if supervision not in LETTERS or quality not in QUALITIES:
        asked = f"{supervision}, {quality}"
        raise OptionError(f"a chart is of none, light or full supervision and of accuracy or f1, not {asked}")
    bars = supervision == "none"
    found = result.relative().filter((pl.col("supervision") == supervision) & (pl.col("quality") == quality))
    found = found.filter((pl.col("approach") != result.baseline) | (not bars))
    if not len(found):
        raise OptionError(f"there is no result with supervision {supervision} to compare with {result.baseline}")
    frame = pl.concat([found, _average(found, result)]).with_columns(points=pl.col("gap") * 100)
    seen = [name for name in result.approaches if name in set(found["approach"])]
    keys = tell_apart("approach", result.approaches, None if bars else {})
    looks = {name: key.only(seen) for name, key in keys.items()}
    panels = []
    for (name,), panel in frame.group_by(["data_set"], maintain_order=True):
        up = _make_height(panel)
        if bars:
            across = Axis("approach:N", sort=seen, axis={"labelAngle": -45, "labelLimit": 90})
            layers = [mark(panel, "bar", across, up, looks={"color": looks["color"]}, told=TOLD)]
        else:
            ticks = {"values": sorted(panel["amount"].unique()), "grid": False}
            across = Axis("amount:Q", "% of gold", {"domain": [0, 100]}, ticks)
            layers = mark_lines(panel, across, up, looks, told=TOLD, points=40, width=2)
        panels.append(lay_panel([mark_level(0.0), *layers], PANEL, shorten(str(name), 24)))
    what = "F1" if quality == "f1" else "Accuracy"
    gold = "without gold" if bars else f"with gold in {supervision} supervision"
    return lay_panels(panels, f"{what} {gold}, in points above {shorten(result.baseline, 30)} without gold", ACROSS)


def _make_height(panel: pl.DataFrame) -> Axis:
    """A scale that shows zero, and is never so narrow that nothing looks like much."""
    low, high = (float(edge) for edge in panel.select(pl.min("points"), pl.col("points").max().alias("top")).row(0))
    ends = [min(low, -LEAST_SPAN / 2), max(high, LEAST_SPAN / 2)]
    return Axis("points:Q", None, {"domain": ends, "nice": 4}, {"tickCount": 5})


def _average(found: pl.DataFrame, result: Benchmark) -> pl.DataFrame:
    """A last panel with the means over the data sets that all approaches could do."""
    common = found.filter(pl.col("data_set").is_in(result.common_sets))
    keys = ["approach", "supervision", "amount", "quality"]
    mean = common.group_by(keys, maintain_order=True).agg(pl.col("value", "gap").mean())
    name = f"mean of {counted(len(result.common_sets), 'data set')}"
    return mean.with_columns(pl.lit(name).alias("data_set")).select(found.columns)
