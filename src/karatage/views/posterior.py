"""Merged grades: their probabilities, and the model's estimates about the judges."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.posterior import Posterior
from karatage.text import counted, shorten
from karatage.views.choosing import WIDEST, let_choose
from karatage.views.marks import CORRECTED, PLAIN, WHOLE, Axis, Rows, entitle, lay_panel, mark, mark_line
from karatage.views.page import Figure, Page, Section, list_options, shows, spell_versions
from karatage.views.table import Table

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.judgments import Judgments

DIGITS = 3
DOUBTFUL = 25  # items of the table
PROBABILITIES = """Probabilities are the model's: they are valid if its assumptions hold. If judges share errors,
they are too high."""
ESTIMATES = """What the model estimates about the judges, without gold unless it was given some."""
SURE = 0.9
BINS = 20
ROOM, PANEL = 560, 80  # pixels
MANY_JUDGES = 60  # more of them have no row each


@shows(Posterior)
def view_posterior(posterior: Posterior) -> Page:
    """Probabilities of the grades, the least certain items, and estimates about the judges."""
    behind = Table(frame_sureness(posterior), "Items by probability", digits=2, name="sureness")
    sure = Figure(partial(chart_sureness, posterior), "Items by the probability of their grade", "sureness", behind)
    sections = [Section("Merged grades", "", [_tabulate_doubtful(posterior)], [sure], background=PROBABILITIES)]
    if posterior.judge_names and posterior.parameters:
        found, caption = frame_judges(posterior), "How often each judge is right, by the model"
        charts = [] if found is None else [Figure(partial(chart_judges, posterior, found), caption, "judges")]
        sections.append(Section("Judges", "", [tabulate_record(posterior)], charts, background=ESTIMATES))
    steps = f"{posterior.iterations:,}" + ("" if posterior.converged else ", not converged")
    facts = list_options(approach=posterior.model, steps=steps, versions=spell_versions(posterior.versions))
    return Page(_entitle(posterior), posterior.sentence, sections, posterior.notes, facts)


def view_grades(posterior: Posterior, added: Judgments | None = None) -> Page:
    """All items with their grades, for the terminal; gold's own items are `added`."""
    section = Section("Merged grades", tables=[tabulate_grades(posterior, added)])
    return Page(_entitle(posterior), posterior.sentence, [section], posterior.notes)


def view_record(posterior: Posterior) -> Page:
    """The model's estimates about each judge, for the terminal."""
    return Page(_entitle(posterior), posterior.sentence, [Section("Judges", tables=[tabulate_record(posterior)])])


def _entitle(posterior: Posterior) -> str:
    return f"{counted(len(posterior.grades), 'item')} merged by {shorten(posterior.model, 60)}"


def tabulate_grades(merged: Posterior, added: Judgments | None = None) -> Table:
    """Every item with its grade, the expected one and the probabilities; gold's own items are `added`."""
    frame = merged.to_frame(added)
    chances = [name for name in frame.columns if name.startswith("p")]
    names = [name for name in frame.columns if name not in {*chances, "expected"}]
    columns = _put_text_first(frame.select(*names, "expected", *chances))
    return Table(frame, f"Merged by {merged.model}", DIGITS, name="grades", noun="item", columns=columns)


def tabulate_record(merged: Posterior) -> Table:
    """The model's estimates about each judge."""
    caption = f"Judges, as estimated by {merged.model}"
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
    caption = f"The {counted(len(frame), 'item')} with the least certain grades, of {len(whole.frame):,}"
    return Table(frame, caption, whole.digits, name="doubtful", columns=whole.columns)


def frame_sureness(posterior: Posterior) -> pl.DataFrame:
    """Items by grade and probability: grade, from, to, items; only where there are some."""
    sure = posterior.probability.max(axis=1)
    place = np.clip(np.floor(sure * BINS + 1e-9), 0, BINS - 1).astype(int)
    frame = pl.DataFrame({"grade": posterior.grades, "place": place})
    counts = frame.group_by("grade", "place").agg(items=pl.len()).sort("place", "grade")
    edge = pl.col("place") / BINS
    return counts.select(pl.col("grade").cast(pl.Int64), edge.alias("from"), (edge + 1 / BINS).alias("to"), "items")


def chart_sureness(posterior: Posterior) -> alt.VConcatChart:
    """Items by the probability of the grade decided on, a panel for each grade; uncertain ones are left of the line."""
    import altair as alt

    frame = frame_sureness(posterior)
    grades = sorted(frame["grade"].unique())
    ends = {"domain": [min(*frame["from"], SURE - 1 / BINS), 1], "nice": False}
    panels = []
    for grade in grades:
        last = grade == grades[-1]
        title = "probability of the grade decided on" if last else None
        across = Axis("from:Q", title, ends, {"labels": last, "format": ".2~f"})
        ticks = {"tickCount": 3, "tickMinStep": 1}
        up = Axis("items:Q", f"grade {grade}", {"type": "sqrt", "domainMin": 0}, ticks)
        told = ["grade:Q", "from:Q", "to:Q", "items:Q"]
        style = {"color": CORRECTED, "stroke": PLAIN, "strokeWidth": 0.5}
        bars = mark(frame.filter(grade=grade), "rect", across, up, to=("to:Q", 0), told=told, style=style)
        panels.append(lay_panel([bars, mark_line(across, SURE)], (ROOM, PANEL)))
    said = f"dashed: probability {SURE:.0%}; each grade has a separate scale, a square root so that small counts show"
    head = entitle(f"Probabilities of {counted(len(posterior.grades), 'merged grade')}", [said])
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=6, title=head)
    return chart


def frame_judges(posterior: Posterior) -> pl.DataFrame | None:
    """One row per judge, best first: judge, value (accuracy by the model), low and high over topics, grades if known.

    None where the model does not estimate accuracy.
    """
    judges = posterior.judges
    if "accuracy" not in judges.columns or not len(judges):
        return None
    right = pl.col("accuracy").fill_nan(None)
    columns = {"value": right.mean(), "low": right.min(), "high": right.max()}
    if "grades" in judges.columns:
        columns["grades"] = pl.col("grades").sum()
    found = judges.group_by("judge", maintain_order=True).agg(**columns)
    return found.sort("value", "judge", descending=[True, False], nulls_last=True)


def chart_judges(posterior: Posterior, frame: pl.DataFrame) -> alt.HConcatChart | alt.LayerChart:
    """Judges by their estimated accuracy; many judges by the number of grades that they gave."""
    title = f"Judges, as estimated by {posterior.model}"
    if len(frame) > MANY_JUDGES and not posterior.judge_topics:
        axes = Axis("grades:Q", "grades given", {"type": "log"}), Axis("value:Q", "accuracy", {"domain": [0, 1]})
        style = {"filled": True, "size": 34, "color": CORRECTED}
        told = ["judge", "value", "grades"]
        points = mark(frame, "point", *axes, told=told, follow="judge", shown=0.7, style=style)
        return let_choose(lay_panel([points.properties(name="judge-value")], (WIDEST - 60, 260), title, []), "judge")
    orders = {} if posterior.judge_topics else {"grades": "grades"}
    told = ["judge:N", *(f"{name}:Q" for name in frame.columns if name != "judge")]
    rows = Rows(frame, "judge", told, natural="accuracy", orders=orders)
    said = ["lines: from the lowest to the highest over topics"] if posterior.judge_topics else []
    return rows.put_together([rows.chart_dots(Axis("value:Q", "accuracy", WHOLE), rows.width)], title, said)
