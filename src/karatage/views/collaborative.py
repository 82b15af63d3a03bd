"""The page of the collaborative experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.collaborative.findings import CollaborativeFindings
from karatage.text import counted
from karatage.views.collaborative_charts import draw_all
from karatage.views.page import Figure, Page, Section
from karatage.views.tables import Table
from karatage.views.tabulating.collaborative import (
    tabulate_finding,
    tabulate_quality,
    tabulate_reach,
    tabulate_wins,
)

if TYPE_CHECKING:
    import altair as alt

ORDERS = """Experts judge the first part of the pool, {items:,} documents of {topics}, and the leaderboard of
{systems} by {measure} is held against the one with the whole pool judged, [COLLAB14] figure 3.4. The order says which
documents come first; move-to-front and thompson learn from the answers on the way.

Gaps are to depth pooling. Intervals are over topics, drawn with replacement {resamples:,} times: judges play no part,
so nothing else is left to chance, but for the draws of thompson."""
FINDING = """The same queues, seen as a search for relevant documents. Area: 1 if all came first, .5 if they came at
random. Topics are counted in which they come earlier, or later, than by depth, on average."""
CONSENSUS = """[COLLAB14] figure 3.6: experts judge the first part of the queue, a crowd the next {fixed:g} %,
{judges} for each document, and its judgments are merged by an approach that knows nothing but them. Lead: how far
above {first} for the same crowds."""
QUALITY = """[COLLAB14] table 3.3: each crowd judges the whole pool; recall (R) and precision (P) of what its
judgments are merged into, in %, means over {samples}. {relevant:.1%} of this pool are relevant: where that is little,
a crowd that rejects too few of the others has little precision, whoever merges."""
SHARES = """[COLLAB14] figures 3.7 and 3.8: shares of experts and crowd are varied, the crowd merged by {approach}.
Cost is a share of what experts on the whole pool would cost; ratios are prices of an expert's judgment to that of a
merged one.

Gap: tau_ap of a mix less that of experts alone who judge as much of the same queue as the mix's cost buys. Intervals
over samples are about other crowds ({samples}), on the same documents; those over topics about one crowd on other
topics. {mixes} comparisons are made for each crowd and ratio, so that a few of those called above or below are so by
chance."""


def lay_out_collaborative(
    findings: CollaborativeFindings, charts: Mapping[str, alt.TopLevelMixin] | None = None
) -> Page:
    """Tables and charts as a page; `charts` as `draw_all` makes them."""
    drawn = charts if charts is not None else draw_all(findings)
    return Page("Experts and crowd", findings.sentence, list(_lay_out(findings, drawn)), findings.notes)


def _lay_out(findings: CollaborativeFindings, drawn: Mapping[str, alt.TopLevelMixin]) -> Iterator[Section]:
    plan = findings.plan
    if len(findings.order_means):
        text = ORDERS.format(
            items=findings.items,
            topics=counted(findings.topics, "topic"),
            systems=counted(findings.systems, "system"),
            measure=plan.measure,
            resamples=plan.resamples,
        )
        names = ["order", "experts", "judged", "found", "tau", "tau_ap", *_ends("tau_ap"), "gap", *_ends("gap")]
        caption = "Experts alone; low and high over topics"
        table = Table(_spell(findings.order_means.select(names)), caption, digits={"experts %": 0, "judged": 0})
        yield Section("Orders", text, [table], [Figure(drawn["orders"], "tau and tau_ap by order and share judged")])
    if len(findings.finding_means):
        yield Section(
            "Finding", FINDING, [tabulate_finding(findings)], [Figure(drawn["finding"], "Relevant documents found")]
        )
    if len(findings.shares):
        yield _lay_out_shares(findings, drawn)
    if len(findings.consensus):
        yield _lay_out_consensus(findings, drawn)
    if len(findings.table33):
        text = QUALITY.format(samples=counted(plan.samples, "crowd"), relevant=findings.relevant)
        yield Section("Crowds", text, [tabulate_quality(findings)])


def _lay_out_shares(findings: CollaborativeFindings, drawn: Mapping[str, alt.TopLevelMixin]) -> Section:
    plan = findings.plan
    mixes = f"{findings.wins['mixes'][0]:,}"
    text = SHARES.format(approach=plan.approach, samples=counted(plan.samples, "crowd"), mixes=mixes)
    figures = []
    for order in plan.orders:
        figures.append(Figure(drawn[f"shares-{order}"], f"tau_ap over cost, by shares of experts and crowd: {order}"))
        figures.append(Figure(drawn[f"gaps-{order}"], f"Gaps to experts alone at the same cost: {order}"))
    names = [
        "order",
        "crowd",
        "ratio",
        "experts",
        "crowd_share",
        "cost",
        "tau_ap",
        "alone",
        "gap",
        "gap_low",
        "gap_high",
    ]
    shares = findings.shares.select(*names, *_ends("gap")).with_columns(pl.col("cost") * 100)
    digits = {"experts %": 0, "crowd %": 0, "cost %": 1}
    tables = [
        tabulate_wins(findings),
        tabulate_reach(findings),
        Table(_spell(shares), "All mixes", digits=digits),
    ]
    return Section("Shares", text, tables, figures)


def _lay_out_consensus(findings: CollaborativeFindings, drawn: Mapping[str, alt.TopLevelMixin]) -> Section:
    plan = findings.plan
    text = CONSENSUS.format(fixed=plan.fixed_share, judges=counted(plan.per_item, "judge"), first=plan.approaches[0])
    figures = [Figure(drawn[f"consensus-{order}"], f"tau_ap over cost, by approach: {order}") for order in plan.orders]
    names = [
        "order",
        "crowd",
        "approach",
        "experts",
        "tau_ap",
        "tau_ap_low",
        "tau_ap_high",
        "lead",
        "lead_low",
        "lead_high",
    ]
    shown = findings.consensus.filter(ratio=plan.ratios[0]).select(names)
    return Section(
        "Consensus",
        text,
        [Table(_spell(shown), "Approaches; low and high over samples", digits={"experts %": 0})],
        figures,
    )


def _spell(table: pl.DataFrame) -> pl.DataFrame:
    """Names of columns for people."""
    plain = {"experts": "experts %", "crowd_share": "crowd %", "cost": "cost %"}
    return table.rename({name: plain.get(name, name.replace("_", " ")) for name in table.columns})


def _ends(name: str) -> list[str]:
    return [f"{name}_topics_low", f"{name}_topics_high"]
