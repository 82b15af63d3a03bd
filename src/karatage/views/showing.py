"""What results look like: one registry, behind pages, notebooks, the terminal and `plot()`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from karatage.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

    from karatage.views.page import Page

Shows = TypeVar("Shows", bound="Callable[..., Page]")

# Where the view of each kind of result is. Modules are loaded when one is first asked for: those of experiments take
# seconds.
MODULES = {
    "Accuracy": "accuracy",
    "Anova": "variance",
    "Audit": "audit",
    "AwareFindings": "aware",
    "Benchmark": "benchmark",
    "Board": "board",
    "Calibration": "calibration",
    "CollaborativeFindings": "collaborative",
    "Comparison": "comparison",
    "CrowdModel": "crowd",
    "CrowdSummary": "crowd",
    "Diagnosis": "diagnosis",
    "DisagreementModel": "disagreement",
    "Draws": "draws",
    "Evaluation": "evaluation",
    "GoldPlan": "plan",
    "JudgingQueue": "queue",
    "NoisyFindings": "noisy",
    "PairedTest": "tests",
    "Posterior": "posterior",
    "RandomRelevanceFindings": "random_relevance",
    "Scores": "scores",
    "Settling": "queue",
    "SizePlan": "sizes",
    "SupervisedFindings": "supervised",
    "Survey": "survey",
    "Tukey": "variance",
    "UnpairedTest": "tests",
    "Weights": "weights",
}
VIEWS: dict[type, Callable[[Any], Page]] = {}


def shows(kind: type) -> Callable[[Shows], Shows]:
    """Register the function that makes a page of results of a kind."""

    def register(view: Shows) -> Shows:
        VIEWS[kind] = view
        return view

    return register


def lay_out(result: object) -> Page:
    """A result as a page."""
    kind = type(result)
    if not kind.__module__.startswith("karatage.") or kind.__name__ not in MODULES:
        raise OptionError(f"{kind.__name__} has no page; there is one for {', '.join(MODULES)}")
    import_module(f"karatage.views.{MODULES[kind.__name__]}")
    return VIEWS[kind](result)


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
