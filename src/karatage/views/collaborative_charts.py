"""Charts of the collaborative experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.collaborative.findings import CollaborativeFindings
from karatage.experiments.collaborative.summing import ABOVE, BELOW
from karatage.text import shorten
from karatage.views.charts import COLOURS, SHAPES

if TYPE_CHECKING:
    import altair as alt

ALONE = "#777777"
INK = "#1A1A1A"  # on cells that are light or bright on any page
NAME = 24
PANEL = (300, 230)
# Light to dark: the more the crowd does, the darker its line.
SHADES = ("#B5DE2B", "#6DCD59", "#35B779", "#1F9E89", "#26828E", "#31688E", "#3E4989", "#440154")
DECIDED = (ABOVE, BELOW)
_PLAIN = "format(datum.value, '~g')"  # 2, not 2.0


def draw_orders(findings: CollaborativeFindings) -> alt.ConcatChart:
    """[COLLAB14] figure 3.4: experts alone, tau and tau_ap over the share judged, a line for each order."""
    import altair as alt

    if not len(findings.order_means):
        raise OptionError("orders were not studied, so there is nothing to draw")
    panels = []
    names = list(findings.plan.orders)
    for outcome in ("tau", "tau_ap"):
        base = alt.Chart(findings.order_means).encode(
            x=alt.X("experts:O", title="% of the pool judged", axis=alt.Axis(labelAngle=0, labelExpr=_PLAIN)),
            y=alt.Y(f"{outcome}:Q", title=f"{outcome} to full judging", scale=alt.Scale(zero=False, nice=True)),
            tooltip=["order", "experts", "tau", "tau_ap", "tau_ap_topics_low", "tau_ap_topics_high", "found"],
            color=_colour("order", names),
            shape=_shape("order", names),
        )
        panels.append(_layer([base.mark_line(strokeWidth=1.6), base.mark_point(size=40, filled=True)], outcome))
    return _finish(panels, f"Experts alone, by {findings.plan.measure}: which documents to judge first", 2)


def draw_finding(findings: CollaborativeFindings) -> alt.ConcatChart:
    """The share of the relevant documents found over the share judged, a line for each order."""
    import altair as alt

    if not len(findings.finding_means):
        raise OptionError("finding was not studied, so there is nothing to draw")
    names = list(findings.plan.orders)
    percent = alt.Axis(format="%")
    start = pl.DataFrame({"order": names, "judged": 0.0, "found": 0.0})
    curves = pl.concat([start, findings.alone_means.select(start.columns)])
    lines = (
        alt.Chart(curves)
        .mark_line(strokeWidth=1.6)
        .encode(
            x=alt.X("judged:Q", title="share of the pool judged", axis=percent),
            y=alt.Y("found:Q", title="share of the relevant documents found", axis=percent),
            color=_colour("order", names),
            tooltip=["order", "judged", "found"],
        )
    )
    chance = pl.DataFrame({"judged": [0.0, 1.0], "found": [0.0, 1.0]})
    diagonal = alt.Chart(chance).mark_line(strokeDash=[3, 3], color="#999999", strokeWidth=1)
    panel = _layer([diagonal.encode(x="judged:Q", y="found:Q"), lines], "dashed: any order at random", (420, 300))
    return _finish([panel], "How soon relevant documents are found", 1)


def draw_consensus(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figure 3.6: tau_ap over cost, the crowd's share fixed, a line for each approach."""
    import altair as alt

    ratio = findings.plan.ratios[0]
    found = findings.consensus.filter(order=order, ratio=ratio)
    if not len(found):
        raise OptionError(f"there is no result for approaches by the order '{shorten(order)}'")
    names = list(findings.plan.approaches)
    panels = []
    for (crowd,), here in found.group_by(["crowd"], maintain_order=True):
        base = alt.Chart(here).encode(
            x=_across(),
            y=_up(),
            order="experts:Q",
            tooltip=["approach", "experts", "crowd_share", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "lead"],
            color=_colour("approach", names),
            shape=_shape("approach", names),
        )
        layers = [base.mark_line(strokeWidth=1.6), base.mark_point(size=40, filled=True)]
        panels.append(_layer([*_draw_alone(findings, order, found), *layers], f"crowd {shorten(str(crowd), NAME)}"))
    fixed = f"{findings.plan.fixed_share:g} % by the crowd, ratio {ratio}"
    return _finish(panels, f"{order}, {fixed}; markers: % by experts; black: experts alone", 2)


def draw_shares(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figures 3.7 and 3.8: tau_ap over cost, a line for each share of the crowd."""
    import altair as alt

    found = _find_shares(findings, order)
    names = [f"{share:g} %" for share in sorted(found["crowd_share"].unique())]
    step = (len(SHADES) - 1) / max(len(names) - 1, 1)
    shade = alt.Scale(domain=names, range=[SHADES[int(k * step)] for k in range(len(names))])
    panels = []
    for (crowd, ratio), here in found.group_by(["crowd", "ratio"], maintain_order=True):
        told = here.with_columns(share=pl.col("crowd_share").map_elements("{:g} %".format, return_dtype=pl.String))
        base = alt.Chart(told).encode(
            x=_across(),
            y=_up(),
            color=alt.Color("share:N", title="by the crowd", scale=shade, sort=names),
            order="experts:Q",
            tooltip=["share", "experts", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "alone", "gap", "verdict"],
        )
        layers = [base.mark_line(strokeWidth=1.4), base.mark_point(size=34, filled=True, opacity=1)]
        title = f"crowd {shorten(str(crowd), NAME)}, ratio {shorten(str(ratio), NAME)}"
        panels.append(_layer([*_draw_alone(findings, order, found), *layers], title))
    title = f"{order}, crowd merged by {findings.plan.approach}; markers: % by experts; black: experts alone"
    return _finish(panels, title, len(findings.plan.ratios))


def draw_gaps(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """Where a mix is above or below experts alone at the same cost; bold where intervals over samples exclude 0."""
    import altair as alt

    found = _find_shares(findings, order)
    reach = max(float(found["gap"].abs().to_numpy().max()), 0.01)
    scale = alt.Scale(domain=[-reach, 0, reach], range=["#D55E00", "#FFFFFF", "#0072B2"], interpolate="rgb")
    panels = []
    for (crowd, ratio), here in found.group_by(["crowd", "ratio"], maintain_order=True):
        text = pl.col("gap").map_elements(_write_gap, return_dtype=pl.String)
        table = here.with_columns(text=text, decided=pl.col("verdict").is_in(DECIDED).fill_null(False))
        base = alt.Chart(table).encode(
            x=alt.X("experts:O", title="% by experts", axis=alt.Axis(labelAngle=0, labelExpr=_PLAIN)),
            y=alt.Y("crowd_share:O", title="% by the crowd", sort="descending", axis=alt.Axis(labelExpr=_PLAIN)),
            tooltip=["experts", "crowd_share", "cost", "tau_ap", "alone", "gap", "gap_low", "gap_high", "verdict"],
        )
        colour = alt.Color("gap:Q", title="gap in tau_ap", scale=scale)
        words = [
            base.mark_text(color=INK, fontSize=10, fontWeight="bold").transform_filter("datum.decided"),
            base.mark_text(color=INK, fontSize=10).transform_filter("!datum.decided"),
        ]
        layers = [base.mark_rect().encode(color=colour), *(word.encode(text="text:N") for word in words)]
        title = f"crowd {shorten(str(crowd), NAME)}, ratio {shorten(str(ratio), NAME)}"
        panels.append(_layer(layers, title, (340, 210)))
    title = f"{order}: mixes less experts alone at the same cost; bold: 95 % interval over samples excludes 0"
    return _finish(panels, title, len(findings.plan.ratios))


def draw_all(findings: CollaborativeFindings) -> dict[str, alt.ConcatChart]:
    """All charts, by the names of their files."""
    return dict(_draw_all(findings))


def _draw_all(findings: CollaborativeFindings) -> Iterator[tuple[str, alt.ConcatChart]]:
    if len(findings.order_means):
        yield "orders", draw_orders(findings)
    if len(findings.finding_means):
        yield "finding", draw_finding(findings)
    for order in findings.plan.orders:
        if len(findings.consensus):
            yield f"consensus-{order}", draw_consensus(findings, order)
        if len(findings.shares):
            yield f"shares-{order}", draw_shares(findings, order)
            yield f"gaps-{order}", draw_gaps(findings, order)


def _write_gap(gap: float) -> str:
    """In hundredths, where .00 has no sign."""
    text = f"{gap:+.2f}"
    return ".00" if float(text) == 0 else text.replace("0.", ".").replace("-", "−")


def _find_shares(findings: CollaborativeFindings, order: str) -> pl.DataFrame:
    found = findings.shares.filter(order=order)
    if not len(found):
        raise OptionError(f"there is no result for shares by the order '{shorten(order)}'")
    return found


def _colour(column: str, names: Sequence[str]) -> alt.Color:
    """The same for a name in every chart."""
    import altair as alt

    scale = alt.Scale(domain=list(names), range=[COLOURS[k % len(COLOURS)] for k in range(len(names))])
    return alt.Color(f"{column}:N", title=column, scale=scale, sort=list(names))


def _shape(column: str, names: Sequence[str]) -> alt.Shape:
    import altair as alt

    scale = alt.Scale(domain=list(names), range=[SHAPES[k % len(SHAPES)] for k in range(len(names))])
    return alt.Shape(f"{column}:N", title=column, scale=scale, sort=list(names))


def _draw_alone(findings: CollaborativeFindings, order: str, found: pl.DataFrame) -> list[alt.Chart]:
    """Experts alone: a black line as far as mixes go, with markers at the shares that mixes have."""
    import altair as alt

    most = max(findings.plan.expert_shares) / 100
    edge = max(float(found["cost"].to_numpy().max()), most)
    line = findings.alone_means.filter(pl.col("order") == order, pl.col("judged") <= edge).rename({"judged": "cost"})
    own = findings.order_means.filter(pl.col("order") == order).with_columns(cost=pl.col("judged") / findings.items)
    marks = [
        alt.Chart(line).mark_line(color=ALONE, strokeWidth=1.2),
        alt.Chart(own).mark_point(color=ALONE, size=34, filled=True, opacity=1),
    ]
    there = [len(line) > 0, len(own) > 0]
    drawn = [mark for mark, some in zip(marks, there, strict=True) if some]
    return [mark.encode(x=_across(), y=_up(), tooltip=["cost", "tau_ap"]) for mark in drawn]


def _across() -> alt.X:
    import altair as alt

    return alt.X("cost:Q", title="cost, share of full expert judging", axis=alt.Axis(format="%"))


def _up() -> alt.Y:
    import altair as alt

    return alt.Y("tau_ap:Q", title="tau_ap to full judging", scale=alt.Scale(zero=False, nice=True))


def _layer(layers: Sequence[alt.Chart], title: str, size: tuple[int, int] = PANEL) -> alt.LayerChart:
    import altair as alt

    told = alt.TitleParams(title, fontSize=11)
    chart: alt.LayerChart = alt.LayerChart(layer=list(layers), width=size[0], height=size[1], title=told)
    return chart


def _finish(panels: Sequence[alt.LayerChart], title: str, across: int) -> alt.ConcatChart:
    import altair as alt

    chart: alt.ConcatChart = alt.concat(*panels, columns=across, title=title)
    return chart
