"""Charts and page of the random relevance experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.random_relevance.findings import OUTCOMES, RandomRelevanceFindings
from karatage.text import shorten
from karatage.views.marks import Axis, cycle, lay_panel, lay_panels, mark_lines, tell_apart
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.random_relevance import (
    tabulate_alone,
    tabulate_check,
    tabulate_controls,
    tabulate_merged,
)

if TYPE_CHECKING:
    import altair as alt

GOLDS = {"DGS": "gold as it is (DGS)", "RGS": "gold made random (RGS)"}
DASHES = ([1, 0], [4, 3])
ACROSS, PANEL = 3, (230, 230)
TEXT1 = """Each judge's leaderboard against gold's: certain measures, then expected ones, for which a grade holds with
probability {certainty:g}. DGS is gold as it is, RGS gold made as uncertain as the judges. Means over judges with 95 %
intervals; the gain is the difference from the certain measure against DGS, over the same judges.

RGS is another leaderboard, so a higher agreement with it does not make judges better: the table of controls says how
near random grades come by themselves, for gold's own grades and for a judge who calls nothing relevant."""
TEXT2 = """Mean tau_ap over the same {samples} k-tuples for all approaches, fewer where there are no more. Bold: the
best against each gold."""
TEXT3 = """The eR measures by formula less their mean over {draws:,} draws of grades, for the system where they differ
most. eRDCG and eRRBP are exact, so their differences show what is left of chance; eRAP is a ratio of expectations."""


def draw_random_relevance(
    findings: RandomRelevanceFindings, *, systems: str, panel: str, outcome: str = "tau_ap"
) -> alt.ConcatChart:
    """[RANDREL19] table 2 as lines: tau_ap (or tau) against the number of merged judges, one panel per measure."""
    found = findings.summary.filter(systems=systems, panel=panel)
    if outcome not in OUTCOMES or not len(found):
        raise OptionError(f"there is no result for systems '{systems}', panel '{panel}' and outcome '{outcome}'")
    drawn = found.with_columns(pl.col("gold").replace(GOLDS), value=pl.col(outcome))
    edge = drawn.select(low=pl.min("value"), high=pl.max("value")).row(0)
    dashes = cycle("gold", GOLDS.values(), DASHES, title="against", legend={"symbolType": "stroke"})
    looks = {**tell_apart("approach", findings.approaches, {"labelLimit": 200}), "strokeDash": dashes}
    across = Axis("size:O", "judges merged (M)", axis={"labelAngle": 0})
    up = Axis("value:Q", outcome, {"domain": list(edge), "nice": True, "zero": False})
    told = ["approach", "gold", "size", "value", "samples"]
    panels = []
    for measure, label in findings.labels.items():
        lines = mark_lines(drawn.filter(measure=measure), across, up, looks, told=told, points=36, width=2)
        panels.append(lay_panel(lines, PANEL, f"{label} and eR{label}"))
    return lay_panels(panels, shorten(f"{systems}, {panel}: {outcome} of merged judges", 120), ACROSS)


def draw_all(findings: RandomRelevanceFindings) -> dict[str, alt.ConcatChart]:
    """A chart for each set of systems, panel and outcome, by the name of its file."""
    return {
        f"{outcome}-{number}": draw_random_relevance(findings, systems=systems, panel=panel, outcome=outcome)
        for outcome in reversed(OUTCOMES)
        for number, (systems, panel) in enumerate(findings.places, 1)
    }


def lay_out_random_relevance(
    findings: RandomRelevanceFindings, charts: Mapping[str, alt.TopLevelMixin] | None = None
) -> Page:
    """Tables 1 and 2, charts, controls and the check as a page; `charts` as `draw_all` makes them."""
    drawn = charts if charts is not None else draw_all(findings)
    tables, figures = [], []
    for number, (systems, panel) in enumerate(findings.places, 1):
        tables.append(tabulate_merged(findings, systems, panel))
        told = f"{systems}, {panel}: mean tau_ap against the number of merged judges, by measure"
        figures.append(Figure(drawn[f"tau_ap-{number}"], told))
    plan = findings.plan
    alone = [tabulate_alone(findings, *place, gains=True) for place in findings.places]
    alone.append(tabulate_controls(findings))
    sections = [
        Section("Judges alone", TEXT1.format(certainty=plan.certainty), alone),
        Section("Judges merged", TEXT2.format(samples=plan.samples), tables, figures),
    ]
    if len(findings.check):
        text = TEXT3.format(draws=plan.draws)
        sections.append(Section("Check by simulation", text, [tabulate_check(findings)]))
    title = shorten(f"Random relevance: {findings.collection}, {len(findings.judges)} judges", 160)
    return Page(title, findings.sentence, sections, findings.notes)
