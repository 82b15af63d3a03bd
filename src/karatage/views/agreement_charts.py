"""What judges make of gold's grades, one panel each, and how far every two of them agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.errors import DataError
from karatage.views.audit_charts import MOST, find_busiest, tell_shown
from karatage.views.choosing import LETTER, choose, cut_names, fade, let_choose, name_by_number, tell

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.audit import Audit
    from karatage.data.axes import FloatArray

PANELS, GAP = 30, 12  # confusion matrices, and pixels between them
ROOM = 530  # pixels for matrices side by side
CELLS = {2: 44, 6: 26, PANELS: 15}  # pixels of a cell, for so many panels
WORDY = 26  # pixels from which a cell has room for a number
NARROWEST = 84  # pixels of a panel with its heading
SIDE = 430  # pixels of a heat map
NAME, FEW = 26, 40  # characters of a name, and how many judges leave room for large ones


def draw_confusion(audit: Audit) -> alt.FacetChart:
    """For each judge, of the items with a gold grade (down) how many got which grade (across)."""
    import altair as alt

    frame = lay_out_confusion(audit)
    names = frame.unique("panel", maintain_order=True)["judge"].to_list()
    cell = next(size for panels, size in CELLS.items() if len(names) <= panels)
    down, across = (frame[side].n_unique() for side in ("gold", "grade"))
    base = alt.Chart().encode(
        alt.X("grade:O", title=None, axis=alt.Axis(labelAngle=0)),
        alt.Y("gold:O", title=None, sort="descending"),
        tooltip=tell("judge:N", "gold:O", "grade:O", "share:Q", "share_low:Q", "share_high:Q", "items:Q"),
    )
    shade = alt.Color("share:Q", title="share", scale=alt.Scale(scheme="viridis", domain=[0, 1]))
    squares = base.mark_rect().encode(shade, opacity=fade(choose("judge"))).properties(name="cells")
    layers = [squares]
    if cell >= WORDY:
        layers.append(
            base.mark_text(fontSize=10).encode(
                alt.Text("share:Q", format=".0%"),
                color=alt.condition("datum.share > 0.55", alt.value("#222222"), alt.value("#F2F2F2")),
            )
        )
    panel = alt.layer(*layers, data=frame).properties(width=cell * across, height=cell * down)
    column = max(cell * across, NARROWEST)
    titles = name_by_number(cut_names(names, int(column / LETTER)))
    header = alt.Header(labelExpr=titles, labelFontSize=10, labelLimit=column, labelPadding=2)
    title = alt.TitleParams(
        "What judges make of gold's grades",
        subtitle=[
            "up: gold's grade; across: the grade said",
            *tell_shown(len(names), audit.confusion["judge"].n_unique(), "have most gold items"),
        ],
        anchor="start",
    )
    facet = alt.Facet("panel:O", title=None, header=header)
    chart: alt.FacetChart = panel.facet(facet, columns=max(ROOM // (column + GAP), 1), spacing=GAP, title=title)
    return let_choose(chart, "judge")


def lay_out_confusion(audit: Audit) -> pl.DataFrame:
    """The judges with most gold items, families together, in each those that are right most often first."""
    if audit.confusion.is_empty():
        raise DataError("without gold that judges have graded nothing is known of what they mistake for what")
    shown = find_busiest(audit, PANELS, heard=audit.confusion["judge"].unique().to_list())
    family = [name for name in ("family",) if name in shown.columns]
    order = shown.sort(*family, "accuracy", descending=[*([False] * len(family)), True], nulls_last=True)
    place = order.select("judge", panel=pl.int_range(pl.len()))
    return audit.confusion.join(place, on="judge", how="inner").sort("panel", "gold", "grade")


def draw_agreement(audit: Audit, value: str = "kappa") -> alt.Chart:
    """How far every two judges agree beyond chance; families, and in them judges that agree most, stand together."""
    import altair as alt

    names = order_judges(audit, value)
    frame = lay_out_agreement(audit, names, value)
    if frame[value].null_count() == len(frame):
        raise DataError(
            f"the {len(names):,} judges who graded most have no {value} among them: their pairs were not drawn"
        )
    axis = alt.Axis(
        labelExpr=name_by_number(cut_names(names, NAME)),
        labelLimit=160,
        labelFontSize=9 if len(names) <= FEW else 7,
        labelOverlap=False,
        ticks=False,
        domain=False,
    )
    scale = alt.Scale(domain=list(range(len(names))))
    least = min(0.0, *frame[value].drop_nulls().to_list())
    shade = alt.Scale(scheme="viridis", domain=[least, 1.0])
    side = min(SIDE, max(26 * len(names), 90))
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            alt.X("column:O", title=None, scale=scale, axis=axis),
            alt.Y("row:O", title=None, scale=scale, axis=axis),
            alt.Color(f"{value}:Q", title=value.replace("_", " "), scale=shade),
            opacity=fade(choose("judge")),
            tooltip=tell("judge:N", "other:N", f"{value}:Q", "shared:Q"),
        )
        .properties(
            name="pairs",
            width=side,
            height=side,
            title=alt.TitleParams(
                "Agreement of every two judges",
                subtitle=tell_shown(len(names), len(audit.judges), "graded most"),
                anchor="start",
            ),
        )
    )
    return let_choose(chart, "judge")


def lay_out_agreement(audit: Audit, names: list[str], value: str = "kappa") -> pl.DataFrame:
    """Each pair of these judges twice, so that the map is square."""
    pairs = audit.pairs.select("judge", "other", "shared", value)
    both = pl.concat([pairs, pairs.select(judge="other", other="judge", shared="shared", **{value: value})])
    place = pl.DataFrame({"judge": pl.Series(names, dtype=pl.String), "row": range(len(names))})
    return (
        both.join(place, on="judge", how="inner")
        .join(place.rename({"judge": "other", "row": "column"}), on="other", how="inner")
        .sort("row", "column")
    )


def order_judges(audit: Audit, value: str = "kappa") -> list[str]:
    """At most so many judges as can be read, those that agree near each other, and families together."""
    if audit.pairs.is_empty():
        raise DataError("there are no pairs of judges: no two share an item, or pairs were not written to the file")
    met = pl.concat([audit.pairs["judge"], audit.pairs["other"].alias("judge")]).unique().to_list()
    shown = find_busiest(audit, MOST, heard=met)
    names = shown["judge"].to_list()
    place = {name: k for k, name in enumerate(names)}
    nearness = np.zeros((len(names), len(names)))
    for one, other, found in audit.pairs.select("judge", "other", value).iter_rows():
        if one in place and other in place and found is not None:
            nearness[place[one], place[other]] = nearness[place[other], place[one]] = found
    at = {name: k for k, name in enumerate(names[j] for j in _order_leaves(nearness))}
    if "family" not in shown.columns:
        return sorted(names, key=lambda name: at[name])
    family = dict(shown.select("judge", pl.col("family").fill_null("")).iter_rows())
    means = {home: np.mean([at[name] for name in names if family[name] == home]) for home in family.values()}
    return sorted(names, key=lambda name: (means[family[name]], family[name], at[name]))


def _order_leaves(nearness: FloatArray) -> list[int]:
    """An order in which neighbours are near: leaves of a tree that joins the nearest first."""
    if len(nearness) < 3:
        return list(range(len(nearness)))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distance = 1 - nearness
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=True)
    return [int(leaf) for leaf in leaves_list(tree)]
