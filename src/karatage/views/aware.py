"""The AWARE experiment: families of approaches by size, analyses of variance, scores against grades, every approach."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Literal

import polars as pl

from karatage.experiments.aware.analysis import (
    APPROACH,
    GAP,
    GRANULARITY,
    MEASURE,
    RESPONSES,
    SIZE,
    SYSTEMS,
    WEIGHT,
    Analysis,
    add_correlation,
    choose_sizes,
    frame_by_size,
    frame_families,
    list_families,
)
from karatage.experiments.aware.analysis import (
    PARTS as PAIRS,
)
from karatage.experiments.aware.cells import OUTCOMES
from karatage.experiments.aware.findings import AwareFindings
from karatage.experiments.aware.plan import (
    CLOSENESS,
    MERGED_GRADES,
    OTHER_RANDOM,
    OWN_CHANCE,
    SEVERAL_MEASURES,
    UNIFORM,
    label_measures,
)
from karatage.text import counted, list_ranges, shorten
from karatage.views.marks import (
    DASH,
    Axis,
    Key,
    find_span,
    lay_panel,
    lay_panels,
    mark_level,
    mark_lines,
    tick_counts,
)
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table, label_columns
from karatage.views.variance import LEAST, chart_interaction, chart_main_effects, chart_tukey

if TYPE_CHECKING:
    import altair as alt

    from karatage.experiments.aware.analysis import Analysis
    from karatage.experiments.aware.findings import AwareFindings

PANEL = (230, 170)
TITLE = 40  # characters
# Baselines in warm colours, gaps in cool ones, as in the paper's figures.
COLOURS = {
    MERGED_GRADES: "#D55E00",
    UNIFORM: "#777777",
    OWN_CHANCE: "#E69F00",
    SEVERAL_MEASURES: "#AA1133",
    CLOSENESS: "#7A5195",
    OTHER_RANDOM: "#2F9E44",
    "fro": "#56B4E9",
    "rmse": "#0072B2",
    "kld": "#6A3D9A",
    "tau": "#009E73",
    "apc": "#CC79A7",
}
THICK = (MERGED_GRADES, UNIFORM, OWN_CHANCE, SEVERAL_MEASURES)
WARM = ("mv", "emmv", "emneu", UNIFORM)
SHOWN_SIZES = 6
Part = Literal["best", "family_mean"]
DIGITS = 3
VERDICTS = {"all": "all do"}
SHARE = "RMSE is a share of its maximum, and lower is better"
OUTCOME_NAMES = {"tau": "tau", "tau_ap": "tau_ap", "rmse": "RMSE"}
ANOVA = {"source": "source", "ss": "SS", "df": "DF", "ms": "MS", "f": "F", "p_value": "p", "omega_squared": "omega²"}
PARTS: dict[Part, tuple[str, str]] = {"best": ("best", "Best member"), "family_mean": ("mean", "Mean")}
DESIGNS = {"whole": "", "parts": " by parts of the 30 estimators"}
MANY_SIZES = 10
CAPTIONS = {
    "main-effects": "Marginal means by factor, with 95% intervals",
    "approaches": "Marginal means of approaches, with 95% intervals",
    "tukey": "Approaches, best first; where intervals do not overlap, they differ (Tukey, 5%)",
    "size-by-approach": "Approaches by size of the k-tuple",
    "measure-by-approach": "Approaches by measure",
    "systems-by-approach": "Approaches by systems",
    "parts": "Marginal means of granularities, gaps and weights",
    "tukey-granularity": "Granularities, best first; where intervals do not overlap, they differ (Tukey, 5%)",
    "tukey-gap": "Gaps, best first; where intervals do not overlap, they differ (Tukey, 5%)",
    "tukey-weight": "Weights, best first; where intervals do not overlap, they differ (Tukey, 5%)",
    "granularity-by-gap": "Granularities and gaps",
    "granularity-by-weight": "Granularities and weights",
    "gap-by-weight": "Gaps and weights",
}
CROSSING = """Whether merging scores or merging grades is better depends on the correlation of the judges' errors. Below
the crossing, merging grades is better; above it, the best merge of scores is better. The best merge is selected on the
same k-tuples, so its result is slightly optimistic."""


def chart_families(
    findings: AwareFindings, systems: str, *, outcome: str = "tau_ap", part: Part = "best"
) -> alt.ConcatChart:
    """Each family's best member (or the mean of its members) against the size; panels in rows, measures in columns."""
    import altair as alt

    frame = frame_families(findings, outcome=outcome).filter(pl.col("systems") == systems)
    families, labels = list_families(findings), label_measures(findings.measures)
    legend = {"orient": "right", "symbolType": "stroke", "symbolSize": 300, "labelLimit": 200}
    colours = {name: COLOURS[name if name in COLOURS else name.rpartition(" ")[2]] for name in families}
    dashes = {name: DASH if name.startswith("tpc") else [1, 0] for name in families}
    looks = {"color": Key("family", colours, legend=legend), "strokeDash": Key("family", dashes, legend=legend)}
    ticks = tick_counts(findings.sizes)
    across = Axis("size:Q", "judges in the k-tuple", {"zero": False, "nice": False}, ticks)
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
    heading = f"{OUTCOME_NAMES[outcome]} to gold by size of the k-tuple: {what}"
    return lay_panels(panels, heading, len(findings.measures))


def chart_crossing(findings: AwareFindings) -> alt.ConcatChart:
    """The best merge of scores minus merged grades against the correlation of errors; above 0 scores are better."""
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
    heading = f"tau_ap: best merge of scores minus {baseline}, by correlation of the judges' errors"
    return lay_panels(panels, heading, len(findings.measures))


def _list_effects(findings: AwareFindings, analysis: Analysis) -> Iterator[Figure]:
    """[AWARE17] figures 4 and 5 (or 6 and 7), then 8 (or 9), each under the name of what it is about."""
    several = len(findings.panels) > 1
    title = ", ".join([RESPONSES[analysis.outcome], *([analysis.panel] if several else [])])
    start = f"{_slug(analysis.panel)}-{analysis.outcome}" if several else analysis.outcome
    for name, make in _list_charts(findings, analysis):
        whole = f"{shorten(title, 2 * TITLE)}: {name.replace('-', ' ')}"
        caption = f"{CAPTIONS[name]}: {RESPONSES[analysis.outcome]}"
        yield Figure(partial(_chart_titled, make, whole), caption, f"{start}-{name}")


def _chart_titled(make: Callable[[], alt.TopLevelMixin], title: str) -> alt.TopLevelMixin:
    chart: alt.TopLevelMixin = make().properties(title=title)
    return chart


def _list_charts(findings: AwareFindings, analysis: Analysis) -> Iterator[tuple[str, Callable[[], alt.TopLevelMixin]]]:
    factors = analysis.whole.design.factors
    baselines = [name for name in WARM if name in findings.approaches]
    others = [factor for factor in factors if factor != APPROACH]
    if others:
        yield "main-effects", partial(chart_main_effects, analysis.whole, others)
    if APPROACH in factors:
        yield "approaches", partial(chart_main_effects, analysis.whole, [APPROACH])
        yield "tukey", partial(chart_tukey, analysis.groups[0], baselines=baselines)
        families = {name: re.sub("^(sgl|tpc) ", "", family) for name, family in findings.families.items()}
        best = [name for name in analysis.groups[0].levels if name not in baselines][:1]
        make = partial(chart_interaction, families=families, baselines=baselines, highlight=best)
        for factor in (SIZE, MEASURE, SYSTEMS):
            if factor in factors:
                yield f"{factor.rpartition(' ')[2]}-by-approach", partial(make, analysis.whole, factor, APPROACH)
    if analysis.parts is not None:
        yield "parts", partial(chart_main_effects, analysis.parts, (GRANULARITY, GAP, WEIGHT))
        for test in analysis.groups[1:]:
            yield f"tukey-{test.factor}", partial(chart_tukey, test)
        for first, second in PAIRS:
            yield f"{first}-by-{second}", partial(chart_interaction, analysis.parts, first, second)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:60]


@shows(AwareFindings)
def view_aware(findings: AwareFindings) -> Page:
    """Families, analyses of each panel, crossings, and every approach by size.

    The terminal has the first and the last panel only.
    """
    sections = [_view_families(findings)]
    if not findings.crossings.is_empty():
        figure = Figure(partial(chart_crossing, findings), "Merging scores minus merging grades, tau_ap", "crossing")
        tables = [tabulate_crossings(findings)]
        sections.append(Section("Where merging scores becomes better", "", tables, [figure], background=CROSSING))
    sections += [_view_analyses(findings, panel) for panel in findings.panels]
    every = list(tabulate_approaches(findings))
    sections.append(Section("Every approach by size of the k-tuple", "", every, detail=True))
    title = f"Merging judges on {findings.collection}: the AWARE experiment"
    return Page(title, findings.sentence, sections, findings.notes)


def _view_families(findings: AwareFindings) -> Section:
    tried = f"{counted(int(findings.samples.max()), 'k-tuple')} of each size ({list_ranges(findings.sizes)})"
    text = (
        f"From {counted(len(findings.judges), 'judge')}, {tried} were drawn, the same for all approaches; if there are "
        "fewer, all are used. Each approach merges a k-tuple's judges, and its leaderboard is compared with gold's. "
        "Intervals are for all k-tuples of these judges, not for other judges or topics."
    )
    figures = []
    for systems in findings.systems:
        where = f"-{_slug(systems)}" if len(findings.systems) > 1 else ""
        for outcome in RESPONSES:
            for part, (short, who) in PARTS.items():
                make = partial(chart_families, findings, systems, outcome=outcome, part=part)
                caption = f"{who} of each family: {outcome}"
                figures.append(Figure(make, caption, f"families-{short}-{outcome}{where}"))
    tables = [*tabulate_families(findings), *tabulate_leads(findings), *tabulate_contests(findings)]
    return Section("Families by size of the k-tuple", "", tables, figures, background=text)


def _view_analyses(findings: AwareFindings, panel: str) -> Section:
    at_end = panel in findings.ends  # each has twenty charts
    analyses = [found for found in findings.analyses.found if found.panel == panel and at_end]
    figures = [figure for found in analyses for figure in _list_effects(findings, found)]
    tables = [
        *tabulate_analyses(findings, panel),
        *tabulate_top_groups(findings, panel),
        *tabulate_verdicts(findings, panel),
    ]
    title = "Analyses of variance" if len(findings.panels) == 1 else f"Analyses of variance, {panel}"
    text = "" if figures else "Charts of effects are shown for the first and the last panel only."
    return Section(title, "", tables, figures, background=text, detail=not at_end)


def tabulate_families(findings: AwareFindings) -> Iterator[Table]:
    """The best member of each family at some sizes, and which that is at the largest."""
    frame = frame_families(findings)
    sizes = choose_sizes(findings.sizes, 6)
    order = pl.DataFrame({"family": list_families(findings)})
    for place in _list_places(findings):
        here = frame.filter(**place)
        wide = here.pivot("size", index="family", values="best", maintain_order=True)
        last = here.filter(size=sizes[-1]).select("family", pl.col("best_approach").alias(f"best of {sizes[-1]}"))
        shown = order.join(wide, on="family", how="left", maintain_order="left")
        shown = shown.select("family", *map(str, sizes)).join(last, on="family", how="left", maintain_order="left")
        caption = f"tau_ap of each family's best, by judges in the k-tuple: {_tell_place(findings, **place)}"
        yield Table(shown, caption, DIGITS, detail=place["panel"] not in findings.ends)


def tabulate_approaches(findings: AwareFindings) -> Iterator[Table]:
    """All approaches at some sizes, the best mean over these first."""
    sizes = choose_sizes(findings.sizes, MANY_SIZES)
    frame = frame_by_size(findings, sizes)
    columns = [str(size) for size in sizes]
    for place, outcome in product(_list_places(findings), OUTCOMES):
        here = frame.filter(**place, outcome=outcome)
        ordered = here.sort(pl.mean_horizontal(columns), descending=outcome != "rmse", maintain_order=True)
        caption = f"{OUTCOME_NAMES[outcome]} to gold by judges in the k-tuple: {_tell_place(findings, **place)}"
        yield Table(ordered.select("approach", *columns), caption, DIGITS, keys=1)


def tabulate_analyses(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """[AWARE17] tables 1 to 4: what explains differences between approaches."""
    for design, about in DESIGNS.items():
        for analysis in findings.analyses.found:
            table = getattr(analysis, design)
            if analysis.panel == panel and table is not None:
                caption = f"Analysis of variance of {RESPONSES[analysis.outcome]}{about}"
                about_panel = _add_place(caption, findings, panel)
                yield Table(table.to_frame(), about_panel, digits={"f": 2}, columns=ANOVA, least=LEAST)


def tabulate_top_groups(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """[AWARE17] table 5, the outcomes side by side."""
    frame = findings.tables.get("top-groups")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    here = frame.filter(panel=panel)
    rows: list[tuple[str | float | None, ...]] = []
    for factor in here["factor"].unique(maintain_order=True):
        found = [here.filter(factor=factor, outcome=outcome) for outcome in ("tau_ap", "rmse")]
        groups = [group.select("level", "mean").iter_rows() for group in found]
        rows += [(factor, *one, *other) for one, other in zip_longest(*groups, fillvalue=("", None))]
    text, number = pl.String(), pl.Float64()
    names = ("factor", "by tau_ap", "mean tau_ap", "by RMSE", "mean RMSE")
    shown = pl.DataFrame(rows, dict(zip(names, (text, text, number, text, number), strict=True)), orient="row")
    caption = "Top groups: the best, and those not significantly worse (Tukey, 5%)"
    columns = label_columns(shown, **{"mean tau_ap": "mean", "mean RMSE": "mean"})
    yield Table(shown, f"{_add_place(caption, findings, panel)}; {SHARE}", DIGITS, columns=columns, noun="level")


def tabulate_verdicts(findings: AwareFindings, panel: str) -> Iterator[Table]:
    """What the paper found, and what was found here."""
    frame = findings.tables.get("verdicts")
    if frame is None or frame.filter(panel=panel).is_empty():
        return
    here = frame.filter(panel=panel)
    shown = here.with_columns(pl.col("outcome").replace(OUTCOME_NAMES), pl.col("verdict").replace(VERDICTS))
    shown = shown.with_columns(pl.format("here: {}", "here"))  # the terminal shows it below the paper's finding
    columns = {"outcome": "by", "verdict": "holds", "difference": "difference", "low": "95% from", "high": "to"}
    columns |= {"claim": "in the paper", "here": "found"}
    caption = _add_place("Do the paper's findings hold here? A difference above 0 favours the paper", findings, panel)
    caption += f"; {SHARE}"
    signed = ("difference", "low", "high")
    yield Table(shown, caption, signed=signed, columns=columns, wrap=("claim",), below="here")


def tabulate_contests(findings: AwareFindings) -> Iterator[Table]:
    """Differences of the best of two groups at some sizes, with their 95% intervals."""
    baseline = "" if findings.contest.is_empty() else findings.contest["second"][0]
    captions = {
        "contest": f"Best merge of scores minus {baseline}, tau_ap, by judges in the k-tuple",
        "own": "Best with judges' own shuffled grades minus best of the paper, tau_ap",
    }
    sizes = choose_sizes(findings.sizes, MANY_SIZES)
    for name, caption in captions.items():
        frame = findings.tables.get(name)
        if frame is not None:
            here = frame.filter(pl.col("size").is_in(sizes))
            shown = here.with_columns(_join_places(findings, here))
            columns = {"where": "", "size": "judges", "difference": "difference", "low": "95% from", "high": "to"}
            signed = ("difference", "low", "high")
            yield Table(shown, caption, DIGITS, signed=signed, name=name, columns=columns, noun="row")


def tabulate_leads(findings: AwareFindings) -> Iterator[Table]:
    """Sizes at which merging scores, or merging grades, is significantly better."""
    frame = findings.tables.get("leads")
    if frame is None:
        return
    shown = frame.with_columns(_join_places(findings, frame))
    grades = str(findings.contest["second"][0])
    caption = f"Sizes at which merging scores, or {grades}, has significantly higher tau_ap (95%)"
    columns = {"where": "", "scores_lead": "scores", "grades_lead": grades, "undecided": "neither"}
    wrap = ("scores_lead", "grades_lead", "undecided")
    yield Table(shown, caption, name="leads", columns=columns, wrap=wrap)


def tabulate_crossings(findings: AwareFindings) -> Table:
    """The error correlation from which merging scores is better than merging grades."""
    frame, known = findings.crossings, pl.col("crossing").is_not_null()
    where = _join_places(findings, frame.with_columns(panel=pl.lit("")))
    shown = frame.with_columns(where, pl.when(known).then(pl.col("low", "high")))
    caption = "Error correlation from which merging scores is better (tau_ap)"
    columns = {"where": "", "size": "judges", "verdict": "as correlation rises", "crossing": "at"}
    columns |= {"low": "95% from", "high": "to"}
    return Table(shown, caption, DIGITS, name="crossings", columns=columns)


def _list_places(findings: AwareFindings) -> Iterator[dict[str, str]]:
    for place in product(findings.systems, findings.panels, findings.measures):
        yield dict(zip(("systems", "panel", "measure"), place, strict=True))


def _tell_place(findings: AwareFindings, *, systems: str = "", panel: str = "", measure: str = "") -> str:
    """What a table is about; parts that are the same in all tables are left out."""
    shown = [label_measures(findings.measures)[measure]] if measure else []
    shown += [systems] if systems and len(findings.systems) > 1 else []
    shown += [panel] if panel and len(findings.panels) > 1 else []
    return ", ".join(shown)


def _join_places(findings: AwareFindings, frame: pl.DataFrame) -> pl.Series:
    """What each row is about."""
    places = frame.select("systems", "panel", "measure").iter_rows()
    texts = [_tell_place(findings, systems=s, panel=p, measure=m) for s, p, m in places]
    return pl.Series("where", texts, dtype=pl.String)


def _add_place(caption: str, findings: AwareFindings, panel: str, mark: str = ":") -> str:
    where = _tell_place(findings, panel=panel)
    return f"{caption}{mark} {where}" if where else caption
