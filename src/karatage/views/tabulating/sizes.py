"""How many topics and gold items, as a table and sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from karatage.views.tables import Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.sizing import SizePlan


def tabulate_sizes(found: SizePlan) -> Table:
    """Topics and gold items needed and at hand; with prices, what they cost."""
    rows = [(need.kind, need.judges, need.size, need.have, need.share, need.cost) for need in found.needs]
    schema = {
        "kind": pl.String,
        "whose": pl.String,
        "needed": pl.Float64,
        "at hand": pl.Int64,
        "error share": pl.Float64,
        "cost": pl.Float64,
    }
    frame = keep_finite(pl.DataFrame(rows, schema=schema, orient="row"))
    return Table(
        frame if is_priced(found) else frame.drop("cost"),
        "How many",
        digits={"needed": 0, "error share": 3, "cost": 2},
        name="sizes",
        headers={"kind": ""},
    )


def is_priced(found: SizePlan) -> bool:
    """Whether there is a cost to speak of."""
    return found.cost is not None and found.refusal is None


def explain_sizes(found: SizePlan) -> Iterator[str]:
    """What the numbers rest on, and what they show."""
    judges = "one gold sample for both" if found.judges == "shared" else "and each has judges of its own"
    topics = "the same topics" if found.paired else "topics of their own"
    yield f"Systems have {topics}, {judges}."
    corrected = ", ".join("-" if math.isnan(value) else f"{value:.3f}" for value in found.estimates)
    size = found.topics_without_errors
    free = f"{size:,.0f}" if math.isfinite(size) else "no number of"
    yield f"Corrected means {corrected}; were judges never wrong: {free} topics."
    if found.refusal is None:
        shows = "no difference" if math.isinf(found.detectable) else f"differences from {found.detectable:.4g} up"
        yield f"With these numbers: standard error {found.standard_error:.4g}, ± {found.half_width:.4g}; {shows}."
    if is_priced(found):
        yield f"Cost {found.cost:,.2f}."
