"""The marks of charts: rows with intervals, bars, letters, lines, heat maps and scatter.

A chart is a frame and the meaning of its columns: an `Axis` for each position, a `Key` for colour or shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from karatage.views.choosing import (
    CHOICES,
    WIDEST,
    choose,
    choose_order,
    fade,
    let_choose,
    measure_names,
    measure_rows,
    name_rows,
    place_names,
    place_rows,
    place_values,
    tell,
)

if TYPE_CHECKING:
    import altair as alt

    Options = Mapping[str, Any]  # as Vega-Lite names them
    Told = Sequence[object]  # columns, or tooltips of Altair

# Okabe and Ito's colours, which colour-blind readers can distinguish; grey for black, which is invisible on dark pages.
# Beyond eight, shapes distinguish.
COLOURS = ("#0072B2", "#C48700", "#009E73", "#CC79A7", "#D55E00", "#3D9CD3", "#888888", "#A69200")
# Visible on white and on black.
JUDGES, CORRECTED, GUESS, GOLD, PLAIN = "#D55E00", "#0072B2", "#009E73", "#B08D00", "#888888"
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASH = [4, 3]
GAP = 12  # pixels between panels
LABEL = 12  # pixels of a line of text
LINE = 6  # pixels of each interval of a row
FEW_COUNTS = 10
WHOLE = {"domain": [0, 1], "nice": False}
# Around a chart with a legend beside it: a viewer's font may be wider than the one that the legend was measured with.
ROOM = {"left": 5, "top": 5, "right": 25, "bottom": 5}
TOP = {"orient": "top", "labelLimit": 300}
GREY_TOP = {**TOP, "symbolFillColor": PLAIN, "symbolStrokeColor": PLAIN}
INTERVALS: Mapping[str, tuple[str, Options]] = {
    "band": ("area", {"opacity": 0.18}),
    "bar": ("rule", {"strokeWidth": 5, "opacity": 0.4}),
    "line": ("rule", {"strokeWidth": 1.6}),
}


@dataclass(frozen=True)
class Axis:
    """A column on an axis, such as `score:Q`, with options of its scale and axis; an axis of None is hidden."""

    column: str
    title: str | None = None
    scale: Options = field(default_factory=dict)
    axis: Options | None = field(default_factory=dict)
    sort: object = None

    def of(self, column: str) -> Axis:
        """The same axis for another column."""
        return replace(self, column=column)

    def encode(self, channel: type[Any]) -> Any:
        """In Altair's terms."""
        import altair as alt

        given: dict[str, Any] = {"scale": self.scale, "sort": self.sort}
        given = {name: value for name, value in given.items() if value}
        axis = None if self.axis is None else alt.Axis(**self.axis)
        return channel(self.column, title=self.title, axis=axis, **given)


@dataclass(frozen=True)
class Key:
    """What the values of a column look like: each its colour, shape, dash or width; or options of a scale of shades.

    A legend of None is hidden.
    """

    column: str
    looks: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    legend: Options | None = field(default_factory=lambda: TOP)
    scale: Options = field(default_factory=dict)

    def only(self, names: Sequence[str]) -> Key:
        """Without the values that a chart lacks."""
        return replace(self, looks={name: look for name, look in self.looks.items() if name in set(names)})

    def encode(self, channel: type[Any]) -> Any:
        """In Altair's terms."""
        import altair as alt

        legend = None if self.legend is None else alt.Legend(**self.legend)
        if ":" in self.column:
            return channel(self.column, title=self.title, scale=alt.Scale(**self.scale), legend=legend)
        names = list(self.looks)
        scale = alt.Scale(domain=names, range=list(self.looks.values()))
        return channel(f"{self.column}:N", title=self.title, scale=scale, legend=legend, sort=names)


def cycle(
    column: str,
    names: Iterable[str],
    looks: Sequence[Any] = COLOURS,
    *,
    title: str | None = None,
    legend: Options | None = TOP,
) -> Key:
    """A look for each name, in turn: the same in all charts with these names."""
    return Key(column, {name: looks[k % len(looks)] for k, name in enumerate(names)}, title, legend)


def tell_apart(column: str, names: Iterable[str], legend: Options | None, title: str | None = None) -> dict[str, Key]:
    """Names by colour and by shape, under the column's name if there is no title."""
    told = {"color": COLOURS, "shape": SHAPES}
    return {name: cycle(column, names, looks, title=title or column, legend=legend) for name, looks in told.items()}


def tell_two(good: str, bad: str, colours: tuple[str, str] = (CORRECTED, JUDGES)) -> dict[str, Key]:
    """Two values of the column `mark`, by colour and by shape."""
    names = good, bad
    return {"color": cycle("mark", names, colours), "shape": cycle("mark", names, ("circle", "diamond"))}


def mark(
    data: pl.DataFrame | alt.Chart,
    what: str,
    *axes: Axis | None,
    to: tuple[str | float | None, str | float | None] = (None, None),
    told: Told = (),
    follow: str = "",
    shown: float = 1.0,
    pale: str = "",
    looks: Mapping[str, Key | str | None] | None = None,
    encodings: Options | None = None,
    style: Options | None = None,
) -> alt.Chart:
    """One layer.

    Args:
        data: A frame, or a chart that has been begun.
        what: Altair's name of the mark: `point`, `rule`, `rect` ...
        axes: Across and up.
        to: Where marks with a length end: columns or numbers, across and up.
        told: Columns of its tooltip.
        follow: `system` or `judge`, where readers can choose one: a click on these marks does.
        shown: Opacity of what is chosen.
        pale: A test for marks that are paler.
        looks: `color`, `shape`, `strokeDash` or `strokeWidth`: a key, or one value for all.
        encodings: Others, in Altair's terms.
        style: Options of the mark.
    """
    import altair as alt

    chart = data if isinstance(data, alt.Chart) else alt.Chart(data)
    given: dict[str, Any] = dict(encodings or {})
    options: dict[str, Any] = dict(style or {})
    for axis, (name, channel) in zip(axes, {"x": alt.X, "y": alt.Y}.items(), strict=False):
        if axis is not None:
            given[name] = axis.encode(channel)
    for name, end in zip(("x2", "y2"), to, strict=True):
        if end is not None:
            given[name] = end if isinstance(end, str) else alt.datum(end)
    for name, look in (looks or {}).items():
        if isinstance(look, Key):
            given[name] = look.encode(getattr(alt, name[0].upper() + name[1:]))
        elif look is not None:
            options[name] = look
    if told:
        given["tooltip"] = list(told)
    if follow in CHOICES:
        given["opacity"] = fade(choose(follow), shown, lesser=pale)
    drawn: alt.Chart = getattr(chart, f"mark_{what}")(**options).encode(**_name_columns(given))
    return drawn


def _name_columns(given: Options) -> dict[str, Any]:
    """Columns as objects of Altair, which takes ten times as long to make them of texts."""
    import altair as alt

    def wrap(channel: type[Any], what: Any) -> Any:
        return channel(what) if isinstance(what, str) else what

    channels = {name: getattr(alt, name[0].upper() + name[1:]) for name in given}
    return {
        name: [wrap(channels[name], one) for one in what] if isinstance(what, list) else wrap(channels[name], what)
        for name, what in given.items()
    }


def mark_line(axis: Axis, value: float) -> alt.Chart:
    """A dashed line at a value of the horizontal axis."""
    line = pl.DataFrame({"line": [value]})
    return mark(line, "rule", Axis("line:Q", axis.title), style={"color": PLAIN, "strokeDash": DASH})


def mark_level(value: float, *, dash: Sequence[int] = (1, 0)) -> alt.Chart:
    """A line at a height."""
    style = {"color": PLAIN, "strokeDash": list(dash)}
    return mark(pl.DataFrame({"level": [value]}), "rule", None, Axis("level:Q"), style=style)


def mark_diagonal(across: Axis, up: Axis, ends: tuple[float, float], *, falling: bool = False) -> alt.Chart:
    """A dashed line from one corner to the other."""
    frame = pl.DataFrame({"across": ends, "up": ends[::-1] if falling else ends})
    style = {"color": PLAIN, "strokeDash": DASH, "strokeWidth": 1.2}
    return mark(frame, "line", across.of("across:Q"), up.of("up:Q"), style=style)


def mark_lines(
    data: pl.DataFrame | alt.Chart,
    across: Axis,
    up: Axis,
    looks: Mapping[str, Key | str | None],
    *,
    told: Told = (),
    ends: tuple[str, str] | None = None,
    interval: str = "bar",
    points: int = 0,
    width: float | None = 1.6,
    encodings: Options | None = None,
) -> list[alt.Chart]:
    """A line for each value of the keys, with points of that size and intervals.

    Args:
        data: A frame, or a chart that has been begun.
        across: What lines go over.
        up: What they show.
        looks: As for `mark`; shapes are those of points.
        told: Columns of the tooltips.
        ends: Columns where intervals begin and end.
        interval: A `band`, or at each point a pale `bar` or a `line`.
        points: Pixels of area; 0 for none.
        width: Of lines, where no key tells it.
        encodings: Of lines, points and intervals.
    """
    given: dict[str, Any] = {"told": told, "encodings": encodings}
    layers = []
    if ends is not None:
        what, style = INTERVALS[interval]
        spans: dict[str, Any] = {
            "to": (None, f"{ends[1]}:Q"),
            "looks": {"color": looks.get("color")},
            "style": style,
            **given,
        }
        layers.append(mark(data, what, across, up.of(f"{ends[0]}:Q"), **spans))
    plain = {name: look for name, look in looks.items() if name != "shape"}
    layers.append(
        mark(data, "line", across, up, looks=plain, style=None if width is None else {"strokeWidth": width}, **given)
    )
    if points:
        dots = {name: looks[name] for name in ("color", "shape") if name in looks}
        style = {"filled": True, "size": points, "opacity": 1}
        layers.append(mark(data, "point", across, up, looks=dots, style=style, **given))
    return layers


def name_lines(
    ends: pl.DataFrame, up: Axis, span: tuple[float, float], size: tuple[int, int], looks: Mapping[str, Key]
) -> alt.Chart:
    """Names beside the right ends of lines, at the heights from `place_labels`."""
    import altair as alt

    labels = place_labels(ends, span, size[1])
    style = {"align": "left", "fontSize": 10}
    beside = {"x": alt.value(size[0] + 6), "text": "named:N"}
    return mark(labels, "text", None, up.of("label:Q"), looks=looks, encodings=beside, style=style)


def place_labels(ends: pl.DataFrame, span: tuple[float, float], height: int) -> pl.DataFrame:
    """The column `label`: as near to `mean` as leaves a line of text to each name, in a chart with this span."""
    unit = (span[1] - span[0]) / height * LABEL
    ordered = ends.sort("mean")
    stacks: list[list[float]] = []  # of names that touch, each around the middle of its lines
    for mean in ordered["mean"]:
        stacks.append([mean])
        while len(stacks) > 1 and _edge(stacks[-1], unit, -1) < _edge(stacks[-2], unit, 1):
            last = stacks.pop()
            stacks[-1] += last
    place = [_edge(stack, unit, -1) + (k + 0.5) * unit for stack in stacks for k in range(len(stack))]
    lowered = max(0.0, place[-1] - span[1]) if place else 0.0
    return ordered.with_columns(label=pl.Series([value - lowered for value in place], dtype=pl.Float64))


def _edge(stack: list[float], unit: float, side: int) -> float:
    """The lower (-1) or upper (1) edge of names around the middle of their lines."""
    return sum(stack) / len(stack) + side * len(stack) * unit / 2


def find_span(frame: pl.DataFrame, low: str, high: str) -> tuple[float, float]:
    """From the lowest value to the highest, and a little more."""
    least, most = frame.select(low=pl.col(low).min(), high=pl.col(high).max()).row(0)
    margin = 0.03 * (most - least) or 0.01
    return least - margin, most + margin


def tick_counts(counts: Sequence[int]) -> dict[str, Any]:
    """Ticks at whole numbers only; Vega puts some between them if they are few."""
    few = max(counts) - min(counts) < FEW_COUNTS
    return {"format": "d", **({"values": sorted(set(counts))} if few else {"tickMinStep": 1})}


def chart_map(
    frame: pl.DataFrame,
    down: Sequence[str],
    across: Sequence[str],
    shade: Key,
    *,
    told: Told,
    follow: str,
    size: tuple[int, int],
    **names: Any,
) -> alt.LayerChart:
    """A heat map: a cell for each `row` and `column` of the frame, which are numbers of the names down and across."""
    sides = [
        Axis(f"{side}:O", None, {"domain": list(range(len(named)))}, {**name_rows(named), "grid": False, **names})
        for side, named in (("column", across), ("row", down))
    ]
    cells = mark(frame, "rect", *sides, looks={"color": shade}, told=told, follow=follow)
    return lay_panel([cells.properties(name="cells")], size)


def lay_panel(
    layers: Sequence[alt.Chart],
    size: tuple[int, int],
    title: str | list[str] = "",
    said: Sequence[str] | None = None,
) -> alt.LayerChart:
    """Layers on top of each other; with lines `said` below it, the title is that of a chart, else of a panel."""
    import altair as alt

    chart: alt.LayerChart = alt.LayerChart(layer=list(layers), width=size[0], height=size[1])
    if title:
        chart.title = alt.TitleParams(title, fontSize=11) if said is None else entitle(title, said)
    return chart


def entitle(title: str | list[str], said: Sequence[str] = ()) -> alt.TitleParams:
    """A chart's title, and lines below it."""
    import altair as alt

    return alt.TitleParams(title, subtitle=list(said), anchor="start")


def lay_panels(panels: Sequence[alt.LayerChart], title: str, across: int) -> alt.ConcatChart:
    """Panels in rows, `across` in each."""
    import altair as alt

    chart: alt.ConcatChart = alt.concat(*panels, columns=max(across, 1), title=title or alt.Undefined)
    return chart


@dataclass(frozen=True, eq=False)
class Rows:
    """A row each for systems, judges, topics or others, in the order of the frame.

    Args:
        frame: One row each, or several (as by judges and corrected, or the parts of a bar).
        kind: The column with their names. Readers can choose a system or a judge.
        told: Columns of the tooltips.
        looks: How kinds of rows differ, as for `mark`.
        natural: The name of the frame's order; without a name readers cannot choose another.
        orders: Names of other orders, each with the column to sort by, highest first, or `at_...` with places.
        apart: Values of the column `by`, placed one below the other in a row.
        pale: A test for rows that matter less.
        room: Pixels of a row; by default what their number leaves.
    """

    frame: pl.DataFrame
    kind: str
    told: Told = ()
    looks: Mapping[str, Key | str] = field(default_factory=lambda: {"color": CORRECTED})
    natural: str = ""
    orders: Mapping[str, str] = field(default_factory=dict)
    apart: Sequence[str] = ()
    pale: str = ""
    room: int = 0

    @cached_property
    def names(self) -> list[str]:
        """Of the rows."""
        return self.frame[self.kind].unique(maintain_order=True).to_list()

    @property
    def height(self) -> int:
        """Pixels."""
        least = LINE * len(self.apart) * len(self.names)
        return self.room * len(self.names) or max(measure_rows(len(self.names)), least)

    @property
    def width(self) -> int:
        """Pixels left for panels beside the names."""
        return WIDEST - measure_names(self.names)

    @cached_property
    def places(self) -> pl.DataFrame:
        """A number for each row, so that names which are equal when cut stay separate; its place in every order."""
        first = self.frame.unique(self.kind, keep="first", maintain_order=True)
        made = {"row": list(range(len(first))), "at_name": place_names(self.names)}
        for column in self.orders.values():
            made[_place(column)] = first[column].to_list() if column == _place(column) else place_values(first[column])
        return pl.DataFrame({self.kind: first[self.kind], **made})

    @cached_property
    def drawn(self) -> pl.DataFrame:
        """The frame with places."""
        bare = self.frame.drop(set(self.places.columns) - {self.kind}, strict=False)
        return bare.join(self.places, on=self.kind, how="left", maintain_order="left")

    def chart_dots(
        self,
        across: Axis,
        width: int,
        *,
        span: tuple[str, str] | None = ("low", "high"),
        line: float | None = None,
        colour: str | None = None,
        size: int = 42,
        shown: float = 1.0,
        named: bool = True,
        below: Sequence[alt.Chart] = (),
    ) -> alt.LayerChart:
        """A dot for each row, on a line from where `span` begins to where it ends; `below` are layers under them."""
        import altair as alt

        across = across if across.scale else replace(across, scale={"zero": False})
        looks = {**self.looks, **({} if colour is None else {"color": colour})}
        given: dict[str, Any] = {"told": self.told, "follow": self.kind, "shown": shown, "pale": self.pale}
        if self.apart:
            offset = alt.YOffset("by:N", sort=list(self.apart), scale=alt.Scale(paddingOuter=0.25))
            given["encodings"] = {"yOffset": offset}
        down = self._down(named=named)
        layers = [*below, *([] if line is None else [mark_line(across, line)])]
        if span is not None:
            spans: dict[str, Any] = {"to": (f"{span[1]}:Q", None), "style": {"strokeWidth": 1.6}, **given}
            colours = {"color": looks["color"]}
            layers.append(mark(self._start(), "rule", across.of(f"{span[0]}:Q"), down, looks=colours, **spans))
        style = {"filled": True, "size": size, "opacity": shown}
        dots = mark(self._start(), "point", across, down, looks=looks, style=style, **given)
        layers.append(dots.properties(name=_call(self.kind, across)))
        return self._lay(layers, width)

    def chart_bars(self, across: Axis, width: int, *, line: float | None = None, named: bool = False) -> alt.LayerChart:
        """A bar for each row, or its parts one after the other."""
        where = across, self._down(named=named)
        looks, style = {"color": self.looks["color"]}, {"height": {"band": 0.7}}
        bars = mark(self._start(), "bar", *where, looks=looks, told=self.told, follow=self.kind, style=style)
        layers = [bars.properties(name=_call(self.kind, across)), *([] if line is None else [mark_line(across, line)])]
        return self._lay(layers, width)

    def chart_letters(self, groups: Sequence[Sequence[str]], width: int) -> alt.LayerChart:
        """A line down the members of each group of tied rows, the first in another colour."""
        import altair as alt

        members: list[tuple[int | None, str]] = [(g, name) for g, group in enumerate(groups) for name in group]
        tied = {name for _, name in members}
        # Rows without a tie need a place too, so that panels match.
        members += [(None, name) for name in self.names if name not in tied]
        frame = pl.DataFrame(members, schema={"group": pl.Int64, self.kind: pl.String}, orient="row")
        base = self._start(frame.join(self.places, on=self.kind, how="left", maintain_order="left")).encode(
            color=alt.condition("datum.group == 0", alt.value(CORRECTED), alt.value(PLAIN))
        )
        where = Axis("group:O", None, {"domain": list(range(len(groups)))}, None), self._down(named=None)
        ordered = {"detail": "group:O", "order": "place:Q" if self._sorted else "row:Q"}
        lines = mark(base, "line", *where, encodings=ordered, style={"strokeWidth": 1.4, "opacity": 0.7})
        told = tell(f"{self.kind}:N")
        dots = mark(base, "circle", *where, told=told, follow=self.kind, style={"size": 16})
        return self._lay([lines, dots.properties(name=f"{self.kind}-groups")], width)

    def put_together(self, panels: Sequence[alt.LayerChart], title: str, said: Sequence[str] = ()) -> alt.HConcatChart:
        """Panels side by side, with a choice of system or judge and of the order."""
        import altair as alt

        chart: alt.HConcatChart = alt.hconcat(*panels, spacing=GAP, title=entitle(title, said))
        if self._sorted:
            chart = chart.add_params(choose_order(list(self._orders)))
        return let_choose(chart, self.kind) if self.kind in CHOICES else chart

    @property
    def _sorted(self) -> bool:
        return bool(self.natural) and len(self.names) > 1

    @property
    def _orders(self) -> dict[str, str]:
        others = {told: _place(column) for told, column in self.orders.items() if told != self.natural}
        return {self.natural: "row", **others, "name": "at_name"}

    def _start(self, frame: pl.DataFrame | None = None) -> alt.Chart:
        import altair as alt

        chart = alt.Chart(self.drawn if frame is None else frame)
        return chart.transform_calculate(place=place_rows(self._orders)) if self._sorted else chart

    def _down(self, *, named: bool | None) -> Axis:
        """With names, without (only faint lines), or nothing at all."""
        names = {**name_rows(self.names), **({} if named else {"labels": False, "domain": False})}
        order = {"field": "place", "op": "min"} if self._sorted else None
        return Axis("row:O", None, {}, None if named is None else names, order)

    def _lay(self, layers: list[alt.Chart], width: int) -> alt.LayerChart:
        return lay_panel(layers, (width, self.height))


def _place(column: str) -> str:
    return column if column.startswith("at_") else f"at_{column}"


def _call(kind: str, axis: Axis) -> str:
    return f"{kind}-{axis.column.partition(':')[0]}"
