"""Charts of a diagnosis: how much of what systems show was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.views.row_charts import WHOLE, Across, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.diagnosis import Diagnosis


def draw_judged(found: Diagnosis) -> alt.HConcatChart:
    """The share that was judged, the least first: systems with little are held down by what counts as not relevant."""
    frame = found.systems.sort("judged", nulls_last=False, maintain_order=True).with_columns(
        pl.col("judged").fill_null(0)
    )
    rows = Rows(frame, "system", natural="judged")
    bars = rows.draw_bars(
        "judged", Across("share judged", WHOLE), rows.room, ["judged:Q", "topics:Q", "short:Q"], named=True
    )
    return rows.put_together([bars], f"How much of what counts for {found.measure} was judged")
