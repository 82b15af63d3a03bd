"""Charts of judges against gold: probabilities and grades against gold's, and what judges say of each kind of item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from karatage.data.comparison import say_p
from karatage.data.standing import Bounded
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

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.accuracy import Accuracy
    from karatage.data.calibration import Calibration

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


def draw_calibration(calibration: Calibration) -> alt.VConcatChart:
    """How often items called relevant with probability p are relevant; on the diagonal, as often as they are called so.

    Below, how many of the items were called so.
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
    head = entitle(f"Do {calibration.forecast} mean what they say?", _tell_calibration(calibration))
    chart: alt.VConcatChart = alt.vconcat(*panels, spacing=6, title=head)
    return chart


def draw_shift(calibration: Calibration) -> alt.LayerChart:
    """Grades decided on by the judges and by gold on the same items, and by the judges on items without gold."""
    import altair as alt

    frame = _frame_grades(calibration)
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
    return lay_panel(layers, size, "Grades side by side", _tell_shift(calibration))


def _frame_grades(calibration: Calibration) -> pl.DataFrame:
    """A row for each grade and who gave it."""
    names = {column: name for column, (name, _) in WHOSE.items()}
    frame = calibration.grades.unpivot(index="grade", variable_name="whose", value_name="share").drop_nulls("share")
    return frame.with_columns(pl.col("whose").replace_strict(names, return_dtype=pl.String))


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
        f"{calibration.forecast} are off by {_say(ece, 100, 1)} points on average",
        f"Brier score {_say(brier, 1, 3)}",
    ]


def _tell_shift(calibration: Calibration) -> list[str]:
    found = calibration.leniency
    called, gold = f"{calibration.called:.1%}", f"{calibration.found:.1%}"
    said = [
        f"decided by {shorten(calibration.approach)}; relevant: {called}, gold {gold}",
        f"mean grade by the judges less gold's: {_say(found, 1, 2)}",
    ]
    for value, p_value, way in calibration.shift.filter(statistic="total_variation").select(DISTANCE).iter_rows():
        doubt = "" if p_value is None else f" (p {say_p(p_value)})"
        where = "" if p_value is None else f", {way}"
        said.append(f"judges' grades on gold's items and on others{where}: {value:.1%} apart{doubt}")
    return said


def _say(found: Bounded, times: float, digits: int) -> str:
    if finite(found.low) is None or finite(found.high) is None:
        return f"{times * found.value:.{digits}f}"
    low, high = times * found.low, times * found.high
    return f"{times * found.value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def draw_accuracy(accuracy: Accuracy) -> alt.HConcatChart:
    """What judges say of items of each kind, as shares with 95 % intervals."""
    frame = accuracy.to_frame().with_columns(
        name=pl.format("{} → {}", "gold", "said"),
        value=pl.col("share"),
        mark=pl.when(pl.col("gold") == pl.col("said")).then(pl.lit(RIGHT)).otherwise(pl.lit(WRONG)),
    )
    told = ["name:N", "gold:N", "said:N", "items:Q", "value:Q", "low:Q", "high:Q"]
    rows = Rows(frame, "name", told, ANSWERS)
    panel = rows.draw_dots(Axis("value:Q", "share of the items that are so by gold", WHOLE), rows.width)
    title = f"What judges say of {accuracy.items:,} gold items"
    return rows.put_together([panel], title, ["gold's kind → what judges say of it"])
