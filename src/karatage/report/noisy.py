"""The page of the noisy experiment."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.noisy.findings import SOUND, WORLD, NoisyFindings
from karatage.experiments.noisy.testing import GOLD_SAMPLES
from karatage.report.noisy_charts import WHO, draw_all, spell_rates
from karatage.report.page import Figure, Page, Section, Table

if TYPE_CHECKING:
    import altair as alt

INTERVALS = """What judges say of a system whose true P@k is known, [NOISY18] Algorithm 2. Naive: the mean over topics
± 1.96 standard errors, as if judges were never wrong. Corrected: (15) ± 1.96 times the root of (7); with t instead, as
compare has it, few topics count for what they are. A nominal 95 % interval covers in 95 % of {simulations:,}
simulations, give or take {tolerance:.1f} %.

Shares are of simulations in which correction was not refused, as it is where gold cannot tell judges from a coin.
Spread is the standard deviation of corrected estimates, to which the median standard error should be equal; bias is
what section 3.8 expects."""
TESTS = """How often tests at the 5 % level call two systems different. Naive tests take judges at their word: Welch's
t (9), and the paired t. Independent is (10) and (11): each system corrected with rates of its own. Shared takes the
rates of one gold sample for both, so that their error cancels; paired over topics or not.

With judges and gold of their own, the second system's judges have the two rates exchanged. Naive tests and the shared
form (shown with rates from both gold samples thrown together) are wrong there: they see the judges differ, not the
systems."""
WORKED = {
    "ebay": ("eBay", "Section 7: two samples of what a shop's search found, ten days apart, and one gold sample."),
    "trec": ("TREC", "Section 8, table 4: the two best runs of a track, each with a gold sample of its own."),
    "dcg": ("Graded judgments", "Section 4.2, figure 1: two topics, two ranks, three grades."),
}


def lay_out_noisy(findings: NoisyFindings, charts: Mapping[str, alt.TopLevelMixin] | None = None) -> Page:
    """Tables and charts as a page; `charts` as `draw_all` makes them."""
    drawn = charts if charts is not None else draw_all(findings)
    sections = []
    if len(findings.intervals):
        text = INTERVALS.format(simulations=findings.plan.simulations, tolerance=findings.tolerance * 100)
        figures = [Figure(drawn[name], told) for name, told in _captions(findings).items() if name in drawn]
        names = ["naive", "naive_covered", "corrected", "covered", "covered_t", "refused"]
        tables = [
            Table(_spell(findings.intervals, names), f"Mean estimates of {findings.measure}, and coverage"),
            Table(
                _spell(findings.intervals, ["corrected", "bias", "outside", "spread", "standard_error"]),
                "Corrected estimates: mean, expected bias, share outside 0 to 1, spread and median standard error",
            ),
        ]
        sections.append(Section("Intervals", text, tables, figures))
    if len(findings.tests):
        sections.append(_lay_out_tests(findings, drawn))
    for example in findings.worked["example"].unique(maintain_order=True):
        title, text = WORKED[example]
        sections.append(Section(title, text, [Table(_spread(findings.worked.filter(example=example)), "Worked out")]))
    return Page("Noisy judges and a little gold", findings.sentence, sections, findings.notes)


def _captions(findings: NoisyFindings) -> dict[str, str]:
    return {
        "histogram": f"{findings.measure} by the judges (naive) and corrected; the dashed line is the true value",
        "coverage": "How often corrected 95 % intervals (t) cover, by rates, gold, topics and true P@k",
    }


def _lay_out_tests(findings: NoisyFindings, drawn: Mapping[str, alt.TopLevelMixin]) -> Section:
    figures, tables = [], []
    for samples in GOLD_SAMPLES:
        who = WHO[samples]
        told = f"{who}, {{}} topics: share of simulations in which tests reject"
        figures += [Figure(drawn[f"power-{samples}-{n}"], told.format(n)) for n in findings.plan.topics]
        size = findings.pivot_tests(samples).filter(difference=0.0).drop("difference")
        if len(size):
            tables.append(Table(_spell(size), f"{who}, no true difference: share rejected"))
        power = findings.compare_power(samples)
        if len(power):
            tables.append(Table(_spell(power), f"{who}: power, where '{SOUND[samples]}' is nearest 80 %"))
            there = [*WORLD, "difference"]
            covered = findings.pivot_tests(samples, "covered").join(power.select(there), on=there)
            tables.append(Table(_spell(covered), f"{who}: how often 95 % intervals cover that difference"))
    return Section("Tests", TESTS, tables, figures)


def _spell(table: pl.DataFrame, names: Sequence[str] = ()) -> pl.DataFrame:
    """Worlds as they were given, without zeros that say nothing, and the columns asked for; default: all others."""
    given = [name for name in ("precision", "difference") if name in table.columns]
    others = names or [name for name in table.columns if name not in (*WORLD, *given)]
    plain = table.with_columns(pl.col(name).map_elements("{:g}".format, return_dtype=pl.String) for name in given)
    right = pl.struct("right_relevant", "right_other").map_elements(spell_rates, return_dtype=pl.String)
    shown = plain.select(right.alias("right"), "gold_size", "topics", *given, *others)
    return shown.rename({name: name.replace("_", " ") for name in shown.columns})


def _spread(figures: pl.DataFrame) -> pl.DataFrame:
    """A row for each quantity, a column for each of what it is of."""
    shown = figures.with_columns(shown=pl.struct("value", "digits", "text").map_elements(_show, return_dtype=pl.String))
    wide = shown.pivot("of", index=["quantity", "by"], values="shown", maintain_order=True)
    return wide.with_columns(pl.all().fill_null(""))


def _show(row: Mapping[str, float | str | None]) -> str:
    value, digits = float(row["value"] or 0), int(row["digits"] or 0)
    return str(row["text"]) if row["text"] else "∞" if math.isinf(value) else f"{value:.{digits}f}".replace("-", "−")
