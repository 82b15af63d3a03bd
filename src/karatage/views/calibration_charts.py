"""Charts of calibration and shift: probabilities and grades against gold's, judges' scores against corrected ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from karatage.data.comparison import say_p
from karatage.data.standing import Bounded
from karatage.errors import DataError
from karatage.text import counted, shorten
from karatage.views.charts import CORRECTED, GOLD, JUDGES, PLAIN
from karatage.views.choosing import choose, fade, finite, let_choose, tell

if TYPE_CHECKING:
    import altair as alt

    from karatage.data.board import Board
    from karatage.data.calibration import Calibration

SIDE, LOW = 330, 70  # pixels of a square panel, and of a low one below it
MARGIN = 0.04  # of a scale, so that its first and last mark are seen whole
PERCENT = ".0%"
DISTANCE = ("value", "p_value", "way")
WHOSE = {
    "judges": ("judges, gold's items", JUDGES),
    "gold": ("gold, the same items", GOLD),
    "elsewhere": ("judges, items without gold", CORRECTED),
}


def draw_calibration(calibration: Calibration) -> alt.VConcatChart:
    """How often items called relevant with probability p are relevant; on the diagonal, as often as they are called so.

    Below, how many of the items were called so.
    """
    import altair as alt

    ends = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=PERCENT, tickCount=6)
    kind = "share of votes" if calibration.forecast == "vote shares" else "probability"
    title = f"{kind} that an item is relevant, by the judges"
    drawn = alt.Chart(calibration.bins).encode(
        alt.X("probability:Q", title="", scale=ends, axis=axis), tooltip=_tell_bins()
    )
    share = "relevant by gold"
    layers = [
        _draw_diagonal((0.0, 1.0), ("", share)),
        drawn.mark_rule(color=JUDGES, strokeWidth=2).encode(alt.Y("low:Q", title=share), y2="high:Q"),
        drawn.mark_line(color=JUDGES, strokeWidth=1, opacity=0.5).encode(alt.Y("share:Q", title=share)),
        drawn.mark_point(color=JUDGES, filled=True, size=60, shape="diamond", opacity=1).encode(
            alt.Y("share:Q", title=share, scale=ends, axis=axis)
        ),
    ]
    main = alt.LayerChart(layer=layers, width=SIDE, height=SIDE)
    bars = (
        alt.Chart(calibration.bins)
        .transform_calculate(none="0")
        .mark_bar(color=PLAIN, opacity=0.7)
        .encode(
            alt.X("from:Q", title=title, scale=ends, axis=axis),
            alt.X2("to:Q"),
            alt.Y("weight:Q", title="items", axis=alt.Axis(format=PERCENT, tickCount=3)),
            alt.Y2("none:Q"),
            tooltip=_tell_bins(),
        )
        .properties(width=SIDE, height=LOW)
    )
    head = alt.TitleParams(
        f"Do {calibration.forecast} mean what they say?", subtitle=_tell_calibration(calibration), anchor="start"
    )
    chart: alt.VConcatChart = alt.vconcat(main, bars, spacing=6, title=head)
    return chart


def draw_shift(calibration: Calibration) -> alt.LayerChart:
    """Grades decided on by the judges and by gold on the same items, and by the judges on items without gold."""
    import altair as alt

    frame = lay_out_grades(calibration)
    ways = frame["whose"].unique(maintain_order=True).to_list()
    shades = [shade for name, shade in WHOSE.values() if name in ways]
    across = alt.X("share:Q", title="share of items", axis=alt.Axis(format=PERCENT))
    down = alt.Y("grade:O", title="grade", sort="descending")
    inner = alt.YOffset("whose:N", sort=ways)
    told = [alt.Tooltip("whose:N"), alt.Tooltip("grade:O"), alt.Tooltip("share:Q", format=".1%")]
    base = alt.Chart(frame).encode(across, down, inner, tooltip=told)
    legend = alt.Legend(orient="top", labelLimit=220)
    layers = [
        base.mark_bar(opacity=0.85).encode(
            alt.Color("whose:N", title=None, scale=alt.Scale(domain=ways, range=shades), legend=legend)
        ),
        base.mark_text(align="left", dx=4, fontSize=9).encode(text=alt.Text("share:Q", format=".1%")),
    ]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        width=480,
        height=(14 * len(ways) + 8) * frame["grade"].n_unique(),
        title=alt.TitleParams("Grades side by side", subtitle=_tell_shift(calibration), anchor="start"),
    )
    return chart


def lay_out_grades(calibration: Calibration) -> pl.DataFrame:
    """A row for each grade and who gave it."""
    names = {column: name for column, (name, _) in WHOSE.items()}
    frame = calibration.grades.unpivot(index="grade", variable_name="whose", value_name="share").drop_nulls("share")
    return frame.with_columns(pl.col("whose").replace_strict(names, return_dtype=pl.String))


def draw_attenuation(board: Board) -> alt.LayerChart:
    """Every system's score by the judges over its corrected one; on the diagonal they are the same."""
    import altair as alt

    frame = lay_out_attenuation(board)
    scores = pl.concat([frame["judges"], frame["corrected"]]).drop_nulls()
    span = max(scores) - min(scores)
    low, high = min(scores) - MARGIN * (span or 1), max(scores) + MARGIN * (span or 1)
    ends = alt.Scale(domain=[low, high], nice=True, zero=False)
    titles = f"{board.measure}, corrected", f"{board.measure}, by the judges"
    told = tell("system:N", "judges:Q", "corrected:Q", "low:Q", "high:Q")
    faded = fade(choose("system"), 0.85)
    drawn = alt.Chart(frame).encode(alt.Y("judges:Q", title=titles[1], scale=ends), opacity=faded, tooltip=told)
    points = drawn.mark_point(color=CORRECTED, filled=True, size=48).encode(
        alt.X("corrected:Q", title=titles[0], scale=ends)
    )
    layers = [_draw_diagonal((low, high), titles), points.properties(name="systems")]
    chart: alt.LayerChart = alt.LayerChart(
        layer=layers,
        width=SIDE + 60,
        height=SIDE,
        title=alt.TitleParams("Judges' scores against corrected ones", subtitle=_tell_slope(board), anchor="start"),
    )
    return let_choose(chart, "system")


def lay_out_attenuation(board: Board) -> pl.DataFrame:
    """A row for each system: its score by the judges, and corrected with its interval."""
    if board.corrected is None:
        raise DataError(f"nothing was corrected: {board.refusal or 'there is no gold'}")
    columns = {
        "judges": board.naive.value,
        "corrected": board.corrected.value,
        "low": board.corrected.low,
        "high": board.corrected.high,
    }
    frame = pl.DataFrame({"system": pl.Series(board.systems, dtype=pl.String), **columns})
    return frame.with_columns(pl.when(pl.col(pl.Float64).is_finite()).then(pl.col(pl.Float64)))


def _draw_diagonal(ends: tuple[float, float], titles: tuple[str, str]) -> alt.Chart:
    """A line where both axes say the same."""
    import altair as alt

    across, down = titles
    frame = pl.DataFrame({"across": ends, "down": ends})
    line = alt.Chart(frame).mark_line(color=PLAIN, strokeDash=[4, 3], strokeWidth=1.2)
    drawn: alt.Chart = line.encode(alt.X("across:Q", title=across), alt.Y("down:Q", title=down))
    return drawn


def _tell_bins() -> list[alt.Tooltip]:
    import altair as alt

    shares = {
        "from": "from",
        "to": "to",
        "probability": "probability",
        "share": "relevant",
        "low": "low",
        "high": "high",
    }
    told = [alt.Tooltip(f"{field}:Q", title=title, format=".1%") for field, title in shares.items()]
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


def _tell_slope(board: Board) -> list[str]:
    """What the slope of the judges' differences means."""
    said = ["on the dashed line they are the same"]
    if board.slope is None or not np.isfinite(board.slope).all():
        return said
    slope, low, high = board.slope
    meaning = "judges shrink differences" if high < 1 else "judges stretch differences"
    meaning = "by chance or not" if low <= 1 <= high else meaning
    return [*said, f"a difference of 0.100 shows as {slope / 10:.3f} ({low / 10:.3f} to {high / 10:.3f})", meaning]
