"""Charts of the judges: how often each is right and how lenient, what each weighs, and how many votes all are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from karatage.errors import DataError
from karatage.text import counted, shorten
from karatage.views.charts import CORRECTED, JUDGES, PLAIN
from karatage.views.choosing import (
    WIDEST,
    choose,
    choose_order,
    fade,
    let_choose,
    mark_line,
    measure_names,
    measure_rows,
    name_rows,
    place_names,
    place_rows,
    tell,
)

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.audit import Audit
    from karatage.data.weights import Weights

MOST = 60  # judges in a chart
FLAGGED, UNSUSPECTED = "suspect", "no suspicion"


class _Panel(NamedTuple):
    """A column of the judges' table with its interval, beside the names."""

    field: str
    title: str
    colour: str
    line: float | None = None  # to go by


def draw_judges(audit: Audit) -> alt.HConcatChart:
    """How often each judge is right, and how much higher than gold it grades, with 95 % intervals.

    Without gold: how far it agrees with the others, and how much higher than they do it grades.
    """
    import altair as alt

    known = "accuracy" in audit.judges.columns
    panels = [
        _Panel("accuracy", "share of gold items graded rightly", CORRECTED)
        if known
        else _Panel("kappa", "mean kappa with the other judges", CORRECTED, 0.0),
        _Panel("gold_leniency", "grades higher than gold by", JUDGES, 0.0)
        if known
        else _Panel("leniency", "grades higher than others by", JUDGES, 0.0),
    ]
    frame = lay_out_judges(audit, [panel.field for panel in panels])
    first = "right" if known else "agreeing"
    orders = {first: "row", "lenient": "at_lenient", "name": "at_name"}
    orders |= {"family": "at_family"} if "family" in frame.columns else {}
    names = frame.sort("row")["judge"].to_list()
    width = (WIDEST - measure_names(names)) // 2
    drawn = [_draw_panel(frame, panel, names if k == 0 else None, orders, width) for k, panel in enumerate(panels)]
    title = alt.TitleParams(
        "Judges, one by one", subtitle=tell_shown(len(names), len(audit.judges), "graded most"), anchor="start"
    )
    chart: alt.HConcatChart = alt.hconcat(*drawn, spacing=8, title=title).resolve_scale(shape="shared")
    return let_choose(chart.add_params(choose_order(list(orders))), "judge")


def lay_out_judges(audit: Audit, fields: Sequence[str]) -> pl.DataFrame:
    """A row for each judge that is shown: those with most items, best first by the first field."""
    wanted = [column for field in fields for column in (field, f"{field}_low", f"{field}_high")]
    have = [column for column in wanted if column in audit.judges.columns]
    if fields[0] not in have:
        raise DataError("no two judges share an item, and there is no gold: nothing tells how good they are")
    frame = find_busiest(audit, MOST)
    flags = pl.when(pl.col("flags") == "").then(pl.lit(UNSUSPECTED)).otherwise(pl.lit(FLAGGED)).alias("flagged")
    family = [name for name in ("family",) if name in frame.columns]
    frame = frame.select("judge", *family, "items", *have, "flags", flags)
    places = [
        frame[field].fill_null(float("-inf")).rank("ordinal", descending=True).cast(pl.Int64) - 1 for field in fields
    ]
    columns = [places[0].alias("row"), places[1].alias("at_lenient")]
    columns.append(pl.Series("at_name", place_names(frame["judge"].to_list())))
    if family:
        order = frame.with_columns(columns).select("family", "row", at=pl.int_range(pl.len())).sort("family", "row")
        columns.append(order.with_columns(at_family=pl.int_range(pl.len())).sort("at")["at_family"])
    return frame.with_columns(columns)


def find_busiest(audit: Audit, most: int, *, heard: Sequence[str] | None = None) -> pl.DataFrame:
    """The judges (or those of them that were `heard`) that graded most, in the order they have in the audit."""
    by = "gold_items" if "gold_items" in audit.judges.columns else "items"
    numbered = audit.judges.with_row_index("place")
    if heard is not None:
        numbered = numbered.filter(pl.col("judge").is_in(list(heard)))
    return numbered.sort(by, "place", descending=[True, False]).head(most).sort("place").drop("place")


def _draw_panel(
    frame: pl.DataFrame, panel: _Panel, names: list[str] | None, orders: dict[str, str], width: int
) -> alt.LayerChart:
    import altair as alt

    low = f"{panel.field}_low"
    axis = None if names is None else name_rows(names)
    down = alt.Y("row:O", title=None, sort=alt.SortField("place"), axis=axis)
    told = _tell_columns(frame.drop(*orders.values(), "flagged"))
    drawn = alt.Chart(frame).transform_calculate(place=place_rows(orders))
    drawn = drawn.encode(down, color=alt.value(panel.colour), opacity=fade(choose("judge")), tooltip=told)
    shapes = alt.Scale(domain=[UNSUSPECTED, FLAGGED], range=["circle", "cross"])
    legend = alt.Legend(orient="top", symbolFillColor=PLAIN, symbolStrokeColor=PLAIN)
    mark = alt.Shape("flagged:N", title=None, scale=shapes, legend=legend)
    value = alt.X(f"{panel.field}:Q", title=panel.title, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=6))
    layers = [] if panel.line is None else [mark_line(panel.line, panel.title)]
    if low in frame.columns:
        layers.append(
            drawn.mark_rule(strokeWidth=1.8).encode(alt.X(f"{low}:Q", title=panel.title), x2=f"{panel.field}_high:Q")
        )
    layers.append(drawn.mark_point(filled=True, size=46).encode(value, mark).properties(name=panel.field))
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=width, height=measure_rows(len(frame)))
    return chart


def draw_weights(weights: Weights) -> alt.LayerChart:
    """What each judge weighs, from the lightest to the heaviest topic, and a line where all would weigh the same."""
    import altair as alt

    every = weights.to_frame()
    frame = every.head(MOST).with_columns(row=pl.int_range(pl.len()))
    names = frame["judge"].to_list()
    frame = frame.with_columns(pl.Series("at_name", place_names(names)))
    orders = {"weight": "row", "name": "at_name"}
    title = "weight"
    down = alt.Y("row:O", title=None, sort=alt.SortField("place"), axis=name_rows(names))
    told = _tell_columns(frame.drop("row", "at_name", "measure", "approach"))
    drawn = alt.Chart(frame).transform_calculate(place=place_rows(orders))
    drawn = drawn.encode(down, color=alt.value(CORRECTED), opacity=fade(choose("judge")), tooltip=told)
    layers = [
        mark_line(weigh_alike(weights), title),
        drawn.mark_rule(strokeWidth=1.8).encode(alt.X("lowest:Q", title=title), x2="highest:Q"),
        drawn.mark_point(filled=True, size=46).encode(alt.X("weight:Q", title=title)).properties(name="weights"),
    ]
    subtitle = [
        *tell_shown(len(names), len(every), "weigh most"),
        "line: lightest to heaviest topic; dashed: all alike",
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        width=WIDEST - measure_names(names),
        height=measure_rows(len(names)),
        title=alt.TitleParams(f"Weights by {weights.approach}, {weights.measure}", subtitle=subtitle, anchor="start"),
    )
    return let_choose(chart.add_params(choose_order(list(orders))), "judge")


def weigh_alike(weights: Weights) -> float:
    """What a judge would weigh if all those heard on a topic weighed the same, as a mean over topics."""
    heard = weights.present.sum(axis=0)
    return float((1 / heard[heard > 0]).mean())


def draw_votes(audit: Audit) -> alt.LayerChart:
    """How many judges there are (pale) and how many independent ones they are worth (full), with a 95 % interval."""
    import altair as alt

    frame = lay_out_votes(audit)
    names = frame["who"].to_list()
    down = alt.Y("who:N", title=None, sort=names, axis=alt.Axis(labelLimit=200, ticks=False))
    title = "votes"
    drawn = alt.Chart(frame).encode(down, tooltip=tell("who:N", "judges:Q", "votes:Q", "low:Q", "high:Q"))
    layers = [
        drawn.mark_bar(color=PLAIN, opacity=0.3, height={"band": 0.8}).encode(alt.X("judges:Q", title=title)),
        drawn.mark_bar(color=CORRECTED, height={"band": 0.45}).encode(alt.X("votes:Q", title=title)),
        drawn.mark_rule(color=JUDGES, strokeWidth=2.5).encode(alt.X("low:Q", title=title), x2="high:Q"),
        drawn.mark_text(align="left", dx=6).encode(alt.X("longest:Q", title=title), text="said:N"),
    ]
    most = max(frame["longest"].to_list())
    scale = alt.Scale(domain=[0, 1.45 * most], nice=False)  # room for what is said beside the bars
    axis = alt.Axis(grid=False, tickMinStep=1, labelExpr=f"datum.value <= {most} ? datum.label : ''")
    chart: alt.LayerChart = alt.LayerChart(
        layer=[layer.encode(x=layer.encoding.x.scale(scale).axis(axis)) for layer in layers],
        width=WIDEST - measure_names([shorten(name, 30) for name in names]),
        height=36 * len(frame),
        title=alt.TitleParams("What the judges are worth", subtitle=_say_votes(frame), anchor="start"),
    )
    return chart


def lay_out_votes(audit: Audit) -> pl.DataFrame:
    """All judges, the grades of one item where not everybody grades everything, and each family."""
    votes, judges = audit.statistic("effective_votes"), audit.statistic("judges_compared")
    if votes is None or judges is None:
        raise DataError("what judges are worth is known from gold that two judges at least have graded; there is none")
    bounds = {row["statistic"]: row for row in audit.panel.to_dicts()}
    rows = [("all judges", judges, votes, bounds["effective_votes"]["low"], bounds["effective_votes"]["high"])]
    grades, per_item = audit.statistic("grades_per_item"), bounds.get("effective_votes_per_item")
    if grades is not None and grades < judges and per_item is not None:
        rows.append(("those of one item", grades, per_item["value"], per_item["low"], per_item["high"]))
    rows += [
        (shorten(str(row["family"]), 30), float(row["judges"]), row["effective_votes"], None, None)
        for row in audit.families.to_dicts()
    ]
    schema = {"who": pl.String} | dict.fromkeys(("judges", "votes", "low", "high"), pl.Float64)
    frame = pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("votes")
    said = [f"{_count(j)} worth {v:.1f}" for j, v in frame.select("judges", "votes").iter_rows()]
    return frame.with_columns(longest=pl.max_horizontal("judges", "high"), said=pl.Series(said))


def _count(judges: float) -> str:
    return counted(int(judges), "judge") if judges == int(judges) else f"{judges:.1f} grades"


def _say_votes(frame: pl.DataFrame) -> str:
    row = frame.row(0, named=True)
    interval = "" if row["low"] is None else f" ({row['low']:.1f} to {row['high']:.1f})"
    return f"{counted(int(row['judges']), 'judge')} carry {row['votes']:.1f} effective votes{interval}"


def tell_shown(shown: int, judges: int, which: str) -> list[str]:
    """How many judges a chart leaves out."""
    return [f"the {shown:,} that {which}; {judges - shown:,} are left out"] if shown < judges else []


def _tell_columns(frame: pl.DataFrame) -> list[alt.Tooltip]:
    kinds = {name: "N" if kind == pl.String else "Q" for name, kind in frame.schema.items()}
    return tell(*(f"{name}:{kind}" for name, kind in kinds.items()))
