"""The noisy experiment: how often intervals cover, share of simulations in which tests reject, and worked examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.options import CONFIDENCE
from karatage.errors import OptionError
from karatage.experiments.noisy.cells import CORRECTED, GOLD_SAMPLES, NAIVE, ONE, TWO, WORLD
from karatage.experiments.noisy.cells import TESTS as NAMES
from karatage.experiments.noisy.findings import BAND, SOUND, NoisyFindings
from karatage.views import marks
from karatage.views.marks import (
    DASH,
    PLAIN,
    Axis,
    Key,
    cycle,
    lay_panel,
    lay_panels,
    mark,
    mark_level,
    mark_lines,
    tell_apart,
)
from karatage.views.page import Figure, Page, Section, shows
from karatage.views.table import MINUS, Table, label_columns

if TYPE_CHECKING:
    import altair as alt

FEW_WORLDS = 6  # that have histograms
ACROSS = 3
SHADES = {NAIVE: marks.JUDGES, CORRECTED: marks.CORRECTED}  # red and blue, as in the paper's figure 2
TEST_SHADES = ("#BBBBBB", "#777777", "#D55E00", "#56B4E9", "#0072B2")
TEST_WIDTHS = (5, 1.2, 2, 4, 1.5)  # lower lines are wider, so that lines on top of each other remain visible
TEST_DASHES = ([1, 0], [2, 3], [1, 0], [1, 0], [6, 3])
WHO = {ONE: "One gold sample for both systems", TWO: "Separate judges and gold"}
PERCENT = {"format": "%", "tickCount": 5}
INTERVALS = """Scores by noisy judges for a system whose true P@k is known, [NOISY18] Algorithm 2. Naive: the mean over
topics ± 1.96 standard errors, as if judges made no errors. Corrected: (15) ± 1.96 times the root of (7); with t in
place of 1.96, as in compare, intervals are wider where there are few topics. A nominal 95% interval covers in 95% of
{simulations:,} simulations, ± {tolerance:.1f}%.

Shares are of simulations in which correction was not refused. It is refused if gold cannot distinguish the judges from
random ones.
Spread is the standard deviation of corrected estimates, to which the median standard error should be equal; bias is
the value expected by section 3.8."""
TESTS = """How often tests at the 5% level find two systems different. Naive tests take judges as correct: Welch's
t (9), and the paired t. Independent is (10) and (11): each system corrected with separate rates. Shared uses the
rates of one gold sample for both, so that their error cancels; it is paired over topics or not.

With separate judges and gold, the second system's judges have the two rates exchanged. Naive tests and the shared
form (shown with rates from both gold samples together) are wrong there: they detect a difference between the judges,
not between the systems."""
ROWS = {"P@20 at most that rate": "P@20 <= that rate", "topics, judges never wrong": "topics without errors"}
WORKED = {
    "ebay": (
        "eBay",
        "eBay [NOISY18] 7",
        "Section 7: two samples of a shop's search results, ten days apart, and one gold sample.",
    ),
    "trec": (
        "TREC",
        "TREC [NOISY18] 8, table 4",
        "Section 8, table 4: the two best runs of a track, each with a separate gold sample.",
    ),
    "dcg": (
        "Graded judgments",
        "Graded judgments [NOISY18] 4.2",
        "Section 4.2, figure 1: two topics, two ranks, three grades.",
    ),
}
SHORT = dict(zip(NAMES, ("naive", "naive p", "(10)", "shared", "shared p"), strict=True))
TESTS_TEXT = (
    "naive: Welch's t (9); p: paired over topics; (10): corrected as if judges were independent; shared: corrected "
    "with one gold sample for both; level .05"
)
RIGHT = ("right", "P@k", "b - a")  # as they were given, without trailing zeros
MOST_LISTED = 12  # worlds of which each has a line of its own in the terminal


def chart_histogram(findings: NoisyFindings) -> alt.ConcatChart:
    """[NOISY18] figure 2: naive and corrected estimates, and the true value."""
    if not 0 < len(findings.intervals) <= FEW_WORLDS:
        raise OptionError(f"histograms are for 1 to {FEW_WORLDS} worlds, not {len(findings.intervals)}")
    alone = len(findings.intervals) == 1
    panels = []
    for row in findings.intervals.iter_rows(named=True):
        here = findings.histogram.join(pl.DataFrame([row]).select(WORLD), on=WORLD)
        ends = here.filter(pl.col("simulations") > 0).select(low=pl.min("low"), high=pl.max("high")).row(0)
        scale = {"domain": list(ends), "nice": True, "zero": False}
        across = Axis("low:Q", f"{findings.measure}, mean over {row['topics']} topics", scale, {"tickCount": 8})
        up = Axis("simulations:Q", "simulations", {"zero": True})
        looks = {"color": Key("estimate", SHADES, legend={})}
        told = ["estimate", "low", "high", "simulations"]
        style = {"opacity": 0.55, "stroke": "white", "strokeWidth": 0.3}
        true = pl.DataFrame({"true": [row["precision"]], "label": [f"true: {row['precision']:g}"]})
        left = row["naive"] > row["precision"]  # the label is on the side without naive estimates
        label: dict[str, object] = {"align": "right", "dx": -5} if left else {"align": "left", "dx": 5}
        where = across.of("true:Q")
        layers = [
            mark(here, "rect", across, up, to=("high:Q", 0), looks=looks, told=told, style=style),
            mark(true, "rule", where, style={"color": PLAIN, "strokeDash": DASH, "strokeWidth": 1.5}),
            mark(true, "text", where, encodings={"text": "label"}, style={"y": 10, **label}),
        ]
        rates = f"{row['right_relevant']:.0%} of relevant, {row['right_other']:.0%} of others"
        title = f"right about {rates}; {row['gold_size']} gold items of each kind"
        small = f"right {spell_rates(row)}, gold {row['gold_size']}"
        panels.append(lay_panel(layers, (460, 260), title) if alone else lay_panel(layers, (270, 170), small))
    title = f"{findings.measure} in {findings.plan.simulations:,} simulations: by the judges, and corrected"
    return lay_panels(panels, title, ACROSS)


def chart_coverage(findings: NoisyFindings) -> alt.ConcatChart:
    """How often corrected intervals (t) cover, by gold; one panel for each number of topics and true P@k."""
    if not len(findings.intervals):
        raise OptionError("intervals were not studied, so there is no chart of coverage")
    found = findings.intervals.drop_nulls("covered").with_columns(
        rates=pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    )
    names = list(dict.fromkeys(found["rates"]))
    looks = tell_apart("rates", names, {}, "right")
    edge = min(float(found["covered_t"].to_numpy().min(initial=1.0)), CONFIDENCE - 2 * BAND)
    across = Axis("gold_size:O", "gold items of each kind", axis={"labelAngle": 0})
    up = Axis("covered_t:Q", "covered", {"domain": [math.floor(edge * 20) / 20, 1], "zero": False}, PERCENT)
    told = ["rates", "gold_size", "covered_t", "covered", "refused", "outside"]
    aim = pl.DataFrame({"low": [CONFIDENCE - BAND], "high": [CONFIDENCE + BAND]})
    band = mark(aim, "rect", None, up.of("low:Q"), to=(None, "high:Q"), style={"color": "#009E73", "opacity": 0.15})
    panels = []
    for (topics, precision), here in found.group_by("topics", "precision", maintain_order=True):
        lines = mark_lines(here, across, up, looks, told=told, points=34, width=2)
        panels.append(lay_panel([band, *lines], (140, 130), f"{topics} topics, {findings.measure} = {precision:g}"))
    title = "Coverage of corrected 95% intervals (t); green: 94 to 96%"
    return lay_panels(panels, title, found["precision"].n_unique())


def chart_power(findings: NoisyFindings, *, samples: str, topics: int) -> alt.ConcatChart:
    """How often each test rejects, against the true difference; a row for rates and P@k, a column for each gold."""
    found = findings.tests.filter(gold_samples=samples, topics=topics) if len(findings.tests) else findings.tests
    if not len(found):
        raise OptionError(f"there is no result for tests with '{samples}' gold samples and {topics} topics")
    styles = {"color": TEST_SHADES, "strokeWidth": TEST_WIDTHS, "strokeDash": TEST_DASHES}
    looks = {name: cycle("test", NAMES, values, title="test", legend={}) for name, values in styles.items()}
    across = Axis("difference:Q", "true difference", axis={"format": "~g", "tickCount": 4, "grid": False})
    up = Axis("rejected:Q", "rejected", {"domain": [0, 1]}, PERCENT)
    told = ["test", "difference", "rejected", "wrong", "covered", "refused"]
    panels = {}
    for key, here in found.group_by("right_relevant", "right_other", "precision", "gold_size", maintain_order=True):
        rows, ordered = here.drop_nulls("rejected"), {"order": "difference:Q"}
        lines = mark_lines(rows, across, up, looks, told=told, width=None, encodings=ordered)
        rates = spell_rates(here.row(0, named=True))
        told_here = [f"right {rates}, {findings.measure} = {key[2]:g}", f"gold {key[3]}"]
        panels[key] = lay_panel([mark_level(1 - CONFIDENCE, dash=(2, 2)), *lines], (165, 130), told_here)
    order = sorted(panels, key=lambda key: (findings.plan.rates.index(key[:2]), *key[2:]))
    title = f"{WHO[samples]}, {topics} topics: share of simulations in which tests reject"
    return lay_panels([panels[key] for key in order], title, found["gold_size"].n_unique())


def spell_rates(row: Mapping[str, float]) -> str:
    """`.9/.8`: the shares of relevant and of other documents that judges grade correctly."""
    return "/".join(f"{row[name]:g}".removeprefix("0") for name in ("right_relevant", "right_other"))


@shows(NoisyFindings)
def view_noisy(findings: NoisyFindings) -> Page:
    """Intervals, tests, worked examples."""
    sections = [_view_intervals(findings)] if len(findings.intervals) else []
    sections += [_view_tests(findings)] if len(findings.tests) else []
    for example in findings.worked["example"].unique(maintain_order=True):
        title, caption, text = WORKED[example]
        table = tabulate_example(findings.worked.filter(example=example), caption)
        sections.append(Section(title, "", [table], background=text))
    return Page("Noisy judges and a little gold", findings.sentence, sections, findings.notes)


def _view_intervals(findings: NoisyFindings) -> Section:
    text = INTERVALS.format(simulations=findings.plan.simulations, tolerance=findings.tolerance * 100)
    worlds, figures = len(findings.intervals), []
    if worlds <= FEW_WORLDS:
        caption = f"{findings.measure} by the judges (naive) and corrected; the dashed line is the true value"
        figures.append(Figure(partial(chart_histogram, findings), caption, "histogram"))
    if worlds > 1:
        caption = "Coverage of corrected 95% intervals (t), by rates, gold, topics and true P@k"
        figures.append(Figure(partial(chart_coverage, findings), caption, "coverage"))
    listed = worlds <= MOST_LISTED
    tables = [replace(table, detail=not listed) for table in tabulate_intervals(findings)]
    if not listed:
        crossed = (tabulate_coverage(findings, column=name) for name in ("covered", "covered_t"))
        tables += [table for pair in zip(*crossed, strict=True) for table in pair]
    return Section("Intervals", "", [*tables, tabulate_estimates(findings)], figures, background=text)


def _view_tests(findings: NoisyFindings) -> Section:
    figures, tables = [], []
    for samples in GOLD_SAMPLES:
        for topics in findings.plan.topics:
            caption = f"{WHO[samples]}, {topics} topics: share of simulations in which tests reject"
            make = partial(chart_power, findings, samples=samples, topics=topics)
            figures.append(Figure(make, caption, f"power-{samples}-{topics}"))
        same, power = findings.pivot_tests(samples).filter(difference=0.0), findings.compare_power(samples)
        for (topics,), here in same.group_by("topics", maintain_order=True):
            caption = f"{WHO[samples]}, {topics} topics, no difference: % rejected"
            tables.append(_list_tests(here, findings, caption, f"size-{samples}-{topics}"))
        for (topics,), here in power.group_by("topics", maintain_order=True):  # where the sound test is closest to 80 %
            caption = f"{WHO[samples]}, {topics} topics: % rejected, where '{SHORT[SOUND[samples]]}' is closest to 80"
            tables.append(_list_tests(here, findings, caption, f"power-{samples}-{topics}", difference=True))
        if len(power):
            there = [*WORLD, "difference"]
            covered = findings.pivot_tests(samples, "covered").join(power.select(there), on=there)
            caption = f"{WHO[samples]}: % of 95% intervals that cover that difference"
            table = _list_tests(covered, findings, caption, f"covered-{samples}", difference=True, topics=True)
            tables.append(replace(table, detail=True))
    return Section("Tests", f"In tables, {TESTS_TEXT}.", tables, figures, background=TESTS)


def tabulate_intervals(found: NoisyFindings) -> Iterator[Table]:
    """For each number of topics, estimates and how often 95% intervals cover, in %."""
    chance = f"{found.plan.simulations:,} simulations, ± {found.tolerance * 100:.1f}"
    for (topics,), here in found.intervals.group_by("topics", maintain_order=True):
        frame = _spell_worlds(here).select(
            "right",
            "gold",
            "P@k",
            here["naive"],
            (here["naive_covered"] * 100).alias("naive covers"),
            here["corrected"],
            (here["covered"] * 100).alias("corrected covers"),
            (here["covered_t"] * 100).alias("(t)"),
            (here["refused"] * 100).alias("refused"),
        )
        yield Table(
            frame,
            f"{topics} topics: % of 95% intervals that cover {found.measure} ({chance})",
            digits={"naive covers": 1, "corrected covers": 1, "(t)": 1, "refused": 1},
            name=f"intervals-{topics}",
            columns=label_columns(
                frame, **{"naive covers": "covers", "corrected covers": "covers", "P@k": found.measure}
            ),
            right=RIGHT,
        )


def tabulate_coverage(found: NoisyFindings, *, column: str) -> Iterator[Table]:
    """The same for many worlds: coverage by rates and gold, a column for each P@k.

    Refusals depend only on rates, gold and chance.
    """
    which = {"covered": "z", "covered_t": "t"}[column]
    chance = f"{found.plan.simulations:,} simulations, ± {found.tolerance * 100:.1f}"
    for (topics,), here in found.intervals.group_by("topics", maintain_order=True):
        values = here["precision"].unique(maintain_order=True).to_list()
        rows = []
        for _, group in here.group_by("right_relevant", "right_other", "gold_size", maintain_order=True):
            covered = dict(group.select("precision", column).iter_rows())
            refused = float(group["refused"].to_numpy().mean())
            shares = [None if covered[value] is None else covered[value] * 100 for value in values]
            rows.append((spell_rates(group.row(0, named=True)), group["gold_size"][0], refused * 100, *shares))
        names = ["refused", *(f"at {value:g}" for value in values)]
        schema = {"right": pl.String, "gold": pl.Int64} | dict.fromkeys(names, pl.Float64)
        caption = f"{topics} topics: % of 95% intervals ({which}) that cover {found.measure} ({chance})"
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        yield Table(frame, caption, digits=1, name=f"coverage-{which}-{topics}", right=RIGHT)


def tabulate_estimates(found: NoisyFindings) -> Table:
    """Corrected estimates in every world: mean, bias, and whether standard errors agree with their spread."""
    here = found.intervals
    names = ["corrected", "bias", "outside", "spread", "standard_error"]
    frame = _spell_worlds(here).select("right", "gold", "topics", "P@k", *(here[name] for name in names))
    return Table(
        frame,
        "Corrected estimates: mean, expected bias, share outside 0 to 1, spread and median standard error",
        name="estimates",
        columns=label_columns(frame, standard_error="standard error", **{"P@k": found.measure}),
        right=RIGHT,
        detail=True,
    )


def _list_tests(
    here: pl.DataFrame, found: NoisyFindings, caption: str, name: str, *, difference: bool = False, topics: bool = False
) -> Table:
    names = ["right", "gold", *(["topics"] if topics else []), "P@k", *(["b - a"] if difference else [])]
    tests = [test for test in NAMES if test in here.columns]
    frame = _spell_worlds(here).select(*names, *(here[test] * 100 for test in tests))
    headers = {test: SHORT[test] for test in tests} | {"P@k": found.measure, "b - a": f"b {MINUS} a"}
    columns = label_columns(frame, **headers)
    return Table(frame, caption, digits=1, name=name, columns=columns, right=RIGHT)


def _spell_worlds(here: pl.DataFrame) -> pl.DataFrame:
    """Worlds as they were given."""
    rates = pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    given = {"precision": "P@k", "difference": "b - a"}
    spelt = [
        pl.col(name).map_elements("{:g}".format, return_dtype=pl.String).alias(title)
        for name, title in given.items()
        if name in here.columns
    ]
    return here.select(rates.alias("right"), pl.col("gold_size").alias("gold"), "topics", *spelt)


def tabulate_example(figures: pl.DataFrame, caption: str) -> Table:
    """A worked example: a row for each quantity, a column for each of what it is of."""
    shown = figures.with_columns(shown=pl.struct("value", "digits", "text").map_elements(_show, return_dtype=pl.String))
    wide = shown.pivot("of", index=["quantity", "by"], values="shown", maintain_order=True).fill_null("")
    wide = wide.with_columns(pl.col("quantity").replace(ROWS))
    owners = wide.columns[2:]
    columns = label_columns(wide, quantity="")
    return Table(wide, caption, name=str(figures["example"][0]), columns=columns, right=owners)


def _show(row: Mapping[str, float | str | None]) -> str:
    value, digits = float(row["value"] or 0), int(row["digits"] or 0)
    return str(row["text"]) if row["text"] else "infinite" if math.isinf(value) else f"{value:.{digits}f}"
