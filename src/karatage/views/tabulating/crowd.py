"""Simulated crowds and collections, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.crowd_summary import BANDS, name_bands
from karatage.text import counted, shorten
from karatage.views.tables import Table, keep_finite

if TYPE_CHECKING:
    from karatage.data.crowd import CrowdModel
    from karatage.data.crowd_summary import CrowdSummary
    from karatage.simulation.collection import World

SHARED = {
    "item": "part of errors shared by all judges of an item",
    "family": "part shared within families",
    "topic": "part shared over a topic",
}
BANDS_TEXT = "In model: by true rates. Here: by what was said, mostly chance for few items."
MODELS_TEXT = "TPR and TNR are means over judges; shared is the part of errors that is not the judge's own."


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
        pl.col("quality").cast(pl.String).alias("judges"),
        pl.Series("TPR+TNR-1", limits, dtype=pl.String),
        *([] if model is None else [pl.when(pl.col("quality").is_in(list(BANDS))).then("share").alias("in model")]),
        pl.col("judges").alias("here"),
        (pl.col("judges") / len(summary.judges)).alias("share"),
        "grades",
        (pl.col("grades") / summary.grades).alias("share of grades"),
    )
    caption = (
        f"Crowd after {shorten(summary.name, 30)}: {counted(summary.items, 'item')}, {summary.relevant:,} relevant"
    )
    shares = ("in model", "share", "share of grades")
    return Table(
        frame,
        caption,
        digits=1,
        shares=shares,
        name="bands",
        headers={"share of grades": "share"},
        right=("TPR+TNR-1",),
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
        "error correlation, pooled over items of equal gold": summary.correlation,
    }
    return _list_values(values, "Against gold", "crowd", first="statistic")


def tabulate_model(model: CrowdModel) -> tuple[Table, Table]:
    """What a crowd was learned from, and how its judges err."""
    counts = {
        "judges it was learned from": model.judges,
        "their judgments": model.judgments,
        "grades": model.grades,
        "kinds of judges (of 400)": len(model.share),
    }
    frame = pl.DataFrame({"what": list(counts), "number": list(counts.values())})
    rates: dict[str, float | None] = {"TPR, mean over judges": float(model.rates[0])}
    rates |= {"TNR, mean over judges": float(model.rates[1])}
    rates |= {SHARED[name]: value for name, value in model.correlation._asdict().items()}
    learned = Table(frame, f"Crowd model {shorten(model.name, 40)}", name="model")
    return learned, _list_values(rates, "How its judges err", "errors")


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
    frame = kinds.select(list(columns)).rename(columns)
    digits = {"share": 1, "contribution": 4}
    return Table(
        frame,
        "Kinds of judges",
        digits | dict.fromkeys(list(columns.values())[1:5], 3),
        shares=("share",),
        name="kinds",
    )


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
