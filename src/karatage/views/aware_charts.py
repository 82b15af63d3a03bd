"""Charts of the AWARE experiment: families of approaches by size of the k-tuple, where they cross, and all effects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
    label_measures,
)
from karatage.experiments.aware.contenders import MERGED_GRADES, OWN_CHANCE, SEVERAL_MEASURES, UNIFORM
from karatage.experiments.aware.families import add_correlation, choose_sizes, frame_families, list_families
from karatage.text import shorten
from karatage.views.effects import PLAIN, draw_interaction, draw_main_effects, draw_tukey

if TYPE_CHECKING:
    import altair as alt

    from karatage.experiments.aware.findings import AwareFindings

WIDTH, HEIGHT = 230, 170
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
    panels = []
    for panel in findings.panels:
        for measure in findings.measures:
            here = frame.filter((pl.col("panel") == panel) & (pl.col("measure") == measure))
            edges = frame.filter(pl.col("measure") == measure).select(pl.min(part), pl.col(part).max().alias("top"))
            title = labels[measure] if len(findings.panels) == 1 else f"{labels[measure]}, {panel}"
            panels.append(_draw_lines(here, part, families, edges.row(0), title))
    what = "best member of each family" if part == "best" else "mean over the members of each family"
    heading = f"{TITLES[outcome]} to gold by size of the k-tuple: {what}"
    chart: alt.ConcatChart = alt.concat(*panels, columns=len(findings.measures), title=heading)
    return chart


def _draw_lines(
    frame: pl.DataFrame, part: Part, families: Sequence[str], edges: tuple[float, float], title: str
) -> alt.LayerChart:
    import altair as alt

    colours = [COLOURS[family if family in COLOURS else family.rpartition(" ")[2]] for family in families]
    dashes = [[4, 3] if family.startswith("tpc") else [1, 0] for family in families]
    legend = alt.Legend(title=None, orient="right", symbolType="stroke", symbolSize=300, labelLimit=200)
    low, high = edges
    room = 0.03 * (high - low or 1.0)
    layers = [
        alt.Chart(frame.filter(pl.col("family").is_in(THICK) == thick))
        .mark_line(strokeWidth=2.6 if thick else 1.2)
        .encode(
            alt.X(
                "size:Q",
                title="judges in the k-tuple",
                scale=alt.Scale(zero=False, nice=False),
                axis=alt.Axis(tickMinStep=1, format="d"),
            ),
            alt.Y(f"{part}:Q", title=None, scale=alt.Scale(domain=[low - room, high + room], nice=False)),
            alt.Color("family:N", scale=alt.Scale(domain=families, range=colours), legend=legend),
            alt.StrokeDash("family:N", scale=alt.Scale(domain=families, range=dashes), legend=legend),
            tooltip=["family:N", "size:Q", alt.Tooltip(f"{part}:Q", format=".4f"), "best_approach:N"],
        )
        for thick in (True, False)
    ]
    heading = alt.TitleParams(text=shorten(title, TITLE), fontSize=11, anchor="middle")
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT, title=heading)
    return chart


def draw_crossing(findings: AwareFindings) -> alt.ConcatChart:
    """The best merge of scores less merged grades against the correlation of errors; above 0 scores are better."""
    import altair as alt

    frame = add_correlation(findings.contest)
    frame = frame.filter(pl.col("size").is_in(choose_sizes(findings.sizes, SHOWN_SIZES)))
    frame = frame.with_columns(pl.col("low", "high").fill_null(pl.col("difference")))
    edges, labels = frame.select(pl.min("low"), pl.max("high")).row(0), label_measures(findings.measures)
    panels = []
    for systems in findings.systems:
        for measure in findings.measures:
            here = frame.filter((pl.col("systems") == systems) & (pl.col("measure") == measure))
            title = labels[measure] if len(findings.systems) == 1 else f"{labels[measure]}, {systems}"
            panels.append(_draw_differences(here, edges, title))
    baseline = findings.contest["second"][0]
    heading = f"tau_ap: best merge of scores less {baseline}, by correlation of the judges' errors"
    chart: alt.ConcatChart = alt.concat(*panels, columns=len(findings.measures), title=heading)
    return chart


def _draw_differences(frame: pl.DataFrame, edges: tuple[float, float], title: str) -> alt.LayerChart:
    import altair as alt

    sizes = sorted(frame["size"].unique())
    scale = alt.Scale(domain=sizes, scheme="viridis")
    across = alt.X("correlation:Q", title="error correlation")
    height = alt.Scale(domain=list(edges), nice=True)
    base = alt.Chart(frame).encode(across, alt.Color("size:O", scale=scale, title="judges"))
    told = ["size:O", "correlation:Q", "difference:Q", "low:Q", "high:Q", "first:N"]
    layers = [
        alt.Chart(pl.DataFrame({"zero": [0.0]})).mark_rule(color=PLAIN).encode(alt.Y("zero:Q", title=None)),
        base.mark_line().encode(alt.Y("difference:Q", title=None, scale=height)),
        base.mark_point(filled=True, size=30, opacity=1).encode(alt.Y("difference:Q"), tooltip=told),
        base.mark_rule(strokeWidth=1.5).encode(alt.Y("low:Q"), alt.Y2("high:Q")),
    ]
    heading = alt.TitleParams(text=shorten(title, TITLE), fontSize=11, anchor="middle")
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT, title=heading)
    return chart


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
