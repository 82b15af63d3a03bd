"""Merged grades as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.text import counted, shorten
from karatage.views.layout.facts import list_options, spell_versions
from karatage.views.page import Figure, Page, Section
from karatage.views.posterior_charts import draw_judges, draw_sureness, frame_judges, frame_sureness
from karatage.views.tables import Table
from karatage.views.tabulating.posterior import tabulate_grades, tabulate_record

if TYPE_CHECKING:
    from karatage.data.posterior import Posterior

DOUBTFUL = 25  # items of the table
SURE = """Probabilities are the model's own: they are right as far as its assumptions are, and judges who err together
make it surer than it should be."""
JUDGES = """What the model believes of the judges, without asking gold unless it was given some."""


def lay_out_posterior(posterior: Posterior) -> Page:
    """How sure the grades are, which are not, and how good the model finds the judges."""
    sure = Figure(
        draw_sureness(posterior), "Items by the probability of their grade", "sureness", _tabulate_sureness(posterior)
    )
    sections = [Section("Merged grades", SURE, [_tabulate_doubtful(posterior)], [sure])]
    if posterior.judge_names and posterior.parameters:
        found = frame_judges(posterior)
        drawn = (
            []
            if found is None
            else [Figure(draw_judges(posterior, found), "How often each judge is right, by the model", "judges")]
        )
        sections.append(Section("Judges", JUDGES, [tabulate_record(posterior)], drawn))
    steps = f"{posterior.iterations:,}" + ("" if posterior.converged else ", not converged")
    facts = list_options(approach=posterior.model, steps=steps, versions=spell_versions(posterior.versions))
    title = f"{counted(len(posterior.grades), 'item')} merged by {shorten(posterior.model, 60)}"
    return Page(title, posterior.sentence, sections, posterior.notes, facts)


def _tabulate_doubtful(posterior: Posterior) -> Table:
    """The items that a gold judge would help most with."""
    whole = tabulate_grades(posterior)
    frame = whole.frame.with_columns(pl.Series("sure", posterior.probability.max(axis=1)))
    shown = frame.sort("sure", maintain_order=True).head(DOUBTFUL).drop("sure")
    caption = f"The {counted(len(shown), 'item')} that are least sure, of {len(frame):,}"
    return Table(shown, caption, whole.digits, name="doubtful")


def _tabulate_sureness(posterior: Posterior) -> Table:
    return Table(frame_sureness(posterior), "Items by probability", digits=2, name="sureness")
