"""Charts of named rows: dots with intervals, bars, and spans, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from karatage.views.charts import CORRECTED, PLAIN
from karatage.views.choosing import (
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
)

if TYPE_CHECKING:
    import altair as alt

GAP = 12  # pixels between panels
DASH = (4, 3)
WHOLE = (0.0, 1.0)


class Mark(NamedTuple):
    """What stands for a kind of row, told by colour and by shape."""

    colour: str
    shape: str


class Across(NamedTuple):
    """The horizontal axis of a panel: what it shows, its ends (default: what the data need), and a line to go by."""

    title: str
    ends: tuple[float, float] | None = None
    line: float | None = None
    counts: bool = False  # whole numbers only


@dataclass(frozen=True, eq=False)
class Rows:
    """A row each for systems, judges or topics, in the order of the frame.

    Args:
        frame: One row each, or several that follow each other (as the parts of a bar).
        kind: The column with their names.
        marks: What the values of the column `mark` look like; none for a single kind of row.
        orders: Other columns to sort by, highest first, as readers call them.
        natural: What readers call the order of the frame; without a name there is no other.
    """

    frame: pl.DataFrame
    kind: Literal["system", "judge", "topic", "name"]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    orders: Mapping[str, str] = field(default_factory=dict)
    natural: str = ""

    @cached_property
    def names(self) -> list[str]:
        """Of the rows."""
        return self.frame[self.kind].unique(maintain_order=True).to_list()

    @property
    def height(self) -> int:
        """Pixels."""
        return measure_rows(len(self.names))

    @property
    def room(self) -> int:
        """Pixels left for panels beside the names."""
        return WIDEST - measure_names(self.names)

    @cached_property
    def drawn(self) -> pl.DataFrame:
        """The frame with a number for each row, by which cut names stay apart, and its place in every order."""
        first = self.frame.unique(self.kind, keep="first", maintain_order=True)
        places = {"row": list(range(len(first))), "at_name": place_names(self.names)}
        for column in self.orders.values():
            places[f"at_{column}"] = _place_values(first[column])
        return self.frame.join(
            pl.DataFrame({self.kind: first[self.kind], **places}), on=self.kind, how="left", maintain_order="left"
        )

    def draw_dots(self, across: Across, width: int, told: Sequence[str], *, named: bool = True) -> alt.LayerChart:
        """A dot at `value` for each row, on a line from `low` to `high` where there is one."""
        import altair as alt

        scale = alt.Scale(zero=False) if across.ends is None else alt.Scale(domain=list(across.ends), nice=False)
        base = self._start(told, named=named)
        spans = base.mark_rule(strokeWidth=1.6).encode(alt.X("low:Q", title=across.title, scale=scale), x2="high:Q")
        dots = base.mark_point(filled=True, size=42, opacity=1).encode(
            alt.X("value:Q", title=across.title, scale=scale)
        )
        layers = [*_mark_line(across), spans, self._shape(dots).properties(name=f"{self.kind}-dots")]
        chart: alt.LayerChart = alt.LayerChart(layer=layers, width=width, height=self.height)
        return chart

    def draw_bars(
        self, column: str, across: Across, width: int, told: Sequence[str], *, named: bool = False
    ) -> alt.LayerChart:
        """A bar for each row, or its parts one after the other."""
        import altair as alt

        ends = alt.Undefined if across.ends is None else list(across.ends)
        base = self._start(told, named=named)
        ticks = alt.Axis(tickMinStep=1) if across.counts else alt.Axis()
        length = alt.X(f"{column}:Q", title=across.title, scale=alt.Scale(domain=ends), axis=ticks)
        bars = base.mark_bar(height=alt.RelativeBandSize(0.7)).encode(length)
        layers = [bars.properties(name=f"{self.kind}-{column}"), *_mark_line(across)]
        chart: alt.LayerChart = alt.LayerChart(layer=layers, width=width, height=self.height)
        return chart

    def put_together(self, panels: Sequence[alt.LayerChart], title: str, said: Sequence[str] = ()) -> alt.HConcatChart:
        """Panels side by side, with a choice of system or judge and of the order."""
        import altair as alt

        head = alt.TitleParams(title, subtitle=list(said), anchor="start")
        chart: alt.HConcatChart = alt.hconcat(*panels, spacing=GAP, title=head)
        if self._sorted:
            chart = chart.add_params(choose_order(list(self._orders)))
        return let_choose(chart, self.kind) if self.kind in ("system", "judge") else chart

    @property
    def _sorted(self) -> bool:
        return bool(self.natural) and len(self.names) > 1

    @property
    def _orders(self) -> dict[str, str]:
        others = {told: f"at_{column}" for told, column in self.orders.items()}
        return {self.natural: "row", **others, "name": "at_name"}

    def _start(self, told: Sequence[str], *, named: bool) -> alt.Chart:
        import altair as alt

        axis = name_rows(self.names) if named else None
        chart = alt.Chart(self.drawn)
        if self._sorted:
            chart = chart.transform_calculate(place=place_rows(self._orders))
            down = alt.Y("row:O", title=None, sort=alt.SortField("place"), axis=axis)
        else:
            down = alt.Y("row:O", title=None, axis=axis)
        chart = chart.encode(down, self._shade(), tooltip=[f"{self.kind}:N", *told])
        return chart.encode(opacity=fade(choose(self.kind))) if self.kind in ("system", "judge") else chart

    def _shade(self) -> alt.Color | alt.ColorValue:
        import altair as alt

        if not self.marks:
            return alt.ColorValue(CORRECTED)
        scale = alt.Scale(domain=list(self.marks), range=[mark.colour for mark in self.marks.values()])
        return alt.Color("mark:N", title=None, scale=scale, legend=alt.Legend(orient="top", labelLimit=300))

    def _shape(self, dots: alt.Chart) -> alt.Chart:
        import altair as alt

        if not self.marks:
            return dots
        scale = alt.Scale(domain=list(self.marks), range=[mark.shape for mark in self.marks.values()])
        return dots.encode(shape=alt.Shape("mark:N", title=None, scale=scale, legend=alt.Legend(orient="top")))


def _place_values(values: pl.Series) -> list[int]:
    """Where each value stands, the highest first; what is not known comes last, equals keep their order."""
    order = (
        pl.DataFrame({"value": values})
        .with_row_index("k")
        .sort("value", "k", descending=[True, False], nulls_last=True)
    )
    return order.with_row_index("place").sort("k")["place"].to_list()


def _mark_line(across: Across) -> list[alt.Chart]:
    import altair as alt

    if across.line is None:
        return []
    rule = alt.Chart(pl.DataFrame({"line": [across.line]})).mark_rule(color=PLAIN, strokeDash=list(DASH))
    return [rule.encode(alt.X("line:Q", title=across.title))]
