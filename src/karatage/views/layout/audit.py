"""An audit of the judges as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.text import counted
from karatage.views.audit_charts import draw_agreement, draw_confusion, draw_judges, draw_votes
from karatage.views.layout.facts import list_facts
from karatage.views.layout.limits import keep_first
from karatage.views.page import Figure, Page, Section
from karatage.views.tabulating.audit import (
    explain_suspicions,
    tabulate_agreement,
    tabulate_confusion,
    tabulate_families,
    tabulate_judges,
    tabulate_merges,
    tabulate_pairs,
    tabulate_panel,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.audit import Audit

FEWEST_FOR_PANEL = 2
MOST_SUSPICIONS = 20
MOST_IN_SQUARE = 60
RIGHT = "How often each judge is right about gold's items, and how much higher than gold it grades"
VOTES = """Judges that err on the same documents repeat each other. Effective votes say how many judges who err apart
would be worth as much as these. An error is any grade other than gold's, be it one too high or three too low."""


def lay_out_audit(audit: Audit) -> Page:
    """Judges one by one, as a panel, and against their merges."""
    judges = counted(len(audit.judges), "judge")
    return Page(f"Audit of {judges}", audit.sentence, list(lay_out_judges(audit)), audit.notes, list_facts(audit))


def lay_out_judges(audit: Audit) -> Iterator[Section]:
    """Sections on single judges, on pairs, and on the panel."""
    text = "\n\n".join([audit.sentence, *explain_suspicions(audit, MOST_SUSPICIONS)])
    with_gold = audit.gold_items > 0
    if with_gold:
        single = [
            Figure(draw_judges(audit), RIGHT, "judges"),
            Figure(
                draw_confusion(audit),
                "What judges say, by what gold says",
                "confusion",
                keep_first(tabulate_confusion(audit)),
            ),
        ]
    else:
        single = []
        text += "\n\nWithout gold nobody knows who is right: there is no confusion to show."
    yield Section("Judges", text, [keep_first(tabulate_judges(audit))], single)
    if len(audit.judges) >= FEWEST_FOR_PANEL:
        yield _lay_out_panel(audit)


def _lay_out_panel(audit: Audit) -> Section:
    panel = [tabulate_panel(audit)]
    if len(audit.families):
        panel.append(tabulate_families(audit))
    if len(audit.merges):
        panel.append(tabulate_merges(audit))
    charts = []
    if audit.statistic("effective_votes") is not None:
        charts.append(Figure(draw_votes(audit), "Judges, and the votes that they carry", "votes"))
    sampled = audit.statistic("pairs_compared") is not None  # few of those of any judges that a chart could show
    if len(audit.pairs) and not sampled:
        square = len(audit.judges) <= MOST_IN_SQUARE
        agreement = tabulate_agreement(audit) if square else keep_first(tabulate_pairs(audit))
        charts.append(Figure(draw_agreement(audit), "Agreement of judges two by two", "agreement", agreement))
    return Section("The panel", VOTES if charts else "", panel, charts)
