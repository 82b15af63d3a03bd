"""The noisy experiment: how often intervals cover, how often tests reject, and worked examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import polars as pl

from karatage.experiments.noisy.cells import GOLD_SAMPLES
from karatage.experiments.noisy.cells import TESTS as NAMES
from karatage.experiments.noisy.findings import SOUND, WORLD, NoisyFindings
from karatage.views.noisy_charts import FEW_WORLDS, WHO, draw_coverage, draw_histogram, draw_power, spell_rates
from karatage.views.page import Figure, Page, Section
from karatage.views.showing import shows
from karatage.views.table import MINUS, Table, label_columns

INTERVALS = """What judges say of a system whose true P@k is known, [NOISY18] Algorithm 2. Naive: the mean over topics
± 1.96 standard errors, as if judges were never wrong. Corrected: (15) ± 1.96 times the root of (7); with t instead, as
compare has it, few topics count for what they are. A nominal 95 % interval covers in 95 % of {simulations:,}
simulations, give or take {tolerance:.1f} %.

Shares are of simulations in which correction was not refused. It is refused if gold cannot distinguish the judges from
random ones.
Spread is the standard deviation of corrected estimates, to which the median standard error should be equal; bias is
what section 3.8 expects."""
TESTS = """How often tests at the 5 % level call two systems different. Naive tests take judges as correct: Welch's
t (9), and the paired t. Independent is (10) and (11): each system corrected with separate rates. Shared takes the
rates of one gold sample for both, so that their error cancels; paired over topics or not.

With separate judges and gold, the second system's judges have the two rates exchanged. Naive tests and the shared
form (shown with rates from both gold samples thrown together) are wrong there: they see the judges differ, not the
systems."""
WORKED = {
    "ebay": (
        "eBay",
        "eBay [NOISY18] 7",
        "Section 7: two samples of what a shop's search found, ten days apart, and one gold sample.",
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
RIGHT = ("right", "P@k", "b - a")  # as they were given, without zeros that say nothing
MOST_LISTED = 12  # worlds of which each has a line of its own in the terminal


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
        figures.append(Figure(partial(draw_histogram, findings), caption, "histogram"))
    if worlds > 1:
        caption = "How often corrected 95 % intervals (t) cover, by rates, gold, topics and true P@k"
        figures.append(Figure(partial(draw_coverage, findings), caption, "coverage"))
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
            draw = partial(draw_power, findings, samples=samples, topics=topics)
            figures.append(Figure(draw, caption, f"power-{samples}-{topics}"))
        tables += [*tabulate_sizes_of_tests(findings, samples), *tabulate_power(findings, samples)]
        power = findings.compare_power(samples)
        if len(power):
            there = [*WORLD, "difference"]
            covered = findings.pivot_tests(samples, "covered").join(power.select(there), on=there)
            tables.append(tabulate_covered_differences(findings, samples, covered))
    return Section("Tests", f"In tables, {TESTS_TEXT}.", tables, figures, background=TESTS)


def tabulate_intervals(found: NoisyFindings) -> Iterator[Table]:
    """For each number of topics, estimates and how often 95 % intervals cover, in %."""
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
            f"{topics} topics: % of 95 % intervals that cover {found.measure} ({chance})",
            digits={"naive covers": 1, "corrected covers": 1, "(t)": 1, "refused": 1},
            name=f"intervals-{topics}",
            columns=label_columns(
                frame, **{"naive covers": "covers", "corrected covers": "covers", "P@k": found.measure}
            ),
            right=RIGHT,
        )


def tabulate_coverage(found: NoisyFindings, *, column: str) -> Iterator[Table]:
    """The same for many worlds: coverage by rates and gold, a column for each P@k.

    What is refused hangs on rates and gold only, but for luck.
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
        caption = f"{topics} topics: % of 95 % intervals ({which}) that cover {found.measure} ({chance})"
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


def tabulate_sizes_of_tests(found: NoisyFindings, samples: str) -> Iterator[Table]:
    """How often tests reject where there is no difference, in %."""
    table = found.pivot_tests(samples).filter(difference=0.0)
    for (topics,), here in table.group_by("topics", maintain_order=True):
        caption = f"{WHO[samples]}, {topics} topics, no difference: % rejected"
        yield _list_tests(here, found, caption, f"size-{samples}-{topics}")


def tabulate_power(found: NoisyFindings, samples: str) -> Iterator[Table]:
    """How often tests reject a difference, in %, where the sound one is nearest 80."""
    for (topics,), here in found.compare_power(samples).group_by("topics", maintain_order=True):
        caption = f"{WHO[samples]}, {topics} topics: % rejected, where '{SHORT[SOUND[samples]]}' is nearest 80"
        yield _list_tests(here, found, caption, f"power-{samples}-{topics}", difference=True)


def tabulate_covered_differences(found: NoisyFindings, samples: str, covered: pl.DataFrame) -> Table:
    """How often intervals cover the difference, in %, in the worlds of `covered`."""
    caption = f"{WHO[samples]}: % of 95 % intervals that cover that difference"
    table = _list_tests(covered, found, caption, f"covered-{samples}", difference=True, topics=True)
    return replace(table, detail=True)


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
    owners = wide.columns[2:]
    columns = label_columns(wide, quantity="")
    return Table(wide, caption, name=str(figures["example"][0]), columns=columns, right=owners)


def _show(row: Mapping[str, float | str | None]) -> str:
    value, digits = float(row["value"] or 0), int(row["digits"] or 0)
    return str(row["text"]) if row["text"] else "infinite" if math.isinf(value) else f"{value:.{digits}f}"
