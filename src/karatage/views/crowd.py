"""Crowds: the judges of one, a model of them, and simulated collections that they judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.crowd import BANDS, CONTRIBUTION_LEVELS, RATE_LEVELS, CrowdModel, CrowdSummary, name_bands
from karatage.errors import OptionError
from karatage.text import counted, shorten
from karatage.views.choosing import let_choose
from karatage.views.marks import (
    COLOURS,
    CORRECTED,
    JUDGES,
    PLAIN,
    ROOM,
    SHAPES,
    WHOLE,
    Axis,
    Key,
    cycle,
    lay_panel,
    mark,
    mark_diagonal,
)
from karatage.views.page import Figure, Page, Section, list_options, shows
from karatage.views.table import Table, keep_finite

if TYPE_CHECKING:
    import altair as alt

    from karatage.simulation.collection import World

SHARED = {
    "item": "part of errors shared by all judges of an item",
    "family": "part shared within families",
    "topic": "part shared over a topic",
}
QUALITY = "Quality is TPR + TNR - 1: 1 without errors, 0 for guessing. With few items for a judge it is mostly noise."
BANDS_TEXT = "In model: by true rates. Here: by the grades given, which is mostly noise if a judge has few items."
KINDS = """Judges are drawn from these kinds: each has a share of the crowd, and its judges differ in how many relevant
items they find (TPR), how many others they reject (TNR) and how much they contribute."""
MODELS_TEXT = "TPR and TNR are means over judges; shared is the part of errors that judges have in common."
_ALWAYS = 2  # levels of contribution that are shown even when nobody is there
_SIDE = 200
POINTS = {"filled": True}
# From reliable to inverted.
QUALITIES = [CORRECTED, COLOURS[5], PLAIN, COLOURS[1], JUDGES]


@shows(CrowdSummary)
def view_summary(summary: CrowdSummary, model: CrowdModel | None = None) -> Page:
    """Judges by quality, beside the model that they were drawn from, if any; and the crowd against gold."""
    figures = []
    if len(summary.judges.drop_nulls(["tpr", "tnr"])):
        behind = Table(summary.to_frame(), "Judges", digits=3, name="judges", about="judge")
        caption = "Judges by TPR and TNR"
        figures.append(Figure(partial(chart_summary, summary), caption, "judges", behind))
    text = QUALITY if model is None else BANDS_TEXT
    section = Section("Judges", text, [tabulate_bands(summary, model), tabulate_crowd(summary)], figures)
    facts = list_options(crowd=shorten(summary.name), items=f"{summary.items:,}", relevant=f"{summary.relevant:,}")
    return Page(f"A crowd like {shorten(summary.name)}", summary.sentence, [section], summary.notes, facts)


@shows(CrowdModel)
def view_crowd(model: CrowdModel) -> Page:
    """Kinds of judges, and how they err."""
    caption = "Shares of judges by rates and contribution"
    figure = Figure(partial(chart_crowd, model), caption, "kinds", tabulate_kinds(model))
    section = Section("Kinds of judges", "", tabulate_model(model), [figure], background=KINDS)
    facts = list_options(crowd=shorten(model.name), learned_from=model.source, noise_in_rates=model.noise)
    return Page(f"Crowd model {shorten(model.name)}", model.sentence, [section], model.notes, facts)


def view_models(models: Sequence[CrowdModel]) -> Page:
    """The crowds that come with the library, and what they were learned from."""
    sources = Section("Learned from", "\n\n".join(f"{model.name}: {model.source}" for model in models))
    known = f"{counted(len(models), 'crowd')} can be simulated."
    return Page("Crowds to simulate", known, [Section("Crowds", MODELS_TEXT, [tabulate_models(models)]), sources])


def view_collection(world: World, summary: CrowdSummary, model: CrowdModel) -> Page:
    """A simulated collection, and the crowd that judged it."""
    page = view_summary(summary, model)
    held = Section("Collection", tables=[tabulate_collection(world)])
    return replace(page, title="A simulated collection", sections=[held, *page.sections])


def tabulate_bands(summary: CrowdSummary, model: CrowdModel | None = None) -> Table:
    """Judges by quality: among those who judged, and in the model that they were drawn from."""
    bands = summary.bands
    if model is not None:
        kinds = pl.DataFrame({"tpr": model.mean[:, 0], "tnr": model.mean[:, 1], "share": model.share})
        kinds = kinds.group_by(quality=name_bands(pl.col("tpr"), pl.col("tnr"))).agg(pl.col("share").sum())
        bands = bands.join(kinds, on="quality", how="left", maintain_order="left").fill_null(0)
    expected = pl.lit(0.0) if model is None else pl.col("share")
    bands = bands.filter((pl.col("judges") > 0) | (expected > 0))
    limits = [_limit(quality, low) for quality, low in bands.select("quality", "from").iter_rows()]
    frame = bands.select(
        pl.col("quality").cast(pl.String),
        pl.Series("limit", limits, dtype=pl.String),
        *([] if model is None else [pl.when(pl.col("quality").is_in(list(BANDS))).then("share").alias("expected")]),
        "judges",
        (pl.col("judges") / len(summary.judges)).alias("judges_share"),
        "grades",
        (pl.col("grades") / summary.grades).alias("grades_share"),
    )
    columns = {"quality": "judges", "limit": "TPR+TNR-1"} | ({} if model is None else {"expected": "in model"})
    columns |= {"judges": "here", "judges_share": "share", "grades": "grades", "grades_share": "share"}
    items = f"{counted(summary.items, 'item')}, {summary.relevant:,} relevant"
    return Table(
        frame,
        f"Crowd like {shorten(summary.name, 30)}: {items}",
        digits=1,
        shares=("expected", "judges_share", "grades_share"),
        name="bands",
        columns=columns,
        right=("limit",),
    )


def _limit(quality: str, low: float) -> str | None:
    """Where a band begins; the lowest has an end instead."""
    if quality not in BANDS:
        return None
    *_, above, lowest = BANDS
    return f"below {BANDS[above]:.1f}" if quality == lowest else f"from {low:.1f}"


def tabulate_crowd(summary: CrowdSummary) -> Table:
    """The crowd against gold."""
    values = {
        "TPR, mean over judges": summary.tpr,
        "TNR, mean over judges": summary.tnr,
        "recall of the majority": summary.recall,
        "precision of the majority": summary.precision,
        "specificity of the majority": summary.specificity,
        "negative predictive value of the majority": summary.npv,
        "error correlation, pooled over items of equal gold": summary.correlation,
    }
    return _list_values(values, "Against gold", "crowd", first="statistic")


def tabulate_model(model: CrowdModel) -> tuple[Table, Table]:
    """What a crowd was learned from, and how its judges err."""
    counts = {
        "judges": model.judges,
        "judgments": model.judgments,
        "grades": model.grades,
        "kinds of judges (of 400)": len(model.share),
    }
    frame = pl.DataFrame({"what": list(counts), "number": list(counts.values())})
    rates: dict[str, float | None] = {"TPR, mean over judges": float(model.rates[0])}
    rates |= {"TNR, mean over judges": float(model.rates[1])}
    rates |= {SHARED[name]: value for name, value in model.correlation._asdict().items()}
    learned = Table(frame, "What it was learned from", name="model")
    return learned, _list_values(rates, "Errors of its judges", "errors")


def _list_values(values: dict[str, float | None], caption: str, name: str, *, first: str = "what") -> Table:
    schema = {first: pl.String, "value": pl.Float64}
    frame = pl.DataFrame(list(values.items()), schema=schema, orient="row")
    return Table(keep_finite(frame), caption, digits=3, name=name)


def tabulate_kinds(model: CrowdModel) -> Table:
    """Kinds of judges, the most common first."""
    kinds = model.to_frame().sort("share", descending=True, maintain_order=True)
    columns = {
        "share": "share",
        "true_positive": "TPR",
        "true_positive_spread": "TPR ±",
        "true_negative": "TNR",
        "true_negative_spread": "TNR ±",
        "contribution": "contribution",
    }
    digits = dict.fromkeys(columns, 3) | {"share": 1, "contribution": 4}
    return Table(kinds, "Kinds of judges", digits, shares=("share",), name="kinds", columns=columns)


def tabulate_models(models: Sequence[CrowdModel]) -> Table:
    """Crowds that come with the library, a row each."""
    frame = pl.DataFrame(
        {
            "model": [model.name for model in models],
            "judges": pl.Series([model.judges or None for model in models], dtype=pl.Int64),
            "grades": [model.grades for model in models],
            "TPR": [float(model.rates[0]) for model in models],
            "TNR": [float(model.rates[1]) for model in models],
            "shared": [float(sum(model.correlation)) for model in models],
        }
    )
    return Table(frame, "Crowds", digits=2, name="crowds")


def tabulate_collection(world: World) -> Table:
    """What is in a simulated collection."""
    topics = world.topics
    documents, relevant, pooled, found = (int(topics[name].sum()) for name in topics.columns[2:])
    rows = [
        ("systems", f"quality {world.quality.min():.2f} to {world.quality.max():.2f}", len(world.quality)),
        ("topics", f"difficulty {world.difficulty.min():.2f} to {world.difficulty.max():.2f}", len(topics)),
        ("documents", f"{relevant:,} relevant ({relevant / documents:.1%})", documents),
        ("pool", f"{found:,} relevant ({found / max(relevant, 1):.1%} of all)", pooled),
    ]
    schema = {"what": pl.String, "of which": pl.String, "number": pl.Int64}
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "Collection", name="collection")


def chart_crowd(model: CrowdModel) -> alt.HConcatChart:
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
        panel = lay_panel([cells], (_SIDE, _SIDE), f"{low}-{high}% contribution")
        panel.title.subtitle = f"{100 * float(shares[:, :, k].sum()):.2g}% of judges"
        panels.append(panel)
    chart: alt.HConcatChart = alt.hconcat(*panels, title=f"Judges like {shorten(model.name)}", padding=ROOM)
    return chart


def _lay_out(model: CrowdModel, level: int) -> pl.DataFrame:
    """A row for each cell of the map of a level of contribution."""
    a, b = np.indices((RATE_LEVELS, RATE_LEVELS)).reshape(2, -1)
    edges = {"true_positive": a, "true_positive_to": a + 1, "true_negative": b, "true_negative_to": b + 1}
    frame = pl.DataFrame({name: edge / RATE_LEVELS for name, edge in edges.items()})
    return frame.with_columns(level=pl.lit(level), percent=pl.Series(100 * model.shares[:, :, level].ravel()))


def chart_summary(summary: CrowdSummary) -> alt.LayerChart:
    """Judges by the shares of relevant items that they find and of others that they reject; size: number of grades.

    Judges on the line are no better than chance. Judges who saw only one kind of items are left out.
    """
    known = summary.judges.drop_nulls(["tpr", "tnr"])
    if known.is_empty():
        raise OptionError("no judge saw both relevant items and others, so no judge has two rates to show")
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
    said = ["dashed: no better than chance"]
    if len(known) < len(summary.judges):
        said.append(f"{counted(len(summary.judges) - len(known), 'judge')} not shown: saw only one kind of items")
    title = f"{counted(len(known), 'judge')} of {shorten(summary.name)}"
    return let_choose(lay_panel(layers, (380, 380), title, said), "judge")
