"""A comparison of two systems as text."""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING

from karatage.cli.output import WIDTH, make_table, render
from karatage.wording import counted, percent, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from karatage.data.board import Board
    from karatage.data.comparison import Comparison, Opinion

WAYS = {
    "rates": "error rates undone",
    "sampled": "gold drawn",
    "topics": "gold topics",
    "census": "gold alone",
}
LEAST_P = 0.0001


def render_comparison(found: Comparison) -> str:
    """The opinions side by side, what they rest on, and the sentence."""
    title = f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, 30)}"
    if (found.a, found.b) != ("a", "b"):
        title += f"; a = {shorten(found.a, 30)}, b = {shorten(found.b, 30)}"
    scores = [_score_row(opinion) for opinion in found.opinions if opinion.a is not None]
    level = percent(found.naive.difference.confidence)
    return render(
        fill(title, WIDTH),
        "",
        make_table("Scores", ["by", "a", "± s.e.", "b", "± s.e."], scores, text_columns=1),
        make_table(
            "Difference",
            ["by", "b - a", "± s.e.", "t", f"{level} from", "to", "p"],
            [_difference_row(opinion) for opinion in found.opinions],
            text_columns=1,
        ),
        *(fill(text, WIDTH) for text in explain_correction(found)),
        "",
        fill(found.sentence, WIDTH),
    )


def _score_row(opinion: Opinion) -> list[str]:
    row = [_name(opinion)]
    for score in (opinion.a, opinion.b):
        row += ["-", "-"] if score is None else [f"{score.value:.4f}", _number(score.standard_error)]
    return row


def _difference_row(opinion: Opinion) -> list[str]:
    found = opinion.difference
    bounds = ["exact", ""] if found.exact else [_number(found.low, "+.4f"), _number(found.high, "+.4f")]
    t = found.value / found.standard_error if found.standard_error > 0 else math.nan
    numbers = [f"{found.value:+.4f}", _number(found.standard_error), _number(t, "+.3f")]
    return [_name(opinion), *numbers, *bounds, _say_p(opinion.p_value)]


def _name(opinion: Opinion) -> str:
    return WAYS.get(opinion.way, opinion.way)


def _number(value: float, style: str = ".4f") -> str:
    return format(value, style) if math.isfinite(value) else "-"


def _say_p(p_value: float) -> str:
    if math.isnan(p_value):
        return "-"
    return f"< {LEAST_P}" if p_value < LEAST_P else f"{p_value:.4f}"


def explain_correction(found: Comparison | Board) -> Iterator[str]:
    """Paragraphs on what the correction rests on."""
    if found.gold is not None:
        yield f"{found.gold[0].upper()}{found.gold[1:]}."
    if found.accuracy is not None:
        yield f"{found.accuracy.sentence[0].upper()}{found.accuracy.sentence[1:]}."
    if found.corrected is not None:
        yield f"Assumed: {'; '.join(found.assumed)}."
        yield f"The claim is about {found.claim}."
    if found.alarm is not None:
        yield f"Alarm: {found.alarm}."
