"""What results look like: one registry, behind pages, notebooks and `plot()`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from karatage.errors import OptionError
from karatage.views.page import Page, render_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable

    import altair as alt

# Where results are laid out. Modules are loaded when one is first asked for: those of experiments take seconds.
LAYOUTS = {
    "Accuracy": "layout.accuracy:lay_out_accuracy",
    "Anova": "layout.effects:lay_out_anova",
    "Audit": "layout.audit:lay_out_audit",
    "AwareFindings": "aware_page:lay_out",
    "Benchmark": "layout.benchmark:lay_out_benchmark",
    "Board": "layout.board:lay_out_board",
    "Calibration": "layout.calibration:lay_out_calibration",
    "CollaborativeFindings": "collaborative:lay_out_collaborative",
    "Comparison": "layout.comparison:lay_out_comparison",
    "CrowdModel": "layout.crowd:lay_out_crowd",
    "CrowdSummary": "layout.crowd:lay_out_summary",
    "Diagnosis": "layout.diagnosis:lay_out_diagnosis",
    "DisagreementModel": "layout.disagreement:lay_out_disagreement",
    "Draws": "layout.draws:lay_out_draws",
    "Evaluation": "layout.evaluation:lay_out_evaluation",
    "GoldPlan": "layout.plan:lay_out_plan",
    "JudgingQueue": "layout.queue:lay_out_queue",
    "NoisyFindings": "noisy:lay_out_noisy",
    "PairedTest": "layout.tests:lay_out_paired",
    "Posterior": "layout.posterior:lay_out_posterior",
    "RandomRelevanceFindings": "random_relevance:lay_out_random_relevance",
    "Scores": "layout.scores:lay_out_scores",
    "Settling": "layout.queue:lay_out_settling",
    "SizePlan": "layout.sizes:lay_out_sizes",
    "SupervisedFindings": "supervised:lay_out_supervised",
    "Survey": "layout.survey:lay_out_survey",
    "Tukey": "layout.effects:lay_out_tukey",
    "UnpairedTest": "layout.tests:lay_out_unpaired",
    "Weights": "layout.weights:lay_out_weights",
}


def lay_out(result: object) -> Page:
    """A result as a page."""
    kind = type(result)
    if not kind.__module__.startswith("karatage.") or kind.__name__ not in LAYOUTS:
        raise OptionError(f"{kind.__name__} has no page; there is one for {', '.join(LAYOUTS)}")
    module, _, name = LAYOUTS[kind.__name__].partition(":")
    found = cast("Callable[[object], Page]", getattr(import_module(f"karatage.views.{module}"), name))
    return found(result)


def draw(result: object) -> alt.TopLevelMixin:
    """The chart that says most: the first of the result's page."""
    page = lay_out(result)
    figure = next((figure for _, figure in page.figures), None)
    if figure is None:
        raise OptionError(f"there is nothing to draw of this {type(result).__name__}: {page.sentence}")
    return figure.chart


def show(result: object) -> str:
    """The sentence, the tables and the doubts as HTML, for a notebook."""
    return render_excerpt(lay_out(result))
