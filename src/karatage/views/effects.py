"""Charts of an analysis of variance: main effects, interactions, who differs from whom; [AWARE17] figures 4 to 9."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from karatage.errors import UnknownNameError
from karatage.text import shorten
from karatage.views.charts import COLOURS

if TYPE_CHECKING:
    import altair as alt

    from karatage.comparison.anova import Anova
    from karatage.comparison.tukey import Tukey

# Baselines in warm colours, what is measured against them in cool ones, as in the paper's figures 5 and 7.
WARM = ("#D55E00", "#E69F00", "#AA1133", "#CC79A7", "#8C510A", "#F0C000")
COOL = ("#0072B2", "#009E73", "#56B4E9", "#6A3D9A", "#4A6FA5", "#66B2A6")
MEAN, PLAIN = COLOURS[0], "#777777"
WIDTH, HEIGHT = 280, 190  # pixels, of a panel of few levels
STEP, ROW = 15, 15  # for each level across, for each level down
LABEL = 12  # a line of text
NAME, BESIDE = 60, 30  # characters of a name in a title, and beside its line
CUT = f"truncate(datum.label, {NAME})"  # before it is measured, which takes long for very long names
FEW_LINES = 6  # of an interaction; more need the room of two panels, and not all show intervals and names
OTHERS = "others"
# Texts that Vega takes for code where they are sorted or grouped by; a mark without width makes them names again.
TRAPS = (
    *(
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
    ),
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
DISARMED = {name: f"{name}\N{WORD JOINER}" for name in TRAPS}


@dataclass(frozen=True)
class _Across:
    """A factor on the horizontal axis: to scale where its levels are numbers, else a place for each."""

    title: str
    levels: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        return len(self.levels) > 2 and all(_is_number(level) for level in self.levels)

    @property
    def width(self) -> int:
        return WIDTH if self.numeric else max(WIDTH, STEP * len(self.levels))

    @property
    def last(self) -> str | float:
        """Where lines end."""
        return max(map(float, self.levels)) if self.numeric else _disarm(self.levels)[-1]

    def place(self, frame: pl.DataFrame, column: str) -> pl.DataFrame:
        place = pl.col(column).cast(pl.Float64) if self.numeric else pl.col(column).replace(DISARMED)
        return frame.with_columns(place.alias("place"))

    def encode(self) -> alt.X:
        import altair as alt

        title = shorten(self.title, NAME)
        if self.numeric:
            edges = [min(map(float, self.levels)), self.last]
            ticks = alt.Axis(tickMinStep=1) if all(level.isdecimal() for level in self.levels) else alt.Axis()
            scale = alt.Scale(domain=edges, nice=False, padding=8)
            return alt.X("place:Q", title=title, scale=scale, axis=ticks)
        crowded = len(self.levels) > 8 or sum(map(len, self.levels)) > 40
        axis = alt.Axis(labelAngle=-60 if crowded else 0, labelLimit=160, labelOverlap=False, labelExpr=CUT)
        return alt.X("place:N", title=title, sort=_disarm(self.levels), axis=axis)


def draw_main_effects(result: Anova, factors: Sequence[str] | None = None) -> alt.ConcatChart:
    """Marginal means of factors (default: all), joined by a line, with 95 % intervals.

    Every factor has a panel with a scale of its own.
    """
    import altair as alt

    names = list(result.design.factors) if factors is None else factors
    panels = [_draw_effect(result, name) for name in names]
    chart: alt.ConcatChart = alt.concat(*panels, columns=2)
    return chart


def draw_interaction(
    result: Anova,
    x: str,
    lines: str,
    *,
    families: Mapping[str, str] | None = None,
    baselines: Sequence[str] = (),
    highlight: Sequence[str] = (),
) -> alt.LayerChart:
    """Means over the levels of `x`, one line for each level of `lines`: where lines are not parallel, factors interact.

    Args:
        result: The analysis; the interaction need not be in its model.
        x: The factor on the horizontal axis.
        lines: The factor that has a line for each level.
        families: Level to family; the lines of a family share a cool colour.
        baselines: Levels with thick lines in warm colours, their names beside them, and 95 % intervals.
        highlight: The same in their family's colour.
    """
    import altair as alt

    levels = result.design.factor(lines).levels
    for name in (*baselines, *highlight):
        if name not in levels:
            raise UnknownNameError(f"level of {lines}", name, levels)
    group = _group(levels, families, baselines)
    bold = levels if len(levels) <= FEW_LINES else (*baselines, *highlight)
    across = _Across(x, result.design.factor(x).levels)
    frame = across.place(result.cell_means(x, lines), "first").with_columns(
        group=pl.col("second").replace_strict(group, return_dtype=pl.String).replace(DISARMED),
        bold=pl.col("second").is_in(bold),
        second=pl.col("second").replace(DISARMED),
    )
    height = HEIGHT if len(levels) <= FEW_LINES else 2 * HEIGHT
    thin, thick = (alt.Chart(frame.filter(pl.col("bold") == is_bold)) for is_bold in (False, True))
    labels = _spread(frame.filter(pl.col("bold") & (pl.col("place") == across.last)), _span(frame), height)
    told = [alt.Tooltip("second:N", title=lines), alt.Tooltip("first:N", title=x), "mean:Q", "low:Q", "high:Q"]
    title = f"{shorten(result.design.name, NAME)} (mean)"
    value = _height("mean", title, frame)
    layers = [
        _mark_intervals(thick, across, _height("low", title, frame)),
        thin.mark_line(strokeWidth=0.9, opacity=0.7).encode(value, tooltip=told),
        thick.mark_line(strokeWidth=2.2).encode(value, tooltip=told),
        alt.Chart(labels).mark_text(align="left", dx=7, fontSize=10).encode(alt.Y("label:Q"), text="named:N"),
    ]
    shade = _shade(group, baselines, legend=len(bold) < len(levels))
    layers = [layer.encode(across.encode(), shade, detail="second:N") for layer in layers]
    width = across.width if len(levels) <= FEW_LINES else max(across.width, 2 * WIDTH)
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=width, height=height)
    return chart


def draw_tukey(test: Tukey, *, baselines: Sequence[str] = ()) -> alt.LayerChart:
    """Levels from best to worst with comparison intervals: where two do not overlap, their levels differ.

    The top group is blue, and the best level's interval is drawn through all rows; so is each baseline's, in a warm
    colour: rows whose intervals touch it cannot be told from the baseline.
    """
    import altair as alt

    for name in baselines:
        test.group_of(name)  # or it is told that there is none
    colour = {level: MEAN if level in test.top_group else PLAIN for level in test.levels}
    colour |= {name: WARM[k % len(WARM)] for k, name in enumerate(baselines)}
    frame = test.to_frame().with_columns(colour=pl.col("level").replace_strict(colour, return_dtype=pl.String))
    shown = frame.filter(pl.col("level").is_in([test.levels[0], *baselines]))
    best = "lower" if test.lower_is_better else "higher"
    title = f"{shorten(test.response, NAME)} ({best} is better; no overlap: different at level {test.level:g})"
    scale = alt.Scale(zero=False, nice=True)
    low, high = alt.X("low:Q", title=title, scale=scale), alt.X2("high:Q")
    axis = alt.Axis(labelLimit=200, labelOverlap=False, labelExpr=CUT, grid=True, gridOpacity=0.3)
    row = alt.Y("level:N", title=shorten(test.factor, NAME), sort=_disarm(test.levels), axis=axis)
    shade = alt.Color("colour:N", scale=None)
    band = alt.Chart(shown).mark_rect(opacity=0.13).encode(low, high, shade)
    edges = [
        alt.Chart(shown).mark_rule(strokeDash=[4, 3], opacity=0.7).encode(alt.X(f"{side}:Q"), shade)
        for side in ("low", "high")
    ]
    told = ["level:N", "mean:Q", "low:Q", "high:Q", "size:Q", "letters:N"]
    rows = alt.Chart(frame.with_columns(pl.col("level").replace(DISARMED)))
    layers = [
        band,
        *edges,
        rows.mark_rule(strokeWidth=2).encode(low, high, row, shade),
        rows.mark_point(filled=True, size=34, opacity=1).encode(alt.X("mean:Q"), row, shade, tooltip=told),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=2 * WIDTH, height=ROW * len(frame))
    return chart


def _draw_effect(result: Anova, factor: str) -> alt.LayerChart:
    import altair as alt

    means = result.means(factor)
    across = _Across(factor, tuple(means["level"]))
    base = alt.Chart(across.place(means, "level")).encode(across.encode())
    title = f"{shorten(result.design.name, NAME)} (marginal mean)"
    told = [alt.Tooltip("level:N", title=factor), "mean:Q", "low:Q", "high:Q", "size:Q"]
    line = base.mark_line(color=MEAN, strokeWidth=1, point=alt.OverlayMarkDef(color=MEAN, size=12))
    layers = [
        _mark_intervals(base, across, _height("low", title, means)).encode(color=alt.value(MEAN)),
        line.encode(_height("mean", title, means), tooltip=told),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers, width=across.width, height=HEIGHT)
    return chart


def _mark_intervals(base: alt.Chart, across: _Across, low: alt.Y) -> alt.Chart:
    """A band where the factor is to scale, else a bar at each level."""
    import altair as alt

    marked = base.mark_area(opacity=0.2) if across.numeric else base.mark_rule(strokeWidth=5, opacity=0.4)
    drawn: alt.Chart = marked.encode(low, alt.Y2("high:Q"))
    return drawn


def _group(levels: Sequence[str], families: Mapping[str, str] | None, baselines: Sequence[str]) -> dict[str, str]:
    """What each line's colour stands for: a baseline, a family, or, where lines are few, itself."""
    others = [level for level in levels if level not in baselines]
    own = {level: level if len(others) <= len(COOL) else OTHERS for level in others}
    family = own if families is None else {level: families.get(level, OTHERS) for level in others}
    return family | {level: level for level in baselines}


def _shade(group: Mapping[str, str], baselines: Sequence[str], *, legend: bool) -> alt.Color:
    """Where not every line has its name beside it, a legend tells the families."""
    import altair as alt

    cool = list(dict.fromkeys(name for level, name in group.items() if level not in baselines))
    colours = [WARM[k % len(WARM)] for k in range(len(baselines))] + [COOL[k % len(COOL)] for k in range(len(cool))]
    cool = _disarm(cool)
    told = alt.Legend(title=None, values=cool, orient="bottom", columns=6, symbolType="stroke", symbolOpacity=1)
    scale = alt.Scale(domain=[*_disarm(baselines), *cool], range=colours)
    return alt.Color("group:N", scale=scale, legend=told if legend else None)


def _spread(ends: pl.DataFrame, span: tuple[float, float], height: int) -> pl.DataFrame:
    """Names beside the ends of lines, `label` as near to `mean` as the names above and below leave room."""
    unit = (span[1] - span[0]) / height * LABEL
    ordered = ends.sort("mean")
    place: list[float] = []
    for mean in ordered["mean"]:
        place.append(max(mean, place[-1] + unit) if place else mean)
    lowered = max(0.0, place[-1] - span[1]) if place else 0.0
    return ordered.with_columns(
        label=pl.Series([value - lowered for value in place], dtype=pl.Float64),
        named=pl.Series([shorten(name, BESIDE) for name in ordered["second"]], dtype=pl.String),
    )


def _height(column: str, title: str, frame: pl.DataFrame) -> alt.Y:
    import altair as alt

    return alt.Y(f"{column}:Q", title=title, scale=alt.Scale(domain=list(_span(frame)), nice=False))


def _span(frame: pl.DataFrame) -> tuple[float, float]:
    """From the lowest to the highest end of an interval, and a little more."""
    low, high = frame.select(pl.col("low").min(), pl.col("high").max()).row(0)
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def _disarm(names: Sequence[str]) -> list[str]:
    return [DISARMED.get(name, name) for name in names]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
