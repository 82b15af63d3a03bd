"""Charts of the collaborative experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.collaborative.findings import ABOVE, BELOW, CollaborativeFindings
from karatage.text import shorten
from karatage.views.marks import (
    Axis,
    Key,
    cycle,
    lay_panel,
    lay_panels,
    mark,
    mark_diagonal,
    mark_lines,
    tell_apart,
)

if TYPE_CHECKING:
    import altair as alt

ALONE = "#777777"
INK = "#1A1A1A"  # on cells that are light or bright on any page
NAME = 24
PANEL = (300, 230)
# Light to dark: the more the crowd does, the darker its line.
SHADES = ("#B5DE2B", "#6DCD59", "#35B779", "#1F9E89", "#26828E", "#31688E", "#3E4989", "#440154")
DECIDED = (ABOVE, BELOW)
NUMBERS = {"labelExpr": "format(datum.value, '~g')"}  # 2, not 2.0
COST = Axis("cost:Q", "cost, share of full expert judging", axis={"format": "%"})
QUALITY = Axis("tau_ap:Q", "tau_ap to full judging", {"zero": False, "nice": True})


def draw_orders(findings: CollaborativeFindings) -> alt.ConcatChart:
    """[COLLAB14] figure 3.4: experts alone, tau and tau_ap over the share judged, a line for each order."""
    frame = findings.order_means
    if not len(frame):
        raise OptionError("orders were not studied, so there is nothing to draw")
    looks = tell_apart("order", findings.plan.orders, {})
    across = Axis("experts:O", "% of the pool judged", axis={"labelAngle": 0, **NUMBERS})
    told = ["order", "experts", "tau", "tau_ap", "tau_ap_topics_low", "tau_ap_topics_high", "found"]
    panels = []
    for outcome in ("tau", "tau_ap"):
        up = Axis(f"{outcome}:Q", f"{outcome} to full judging", QUALITY.scale)
        panels.append(lay_panel(mark_lines(frame, across, up, looks, told=told, points=40), PANEL, outcome))
    return lay_panels(panels, f"Experts alone, by {findings.plan.measure}: which documents to judge first", 2)


def draw_finding(findings: CollaborativeFindings) -> alt.ConcatChart:
    """The share of the relevant documents found over the share judged, a line for each order."""
    if not len(findings.finding_means):
        raise OptionError("finding was not studied, so there is nothing to draw")
    start = pl.DataFrame({"order": list(findings.plan.orders), "judged": 0.0, "found": 0.0})
    curves = pl.concat([start, findings.alone_means.select(start.columns)])
    across = Axis("judged:Q", "share of the pool judged", axis={"format": "%"})
    up = Axis("found:Q", "share of the relevant documents found", axis={"format": "%"})
    colours = {"color": cycle("order", findings.plan.orders, title="order", legend={})}
    layers = [
        mark_diagonal(across, up, (0.0, 1.0)),
        *mark_lines(curves, across, up, colours, told=["order", "judged", "found"]),
    ]
    panel = lay_panel(layers, (420, 300), "dashed: any order at random")
    return lay_panels([panel], "How soon relevant documents are found", 1)


def draw_consensus(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figure 3.6: tau_ap over cost, the crowd's share fixed, a line for each approach."""
    ratio = findings.plan.ratios[0]
    found = findings.consensus.filter(order=order, ratio=ratio)
    if not len(found):
        raise OptionError(f"there is no result for approaches by the order '{shorten(order)}'")
    looks = tell_apart("approach", findings.plan.approaches, {})
    told = ["approach", "experts", "crowd_share", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "lead"]
    alone = _draw_alone(findings, order, found)
    panels = []
    for (crowd,), here in found.group_by(["crowd"], maintain_order=True):
        lines = mark_lines(here, COST, QUALITY, looks, told=told, points=40, encodings={"order": "experts:Q"})
        panels.append(lay_panel([*alone, *lines], PANEL, f"crowd {shorten(str(crowd), NAME)}"))
    fixed = f"{findings.plan.fixed_share:g} % by the crowd, ratio {ratio}"
    return lay_panels(panels, f"{order}, {fixed}; markers: % by experts; black: experts alone", 2)


def draw_shares(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """[COLLAB14] figures 3.7 and 3.8: tau_ap over cost, a line for each share of the crowd."""
    found = _find_shares(findings, order)
    names = [f"{share:g} %" for share in sorted(found["crowd_share"].unique())]
    step = (len(SHADES) - 1) / max(len(names) - 1, 1)
    shades = {name: SHADES[int(k * step)] for k, name in enumerate(names)}
    looks = {"color": Key("share", shades, "by the crowd", {})}
    told = ["share", "experts", "cost", "tau_ap", "tau_ap_low", "tau_ap_high", "alone", "gap", "verdict"]
    alone = _draw_alone(findings, order, found)
    panels = []
    for key, here in found.group_by(["crowd", "ratio"], maintain_order=True):
        frame = here.with_columns(share=pl.col("crowd_share").map_elements("{:g} %".format, return_dtype=pl.String))
        encodings = {"order": "experts:Q"}
        lines = mark_lines(frame, COST, QUALITY, looks, told=told, points=34, width=1.4, encodings=encodings)
        panels.append(lay_panel([*alone, *lines], PANEL, _name_mix(key)))
    title = f"{order}, crowd merged by {findings.plan.approach}; markers: % by experts; black: experts alone"
    return lay_panels(panels, title, len(findings.plan.ratios))


def draw_gaps(findings: CollaborativeFindings, order: str) -> alt.ConcatChart:
    """Where a mix is above or below experts alone at the same cost; bold where intervals over samples exclude 0."""
    found = _find_shares(findings, order)
    reach = max(float(found["gap"].abs().to_numpy().max()), 0.01)
    scale = {"domain": [-reach, 0, reach], "range": ["#D55E00", "#FFFFFF", "#0072B2"], "interpolate": "rgb"}
    shade = Key("gap:Q", title="gap in tau_ap", legend={}, scale=scale)
    axes = (
        Axis("experts:O", "% by experts", axis={"labelAngle": 0, **NUMBERS}),
        Axis("crowd_share:O", "% by the crowd", axis=NUMBERS, sort="descending"),
    )
    told = ["experts", "crowd_share", "cost", "tau_ap", "alone", "gap", "gap_low", "gap_high", "verdict"]
    text = pl.col("gap").map_elements(_write_gap, return_dtype=pl.String)
    table = found.with_columns(text=text, decided=pl.col("verdict").is_in(DECIDED).fill_null(False))
    panels = []
    for key, here in table.group_by(["crowd", "ratio"], maintain_order=True):
        layers = [mark(here, "rect", *axes, told=told, looks={"color": shade})]
        for weight, test in (("bold", "datum.decided"), ("normal", "!datum.decided")):
            style = {"color": INK, "fontSize": 10, "fontWeight": weight}
            words = mark(here, "text", *axes, told=told, encodings={"text": "text:N"}, style=style)
            layers.append(words.transform_filter(test))
        panels.append(lay_panel(layers, (340, 210), _name_mix(key)))
    title = f"{order}: mixes less experts alone at the same cost; bold: 95 % interval over samples excludes 0"
    return lay_panels(panels, title, len(findings.plan.ratios))


def draw_all(findings: CollaborativeFindings) -> dict[str, alt.ConcatChart]:
    """All charts, by the names of their files."""
    found = {}
    if len(findings.order_means):
        found["orders"] = draw_orders(findings)
    if len(findings.finding_means):
        found["finding"] = draw_finding(findings)
    for order in findings.plan.orders:
        if len(findings.consensus):
            found[f"consensus-{order}"] = draw_consensus(findings, order)
        if len(findings.shares):
            found[f"shares-{order}"] = draw_shares(findings, order)
            found[f"gaps-{order}"] = draw_gaps(findings, order)
    return found


def _write_gap(gap: float) -> str:
    """In hundredths, where .00 has no sign."""
    text = f"{gap:+.2f}"
    return ".00" if float(text) == 0 else text.replace("0.", ".").replace("-", "−")


def _find_shares(findings: CollaborativeFindings, order: str) -> pl.DataFrame:
    found = findings.shares.filter(order=order)
    if not len(found):
        raise OptionError(f"there is no result for shares by the order '{shorten(order)}'")
    return found


def _name_mix(key: tuple[object, ...]) -> str:
    crowd, ratio = (shorten(str(part), NAME) for part in key)
    return f"crowd {crowd}, ratio {ratio}"


def _draw_alone(findings: CollaborativeFindings, order: str, found: pl.DataFrame) -> list[alt.Chart]:
    """Experts alone: a black line as far as mixes go, with markers at the shares that mixes have."""
    most = max(findings.plan.expert_shares) / 100
    edge = max(float(found["cost"].to_numpy().max()), most)
    line = findings.alone_means.filter(pl.col("order") == order, pl.col("judged") <= edge).rename({"judged": "cost"})
    own = findings.order_means.filter(pl.col("order") == order).with_columns(cost=pl.col("judged") / findings.items)
    thin, dots = {"color": ALONE, "strokeWidth": 1.2}, {"color": ALONE, "size": 34, "filled": True, "opacity": 1}
    return [
        mark(frame, what, COST, QUALITY, told=["cost", "tau_ap"], style=style)
        for what, frame, style in (("line", line, thin), ("point", own, dots))
        if len(frame)
    ]
