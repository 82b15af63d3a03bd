"""The AWARE experiment's tables as text, 80 columns wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.cli.output import render, show_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karatage.experiments.aware.findings import AwareFindings

SHOWN_LEVELS = 8  # of a top group, where not everything is shown
SHOWN_SIZES, ALL_SIZES = 5, 7


def render_aware(findings: AwareFindings, *, everything: bool = False) -> str:
    """Families by size, the paper's tables 1 to 5, what of its order holds, where regimes cross; and the sentence.

    With `everything`, also every approach by size and outcome, and what lies between the first and the last panel.
    """
    from karatage.views import aware as tabulating

    panels = findings.panels if everything else findings.ends
    parts: list[RenderableType] = [
        show_table(table) for table in tabulating.tabulate_families(findings) if everything or not table.detail
    ]
    if everything:
        parts += [show_table(table) for table in tabulating.tabulate_approaches(findings, ALL_SIZES)]
    most = None if everything else SHOWN_LEVELS
    for panel in panels:
        parts += [show_table(table) for table in tabulating.tabulate_analyses(findings, panel)]
        parts += [show_table(table) for table in tabulating.tabulate_top_groups(findings, panel, most=most)]
        claims = tabulating.tabulate_claims(findings, panel)
        parts += [show_table(table, wrap=("in the paper", "here")) for table in claims]
    parts += [show_table(table) for table in tabulating.tabulate_contests(findings, SHOWN_SIZES)]
    parts += [
        show_table(table, wrap=("scores_lead", "grades_lead", "undecided"))
        for table in tabulating.tabulate_leads(findings)
    ]
    parts += [show_table(table) for table in tabulating.tabulate_crossings(findings)]
    return render(*parts, findings.sentence)
