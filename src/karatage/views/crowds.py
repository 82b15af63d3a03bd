"""Pictures of crowds: a model's kinds of judges, and the judges of a crowd one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.crowd import CONTRIBUTION_LEVELS, RATE_LEVELS, CrowdModel
from karatage.data.crowd_summary import BANDS, name_bands
from karatage.errors import OptionError
from karatage.text import counted, shorten
from karatage.views.choosing import let_choose
from karatage.views.marks import (
    COLOURS,
    CORRECTED,
    JUDGES,
    PLAIN,
    SHAPES,
    WHOLE,
    Axis,
    Key,
    cycle,
    lay_panel,
    mark,
    mark_diagonal,
)

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.crowd_summary import CrowdSummary

_ALWAYS = 2  # levels of contribution that are shown even when nobody is there
_SIDE = 200
POINTS = {"filled": True}
# From reliable to inverted.
QUALITIES = [CORRECTED, COLOURS[5], PLAIN, COLOURS[1], JUDGES]


def draw_crowd(model: CrowdModel) -> alt.HConcatChart:
    """[COLLAB14] figure 3.5: shares of judges by true positive and true negative rate, a map for each contribution.

    The maps of the two lowest contribution levels are always there, others where there are judges. The brighter a
    cell, the more judges; the scale is the same in all maps.
    """
    import altair as alt

    shares = model.shares
    shown = [k for k in range(CONTRIBUTION_LEVELS) if k < _ALWAYS or shares[:, :, k].any()]
    scale = {"domain": [0, max(float(shares.max()) * 100, 1e-9)], "scheme": "cividis", "type": "sqrt"}
    shade = Key("percent:Q", title="% of judges", legend={}, scale=scale)  # by the root: few cells hold most judges
    seen = alt.when("datum.percent > 0").then(shade.encode(alt.Color)).otherwise(alt.value("transparent"))
    ticks = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], "format": ".1f", "grid": False}
    across = Axis("true_positive:Q", "true positive rate", WHOLE, ticks)
    up = Axis("true_negative:Q", "true negative rate", WHOLE, ticks)
    to, style = ("true_positive_to:Q", "true_negative_to:Q"), {"stroke": PLAIN, "strokeWidth": 0.2}
    told = ["true_positive", "true_negative", "percent"]
    panels = []
    for k in shown:
        low, high = 100 * k // CONTRIBUTION_LEVELS, 100 * (k + 1) // CONTRIBUTION_LEVELS
        cells = mark(_lay_out(model, k), "rect", across, up, to=to, told=told, encodings={"color": seen}, style=style)
        panel = lay_panel([cells], (_SIDE, _SIDE), f"{low}-{high} % contribution")
        panel.title.subtitle = f"{100 * float(shares[:, :, k].sum()):.2g} % of judges"
        panels.append(panel)
    chart: alt.HConcatChart = alt.hconcat(*panels, title=f"Judges like {shorten(model.name)}")
    return chart


def _lay_out(model: CrowdModel, level: int) -> pl.DataFrame:
    """A row for each cell of the map of a level of contribution."""
    a, b = np.indices((RATE_LEVELS, RATE_LEVELS)).reshape(2, -1)
    edges = {"true_positive": a, "true_positive_to": a + 1, "true_negative": b, "true_negative_to": b + 1}
    frame = pl.DataFrame({name: edge / RATE_LEVELS for name, edge in edges.items()})
    return frame.with_columns(level=pl.lit(level), percent=pl.Series(100 * model.shares[:, :, level].ravel()))


def draw_summary(summary: CrowdSummary) -> alt.LayerChart:
    """Judges by the shares of relevant items that they find and of others that they reject, the busiest the largest.

    Judges on the line are like coins. Those that saw one kind of items only are left out.
    """
    known = summary.judges.drop_nulls(["tpr", "tnr"])
    if known.is_empty():
        raise OptionError("no judge saw both relevant items and others, so none has two rates to draw")
    frame = known.with_columns(quality=name_bands(pl.col("tpr"), pl.col("tnr")))
    across = Axis("tnr:Q", "share of other items rejected (TNR)", WHOLE)
    up = Axis("tpr:Q", "share of relevant items found (TPR)", WHOLE)
    looks = {
        "color": cycle("quality", BANDS, QUALITIES, title="judges", legend={}),
        "shape": cycle("quality", BANDS, SHAPES, title="judges", legend={}),
        "size": Key("grades:Q", title="grades", legend={"symbolFillColor": PLAIN}, scale={"range": [20, 260]}),
    }
    told = ["judge:N", "quality:N", "tpr:Q", "tnr:Q", "grades:Q"]
    rates = mark(frame, "point", across, up, told=told, follow="judge", shown=0.75, looks=looks, style=POINTS)
    layers = [mark_diagonal(across, up, (0.0, 1.0), falling=True), rates.properties(name="judges")]
    said = ["dashed: as good as chance"]
    if len(known) < len(summary.judges):
        said.append(f"{counted(len(summary.judges) - len(known), 'judge')} not shown: saw one kind of items only")
    title = f"{counted(len(known), 'judge')} of {shorten(summary.name)}"
    return let_choose(lay_panel(layers, (380, 380), title, said), "judge")
