"""The s-AWARE experiment: approaches that learn from gold, over sizes of k-tuples, against a baseline."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.supervised.findings import (
    LOWER_IS_BETTER,
    OUTCOMES,
    PLACE,
    SupervisedFindings,
    name_place,
)
from karatage.experiments.supervised.plan import Place, find_family
from karatage.text import list_ranges, shorten
from karatage.views.marks import SHAPES, Axis, Key, cycle, find_span, lay_panel, mark_lines, name_lines
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table

if TYPE_CHECKING:
    import altair as alt

# As in [SAWARE20] table 1: baselines blue, u-AWARE green, s-AWARE orange; all visible on white and on black.
FAMILIES = {
    "s-AWARE": ("#F2B84B", "#E69F00", "#CC7A00", "#D55E00", "#A63E00", "#B8860B"),
    "u-AWARE": ("#5CC5A3", "#009E73", "#2E8B57", "#7CB342"),
    "merged grades": ("#56B4E9", "#2F7FC1", "#7A6FD0", "#4A6FA5", "#8F7BE8"),
}
BASELINE = "#777777"
PANEL = (330, 300)  # pixels
DRAWN = ("tau_ap", "rmse")  # charts of tau look like those of tau_ap
TEXT1 = """Mean {outcome} between each approach's leaderboard and gold's, over {samples} samples of each size. A sample
is a k-tuple of judges with a separate split of gold: {training:.0%} of topics (for emsemi: of the documents of every
topic) are for training, and approaches are compared on the other documents of the other topics. Bold: row's best."""
TEXT2 = """All sizes together, with equal weights. Gaps are differences from {baseline} in the same samples, with 95 %
intervals, which are about other samples of this collection: other judges or topics may differ more."""


def chart_supervised(
    findings: SupervisedFindings, place: Place, *, measure: str | None = None, outcome: str = "tau_ap"
) -> alt.HConcatChart:
    """[SAWARE20] figure 3: approaches over the size of the k-tuple; beside it, differences from the baseline.

    Bands are 95 % intervals of the differences, which compare approaches in the same samples.
    """
    import altair as alt

    asked = measure or findings.plan.measures[0]
    if place not in findings.places or asked not in findings.plan.measures or outcome not in OUTCOMES:
        raise OptionError(f"there is no result for {', '.join(place)} by {asked} and {outcome}")
    frame = findings.summary.filter(measure=asked, outcome=outcome, **place._asdict())
    names = findings.plan.names
    colours = Key("approach", dict(zip(names, _choose_colours(findings), strict=True)), legend=None)
    looks = {"color": colours, "shape": cycle("approach", names, SHAPES, legend=None)}
    across = Axis("size:O", "judges in a k-tuple (k)", axis={"labelAngle": 0})
    span = find_span(frame, "mean", "mean")
    up = Axis("mean:Q", f"{outcome} (mean)", {"zero": False, "nice": True, "domain": list(span)})
    told = ["approach", "size", "mean", "standard_error", "gap", "gap_low", "gap_high", "samples"]
    ends = frame.filter(pl.col("size") == pl.col("size").max()).with_columns(named="approach")
    means = [
        *mark_lines(frame, across, up, looks, told=told, points=34, width=1.4),
        name_lines(ends, up, span, PANEL, {"color": colours}),
    ]
    gap = Axis("gap:Q", f"difference from {findings.baseline}")
    ends_of = ("gap_low", "gap_high")
    gaps = mark_lines(frame, across, gap, looks, told=told, ends=ends_of, interval="band", points=34, width=1.4)
    panels = [lay_panel(layers, PANEL) for layers in (means, gaps)]
    head = shorten(f"{name_place(findings, place)}: {outcome} to gold by {asked}", 120)
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=20, title=head)
    return chart


def _choose_colours(findings: SupervisedFindings) -> list[str]:
    """The family's shades in turn; grey for the baseline."""
    used = dict.fromkeys(FAMILIES, 0)
    found = []
    for name in findings.plan.names:
        family = find_family(name)
        if name == findings.baseline:
            found.append(BASELINE)
            continue
        found.append(FAMILIES[family][used[family] % len(FAMILIES[family])])
        used[family] += 1
    return found


def _name_chart(findings: SupervisedFindings, place: Place, measure: str, outcome: str) -> str:
    number = findings.places.index(place) + 1
    several = len(findings.plan.measures) > 1
    return f"{outcome}-{number}-{place.configuration}" + (f"-{findings.plan.measures.index(measure) + 1}" * several)


@shows(SupervisedFindings)
def view_supervised(findings: SupervisedFindings) -> Page:
    """[SAWARE20] table 1, figure 3 and the differences; the terminal has the first outcome."""
    plan, sections = findings.plan, []
    for measure in plan.measures:
        figures = [
            Figure(
                partial(chart_supervised, findings, place, measure=measure, outcome=outcome),
                f"{name_place(findings, place)}: {outcome} by k",
                _name_chart(findings, place, measure, outcome),
            )
            for outcome in DRAWN
            for place in findings.places
        ]
        text = TEXT1.format(outcome="tau_ap", samples=plan.samples, training=plan.training)
        means = [replace(tabulate_means(findings, measure, name), detail=name != OUTCOMES[0]) for name in OUTCOMES]
        sections.append(Section(f"{measure}: table 1", "", means, figures, background=text))
        tables = [
            replace(tabulate_overall(findings, place, measure, name), detail=name != OUTCOMES[0])
            for name in OUTCOMES
            for place in findings.places
        ]
        gaps = TEXT2.format(baseline=findings.baseline)
        sections.append(Section(f"{measure}: how sure", "", tables, background=gaps))
        sizes = [tabulate_by_size(findings, place, measure, name) for name in OUTCOMES for place in findings.places]
        sections.append(Section(f"{measure}: by size", "", sizes, detail=True))
    title = shorten(f"s-AWARE: {findings.collection}", 160)
    return Page(title, findings.sentence, sections, findings.notes)


def tabulate_means(findings: SupervisedFindings, measure: str, outcome: str) -> Table:
    """[SAWARE20] table 1: a row for each place and size, a column for each approach; the best of a row is marked."""
    names = findings.plan.names
    frame = findings.table(measure=measure, outcome=outcome)
    best = mark_rows(frame.select(names), lowest=outcome in LOWER_IS_BETTER)
    places = [name_place(findings, Place(*row)) for row in frame.select(PLACE).iter_rows()]
    frame = frame.with_columns(pl.Series("where", places, dtype=pl.String))
    columns = {"where": "", "size": "k", **{name: name for name in names}}
    caption = f"Mean {outcome} to gold by {measure}"
    return Table(frame, caption, mark=best, name=f"means-{outcome}", columns=columns, group="where", keys=1)


def mark_rows(frame: pl.DataFrame, *, lowest: bool = False) -> dict[str, list[bool]]:
    """Where each row has its largest (or lowest) value.

    >>> mark_rows(pl.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.2]}))
    {'a': [False, True], 'b': [True, False]}
    """
    top = frame.select(top=pl.min_horizontal(pl.all()) if lowest else pl.max_horizontal(pl.all()))["top"]
    return {name: (frame[name] == top).fill_null(False).to_list() for name in frame.columns}


def tabulate_overall(findings: SupervisedFindings, place: Place, measure: str, outcome: str) -> Table:
    """Every approach over all sizes, and how far it is from the baseline."""
    frame = findings.overall.filter(measure=measure, outcome=outcome, **place._asdict())
    sizes = sorted(findings.frame.filter(**place._asdict())["size"].unique())
    caption = f"{name_place(findings, place)}: {outcome} by {measure}, k = {list_ranges(sizes)} together"
    return _list_gaps(findings, frame, {"approach": "approach"}, caption)


def tabulate_by_size(findings: SupervisedFindings, place: Place, measure: str, outcome: str) -> Table:
    """The same at each size."""
    frame = findings.summary.filter(measure=measure, outcome=outcome, **place._asdict())
    caption = f"{name_place(findings, place)}: {outcome} by {measure}, by size"
    return _list_gaps(findings, frame, {"size": "k", "approach": "approach"}, caption)


def _list_gaps(findings: SupervisedFindings, frame: pl.DataFrame, keys: dict[str, str], caption: str) -> Table:
    columns = keys | {"mean": "mean", "standard_error": "error", "gap": f"less {shorten(findings.baseline, 20)}"}
    columns |= {"gap_low": "95% from", "gap_high": "to"}
    return Table(frame, caption, signed=("gap", "gap_low", "gap_high"), columns=columns)
