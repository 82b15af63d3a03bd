"""The s-AWARE experiment: approaches that learn from gold, over sizes of k-tuples, against a baseline."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import OptionError
from karatage.experiments.supervised.cells import OUTCOMES
from karatage.experiments.supervised.findings import ABOUT, LOWER_IS_BETTER, PLACE, SupervisedFindings, name_place
from karatage.experiments.supervised.plan import Place, find_family
from karatage.text import list_ranges, shorten
from karatage.views.aware import OUTCOME_NAMES
from karatage.views.choosing import name_rows
from karatage.views.marks import SHAPES, Axis, Key, cycle, find_span, lay_panel, mark, mark_lines, name_lines
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
PALE_TO_DARK = {
    "s-AWARE": ("#FFF4DF", "#E69F00"),
    "u-AWARE": ("#E6F6F0", "#35B58B"),
    "merged grades": ("#E8F2FB", "#56A0E0"),
}
CELL = (52, 18)  # pixels, of the map of table 1
BASELINE = "#777777"
PANEL = (330, 300)  # pixels
NEW = ("new_low", "new_high")
DRAWN = ("tau_ap", "rmse")  # charts of tau look like those of tau_ap
TEXT1 = """Mean {outcome} between each approach's leaderboard and gold's, over {samples} samples of each size. A sample
is a k-tuple of judges with a separate split of gold: {training:.0%} of topics (for emsemi: of the documents of every
topic) are for training, and approaches are compared on the other documents of the other topics. Bold: best of
the row."""
TEXT2 = """All sizes together, with equal weights. Gaps are differences from {baseline} in the same samples, with two
95% intervals. The first is for other samples of this collection: other k-tuples and splits. The second, by tau_ap only,
is for other topics like these, with the same people as judges."""


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
    up = Axis("mean:Q", f"{OUTCOME_NAMES[outcome]} (mean)", {"zero": False, "nice": True, "domain": list(span)})
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
    head = shorten(f"{name_place(findings, place)}: {OUTCOME_NAMES[outcome]} to gold by {asked}", 120)
    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=20, title=head)
    return chart


def chart_table(findings: SupervisedFindings, *, measure: str | None = None) -> alt.LayerChart:
    """[SAWARE20] table 1 as a map: colours are kinds of approaches; the darker, the better the rank in the row."""
    names, table = findings.plan.names, findings.table(measure=measure)
    places = [name_place(findings, Place(*row)) for row in table.select(PLACE).iter_rows()]
    rows = [f"{place}, k = {size}" for place, size in zip(places, table["size"], strict=True)]
    frame = (
        table.select(names)
        .with_columns(row=pl.Series(range(len(rows))), where=pl.Series(rows, dtype=pl.String))
        .unpivot(names, index=["row", "where"], variable_name="approach", value_name="tau_ap")
        .with_columns(
            column=pl.col("approach").replace_strict({name: n for n, name in enumerate(names)}),
            kind=pl.col("approach").replace_strict({name: find_family(name) for name in names}),
            place=pl.col("tau_ap").rank("min", descending=True).over("row"),
            said=pl.col("tau_ap").map_elements(lambda value: f"{value:.3f}", return_dtype=pl.String),
        )
    )
    sides = [
        Axis(f"{side}:O", None, {"domain": list(range(len(named)))}, {**name_rows(named), "grid": False, **turned})
        for side, named, turned in (("column", names, {"orient": "top", "labelAngle": -60}), ("row", rows, {}))
    ]
    told = ["where:N", "approach:N", "tau_ap:Q", "place:O"]
    layers = []
    for kind, shades in PALE_TO_DARK.items():
        scale = {"domain": [len(names), 1], "range": list(shades)}
        part = frame.filter(kind=kind)
        if len(part):
            shade = Key("place:Q", legend=None, scale=scale)
            layers.append(mark(part, "rect", *sides, looks={"color": shade}, told=told))
    for best, weight in (True, "bold"), (False, "normal"):
        part = frame.filter((pl.col("place") == 1) == best)
        style = {"fontSize": 10, "fontWeight": weight, "color": "#111111"}
        layers.append(mark(part, "text", *sides, told=told, encodings={"text": "said:N"}, style=style))
    size = CELL[0] * len(names), CELL[1] * len(rows)
    title = shorten(f"tau_ap to gold by {measure or findings.plan.measures[0]}", 120)
    legend = "orange: s-AWARE, green: u-AWARE, blue: merged grades; darker: higher in the row; bold: highest"
    chart: alt.LayerChart = lay_panel(layers, size, title, [legend]).resolve_scale(color="independent")
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
        tables, sizes = [], []
        end = f"-{number}" if len(plan.measures) > 1 else ""
        figures = [Figure(partial(chart_table, findings, measure=measure), f"Table 1 by {measure}", f"table1{end}")]
        for outcome, (k, place) in product(DRAWN, enumerate(findings.places, 1)):
            make = partial(chart_supervised, findings, place, measure=measure, outcome=outcome)
            caption = f"{name_place(findings, place)}: {OUTCOME_NAMES[outcome]} by k"
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
    caption = f"Mean {OUTCOME_NAMES[outcome]} to gold by {measure}"
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
    columns = {"size": "k"} if by_size else {}
    columns |= {"approach": "approach", "mean": "mean", "standard_error": "error"}
    columns |= {"gap": f"minus {shorten(found.baseline, 20)}", "gap_low": "95% from", "gap_high": "to"}
    keys = 0
    if outcome == OUTCOMES[0] and found.topic_errors:
        gains = found.gains.select(*ABOUT, *NEW)
        frame = frame.join(gains, on=list(ABOUT), how="left", nulls_equal=True, maintain_order="left")
        columns |= dict(zip(NEW, ("other topics from", "to"), strict=True))
        keys = 2 if by_size else 1
    which = "by size" if by_size else f"k = {sizes} together"
    caption = f"{name_place(found, place)}: {OUTCOME_NAMES[outcome]} by {measure}, {which}"
    signed = ("gap", "gap_low", "gap_high", *NEW)
    # Where the terminal has no room for all columns, each part of the table has the meanings of its own.
    meanings = {
        "gap_low": "for other samples of this collection",
        "new_low": f"95% interval of the difference from {shorten(found.baseline, 20)}",
    }
    return Table(frame, caption, signed=signed, columns=columns, meanings=meanings, keys=keys, detail=detail)
