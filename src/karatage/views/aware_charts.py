"""Charts of the AWARE experiment: families of approaches by size of the k-tuple, where they cross, and all effects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import polars as pl

from karatage.experiments.aware.analysis import (
    APPROACH,
    GAP,
    GRANULARITY,
    MEASURE,
    PARTS,
    RESPONSES,
    SIZE,
    SYSTEMS,
    WEIGHT,
    Analysis,
    add_correlation,
    choose_sizes,
    frame_families,
    label_measures,
    list_families,
)
from karatage.experiments.aware.plan import MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES, UNIFORM
from karatage.text import shorten
from karatage.views.effects import draw_interaction, draw_main_effects, draw_tukey
from karatage.views.marks import DASH, Axis, Key, find_span, lay_panel, lay_panels, mark_level, mark_lines

if TYPE_CHECKING:
    import altair as alt

    from karatage.experiments.aware.findings import AwareFindings

PANEL = (230, 170)
TITLE = 40  # characters
# Baselines warm, gaps cool, as in the paper's figures.
COLOURS = {
    MERGED_GRADES: "#D55E00",
    UNIFORM: "#777777",
    OWN_CHANCE: "#E69F00",
    SEVERAL_MEASURES: "#AA1133",
    "fro": "#56B4E9",
    "rmse": "#0072B2",
    "kld": "#6A3D9A",
    "tau": "#009E73",
    "apc": "#CC79A7",
}
THICK = (MERGED_GRADES, UNIFORM, OWN_CHANCE, SEVERAL_MEASURES)
TITLES = {"tau": "tau", "tau_ap": "tau_ap", "rmse": "RMSE"}
WARM = ("mv", "emmv", "emneu", UNIFORM)
SHOWN_SIZES = 6
Part = Literal["best", "family_mean"]


def draw_all(findings: AwareFindings) -> dict[str, alt.TopLevelMixin]:
    """Every chart, by the name of its file."""
    found: dict[str, alt.TopLevelMixin] = {}
    for systems in findings.systems:
        where = f"-{_slug(systems)}" if len(findings.systems) > 1 else ""
        for outcome in ("tau_ap", "rmse"):
            found[f"families-best-{outcome}{where}"] = draw_families(findings, systems, outcome=outcome)
            found[f"families-mean-{outcome}{where}"] = draw_families(
                findings, systems, outcome=outcome, part="family_mean"
            )
    if not findings.crossings.is_empty():
        found["crossing"] = draw_crossing(findings)
    for analysis in findings.analyses.found:
        if analysis.panel in findings.ends:  # each has twenty charts
            where = name_panel(analysis.panel, findings)
            found |= {f"{where}{analysis.outcome}-{name}": chart for name, chart in _draw_effects(findings, analysis)}
    return found


def name_panel(panel: str, findings: AwareFindings) -> str:
    """How the names of a panel's charts begin."""
    return f"{_slug(panel)}-" if len(findings.panels) > 1 else ""


def draw_families(
    findings: AwareFindings, systems: str, *, outcome: str = "tau_ap", part: Part = "best"
) -> alt.ConcatChart:
    """Each family's best member (or the mean of its members) against the size; a row a panel, a column a measure."""
    import altair as alt

    frame = frame_families(findings, outcome=outcome).filter(pl.col("systems") == systems)
    families, labels = list_families(findings), label_measures(findings.measures)
    legend = {"orient": "right", "symbolType": "stroke", "symbolSize": 300, "labelLimit": 200}
    colours = {name: COLOURS[name if name in COLOURS else name.rpartition(" ")[2]] for name in families}
    dashes = {name: DASH if name.startswith("tpc") else [1, 0] for name in families}
    looks = {"color": Key("family", colours, legend=legend), "strokeDash": Key("family", dashes, legend=legend)}
    across = Axis("size:Q", "judges in the k-tuple", {"zero": False, "nice": False}, {"tickMinStep": 1, "format": "d"})
    told = ["family:N", "size:Q", alt.Tooltip(f"{part}:Q", format=".4f"), "best_approach:N"]
    panels = []
    for panel in findings.panels:
        for measure in findings.measures:
            own = frame.filter(pl.col("measure") == measure)
            up = Axis(f"{part}:Q", None, {"domain": list(find_span(own, part, part)), "nice": False})
            here, thick = own.filter(pl.col("panel") == panel), pl.col("family").is_in(THICK)
            layers = [
                *mark_lines(here.filter(thick), across, up, looks, told=told, width=2.6),
                *mark_lines(here.filter(~thick), across, up, looks, told=told, width=1.2),
            ]
            title = labels[measure] if len(findings.panels) == 1 else f"{labels[measure]}, {panel}"
            panels.append(lay_panel(layers, PANEL, shorten(title, TITLE)))
    what = "best member of each family" if part == "best" else "mean over the members of each family"
    heading = f"{TITLES[outcome]} to gold by size of the k-tuple: {what}"
    return lay_panels(panels, heading, len(findings.measures))


def draw_crossing(findings: AwareFindings) -> alt.ConcatChart:
    """The best merge of scores less merged grades against the correlation of errors; above 0 scores are better."""
    frame = add_correlation(findings.contest)
    frame = frame.filter(pl.col("size").is_in(choose_sizes(findings.sizes, SHOWN_SIZES)))
    frame = frame.with_columns(pl.col("low", "high").fill_null(pl.col("difference")))
    across = Axis("correlation:Q", "error correlation")
    edges = frame.select(pl.min("low"), pl.max("high")).row(0)
    up = Axis("difference:Q", None, {"domain": list(edges), "nice": True})
    told = ["size:O", "correlation:Q", "difference:Q", "low:Q", "high:Q", "first:N"]
    labels, panels = label_measures(findings.measures), []
    for systems in findings.systems:
        for measure in findings.measures:
            here = frame.filter((pl.col("systems") == systems) & (pl.col("measure") == measure))
            scale = {"domain": sorted(here["size"].unique()), "scheme": "viridis"}
            looks = {"color": Key("size:O", title="judges", legend={}, scale=scale)}
            lines = mark_lines(
                here, across, up, looks, told=told, ends=("low", "high"), interval="line", points=30, width=2
            )
            title = labels[measure] if len(findings.systems) == 1 else f"{labels[measure]}, {systems}"
            panels.append(lay_panel([mark_level(0.0), *lines], PANEL, shorten(title, TITLE)))
    baseline = findings.contest["second"][0]
    heading = f"tau_ap: best merge of scores less {baseline}, by correlation of the judges' errors"
    return lay_panels(panels, heading, len(findings.measures))


def _draw_effects(findings: AwareFindings, analysis: Analysis) -> Iterator[tuple[str, alt.TopLevelMixin]]:
    """[AWARE17] figures 4 and 5 (or 6 and 7), then 8 (or 9), each under the name of what it is about."""
    title = ", ".join([RESPONSES[analysis.outcome], *([analysis.panel] if len(findings.panels) > 1 else [])])
    for name, chart in _list_effects(findings, analysis):
        yield name, chart.properties(title=f"{shorten(title, 2 * TITLE)}: {name.replace('-', ' ')}")


def _list_effects(findings: AwareFindings, analysis: Analysis) -> Iterator[tuple[str, alt.TopLevelMixin]]:
    factors = analysis.whole.design.factors
    baselines = [name for name in WARM if name in findings.approaches]
    others = [factor for factor in factors if factor != APPROACH]
    if others:
        yield "main-effects", draw_main_effects(analysis.whole, others)
    if APPROACH in factors:
        yield "approaches", draw_main_effects(analysis.whole, [APPROACH])
        yield "tukey", draw_tukey(analysis.groups[0], baselines=baselines)
        families = {name: re.sub("^(sgl|tpc) ", "", family) for name, family in findings.families.items()}
        best = [name for name in analysis.groups[0].levels if name not in baselines][:1]
        for factor in (SIZE, MEASURE, SYSTEMS):
            if factor in factors:
                chart = draw_interaction(
                    analysis.whole, factor, APPROACH, families=families, baselines=baselines, highlight=best
                )
                yield f"{factor.rpartition(' ')[2]}-by-approach", chart
    if analysis.parts is not None:
        yield "parts", draw_main_effects(analysis.parts, (GRANULARITY, GAP, WEIGHT))
        for first, second in PARTS:
            yield f"{first}-by-{second}", draw_interaction(analysis.parts, first, second)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:60]
