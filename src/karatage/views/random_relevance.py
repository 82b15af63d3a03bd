"""The random relevance experiment: judges alone and merged, by certain and by expected measures."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.errors import OptionError
from karatage.experiments.random_relevance.cells import OUTCOMES
from karatage.experiments.random_relevance.findings import EQUAL, RandomRelevanceFindings
from karatage.text import shorten
from karatage.views.marks import Axis, cycle, lay_panel, lay_panels, mark_lines, tell_apart
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import Table, label_columns, mark_best

if TYPE_CHECKING:
    import altair as alt

CONTROLS = "Controls, tau_ap: a judge who grades nothing as relevant, against DGS and RGS; RGS against DGS"
NAME = 20  # characters
GOLDS = {"DGS": "gold as it is (DGS)", "RGS": "randomised gold (RGS)"}
DASHES = ([1, 0], [4, 3])
SWATCH = {"symbolType": "stroke", "symbolSize": 500, "symbolStrokeWidth": 2}  # long enough for three dashes
ACROSS, PANEL = 3, (230, 230)
TEXT1 = """[RANDREL19] table 1. Each judge's leaderboard against gold's: certain measures, then expected ones, for
which a grade is correct with probability {certainty:g}. DGS is gold as it is, RGS gold made as uncertain as the
judges. Means over judges with 95% intervals; the gain is the difference from the certain measure against DGS,
over the same judges.

RGS is another leaderboard, so a higher agreement with it does not make judges better: the table of controls shows how
high the agreement is without any judges, for gold's own grades and for a judge who grades nothing as relevant."""
TEXT2 = """[RANDREL19] table 2. Mean tau_ap over the same {samples} k-tuples for all approaches, fewer where there are
no more. Bold: the best against each gold."""
TEXT3 = """The eR measures by formula minus their mean over {draws:,} draws of grades, for the system where they differ
most. eRDCG and eRRBP are exact, so their differences are only sampling noise; eRAP is a ratio of expectations."""


def chart_random_relevance(
    findings: RandomRelevanceFindings, *, systems: str, panel: str, outcome: str = "tau_ap"
) -> alt.ConcatChart:
    """[RANDREL19] table 2 as lines: tau_ap (or tau) against the number of merged judges, one panel per measure."""
    found = findings.summary.filter(systems=systems, panel=panel)
    if outcome not in OUTCOMES or not len(found):
        raise OptionError(f"there is no result for systems '{systems}', panel '{panel}' and outcome '{outcome}'")
    drawn = found.with_columns(pl.col("gold").replace(GOLDS), value=pl.col(outcome))
    edge = drawn.select(low=pl.min("value"), high=pl.max("value")).row(0)
    below = {"orient": "bottom", "columns": 6, "labelLimit": 200}
    dashes = cycle("gold", GOLDS.values(), DASHES, title="against", legend={**below, **SWATCH})
    looks = {**tell_apart("approach", findings.approaches, below), "strokeDash": dashes}
    across = Axis("size:O", "judges merged (M)", axis={"labelAngle": 0})
    up = Axis("value:Q", outcome, {"domain": list(edge), "nice": True, "zero": False})
    told = ["approach", "gold", "size", "value", "samples"]
    panels = []
    for measure, label in findings.labels.items():
        lines = mark_lines(drawn.filter(measure=measure), across, up, looks, told=told, points=36, width=2)
        panels.append(lay_panel(lines, PANEL, f"{label} and eR{label}"))
    return lay_panels(panels, shorten(f"{systems}, {panel}: {outcome} of merged judges", 120), ACROSS)


@shows(RandomRelevanceFindings)
def view_random_relevance(findings: RandomRelevanceFindings) -> Page:
    """[RANDREL19] tables 1 and 2, charts, controls and the check."""
    plan, figures = findings.plan, []
    for outcome in reversed(OUTCOMES):
        for number, (systems, panel) in enumerate(findings.places, 1):
            caption = f"{systems}, {panel}: mean {outcome} against the number of merged judges, by measure"
            caption += _tell_hidden(findings, systems, panel, outcome)
            make = partial(chart_random_relevance, findings, systems=systems, panel=panel, outcome=outcome)
            figures.append(Figure(make, caption, f"{outcome}-{number}"))
    alone = [tabulate_alone(findings, *place, gains=True) for place in findings.places]
    merged = [tabulate_merged(findings, *place) for place in findings.places]
    controls = Table(findings.controls, CONTROLS, name="controls")
    certain, samples = TEXT1.format(certainty=plan.certainty), TEXT2.format(samples=plan.samples)
    sections = [
        Section("Judges alone", "", [*alone, controls], background=certain),
        Section("Judges merged", "", merged, figures, background=samples),
    ]
    if len(findings.check):
        tables = [tabulate_check(findings, worst=True), tabulate_check(findings)]
        sections.append(Section("Check by simulation", "", tables, background=TEXT3.format(draws=plan.draws)))
    title = shorten(f"Random relevance: {findings.collection}, {len(findings.judges)} judges", 160)
    return Page(title, findings.sentence, sections, findings.notes)


def _tell_hidden(findings: RandomRelevanceFindings, systems: str, panel: str, outcome: str) -> str:
    """Which lines have the points of a line that is drawn later, and so are not seen."""
    hidden: dict[str, list[str]] = {}
    for measure, label in findings.labels.items():
        here = findings.summary.filter(systems=systems, panel=panel, measure=measure, gold="DGS")
        lines = {name: here.filter(approach=name).sort("size")[outcome].to_numpy() for name in findings.approaches}
        for (below, one), (above, other) in combinations(lines.items(), 2):
            if len(one) == len(other) and np.allclose(one, other, rtol=0, atol=EQUAL):
                hidden.setdefault(f"{below} is equal to {above} and hidden under it", []).append(label)
    return "".join(f"; {text} ({', '.join(labels)})" for text, labels in hidden.items())


def _name_place(systems: str, panel: str) -> str:
    return f"{shorten(systems, NAME)}, {shorten(panel, NAME)}"


def tabulate_alone(findings: RandomRelevanceFindings, systems: str, panel: str, *, gains: bool = False) -> Table:
    """[RANDREL19] table 1; with `gains`, also over the certain measure against DGS."""
    names = [name for outcome in OUTCOMES for name in (outcome, *([f"{outcome} gain"] if gains else []))]
    columns = [column for name in names for column in (name, f"{name} ±")]
    shown = findings.table1.filter(systems=systems, panel=panel).select("gold", "measure", *columns)
    caption = f"Table 1, {_name_place(systems, panel)}: {len(findings.judges)} judges alone, mean and 95% interval"
    headers = label_columns(shown, **{column: "±" for column in columns if column.endswith("±")})
    signed = [name for name in names if name.endswith("gain")]
    return Table(shown, caption, signed=signed, columns=headers, keys=2)


def tabulate_merged(findings: RandomRelevanceFindings, systems: str, panel: str) -> Table:
    """[RANDREL19] table 2; the best against each gold is marked."""
    frame = findings.table2().filter(systems=systems, panel=panel).drop("systems", "panel")
    family = pl.col("measure").str.strip_prefix("eR")
    sizes = [name for name in frame.columns if name.startswith("M = ")]
    best = mark_best(frame.with_columns(family=family), sizes, within=["family", "gold"])
    caption = f"Table 2, {_name_place(systems, panel)}: judges merged, mean tau_ap"
    return Table(frame, caption, mark=best, keys=3)


def tabulate_check(findings: RandomRelevanceFindings, *, worst: bool = False) -> Table:
    """Formulas minus simulation; with `worst`, only where they differ most by each measure."""
    check = findings.check
    if worst:
        far = pl.col("difference").abs()
        check = check.filter(far.rank("ordinal", descending=True).over("measure") == 1)
    names = {measure: findings.name_measure(measure, expected=True) for measure in findings.labels}
    several = [name for name in ("systems", "panel") if findings.check[name].n_unique() > 1]
    shown = check.select(
        pl.col("measure").replace(names),
        pl.concat_str(*several, "of", separator=", ").alias("grades of"),
        "difference",
        pl.col("standard_error").alias("error"),
        "tau_ap",
    )
    caption = f"Formulas minus simulation ({findings.plan.draws:,} draws), where a system's score differs most"
    name = "check-worst" if worst else "check"
    digits = {"difference": 5, "error": 5}
    return Table(shown, caption, digits, signed=("difference",), name=name, detail=not worst)
