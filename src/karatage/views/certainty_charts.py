"""Charts of small findings: one difference, how judges answer, which topics can be foretold, what explains a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.disagreement import HeldOut
from karatage.text import percent
from karatage.views.charts import CORRECTED, JUDGES, PLAIN
from karatage.views.choosing import finite
from karatage.views.row_charts import WHOLE, Across, Mark, Rows

if TYPE_CHECKING:
    import altair as alt

    from karatage.comparison.anova import Anova
    from karatage.comparison.paired import PairedTest
    from karatage.comparison.unpaired import UnpairedTest
    from karatage.data.accuracy import Accuracy
    from karatage.data.disagreement import DisagreementModel

RIGHT, WRONG = "right", "wrong"
ANSWERS = {RIGHT: Mark(CORRECTED, "circle"), WRONG: Mark(JUDGES, "diamond")}
RATES = {
    "tpr": "of the items judges disagree on, found",
    "ppv": "of those foretold, disagreed on",
    "tnr": "of the items judges agree on, found",
    "npv": "of those foretold to agree, agreed on",
    "auc": "area under the curve",
}
SMALL = 0.01  # omega squared


def draw_test(found: PairedTest | UnpairedTest) -> alt.HConcatChart:
    """The difference with its interval, and a line where there is none."""
    frame = pl.DataFrame(
        {
            "name": ["second less first"],
            "value": [found.difference],
            "low": [finite(found.low)],
            "high": [finite(found.high)],
            "p_value": [found.p_value],
        },
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )
    rows = Rows(frame, "name")
    panel = rows.draw_dots(Across("difference", line=0.0), rows.room, ["value:Q", "low:Q", "high:Q", "p_value:Q"])
    said = f"{percent(found.confidence)} interval; right of the dashed line the second system is better"
    return rows.put_together([panel], "The difference", [said])


def draw_accuracy(accuracy: Accuracy) -> alt.HConcatChart:
    """What judges say of items of each kind, as shares with 95 % intervals."""
    frame = accuracy.to_frame().with_columns(
        name=pl.format("{} → {}", "gold", "said"),
        value=pl.col("share"),
        mark=pl.when(pl.col("gold") == pl.col("said")).then(pl.lit(RIGHT)).otherwise(pl.lit(WRONG)),
    )
    rows = Rows(frame, "name", ANSWERS)
    told = ["gold:N", "said:N", "items:Q", "value:Q", "low:Q", "high:Q"]
    panel = rows.draw_dots(Across("share of the items that are so by gold", WHOLE), rows.room, told)
    return rows.put_together(
        [panel], f"What judges say of {accuracy.items:,} gold items", ["gold's kind → what judges say of it"]
    )


def draw_disagreement(model: DisagreementModel) -> alt.LayerChart:
    """How predictions fare on held-out items: a tick for each topic, a dot for their mean."""
    import altair as alt

    table = model.to_frame()
    rates = [name for name in HeldOut._fields if table[name].is_not_null().any()]
    frame = table.unpivot(rates, index="topic", variable_name="rate", value_name="value").drop_nulls()
    frame = frame.with_columns(about=pl.col("rate").replace(RATES), rate=pl.col("rate").str.to_uppercase())
    means = frame.group_by("rate", maintain_order=True).agg(value=pl.col("value").mean(), topics=pl.len())
    across = alt.X("value:Q", title="rate on held-out items", scale=alt.Scale(domain=list(WHOLE)))
    down = alt.Y("rate:N", title=None, sort=[name.upper() for name in rates])
    told = ["topic:N", "rate:N", "about:N", "value:Q"]
    layers = [
        alt.Chart(frame).mark_tick(color=PLAIN, thickness=1.5, opacity=0.6).encode(across, down, tooltip=told),
        alt.Chart(means)
        .mark_point(filled=True, size=80, color=CORRECTED, opacity=1)
        .encode(across, down, tooltip=["rate:N", "value:Q", "topics:Q"]),
    ]
    said = "a tick for each topic, a dot for the mean over topics"
    title = alt.TitleParams("Disagreement foretold", subtitle=said, anchor="start")
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=540, height=28 * len(rates), title=title)
    return chart


def draw_sources(result: Anova) -> alt.HConcatChart:
    """How much of the variance each source explains, the largest first."""
    frame = result.to_frame().drop_nulls("omega_squared").rename({"source": "name"})
    rows = Rows(frame.sort("omega_squared", descending=True, maintain_order=True), "name")
    told = ["omega_squared:Q", "f:Q", "df:Q", "p_value:Q"]
    across = Across("omega squared: share of the variance, other sources left aside", line=SMALL)
    panel = rows.draw_bars("omega_squared", across, rows.room, told, named=True)
    return rows.put_together([panel], f"What explains {result.design.name}", [f"dashed: {SMALL:g}, a small effect"])
