"""A comparison of two systems as text."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, render, show_table

if TYPE_CHECKING:
    from karatage.data.comparison import Comparison


def render_comparison(found: Comparison) -> str:
    """The opinions side by side, what they rest on, and the sentence."""
    from karatage.views.comparison import (
        entitle_comparison,
        explain_correction,
        tabulate_difference,
        tabulate_scores,
    )

    return render(
        fill(entitle_comparison(found), WIDTH),
        "",
        show_table(tabulate_scores(found)),
        show_table(tabulate_difference(found)),
        *(fill(text, WIDTH) for text in explain_correction(found)),
        "",
        fill(found.sentence, WIDTH),
    )
