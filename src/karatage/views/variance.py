"""Analyses of variance, comparisons of all levels of a factor, and their charts; [AWARE17] figures 4 to 9."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from karatage.comparison.anova import Anova
from karatage.comparison.tukey import NIL, Tukey
from karatage.errors import UnknownNameError
from karatage.text import counted, shorten
from karatage.views.marks import (
    COLOURS,
    DASH,
    Axis,
    Key,
    Rows,
    find_span,
    lay_panel,
    lay_panels,
    mark,
    mark_lines,
    name_lines,
    tick_counts,
)
from karatage.views.page import Figure, Page, Section, list_options, shows
from karatage.views.table import Table, label_columns

if TYPE_CHECKING:
    import altair as alt

OMEGA = "From 0.01 an omega squared is called small, from 0.06 medium, from 0.14 large."
FOLLOWED = ("system", "judge")  # through all charts
TITLE = 60  # characters of a name
MOST_PAIRS = 500  # rows
# Baselines in warm colours, what is measured against them in cool ones, as in the paper's figures 5 and 7.
WARM = ("#D55E00", "#E69F00", "#AA1133", "#CC79A7", "#8C510A", "#F0C000")
COOL = ("#0072B2", "#009E73", "#56B4E9", "#6A3D9A", "#4A6FA5", "#66B2A6")
MEAN, PLAIN = COLOURS[0], "#777777"
WIDTH, HEIGHT = 280, 190  # pixels, of a panel of few levels
STEP = 15  # for each level across
NAME, BESIDE = 60, 30  # characters of a name in a title, and beside its line
CUT = f"truncate(datum.label, {NAME})"  # before its width is measured, which takes long for very long names
FEW_LINES = 6  # of an interaction; more lines need two panels' room, and only some show intervals and names
OTHERS = "others"
SMALL = 0.01  # omega squared
LEAST = {"p_value": sys.float_info.min}  # by the F distribution
# Names that Vega takes for code when it sorts or groups by them; an invisible character prevents this.
TRAPS = (
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
    *("valueOf", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"),
)
DISARMED = {name: f"{name}\N{WORD JOINER}" for name in TRAPS}


@shows(Anova)
def view_anova(result: Anova) -> Page:
    """The sources of variance, and the means of every level."""
    name = shorten(result.design.name, TITLE)
    caption = f"How much of the variance of {name} each source explains"
    sources = Figure(partial(chart_sources, result), caption, "sources")
    frame = result.to_frame()
    columns = label_columns(frame, p_value="p", omega_squared="omega squared")
    caption = f"Analysis of variance of {result.design.name}"
    table = Table(frame, caption, {"f": 2}, name="anova", columns=columns, least=LEAST)
    sections = [Section("Sources", OMEGA, [table], [sources])]
    for number, factor in enumerate(result.design.factors, 1):
        caption = f"Marginal means by {shorten(factor, TITLE)}, with 95% intervals"
        behind = _tabulate_levels(result.means(factor), factor, f"Marginal means by {factor}", "means", "95% from")
        means = Figure(partial(chart_main_effects, result, [factor]), caption, f"means-{number}", behind)
        sections.append(Section(shorten(factor, TITLE), charts=[means]))
    for pair in result.design.interactions:
        second, first = sorted(pair, key=lambda name: len(result.design.factor(name).levels))  # few lines are readable
        caption = f"{shorten(first, TITLE)} and {shorten(second, TITLE)}: where lines are not parallel, they interact"
        figure = Figure(partial(chart_interaction, result, first, second), caption)
        sections.append(Section(f"{shorten(first, TITLE)} by {shorten(second, TITLE)}", charts=[figure]))
    balanced = "yes" if result.balanced else "no, type III sums of squares"
    facts = list_options(response=name, rows=f"{result.rows:,}", balanced=balanced)
    return Page(f"Analysis of variance of {name}", result.sentence, sections, result.notes, facts)


@shows(Tukey)
def view_tukey(test: Tukey) -> Page:
    """Levels from best to worst, and which of them differ."""
    caption = "Levels, best first; where intervals do not overlap, they differ"
    figure = Figure(partial(chart_tukey, test), caption, "levels")
    apart = f"{test.response} by {test.factor}; no letter in common: different at level {test.level:g}"
    levels = _tabulate_levels(test.to_frame(), test.factor, apart, "levels", "from")
    sections = [Section("Levels", "", [levels], [figure])]
    pairs = test.pairs().sort("p_value", "first", "second")
    if len(pairs) <= MOST_PAIRS:
        columns = label_columns(pairs, low="from", high="to", p_value="p", differs="different")
        caption, signed = "Pairs, with simultaneous intervals", ("difference", "low", "high")
        least = {"p_value": NIL}
        table = Table(pairs, caption, signed=signed, name="pairs", noun="pair", columns=columns, least=least)
        sections.append(Section("Pairs", "", [table]))
    facts = list_options(response=test.response, level=f"{test.level:g}", freedom=f"{test.df:g}")
    title = f"{shorten(test.response, TITLE)} by {shorten(test.factor, TITLE)}: {counted(len(test.levels), 'level')}"
    return Page(title, test.sentence, sections, test.notes, facts)


def _tabulate_levels(frame: pl.DataFrame, factor: str, caption: str, name: str, low: str) -> Table:
    """Levels with their means and intervals, whose lower end is called `low`."""
    about = factor if factor in FOLLOWED else ""
    if about:
        frame = frame.rename({"level": factor})
    columns = label_columns(frame.drop("top", strict=False), level=factor, size="rows", low=low, high="to")
    return Table(frame, caption, name=name, about=about, columns=columns)


@dataclass(frozen=True)
class _Across:
    """A factor on the horizontal axis: on a scale where its levels are numbers, else at equal distances."""

    title: str
    levels: tuple[str, ...]

    @property
    def numeric(self) -> bool:
        return len(self.levels) > 2 and all(_is_number(level) for level in self.levels)

    @property
    def interval(self) -> str:
        return "band" if self.numeric else "bar"

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

    @property
    def axis(self) -> Axis:
        title = shorten(self.title, NAME)
        if self.numeric:
            edges = [min(map(float, self.levels)), self.last]
            whole = all(level.isdecimal() for level in self.levels)
            ticks = tick_counts([int(level) for level in self.levels]) if whole else {}
            return Axis("place:Q", title, {"domain": edges, "nice": False, "padding": 8}, ticks)
        crowded = len(self.levels) > 8 or sum(map(len, self.levels)) > 40
        labels = {"labelAngle": -60 if crowded else 0, "labelLimit": 160, "labelOverlap": False, "labelExpr": CUT}
        return Axis("place:N", title, axis=labels, sort=_disarm(self.levels))


def chart_sources(result: Anova) -> alt.HConcatChart:
    """How much of the variance each source explains, the largest first."""
    frame = result.to_frame().drop_nulls("omega_squared").rename({"source": "name"})
    frame = frame.sort("omega_squared", descending=True, maintain_order=True)
    said = pl.when(pl.col("p_value") == 0).then(pl.lit(f"< {LEAST['p_value']:.2g}"))
    frame = frame.with_columns(
        p=said.otherwise(pl.col("p_value").map_elements("{:.2g}".format, return_dtype=pl.String))
    )
    rows = Rows(frame.drop("p_value"), "name", ["name:N", "omega_squared:Q", "f:Q", "df:Q", "p:N"])
    across = Axis("omega_squared:Q", "omega squared: share of the variance, without other sources")
    panel = rows.chart_bars(across, rows.width, line=SMALL, named=True)
    return rows.put_together([panel], f"What explains {result.design.name}", [f"dashed: {SMALL:g}, a small effect"])


def _say_p(p_value: float) -> str:
    return f"{p_value:.2g}" if p_value else f"< {LEAST['p_value']:.2g}"


def chart_main_effects(result: Anova, factors: Sequence[str] | None = None) -> alt.ConcatChart:
    """Marginal means of factors (default: all), joined by a line, with 95% intervals.

    Every factor has a panel with a separate scale.
    """
    names = list(result.design.factors) if factors is None else factors
    return lay_panels([_chart_effect(result, name) for name in names], "", 2)


def _chart_effect(result: Anova, factor: str) -> alt.LayerChart:
    import altair as alt

    means = result.means(factor)
    across = _Across(factor, tuple(means["level"]))
    up = _make_height(means, f"{shorten(result.design.name, NAME)} (marginal mean)")
    told = [alt.Tooltip("level:N", title=factor), "mean:Q", "low:Q", "high:Q", "size:Q"]
    frame, ends = across.place(means, "level"), ("low", "high")
    looks, interval = {"color": MEAN}, across.interval
    layers = mark_lines(frame, across.axis, up, looks, told=told, ends=ends, interval=interval, points=12, width=1)
    return lay_panel(layers, (across.width, HEIGHT))


def chart_interaction(
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
        baselines: Levels with thick lines in warm colours, their names beside them, and 95% intervals.
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
        named=pl.col("second").map_elements(lambda name: shorten(name, BESIDE), return_dtype=pl.String),
        second=pl.col("second").replace(DISARMED),
    )
    few = len(levels) <= FEW_LINES
    size = across.width if few else max(across.width, 2 * WIDTH), HEIGHT if few else 2 * HEIGHT
    up = _make_height(frame, f"{shorten(result.design.name, NAME)} (mean)")
    told = [alt.Tooltip("second:N", title=lines), alt.Tooltip("first:N", title=x), "mean:Q", "low:Q", "high:Q"]
    looks = {"color": _shade(group, baselines, legend=len(bold) < len(levels))}
    given: dict[str, Any] = {"told": told, "encodings": {"detail": "second:N"}}
    thick, thin = (frame.filter(pl.col("bold") == is_bold) for is_bold in (True, False))
    spans: dict[str, Any] = {"ends": ("low", "high"), "interval": across.interval}
    ends = thick.filter(pl.col("place") == across.last)
    intervals, bold_lines = mark_lines(thick, across.axis, up, looks, width=2.2, **spans, **given)
    thin_lines = mark_lines(thin, across.axis, up, looks, width=0.9, **given)
    names = name_lines(ends, up, find_span(frame, "low", "high"), size, looks)
    return lay_panel([intervals, *thin_lines, bold_lines, names], size)


def chart_tukey(test: Tukey, *, baselines: Sequence[str] = ()) -> alt.HConcatChart:
    """Levels from best to worst with comparison intervals: where two do not overlap, their levels differ.

    The top group is blue, and the best level's interval is drawn through all rows; so is each baseline's, in a warm
    colour: rows whose intervals touch it do not differ significantly from the baseline.
    """
    for name in baselines:
        test.group_of(name)  # which refuses unknown levels
    colour = {level: MEAN if level in test.top_group else PLAIN for level in test.levels}
    colour |= {name: WARM[k % len(WARM)] for k, name in enumerate(baselines)}
    frame = test.to_frame().with_columns(colour=pl.col("level").replace_strict(colour, return_dtype=pl.String))
    shown = frame.filter(pl.col("level").is_in([test.levels[0], *baselines]))
    best = "lower" if test.lower_is_better else "higher"
    title = f"{shorten(test.response, NAME)} ({best} is better; no overlap: different at level {test.level:g})"
    across = Axis("mean:Q", title, {"zero": False, "nice": True})
    looks = {"color": Key("colour", {shade: shade for shade in colour.values()}, legend=None)}
    edges = [
        mark(shown, "rule", across.of(f"{side}:Q"), looks=looks, style={"strokeDash": DASH, "opacity": 0.7})
        for side in ("low", "high")
    ]
    band = mark(shown, "rect", across.of("low:Q"), to=("high:Q", None), looks=looks, style={"opacity": 0.13})
    told = ["level:N", "mean:Q", "low:Q", "high:Q", "size:Q", "letters:N"]
    rows = Rows(frame, "level", told, looks)
    panel = rows.chart_dots(across, 2 * WIDTH, size=34, below=[band, *edges])
    return rows.put_together([panel], shorten(test.factor, NAME))


def _group(levels: Sequence[str], families: Mapping[str, str] | None, baselines: Sequence[str]) -> dict[str, str]:
    """What each line's colour stands for: a baseline, a family, or, where lines are few, itself."""
    others = [level for level in levels if level not in baselines]
    own = {level: level if len(others) <= len(COOL) else OTHERS for level in others}
    family = own if families is None else {level: families.get(level, OTHERS) for level in others}
    return family | {level: level for level in baselines}


def _shade(group: Mapping[str, str], baselines: Sequence[str], *, legend: bool) -> Key:
    """Colours of groups, with a legend where not every line has its name beside it."""
    cool = _disarm(list(dict.fromkeys(name for level, name in group.items() if level not in baselines)))
    looks = {name: WARM[k % len(WARM)] for k, name in enumerate(_disarm(baselines))}
    looks |= {name: COOL[k % len(COOL)] for k, name in enumerate(cool)}
    told = {"values": cool, "orient": "bottom", "columns": 6, "symbolType": "stroke", "symbolOpacity": 1}
    return Key("group", looks, legend=told if legend else None)


def _make_height(frame: pl.DataFrame, title: str) -> Axis:
    return Axis("mean:Q", title, {"domain": list(find_span(frame, "low", "high")), "nice": False})


def _disarm(names: Sequence[str]) -> list[str]:
    return [DISARMED.get(name, name) for name in names]


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
