"""Two systems compared: the difference by every opinion, the scores, and the basis of the correction; or a test."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.comparison.paired import PairedTest, UnpairedTest
from karatage.data.comparison import Comparison
from karatage.text import counted, percent, shorten
from karatage.views.choosing import NAME, finite, tell
from karatage.views.marks import CORRECTED, GUESS, JUDGES, Axis, Key, Rows
from karatage.views.page import Figure, Page, Section, list_facts, list_options, shows
from karatage.views.table import MINUS, Table, keep_finite

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt

    from karatage.data.board import Board
    from karatage.data.survey import Survey

ERRORS = "Scores are taken as correct: errors of judges are not corrected here."
SHADES = Key("by", {"judges": JUDGES, "corrected": CORRECTED, "guess": GUESS})
FORMS = Key("by", {"judges": "diamond", "corrected": "circle", "guess": "square"})
ON_AVERAGE = (
    "The best guess moves the judges' differences towards the corrected ones. Its intervals hold on average over pairs "
    "of systems, not for a pair that was chosen."
)
USUAL = "Intervals for usual judges assume that these judges are about as biased as judges elsewhere."


@shows(Comparison)
def view_comparison(found: Comparison) -> Page:
    """The opinions side by side."""
    facts = list_decision(found, confidence=percent(found.naive.difference.confidence))
    title = f"{shorten(found.b, NAME)} against {shorten(found.a, NAME)}: {found.measure}"
    return Page(title, found.sentence, [view_decision(found)], found.notes, facts)


def list_decision(found: Comparison | Board, within: Survey | None = None, **more: object) -> list[tuple[str, str]]:
    """What was asked and how it was corrected, with the seed and versions of this result or of the survey around it."""
    way = None if found.corrected is None else found.corrected.way
    asked = {"measure": found.measure, "approach": found.approach, "correction": way, "claim": found.claim, **more}
    return list_facts(within or found, **asked)


def view_decision(found: Comparison) -> Section:
    """The section, which a survey has too."""
    about = f"{found.measure}, {counted(found.topics, 'topic')}, {shorten(found.approach, NAME)}."
    text = [about, *explain_correction(found), *_explain_guess(found)]
    refused = "" if found.refusal is None else f"Correction was refused: {found.refusal}."
    caption = "The difference by each method, with its interval"
    chart = Figure(partial(chart_comparison, found), caption, "comparison")
    tables = [tabulate_difference(found), tabulate_scores(found), *tabulate_rates(found)]
    return Section("The decision", "\n\n".join(text), tables, [chart], background=refused)


def _name_systems(caption: str, found: Comparison) -> str:
    """A caption that says which systems a and b are."""
    if (found.a, found.b) == ("a", "b"):
        return caption
    return f"{caption}; a = {shorten(found.a, NAME)}, b = {shorten(found.b, NAME)}"


def tabulate_difference(found: Comparison) -> Table:
    """The difference by every opinion; exact ones are marked."""
    gaps = [opinion.difference for opinion in found.opinions]
    t = [gap.value / gap.standard_error if gap.standard_error > 0 else math.nan for gap in gaps]
    labels = [opinion.method.label + (", exact" if opinion.difference.exact else "") for opinion in found.opinions]
    frame = found.to_frame().with_columns(pl.Series("by", labels, dtype=pl.String), pl.Series("t", t, dtype=pl.Float64))
    return Table(
        keep_finite(frame),
        _name_systems("Difference", found),
        digits={"t": 3},
        signed=("difference", "t", "low", "high"),
        name="difference",
        columns={
            "by": "by",
            "difference": f"b {MINUS} a",
            "standard_error": "± s.e.",
            "t": "t",
            "low": f"{percent(found.naive.difference.confidence)} from",
            "high": "to",
            "p_value": "p",
        },
    )


def tabulate_scores(found: Comparison) -> Table:
    """Both systems' scores by every opinion that has some."""
    rows = []
    for opinion in found.opinions:
        if opinion.a is not None:
            row: list[str | float | None] = [opinion.method.label]
            for score in (opinion.a, opinion.b):
                row += [None, None] if score is None else [score.value, score.standard_error]
            rows.append(row)
    schema = {"by": pl.String} | dict.fromkeys(("a", "a_standard_error", "b", "b_standard_error"), pl.Float64)
    return Table(
        keep_finite(pl.DataFrame(rows, schema=schema, orient="row")),
        _name_systems("Scores", found),
        name="scores",
        columns={"by": "by", "a": "a", "a_standard_error": "± s.e.", "b": "b", "b_standard_error": "± s.e."},
    )


def tabulate_rates(found: Comparison | Board) -> list[Table]:
    """How often each judge was right about gold items of each kind, where each has error rates."""
    parts = []
    for judges, accuracy in found.by_judge:
        name = judges[0] if len(judges) == 1 else f"{counted(len(judges), 'judge')} together"
        right = accuracy.to_frame().filter(pl.col("gold") == pl.col("said")).with_columns(judge=pl.lit(name))
        parts.append(right.with_columns(items=pl.Series(accuracy.count.sum(axis=1).astype(int))).reverse())
    if not parts:
        return []
    columns = {"judge": "judge", "gold": "gold", "items": "items", "share": "right", "low": "95% from", "high": "to"}
    caption = "How often each judge is right about gold items"
    return [Table(pl.concat(parts), caption, 3, name="rates", about="judge", columns=columns)]


def explain_correction(found: Comparison | Board) -> Iterator[str]:
    """Paragraphs on the basis of the correction."""
    if found.gold is not None:
        yield f"{found.gold[0].upper()}{found.gold[1:]}."
    if found.accuracy is not None:
        yield f"{found.accuracy.sentence[0].upper()}{found.accuracy.sentence[1:]}."
    if found.gold_errors is not None:
        yield f"{found.gold_errors.sentence[0].upper()}{found.gold_errors.sentence[1:]}."
    if found.corrected is not None:
        yield f"Assumed: {'; '.join(found.assumed)}."
        yield f"The claim is about {found.claim}."


def _explain_guess(found: Comparison) -> Iterator[str]:
    """What rows of the best guess claim."""
    if any(opinion.method.on_average for opinion in found.others):
        yield f"The claim uses the corrected difference. {ON_AVERAGE} {USUAL}"
    elif found.corrected is not None and found.corrected.method.on_average:
        yield ON_AVERAGE


@shows(PairedTest)
def view_paired(found: PairedTest) -> Page:
    """The same topics for both."""
    facts = list_options(test=found.test, confidence=percent(found.confidence), topics=found.topics, exact=found.exact)
    return _view(found, "Two systems on the same topics", facts)


@shows(UnpairedTest)
def view_unpaired(found: UnpairedTest) -> Page:
    """Separate topics for each."""
    topics = " and ".join(f"{count:,}" for count in found.topics)
    facts = list_options(test="Welch's t", confidence=percent(found.confidence), topics=topics)
    return _view(found, "Two systems on separate topics", facts)


def _view(found: PairedTest | UnpairedTest, title: str, facts: list[tuple[str, str]]) -> Page:
    """A difference, its interval and its p-value."""
    columns = {"difference": "difference", "low": f"{percent(found.confidence)} from", "high": "to"}
    columns |= {"statistic": "statistic", "p_value": "p"}
    frame = keep_finite(pl.DataFrame({name: [float(getattr(found, name))] for name in columns}))
    signed = ("difference", "low", "high", "statistic")
    table = Table(frame, "Second minus first", signed=signed, name="test", columns=columns)
    figure = Figure(partial(chart_test, found), "The difference with its interval", "difference")
    return Page(title, found.sentence, [Section("The test", ERRORS, [table], [figure])], found.notes, facts)


def chart_comparison(comparison: Comparison) -> alt.HConcatChart:
    """The difference by each method, with its interval and a line at 0."""
    frame = comparison.to_frame().select(
        "difference",
        *("low", "high", "p_value"),
        by=pl.Series([opinion.method.label for opinion in comparison.opinions]),
        kind=pl.Series(
            "judges" if opinion is comparison.naive else "guess" if opinion.method.on_average else "corrected"
            for opinion in comparison.opinions
        ),
    )
    looks = {
        "color": Key("kind", SHADES.looks, legend=None),
        "shape": Key("kind", FORMS.looks, legend=None),
    }
    told = tell("by:N", "difference:Q", "low:Q", "high:Q", "p_value:Q")
    rows = Rows(frame, "by", told, looks, room=34)
    panel = rows.chart_dots(Axis("difference:Q", f"difference in {comparison.measure}"), rows.width, line=0.0, size=70)
    a, b = (shorten(name, NAME) for name in (comparison.a, comparison.b))
    confidence = percent(comparison.naive.difference.confidence)
    return rows.put_together([panel], f"{b} against {a}", [f"right of the line {b} is better; {confidence} intervals"])


def chart_test(found: PairedTest | UnpairedTest) -> alt.HConcatChart:
    """The difference with its interval, and a line at 0."""
    ends = {"low": [finite(found.low)], "high": [finite(found.high)]}
    frame = pl.DataFrame(
        {"name": ["second minus first"], "value": [found.difference], **ends, "p_value": [found.p_value]},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )
    rows = Rows(frame, "name", ["name:N", "value:Q", "low:Q", "high:Q", "p_value:Q"])
    panel = rows.chart_dots(Axis("value:Q", "difference"), rows.width, line=0.0)
    said = f"{percent(found.confidence)} interval; right of the dashed line the second system is better"
    return rows.put_together([panel], "The difference", [said])
