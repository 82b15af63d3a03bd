"""Judges' probabilities and grades against gold, and how often judges are right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from karatage.data.calibration import Calibration
from karatage.data.comparison import say_p
from karatage.data.estimate import Accuracy, Bounded
from karatage.text import counted, shorten
from karatage.views.choosing import finite
from karatage.views.marks import (
    CORRECTED,
    GOLD,
    JUDGES,
    PLAIN,
    WHOLE,
    Axis,
    Key,
    Rows,
    entitle,
    lay_panel,
    mark,
    mark_diagonal,
    mark_lines,
    tell_two,
)
from karatage.views.page import Figure, Page, Section, list_facts, list_options, shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt

DIGITS = 3
NAME = 30
WORDS = {
    ("leniency", "topics resampled"): "mean grade minus gold's",
    ("total_variation", "within topics"): "grades of gold's items against others, within topics",
    ("total_variation", "between topics"): "grades in gold's topics against others, between topics",
    ("total_variation", "none"): "grades of gold's items against others",
}
CAPTION = "Judges' answers by gold's answer"
SIDE, LOW = 330, 70  # pixels of a square panel, and of a low one below it
SHARE = {"format": ".0%", "tickCount": 6}
DISTANCE = ("value", "p_value", "way")
WHOSE = {
    "judges": ("judges, gold's items", JUDGES),
    "gold": ("gold, the same items", GOLD),
    "elsewhere": ("judges, items without gold", CORRECTED),
}
RIGHT, WRONG = "right", "wrong"
ANSWERS = tell_two(RIGHT, WRONG)


@shows(Calibration)
def view_calibration(found: Calibration) -> Page:
    """Probabilities against what gold found, grades against gold's, and gold's items against the others."""
    facts = list_facts(found, approach=found.approach, relevant=f"grade {found.relevant} and above")
    title = f"Calibration of {shorten(found.approach, NAME)}"
    return Page(title, found.sentence, [view_reliability(found)], found.notes, facts)


def view_reliability(found: Calibration) -> Section:
    """The section, which a survey has too."""
    bins = f"Share of items relevant by gold, by the judges' {found.forecast}; on the line the two are equal"
    shift = "Grades of merged judges on gold's items, of gold on the same items, and of merged judges on other items"
    charts = [
        Figure(partial(chart_calibration, found), bins, "calibration", tabulate_bins(found)),
        Figure(partial(chart_shift, found), shift, "shift", tabulate_grades(found)),
    ]
    return Section("Calibration and shift", "", [tabulate_shift(found)], charts)


def tabulate_bins(found: Calibration) -> Table:
    """A row for each span of probabilities or vote shares: the judges' mean, and gold's share with its interval."""
    kind = "Vote share" if found.forecast == "vote shares" else "Probability"
    columns = {"from": "from", "to": "to", "items": "items", "probability": "judges", "share": "gold"}
    columns |= {"low": "95% from", "high": "up to"}
    caption = f"{kind} of relevance by the judges, and share relevant by gold"
    return Table(found.to_frame(), caption, DIGITS, name="calibration", columns=columns)


def tabulate_grades(found: Calibration) -> Table:
    """How often each grade is given."""
    return Table(found.grades, f"Shares of grades, judges merged by {shorten(found.approach)}", DIGITS, name="grades")


def tabulate_shift(found: Calibration) -> Table:
    """Each error or difference with its interval and p-value."""
    errors = {
        f"Brier score of {found.forecast}": found.brier,
        f"calibration error of {found.forecast}": found.ece,
        "share graded relevant minus gold's": found.bias,
    }
    rows = [(name, *bounds, None) for name, bounds in errors.items()]
    shift = found.shift.select("statistic", "way", "value", "low", "high", "p_value")
    rows += [(WORDS.get((statistic, way), statistic), *numbers) for statistic, way, *numbers in shift.rows()]
    schema = {"statistic": pl.String} | dict.fromkeys(("value", "95% from", "to", "p"), pl.Float64)
    return Table(pl.DataFrame(rows, schema=schema, orient="row"), "Errors and differences", DIGITS, name="shift")


@shows(Accuracy)
def view_accuracy(accuracy: Accuracy) -> Page:
    """Shares of items of each kind, with 95% intervals."""
    frame = accuracy.to_frame()
    table = Table(frame, CAPTION, 3, name="answers", columns=label_columns(frame, low="95% from", high="to"))
    figures = [Figure(partial(chart_accuracy, accuracy), CAPTION, "answers")] if accuracy.items else []
    facts = list_options(gold_items=f"{accuracy.items:,}", kinds=", ".join(accuracy.kinds))
    sentence = f"{accuracy.sentence[0].upper()}{accuracy.sentence[1:]}."
    return Page("How judges answer", sentence, [Section("Answers", "", [table], figures)], (), facts)


def chart_calibration(calibration: Calibration) -> alt.VConcatChart:
    """Share of items relevant by gold against the judges' probability; on the diagonal, the two are equal.

    Below, the share of items with that probability.
    """
    import altair as alt

    ends = {"domain": [0, 1]}
    kind = "share of votes" if calibration.forecast == "vote shares" else "probability"
    across = Axis("probability:Q", "", ends, SHARE)
    up = Axis("share:Q", "relevant by gold", ends, SHARE)
    looks = {"color": JUDGES, "shape": "diamond"}
    bins, told = calibration.bins, _tell_bins()
    main = [
        mark_diagonal(across, up, (0.0, 1.0)),
        *mark_lines(bins, across, up, looks, told=told, ends=("low", "high"), interval="line", points=60, width=1),
    ]
    low = Axis("from:Q", f"{kind} that an item is relevant, by the judges", ends, SHARE)
    items = Axis("weight:Q", "items", axis={"format": ".0%", "tickCount": 3})
    bars = mark(bins, "rect", low, items, to=("to:Q", 0), told=told, style={"color": PLAIN, "opacity": 0.7})
    panels = [lay_panel(main, (SIDE, SIDE)), lay_panel([bars], (SIDE, LOW))]
    head = entitle(f"Calibration of {calibration.forecast}", _tell_calibration(calibration))
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=6, title=head)
    return chart


def chart_shift(calibration: Calibration) -> alt.LayerChart:
    """Grades by the merged judges and by gold on the same items, and by the judges on items without gold."""
    import altair as alt

    names = {column: name for column, (name, _) in WHOSE.items()}
    frame = calibration.grades.unpivot(index="grade", variable_name="whose", value_name="share").drop_nulls("share")
    frame = frame.with_columns(pl.col("whose").replace_strict(names, return_dtype=pl.String))
    shades = Key("whose", dict(WHOSE.values())).only(frame["whose"].to_list())
    axes = Axis("share:Q", "share of items", axis={"format": ".0%"}), Axis("grade:O", "grade", sort="descending")
    told = [alt.Tooltip("whose:N"), alt.Tooltip("grade:O"), alt.Tooltip("share:Q", format=".1%")]
    apart = {"yOffset": alt.YOffset("whose:N", sort=list(shades.looks))}
    said = {**apart, "text": alt.Text("share:Q", format=".1%")}
    layers = [
        mark(frame, "bar", *axes, told=told, looks={"color": shades}, encodings=apart, style={"opacity": 0.85}),
        mark(frame, "text", *axes, told=told, encodings=said, style={"align": "left", "dx": 4, "fontSize": 9}),
    ]
    size = 480, (14 * len(shades.looks) + 8) * frame["grade"].n_unique()
    return lay_panel(layers, size, "Grades of judges and gold", _tell_shift(calibration))


def _tell_bins() -> list[alt.Tooltip]:
    import altair as alt

    columns = ("from", "to", "probability", "share", "low", "high")
    shares = {column: "relevant" if column == "share" else column for column in columns}
    told = [alt.Tooltip(f"{column}:Q", title=title, format=".1%") for column, title in shares.items()]
    return [*told, alt.Tooltip("items:Q", format=",")]


def _tell_calibration(calibration: Calibration) -> list[str]:
    ece, brier = calibration.ece, calibration.brier
    return [
        f"{shorten(calibration.approach)}, {counted(calibration.items, 'gold item')}; relevant: grade "
        f"{calibration.relevant} or more",
        f"calibration error of {calibration.forecast}: {_say(ece, 100, 1)} percentage points",
        f"Brier score {_say(brier, 1, 3)}",
    ]


def _tell_shift(calibration: Calibration) -> list[str]:
    found = calibration.leniency
    called, gold = f"{calibration.called:.1%}", f"{calibration.found:.1%}"
    said = [
        f"merged by {shorten(calibration.approach)}; relevant: {called} by the judges, {gold} by gold",
        f"mean grade by the judges minus gold's: {_say(found, 1, 2)}",
    ]
    for value, p_value, way in calibration.shift.filter(statistic="total_variation").select(DISTANCE).iter_rows():
        doubt = "" if p_value is None else f" (p {say_p(p_value)})"
        where = "" if p_value is None else f", {way}"
        said.append(f"judges' grades on gold's items and on others{where}: total variation {value:.1%}{doubt}")
    return said


def _say(found: Bounded, times: float, digits: int) -> str:
    if finite(found.low) is None or finite(found.high) is None:
        return f"{times * found.value:.{digits}f}"
    low, high = times * found.low, times * found.high
    return f"{times * found.value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def chart_accuracy(accuracy: Accuracy) -> alt.HConcatChart:
    """How judges answer on items of each kind, as shares with 95% intervals."""
    frame = accuracy.to_frame().with_columns(
        name=pl.format("{} → {}", "gold", "said"),
        value=pl.col("share"),
        mark=pl.when(pl.col("gold") == pl.col("said")).then(pl.lit(RIGHT)).otherwise(pl.lit(WRONG)),
    )
    told = ["name:N", "gold:N", "said:N", "items:Q", "value:Q", "low:Q", "high:Q"]
    rows = Rows(frame, "name", told, ANSWERS)
    panel = rows.chart_dots(Axis("value:Q", "share of the items of that kind", WHOLE), rows.width)
    title = f"Answers of judges on {accuracy.items:,} gold items"
    return rows.put_together([panel], title, ["gold's kind → the judges' answer"])
