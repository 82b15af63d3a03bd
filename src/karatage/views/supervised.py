"""The s-AWARE experiment: approaches that learn from gold, over sizes of k-tuples, against a baseline."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.supervised.cells import OUTCOMES
from karatage.experiments.supervised.findings import LOWER_IS_BETTER, PLACE, SupervisedFindings, name_place
from karatage.experiments.supervised.plan import Place, find_family
from karatage.text import list_ranges, shorten
from karatage.views.marks import SHAPES, Axis, Key, cycle, find_span, lay_panel, mark_lines, name_lines
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table, mark_rows

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
topic) are for training, and approaches are compared on the other documents of the other topics. Bold: best of
the row."""
TEXT2 = """All sizes together, with equal weights. Gaps are differences from {baseline} in the same samples, with 95%
intervals, which are for other samples of this collection: other judges or topics may differ more."""


def chart_supervised(
    findings: SupervisedFindings, place: Place, *, measure: str | None = None, outcome: str = "tau_ap"
) -> alt.HConcatChart:
    """[SAWARE20] figure 3: approaches over the size of the k-tuple; beside it, differences from the baseline.

    Bands are 95% intervals of the differences, which compare approaches in the same samples.
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


@shows(SupervisedFindings)
def view_supervised(findings: SupervisedFindings) -> Page:
    """[SAWARE20] table 1, figure 3 and the differences; the terminal has the first outcome."""
    plan, sections = findings.plan, []
    text = TEXT1.format(outcome="tau_ap", samples=plan.samples, training=plan.training)
    gaps = TEXT2.format(baseline=findings.baseline)
    for number, measure in enumerate(plan.measures, 1):
        figures, tables, sizes = [], [], []
        end = f"-{number}" if len(plan.measures) > 1 else ""
        for outcome, (k, place) in product(DRAWN, enumerate(findings.places, 1)):
            make = partial(chart_supervised, findings, place, measure=measure, outcome=outcome)
            caption = f"{name_place(findings, place)}: {outcome} by k"
            figures.append(Figure(make, caption, f"{outcome}-{k}-{place.configuration}{end}"))
        for outcome, place in product(OUTCOMES, findings.places):
            detail = outcome != OUTCOMES[0]
            tables.append(tabulate_gaps(findings, place, measure, outcome, detail=detail))
            sizes.append(tabulate_gaps(findings, place, measure, outcome, by_size=True))
        means = [tabulate_means(findings, measure, outcome) for outcome in OUTCOMES]
        sections.append(Section(f"{measure}: table 1", "", means, figures, background=text))
        sections.append(Section(f"{measure}: differences", "", tables, background=gaps))
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
    detail = outcome != OUTCOMES[0]
    return Table(
        frame, caption, mark=best, name=f"means-{outcome}", columns=columns, group="where", keys=1, detail=detail
    )


def tabulate_gaps(
    found: SupervisedFindings, place: Place, measure: str, outcome: str, *, by_size: bool = False, detail: bool = False
) -> Table:
    """Every approach over all sizes, or at each size, and how far it is from the baseline."""
    here = place._asdict()
    sizes = list_ranges(sorted(found.frame.filter(**here)["size"].unique()))
    frame = (found.summary if by_size else found.overall).filter(measure=measure, outcome=outcome, **here)
    which = "by size" if by_size else f"k = {sizes} together"
    columns = {"size": "k"} if by_size else {}
    columns |= {"approach": "approach", "mean": "mean", "standard_error": "error"}
    columns |= {"gap": f"minus {shorten(found.baseline, 20)}", "gap_low": "95% from", "gap_high": "to"}
    caption = f"{name_place(found, place)}: {outcome} by {measure}, {which}"
    return Table(frame, caption, signed=("gap", "gap_low", "gap_high"), columns=columns, detail=detail)
