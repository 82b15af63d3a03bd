"""The page of the noisy experiment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from karatage.experiments.noisy.findings import WORLD, NoisyFindings
from karatage.experiments.noisy.testing import GOLD_SAMPLES
from karatage.views.noisy_charts import WHO, draw_all
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.noisy import (
    TESTS_TEXT,
    tabulate_covered_differences,
    tabulate_estimates,
    tabulate_example,
    tabulate_intervals,
    tabulate_power,
    tabulate_sizes_of_tests,
)

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
        tables = [*tabulate_intervals(findings), tabulate_estimates(findings)]
        sections.append(Section("Intervals", text, tables, figures))
    if len(findings.tests):
        sections.append(_lay_out_tests(findings, drawn))
    for example in findings.worked["example"].unique(maintain_order=True):
        title, text = WORKED[example]
        sections.append(Section(title, text, [tabulate_example(findings.worked.filter(example=example), "Worked out")]))
    return Page("Noisy judges and a little gold", findings.sentence, sections, findings.notes)


def _captions(findings: NoisyFindings) -> dict[str, str]:
    return {
        "histogram": f"{findings.measure} by the judges (naive) and corrected; the dashed line is the true value",
        "coverage": "How often corrected 95 % intervals (t) cover, by rates, gold, topics and true P@k",
    }


def _lay_out_tests(findings: NoisyFindings, drawn: Mapping[str, alt.TopLevelMixin]) -> Section:
    figures, tables = [], []
    for samples in GOLD_SAMPLES:
        told = f"{WHO[samples]}, {{}} topics: share of simulations in which tests reject"
        figures += [Figure(drawn[f"power-{samples}-{n}"], told.format(n)) for n in findings.plan.topics]
        tables += [*tabulate_sizes_of_tests(findings, samples), *tabulate_power(findings, samples)]
        power = findings.compare_power(samples)
        if len(power):
            there = [*WORLD, "difference"]
            covered = findings.pivot_tests(samples, "covered").join(power.select(there), on=there)
            tables.append(tabulate_covered_differences(findings, samples, covered))
    return Section("Tests", f"{TESTS}\n\nIn tables, {TESTS_TEXT}.", tables, figures)
