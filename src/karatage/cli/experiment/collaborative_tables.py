"""What `karatage experiment collaborative` prints: tables of 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.cli.output import render, show_table, split_columns

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.collaborative.findings import CollaborativeFindings

FEW = 1  # orders whose tables are printed; all are in tables.txt


def render_collaborative(findings: CollaborativeFindings, *, everything: bool = False) -> str:
    """All tables as text, 80 columns wide, and the closing sentence; of mixes only the first order's at first."""
    from karatage.views import collaborative as tabulating

    parts: list[RenderableType] = []
    if len(findings.order_means):
        parts += [show_table(table) for table in tabulating.tabulate_orders(findings)]
    if len(findings.finding_means):
        parts.append(show_table(tabulating.tabulate_finding(findings)))
    for order in findings.plan.orders if everything else findings.plan.orders[:FEW]:
        parts += [show_table(table) for table in tabulating.tabulate_consensus(findings, order)]
        parts += [show_table(table) for table in tabulating.tabulate_shares(findings, order)]
        if len(findings.shares) and findings.plan.samples > 1:
            parts.append(f"{tabulating.SIGNS_TEXT}\n")
    if len(findings.wins):
        parts += [show_table(tabulating.tabulate_wins(findings)), show_table(tabulating.tabulate_reach(findings))]
    if len(findings.table33):
        parts += [show_table(table) for table in split_columns(tabulating.tabulate_quality(findings), 2)]
    return render(*parts, findings.sentence)
