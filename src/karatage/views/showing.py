"""What results look like: one registry, behind pages, notebooks, the terminal and `plot()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karatage.errors import OptionError
from karatage.views import (  # noqa: F401 - each registers its views
    audit,
    board,
    calibration,
    comparison,
    crowd,
    diagnosis,
    evaluation,
    inputs,
    plan,
    posterior,
    queue,
    scores,
    survey,
    variance,
)
from karatage.views.page import VIEWS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import altair as alt

    from karatage.views.page import Page


def list_views() -> Mapping[type, Callable[[Any], Page]]:
    """All views; those of experiments are loaded now, as they take seconds."""
    from karatage.views import (  # noqa: F401
        aware,
        benchmark,
        collaborative,
        noisy,
        random_relevance,
        supervised,
    )

    return VIEWS


def lay_out(result: object) -> Page:
    """A result as a page."""
    kind = type(result)
    view = VIEWS.get(kind) or (list_views().get(kind) if kind.__module__.startswith("karatage.") else None)
    if view is None:
        known = sorted(known.__name__ for known in list_views())
        raise OptionError(f"{kind.__name__} has no page; there is one for {', '.join(known)}")
    return view(result)


def draw(result: object) -> alt.TopLevelMixin:
    """The chart that says most: the first of the result's page."""
    page = lay_out(result)
    figure = next((figure for _, figure in page.figures), None)
    if figure is None:
        raise OptionError(f"there is nothing to draw of this {type(result).__name__}: {page.sentence}")
    return figure.chart


def show(result: object) -> str:
    """The sentence, the tables and the notes as HTML, for a notebook."""
    from karatage.views.html import render_excerpt

    return render_excerpt(lay_out(result))


def write(result: object) -> str:
    """The sentence and the first table as text of 80 columns."""
    from karatage.views.text import render_excerpt

    return render_excerpt(lay_out(result))
