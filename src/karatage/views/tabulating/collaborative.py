"""The collaborative experiment, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from karatage.experiments.collaborative.summing import ABOVE, BELOW
from karatage.text import shorten
from karatage.views.tables import Table

if TYPE_CHECKING:
    from karatage.experiments.collaborative.findings import CollaborativeFindings

SIGNS = {ABOVE: "+", BELOW: "-"}
SIGNS_TEXT = "+ above, - below experts alone at the same cost, by 95 % intervals over samples"
NAME = 24  # characters
PLACE = ("order", "crowd", "ratio")


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
    shown = findings.finding_means.select(
        "order",
        "area",
        pl.col("topics_above").alias("ahead"),
        pl.col("topics_below").alias("behind"),
    )
    caption = "Relevant documents found: area under the curve, topics ahead of and behind depth"
    return Table(shown, caption, digits={"ahead": 1, "behind": 1}, name="finding")


def tabulate_consensus(findings: CollaborativeFindings, order: str) -> Iterator[Table]:
    """For each crowd, tau_ap by approach and share of experts."""
    here = findings.consensus.filter(order=order, ratio=findings.plan.ratios[0])
    for (crowd,), table in here.group_by(["crowd"], maintain_order=True):
        name = shorten(str(crowd), NAME)
        caption = f"{order}, {findings.plan.fixed_share:g} % by crowd {name}: tau_ap, by % by experts"
        yield Table(_cross(table, "approach", "tau_ap"), caption, 3)


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
        headers = {"crowd_part": "crowd"}
        if ratio == findings.plan.ratios[0]:
            caption = f"{order}, crowd {name}: tau_ap, by % by the crowd (down) and experts"
            yield Table(_cross(by_share, "crowd_part", "tau_ap"), caption, 3, headers=headers)
        caption = f"{order}, crowd {name} at {shorten(str(ratio), NAME)}: gap to experts alone at the same cost"
        gaps = _cross(by_share, "crowd_part", "told")
        yield Table(gaps, caption, headers=headers, right=gaps.columns[1:])


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
    return Table(findings.table33, caption, 2, name="quality", headers={"rate": ""})
