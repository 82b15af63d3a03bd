"""Merged grades: how sure they are, and what the model found about its judges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.posterior import Posterior
from karatage.text import counted, shorten
from karatage.views.page import Figure, Page, Section, list_options, spell_versions
from karatage.views.posterior_charts import draw_judges, draw_sureness, frame_judges, frame_sureness
from karatage.views.showing import shows
from karatage.views.table import Table

if TYPE_CHECKING:
    from karatage.data.judgments import Judgments

DIGITS = 3
DOUBTFUL = 25  # items of the table
SURE = """Probabilities are the model's own: they hold as far as its assumptions do. Where judges err together, they are
too high."""
JUDGES = """What the model estimates about the judges, without gold unless it was given some."""


@shows(Posterior)
def view_posterior(posterior: Posterior) -> Page:
    """How sure the grades are, which are not, and how good the model finds the judges."""
    behind = Table(frame_sureness(posterior), "Items by probability", digits=2, name="sureness")
    sure = Figure(partial(draw_sureness, posterior), "Items by the probability of their grade", "sureness", behind)
    sections = [Section("Merged grades", "", [_tabulate_doubtful(posterior)], [sure], background=SURE)]
    if posterior.judge_names and posterior.parameters:
        sections.append(_view_judges(posterior))
    steps = f"{posterior.iterations:,}" + ("" if posterior.converged else ", not converged")
    facts = list_options(approach=posterior.model, steps=steps, versions=spell_versions(posterior.versions))
    return Page(_entitle(posterior), posterior.sentence, sections, posterior.notes, facts)


def view_grades(posterior: Posterior, added: Judgments | None = None) -> Page:
    """All items with their grades, for the terminal; gold's own items are `added`."""
    section = Section("Merged grades", tables=[tabulate_grades(posterior, added)])
    return Page(_entitle(posterior), posterior.sentence, [section], posterior.notes)


def view_record(posterior: Posterior) -> Page:
    """What the model found about each judge, for the terminal."""
    return Page(_entitle(posterior), posterior.sentence, [Section("Judges", tables=[tabulate_record(posterior)])])


def _entitle(posterior: Posterior) -> str:
    return f"{counted(len(posterior.grades), 'item')} merged by {shorten(posterior.model, 60)}"


def _view_judges(posterior: Posterior) -> Section:
    found = frame_judges(posterior)
    caption = "How often each judge is right, by the model"
    drawn = [] if found is None else [Figure(partial(draw_judges, posterior, found), caption, "judges")]
    return Section("Judges", "", [tabulate_record(posterior)], drawn, background=JUDGES)


def tabulate_grades(merged: Posterior, added: Judgments | None = None) -> Table:
    """Every item with its grade, the expected one and the probabilities; gold's own items are `added`."""
    frame = merged.to_frame(added)
    chances = [name for name in frame.columns if name.startswith("p")]
    names = [name for name in frame.columns if name not in {*chances, "expected"}]
    columns = _put_text_first(frame.select(*names, "expected", *chances))
    return Table(frame, f"Merged by {merged.model}", DIGITS, name="grades", noun="item", columns=columns)


def tabulate_record(merged: Posterior) -> Table:
    """What the model found about each judge."""
    caption = f"Judges, as {merged.model} sees them"
    columns = _put_text_first(merged.judges)
    return Table(merged.judges, caption, DIGITS, name="judges", about="judge", columns=columns)


def _put_text_first(frame: pl.DataFrame) -> dict[str, str]:
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return {name: name for name in dict.fromkeys([*texts, *frame.columns])}


def _tabulate_doubtful(posterior: Posterior) -> Table:
    """The items for which a gold grade would help most."""
    whole = tabulate_grades(posterior)
    sure = pl.Series("sure", posterior.probability.max(axis=1))
    frame = whole.frame.with_columns(sure).sort("sure", maintain_order=True).head(DOUBTFUL).drop("sure")
    caption = f"The {counted(len(frame), 'item')} that are least sure, of {len(whole.frame):,}"
    return Table(frame, caption, whole.digits, name="doubtful", columns=whole.columns)
