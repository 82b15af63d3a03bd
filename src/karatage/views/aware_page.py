"""The AWARE experiment as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from karatage.experiments.aware.analysis import RESPONSES
from karatage.experiments.square.telling import list_ranges
from karatage.text import counted
from karatage.views.aware_charts import draw_all, name_panel
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.aware import (
    tabulate_analyses,
    tabulate_approaches,
    tabulate_claims,
    tabulate_contests,
    tabulate_crossings,
    tabulate_leads,
    tabulate_top_groups,
)

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


def lay_out(findings: AwareFindings, charts: Charts | None = None) -> Page:
    """Families, crossings, analyses of each panel, and every approach by size; `charts` as `draw_all` makes them."""
    charts = draw_all(findings) if charts is None else charts
    return Page(
        title=f"Merging judges on {findings.collection}: the AWARE experiment",
        sentence=findings.sentence,
        sections=[
            _families(findings, charts),
            *_crossings(findings, charts),
            *(_analyses(findings, panel, charts) for panel in findings.panels),
            _approaches(findings),
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
    tables = [*tabulate_leads(findings), *tabulate_contests(findings, MANY_SIZES)]
    return Section("Families by size of the k-tuple", text, tables, figures)


def _crossings(findings: AwareFindings, charts: Charts) -> Iterator[Section]:
    if not findings.crossings.is_empty():
        text = (
            "What decides between merging scores and merging grades is how much judges err on the same documents. "
            "Below the crossing merged grades are better, above it the best merge of scores is. Which merge is best is "
            "decided on the same k-tuples, which favours it a little."
        )
        tables = list(tabulate_crossings(findings))
        yield Section(
            "Where the regimes cross", text, tables, [Figure(charts["crossing"], "Scores less grades, tau_ap")]
        )


def _analyses(findings: AwareFindings, panel: str, charts: Charts) -> Section:
    tables = [*tabulate_analyses(findings, panel), *tabulate_top_groups(findings, panel)]
    tables += tabulate_claims(findings, panel)
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
    return charts.get(f"{name_panel(panel, findings)}{name}")


def _approaches(findings: AwareFindings) -> Section:
    return Section("Every approach by size of the k-tuple", "", list(tabulate_approaches(findings, MANY_SIZES)))
