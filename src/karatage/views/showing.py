"""How results and data are shown: as pages, in notebooks, in the terminal and by `plot()`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import OptionError
from karatage.views.page import VIEWS, Page, Section, shows
from karatage.views.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import altair as alt

# The module that shows each kind of result, or each class of those that are not saved; imported when it is needed.
HOMES: Final = {
    "audit": "audit",
    "aware": "aware",
    "benchmark": "benchmark",
    "board": "board",
    "calibration": "calibration",
    "collaborative": "collaborative",
    "comparison": "comparison",
    "crowd": "crowd",
    "diagnosis": "diagnosis",
    "draws": "scores",
    "evaluation": "evaluation",
    "gold-plan": "plan",
    "noisy": "noisy",
    "posterior": "posterior",
    "queue": "queue",
    "random-relevance": "random_relevance",
    "scores": "scores",
    "settling": "queue",
    "size-plan": "plan",
    "supervised": "supervised",
    "survey": "survey",
    "weights": "scores",
    "Accuracy": "calibration",
    "Anova": "variance",
    "CrowdModel": "crowd",
    "DisagreementModel": "queue",
    "PairedTest": "comparison",
    "Tukey": "variance",
    "UnpairedTest": "comparison",
}
HEAD = 5  # rows of data


def import_view(kind: str) -> None:
    """Import the module that shows results of a kind, and with it their class."""
    if kind in HOMES:
        import_module(f"karatage.views.{HOMES[kind]}")


def list_views() -> Mapping[type, Callable[[Any], Page]]:
    """The views of all classes, which takes seconds to import."""
    for kind in HOMES:
        import_view(kind)
    return VIEWS


def lay_out(result: object) -> Page:
    """A result as a page."""
    kind = type(result)
    if kind not in VIEWS:
        import_view(getattr(kind, "kind", kind.__name__))
    if kind not in VIEWS:
        known = sorted(known.__name__ for known in list_views())
        raise OptionError(f"{kind.__name__} has no page; there is one for {', '.join(known)}")
    return VIEWS[kind](result)


def chart(result: object) -> alt.TopLevelMixin:
    """The most important chart of a result: the first of its page."""
    page = lay_out(result)
    figure = next((figure for _, figure in page.figures), None)
    if figure is None:
        raise OptionError(f"there is no chart of this {type(result).__name__}: {page.sentence}")
    return figure.chart


def show(result: object) -> str:
    """The sentence, the tables and the notes as HTML, for a notebook."""
    from karatage.views.html import render_excerpt

    return render_excerpt(lay_out(result))


def write(result: object) -> str:
    """The sentence and the first table as text of 80 columns."""
    from karatage.views.text import render_excerpt

    return render_excerpt(lay_out(result))


@shows(Judgments)
def view_judgments(judgments: Judgments) -> Page:
    """Grades with their counts, and the first rows."""
    counts = np.bincount(judgments.grade, minlength=judgments.top_grade + 1)
    grades = pl.DataFrame({"grade": range(len(counts)), "judgments": counts, "share": counts / max(len(judgments), 1)})
    tables = [_tabulate_head(judgments), Table(grades, "Grades", digits=1, name="grades", shares=("share",))]
    return Page("Judgments", f"{judgments!r}", [Section("Judgments", tables=tables)], judgments.notes)


@shows(Runs)
def view_runs(runs: Runs) -> Page:
    """Systems with their topics and documents, and the first rows."""
    size = runs.bounds[..., 1] - runs.bounds[..., 0]  # (topic, system)
    columns = {"topics": (size > 0).sum(axis=0), "documents": size.sum(axis=0)}
    systems = pl.DataFrame({"system": pl.Series(runs.systems, dtype=pl.String), **columns})
    tables = [_tabulate_head(runs), Table(systems, "Systems", name="systems", about="system")]
    return Page("Runs", f"{runs!r}", [Section("Runs", tables=tables)], runs.notes)


def _tabulate_head(data: Judgments | Runs) -> Table:
    return Table(data.to_frame().head(HEAD), f"The first {min(HEAD, len(data))} of {len(data):,} rows", name="head")
