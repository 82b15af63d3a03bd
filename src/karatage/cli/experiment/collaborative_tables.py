"""What `karatage experiment collaborative` prints: tables of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from karatage.cli.output import make_table, render
from karatage.experiments.collaborative.summing import ABOVE, BELOW
from karatage.wording import shorten

if TYPE_CHECKING:
    from rich.table import Table

    from karatage.experiments.collaborative.findings import CollaborativeFindings

MARKS = {ABOVE: "+", BELOW: "-"}
KEY = "+ above, - below experts alone at the same cost, by 95 % intervals over samples"
FEW = 1  # orders whose tables are printed; all are in tables.txt
NAME = 24


def render_collaborative(findings: CollaborativeFindings, *, everything: bool = False) -> str:
    """All tables as text, 80 columns wide, and the closing sentence; of mixes only the first order's at first."""
    parts: list[Table | str] = []
    if len(findings.order_means):
        parts += _show_orders(findings)
    if len(findings.finding_means):
        parts += _show_finding(findings)
    orders = findings.plan.orders if everything else findings.plan.orders[:FEW]
    for order in orders:
        parts += _show_consensus(findings, order)
        parts += _show_shares(findings, order)
    if len(findings.wins):
        parts += ["Mixes against experts alone at the same cost", _list_wins(findings)]
        parts += ["Least cost for tau_ap 0.9, % of full", _list_reach(findings)]
    if len(findings.table33):
        parts += _show_quality(findings)
    return render(*parts, findings.sentence)


def _show_orders(findings: CollaborativeFindings) -> Iterator[Table | str]:
    yield f"Experts alone: tau_ap by {findings.plan.measure} to full judging, by % of the pool judged"
    yield _cross(findings.order_means, ["order"], "experts", "tau_ap")
    if len(findings.plan.orders) > 1:
        yield "The same, above depth; ± half of the 95 % interval over topics"
        half = (pl.col("gap_topics_high") - pl.col("gap_topics_low")) / 2
        table = findings.order_means.filter(pl.col("order") != "depth").with_columns(half=half)
        yield _cross(table, ["order"], "experts", "gap", plus=True, spread="half")


def _show_finding(findings: CollaborativeFindings) -> Iterator[Table | str]:
    yield "Relevant documents found: area under the curve, topics ahead of and behind depth"
    columns = ("order", "area", "topics_above", "topics_below")
    rows = [
        [order, f"{area:.4f}", f"{above:.3g}", f"{below:.3g}"]
        for order, area, above, below in findings.finding_means.select(*columns).rows()
    ]
    yield make_table("", ["order", "area", "ahead", "behind"], rows, text_columns=1)


def _show_consensus(findings: CollaborativeFindings, order: str) -> Iterator[Table | str]:
    here = findings.consensus.filter(order=order, ratio=findings.plan.ratios[0])
    for (crowd,), table in here.group_by(["crowd"], maintain_order=True):
        name = shorten(str(crowd), NAME)
        yield f"{order}, {findings.plan.fixed_share:g} % by crowd {name}: tau_ap, by % by experts"
        yield _cross(table, ["approach"], "experts", "tau_ap")


def _show_shares(findings: CollaborativeFindings, order: str) -> Iterator[Table | str]:
    for (crowd, ratio), table in findings.shares.filter(order=order).group_by(["crowd", "ratio"], maintain_order=True):
        name = f"{shorten(str(crowd), NAME)} ({findings.plan.approach})"
        if ratio == findings.plan.ratios[0]:
            yield f"{order}, crowd {name}: tau_ap, by % by the crowd (down) and experts"
            yield _cross(table.sort("crowd_share"), ["crowd_share"], "experts", "tau_ap")
        yield f"{order}, crowd {name} at {shorten(str(ratio), NAME)}: gap to experts alone at the same cost"
        yield _cross(table.sort("crowd_share"), ["crowd_share"], "experts", "gap", plus=True, mark="verdict")
    if len(findings.shares) and findings.plan.samples > 1:
        yield f"{KEY}\n"


def _list_wins(findings: CollaborativeFindings) -> Table:
    names = ["order", "crowd", "ratio", "mixes", "above", "below", "over topics", "mean gap"]
    rows = [
        [
            *(shorten(row[name], NAME) for name in ("order", "crowd", "ratio")),
            *(str(row[name]) for name in ("mixes", ABOVE, BELOW)),
            f"{row[f'topics_{ABOVE}']} / {row[f'topics_{BELOW}']}",
            f"{row['gap']:+.3f}",
        ]
        for row in findings.wins.iter_rows(named=True)
    ]
    return make_table("", names, rows, text_columns=3)


def _list_reach(findings: CollaborativeFindings) -> Table:
    names = ["order", "crowd", "ratio", "mix", "experts + crowd", "experts alone"]
    rows = []
    for row in findings.reach().iter_rows(named=True):
        mix = "–" if row["cost"] is None else f"{row['experts']:g} + {row['crowd_share']:g}"
        told = [shorten(row[name], NAME) for name in ("order", "crowd", "ratio")]
        rows.append([*told, _percent(row["cost"]), mix, _percent(row["alone"])])
    return make_table("", names, rows, text_columns=3)


def _show_quality(findings: CollaborativeFindings) -> Iterator[Table | str]:
    yield "Table 3.3: recall (R) and precision (P) of the crowd's merged grades, %"
    names = [name for name in findings.table33.columns if name not in ("crowd", "rate")]
    rows = [
        [shorten(row["crowd"], NAME), row["rate"], *("–" if row[n] is None else f"{row[n]:.2f}" for n in names)]
        for row in findings.table33.iter_rows(named=True)
    ]
    yield make_table("", ["crowd", "", *(shorten(name, 12) for name in names)], rows, text_columns=2)


def _cross(
    table: pl.DataFrame,
    down: Sequence[str],
    across: str,
    value: str,
    *,
    plus: bool = False,
    spread: str | None = None,
    mark: str | None = None,
) -> Table:
    """A row for each of `down`, a column for each of `across`."""
    shares = table[across].unique().sort().to_list()
    rows = []
    for key, group in table.group_by(down, maintain_order=True):
        found = {row[across]: row for row in group.iter_rows(named=True)}
        cells = []
        for share in shares:
            row = found.get(share)
            number = "" if row is None else f"{row[value]:+.3f}" if plus else f"{row[value]:.3f}"
            if row is not None and spread is not None and row[spread] is not None:
                number = f"{row[value]:+.2f}±{row[spread]:.2f}".replace("0.", ".")  # six of these fill a line
            if row is not None and mark is not None:
                number += MARKS.get(row[mark], " ")
            cells.append(number)
        rows.append([*(f"{part:g} %" if isinstance(part, float) else shorten(str(part), NAME) for part in key), *cells])
    heads = [name.replace("crowd_share", "crowd") for name in down]
    return make_table("", [*heads, *(f"{share:g} %" for share in shares)], rows, text_columns=len(down))


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"
