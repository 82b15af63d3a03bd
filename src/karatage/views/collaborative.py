"""The collaborative experiment: orders of judging, mixes of experts and crowd, and how crowds are merged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from karatage.experiments.collaborative.findings import ABOVE, BELOW, CollaborativeFindings
from karatage.text import counted, shorten
from karatage.views.collaborative_charts import draw_consensus, draw_finding, draw_gaps, draw_orders, draw_shares
from karatage.views.page import Figure, Page, Section
from karatage.views.showing import shows
from karatage.views.table import Table, label_columns

ORDERS = """Experts judge the first part of the pool, {items:,} documents of {topics}, and the leaderboard of
{systems} by {measure} is held against the one with the whole pool judged, [COLLAB14] figure 3.4. The order says which
documents come first; move-to-front and thompson learn from the answers on the way.

Gaps are to depth pooling. Intervals are over topics, drawn with replacement {resamples:,} times: judges play no part,
and only thompson is random."""
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
SIGNS = {ABOVE: "+", BELOW: "-"}
SIGNS_TEXT = "+ above, - below experts alone at the same cost, by 95 % intervals over samples"
NAME = 24  # characters
PLACE = ("order", "crowd", "ratio")


@shows(CollaborativeFindings)
def view_collaborative(findings: CollaborativeFindings) -> Page:
    """A section for each study; the terminal has the crossed tables of the first order."""
    return Page("Experts and crowd", findings.sentence, list(_view(findings)), findings.notes)


def _view(findings: CollaborativeFindings) -> Iterator[Section]:
    plan = findings.plan
    if len(findings.order_means):
        yield _view_orders(findings)
    if len(findings.finding_means):
        figure = Figure(partial(draw_finding, findings), "Relevant documents found")
        yield Section("Finding", "", [tabulate_finding(findings)], [figure], background=FINDING)
    if len(findings.consensus):
        yield _view_consensus(findings)
    if len(findings.shares):
        yield _view_shares(findings)
    if len(findings.table33):
        text = QUALITY.format(samples=counted(plan.samples, "crowd"), relevant=findings.relevant)
        yield Section("Crowds", "", [tabulate_quality(findings)], background=text)


def _view_orders(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    text = ORDERS.format(
        items=findings.items,
        topics=counted(findings.topics, "topic"),
        systems=counted(findings.systems, "system"),
        measure=plan.measure,
        resamples=plan.resamples,
    )
    names = ["order", "experts", "judged", "found", "tau", "tau_ap", *_ends("tau_ap"), "gap", *_ends("gap")]
    whole = _tabulate_all(findings.order_means, names, "Experts alone; low and high over topics")
    figure = Figure(partial(draw_orders, findings), "tau and tau_ap by order and share judged")
    return Section("Orders", "", [*tabulate_orders(findings), whole], [figure], background=text)


def _view_consensus(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    text = CONSENSUS.format(fixed=plan.fixed_share, judges=counted(plan.per_item, "judge"), first=plan.approaches[0])
    figures = [
        Figure(partial(draw_consensus, findings, order), f"tau_ap over cost, by approach: {order}")
        for order in plan.orders
    ]
    names = ["order", "crowd", "approach", "experts", *_low_high("tau_ap"), *_low_high("lead")]
    here = findings.consensus.filter(ratio=plan.ratios[0])
    whole = _tabulate_all(here, names, "Approaches; low and high over samples")
    crossed = [table for order in plan.orders for table in tabulate_consensus(findings, order)]
    return Section("Consensus", "", [*crossed, whole], figures, background=text)


def _view_shares(findings: CollaborativeFindings) -> Section:
    plan = findings.plan
    mixes = f"{findings.wins['mixes'][0]:,}"
    text = SHARES.format(approach=plan.approach, samples=counted(plan.samples, "crowd"), mixes=mixes)
    figures = []
    for order in plan.orders:
        caption = f"tau_ap over cost, by shares of experts and crowd: {order}"
        figures.append(Figure(partial(draw_shares, findings, order), caption))
        caption = f"Gaps to experts alone at the same cost: {order}"
        figures.append(Figure(partial(draw_gaps, findings, order), caption))
    names = [*PLACE, "experts", "crowd_share", "cost", "tau_ap", "alone", *_low_high("gap"), *_ends("gap")]
    whole = _tabulate_all(findings.shares.with_columns(pl.col("cost") * 100), names, "All mixes")
    crossed = [table for order in plan.orders for table in tabulate_shares(findings, order)]
    signs = f"{SIGNS_TEXT}." if plan.samples > 1 else ""
    tables = [*crossed, tabulate_wins(findings), tabulate_reach(findings), whole]
    return Section("Shares", signs, tables, figures, background=text)


def _tabulate_all(frame: pl.DataFrame, names: list[str], caption: str) -> Table:
    """All rows of a study, too many for the terminal."""
    plain = {"experts": "experts %", "crowd_share": "crowd %", "cost": "cost %"}
    columns = {name: plain.get(name, name.replace("_", " ")) for name in names}
    digits = {"experts": 0, "judged": 0, "crowd_share": 0, "cost": 1}
    return Table(frame, caption, digits, columns=columns, detail=True)


def _low_high(name: str) -> list[str]:
    return [name, f"{name}_low", f"{name}_high"]


def _ends(name: str) -> list[str]:
    return [f"{name}_topics_low", f"{name}_topics_high"]


def tabulate_orders(findings: CollaborativeFindings) -> Iterator[Table]:
    """Experts alone by share of the pool judged: tau_ap, and how far it is above depth."""
    caption = f"Experts alone: tau_ap by {findings.plan.measure} to full judging, by % of the pool judged"
    means = findings.order_means
    yield Table(_cross(means, "order", "tau_ap"), caption, 3, name="orders")
    if len(findings.plan.orders) > 1:
        half = (pl.col("gap_topics_high") - pl.col("gap_topics_low")) / 2
        gaps = means.filter(pl.col("order") != "depth").with_columns(half=half)
        told = pl.struct("gap", "half").map_elements(_tell_gap, return_dtype=pl.String)
        frame = _cross(gaps.with_columns(told=told), "order", "told")
        caption = "The same, above depth; ± half of the 95 % interval over topics"
        yield Table(frame, caption, name="orders-above-depth", right=frame.columns[1:])


def _tell_gap(row: dict[str, float | None]) -> str:
    """Six of these fill a line of a terminal."""
    if row["half"] is None:
        return f"{row['gap']:+.3f}"
    return f"{row['gap']:+.2f}±{row['half']:.2f}".replace("0.", ".")


def tabulate_finding(findings: CollaborativeFindings) -> Table:
    """How soon relevant documents are found by each order."""
    columns = {"order": "order", "area": "area", "topics_above": "ahead", "topics_below": "behind"}
    caption = "Relevant documents found: area under the curve, topics ahead of and behind depth"
    digits = {"topics_above": 1, "topics_below": 1}
    return Table(findings.finding_means, caption, digits, name="finding", columns=columns)


def tabulate_consensus(findings: CollaborativeFindings, order: str) -> Iterator[Table]:
    """For each crowd, tau_ap by approach and share of experts."""
    here = findings.consensus.filter(order=order, ratio=findings.plan.ratios[0])
    for (crowd,), table in here.group_by(["crowd"], maintain_order=True):
        name = shorten(str(crowd), NAME)
        caption = f"{order}, {findings.plan.fixed_share:g} % by crowd {name}: tau_ap, by % by experts"
        yield Table(_cross(table, "approach", "tau_ap"), caption, 3, detail=_is_later(findings, order))


def tabulate_shares(findings: CollaborativeFindings, order: str) -> Iterator[Table]:
    """For each crowd tau_ap by shares of crowd and experts; for each ratio, the gap to experts alone."""
    sign = pl.col("verdict").replace_strict(SIGNS, default="")
    shown = findings.shares.filter(order=order).with_columns(
        crowd_part=pl.col("crowd_share").map_elements("{:g} %".format, return_dtype=pl.String),
        told=pl.col("gap").map_elements("{:+.3f}".format, return_dtype=pl.String) + sign,
    )
    for (crowd, ratio), table in shown.group_by(["crowd", "ratio"], maintain_order=True):
        name = f"{shorten(str(crowd), NAME)} ({findings.plan.approach})"
        by_share = table.sort("crowd_share")
        if ratio == findings.plan.ratios[0]:
            caption = f"{order}, crowd {name}: tau_ap, by % by the crowd (down) and experts"
            frame = _cross(by_share, "crowd_part", "tau_ap")
            columns = label_columns(frame, crowd_part="crowd")
            yield Table(frame, caption, 3, columns=columns, detail=_is_later(findings, order))
        caption = f"{order}, crowd {name} at {shorten(str(ratio), NAME)}: gap to experts alone at the same cost"
        gaps = _cross(by_share, "crowd_part", "told")
        columns, right = label_columns(gaps, crowd_part="crowd"), gaps.columns[1:]
        yield Table(gaps, caption, columns=columns, right=right, detail=_is_later(findings, order))


def _is_later(findings: CollaborativeFindings, order: str) -> bool:
    """The terminal shows tables of the first order only."""
    return order != findings.plan.orders[0]


def _cross(table: pl.DataFrame, down: str, value: str) -> pl.DataFrame:
    """A row for each of `down`, a column for each share of experts."""
    wide = table.pivot("experts", index=down, values=value, maintain_order=True)
    shares = table["experts"].unique().sort().to_list()
    return wide.select(down, *(pl.col(str(share)).alias(f"{share:g} %") for share in shares))


def tabulate_wins(findings: CollaborativeFindings) -> Table:
    """How many mixes beat experts alone at the same cost, or fall short; over samples, and over topics."""
    topics = pl.format("{} / {}", f"topics_{ABOVE}", f"topics_{BELOW}")
    shown = findings.wins.select(
        *PLACE, "mixes", ABOVE, BELOW, topics.alias("over topics"), pl.col("gap").alias("mean gap")
    )
    caption = "Mixes against experts alone at the same cost"
    return Table(shown, caption, 3, signed=("mean gap",), name="wins", right=("over topics",))


def tabulate_reach(findings: CollaborativeFindings) -> Table:
    """The least cost for tau_ap 0.9, by a mix and by experts alone."""
    reach = findings.reach()
    mixes = [
        None if experts is None else f"{experts:g} + {crowd:g}"
        for experts, crowd in reach.select("experts", "crowd_share").iter_rows()
    ]
    shown = reach.select(
        *PLACE,
        pl.col("cost").alias("mix"),
        pl.Series("experts + crowd", mixes, dtype=pl.String),
        pl.col("alone").alias("experts alone"),
    )
    return Table(
        shown,
        "Least cost for tau_ap 0.9, % of full",
        digits=1,
        shares=("mix", "experts alone"),
        name="reach",
        right=("experts + crowd",),
    )


def tabulate_quality(findings: CollaborativeFindings) -> Table:
    """[COLLAB14] table 3.3."""
    caption = "Table 3.3: recall (R) and precision (P) of the crowd's merged grades, %"
    columns = label_columns(findings.table33, rate="")
    return Table(findings.table33, caption, 2, name="quality", columns=columns, keys=2)
