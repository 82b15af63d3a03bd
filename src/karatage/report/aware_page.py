"""The AWARE experiment as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.aware.analysis import RESPONSES, label_measures
from karatage.experiments.aware.families import choose_sizes, frame_by_size
from karatage.experiments.square.telling import list_ranges
from karatage.report.page import Figure, Page, Section, Table
from karatage.wording import counted

if TYPE_CHECKING:
    import altair as alt

    from karatage.experiments.aware.findings import AwareFindings

Charts = Mapping[str, "alt.TopLevelMixin"]
MANY_SIZES = 10
CAPTIONS = {
    "main-effects": "Marginal means by factor, with 95 % intervals",
    "approaches": "Marginal means of approaches, with 95 % intervals",
    "tukey": "Approaches, best first; where intervals do not overlap, they differ (Tukey, 5 %)",
    "size-by-approach": "Approaches by size of the k-tuple",
    "measure-by-approach": "Approaches by measure",
    "systems-by-approach": "Approaches by systems",
    "parts": "Marginal means of granularities, gaps and weights",
    "granularity-by-gap": "Granularities and gaps",
    "granularity-by-weight": "Granularities and weights",
    "gap-by-weight": "Gaps and weights",
}


def lay_out(findings: AwareFindings, charts: Charts) -> Page:
    """Families, crossings, the analyses of each panel, and every approach by size."""
    return Page(
        title=f"Merging judges on {findings.collection}: the AWARE experiment",
        sentence=findings.sentence,
        sections=[
            _families(findings, charts),
            *_crossings(findings, charts),
            *(_analyses(findings, panel, charts) for panel in findings.panels),
            *_approaches(findings),
        ],
        notes=findings.notes,
    )


def _families(findings: AwareFindings, charts: Charts) -> Section:
    tried = f"{counted(int(findings.samples.max()), 'k-tuple')} of each size ({list_ranges(findings.sizes)})"
    text = (
        f"From {counted(len(findings.judges), 'judge')}, {tried} were drawn, the same for all approaches; where there "
        "are fewer, all of them. Each approach merges a k-tuple's judges, and its leaderboard is set against gold's. "
        "Intervals are about all k-tuples of these judges, not about other judges or topics."
    )
    figures = [
        Figure(chart, f"{'Best member' if 'best' in name else 'Mean'} of each family: {name.split('-')[2]}")
        for name, chart in charts.items()
        if name.startswith("families")
    ]
    captions = {
        "leads": "Sizes at which merging scores or merging grades has the higher tau_ap for sure",
        "contest": "Best merge of scores (first) less merged grades (second), tau_ap, with 95 % intervals",
        "own": "Best by the judge's own chance (first) less best of the paper's (second), tau_ap",
    }
    found = {caption: findings.tables.get(name) for name, caption in captions.items()}
    tables = [Table(_condense(frame, findings), caption) for caption, frame in found.items() if frame is not None]
    return Section("Families by size of the k-tuple", text, tables, figures)


def _crossings(findings: AwareFindings, charts: Charts) -> Iterator[Section]:
    if not findings.crossings.is_empty():
        text = (
            "What decides between merging scores and merging grades is how much judges err on the same documents. "
            "Below the crossing merged grades are better, above it the best merge of scores is. Which merge is best is "
            "decided on the same k-tuples, which favours it a little."
        )
        table = Table(_label(findings.crossings, findings), "Error correlation at which scores overtake grades", 3)
        yield Section(
            "Where the regimes cross", text, [table], [Figure(charts["crossing"], "Scores less grades, tau_ap")]
        )


def _analyses(findings: AwareFindings, panel: str, charts: Charts) -> Section:
    tables = []
    digits = {"ss": 4, "ms": 4, "f": 2, "p_value": 4, "omega_squared": 4}
    for design, about in ("whole", ""), ("parts", " by parts of the 30 estimators"):
        for analysis in findings.analyses.found:
            table = getattr(analysis, design)
            if analysis.panel == panel and table is not None:
                caption = f"Analysis of variance of {RESPONSES[analysis.outcome]}{about}"
                tables.append(Table(table.to_frame(), caption, digits))
    for name, caption in ("top-groups", "Top groups"), ("claims", "Does the paper's order hold?"):
        frame = findings.tables.get(name)
        if frame is not None:
            tables.append(Table(frame.filter(panel=panel).drop("panel"), caption))
    figures = []
    for analysis in findings.analyses.found:
        if analysis.panel == panel:
            for name, caption in CAPTIONS.items():
                chart = _find_chart(charts, f"{analysis.outcome}-{name}", panel, findings)
                if chart is not None:
                    figures.append(Figure(chart, f"{caption}: {RESPONSES[analysis.outcome]}"))
    title = "Analyses of variance" if len(findings.panels) == 1 else f"Analyses of variance, {panel}"
    text = "" if figures else "Effects are drawn for the first and the last panel only."
    return Section(title, text, tables, figures)


def _find_chart(charts: Charts, name: str, panel: str, findings: AwareFindings) -> alt.TopLevelMixin | None:
    from karatage.report.aware_charts import name_panel

    return charts.get(f"{name_panel(panel, findings)}{name}")


def _approaches(findings: AwareFindings) -> Iterator[Section]:
    frame = _label(frame_by_size(findings, choose_sizes(findings.sizes, MANY_SIZES)), findings)
    tables = []
    for (outcome, systems, panel, measure), rows in frame.group_by(
        ["outcome", "systems", "panel", "measure"], maintain_order=True
    ):
        caption = f"{outcome}, {measure}, {systems}, {panel}"
        sizes = rows.drop("outcome", "systems", "panel", "measure")
        order = pl.mean_horizontal(pl.exclude("approach"))
        tables.append(Table(sizes.sort(order, descending=outcome != "rmse", maintain_order=True), caption))
    yield Section("Every approach by size of the k-tuple", "", tables)


def _condense(frame: pl.DataFrame, findings: AwareFindings) -> pl.DataFrame:
    """Some of many sizes, and no column that says the same throughout; the files have everything."""
    if "size" in frame.columns:
        frame = frame.filter(pl.col("size").is_in(choose_sizes(findings.sizes, MANY_SIZES)))
    one = [name for name in ("systems", "panel") if frame[name].n_unique() < 2]
    return _label(frame.drop(one), findings)


def _label(frame: pl.DataFrame, findings: AwareFindings) -> pl.DataFrame:
    return frame.with_columns(pl.col("measure").replace(label_measures(findings.measures)))
