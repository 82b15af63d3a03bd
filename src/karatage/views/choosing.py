"""What readers choose in a chart: the system or judge to highlight, and the order of rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from karatage.text import shorten

if TYPE_CHECKING:
    import altair as alt

Chart = TypeVar(
    "Chart", "alt.Chart", "alt.LayerChart", "alt.HConcatChart", "alt.VConcatChart", "alt.ConcatChart", "alt.FacetChart"
)
CHOICES = {"system": "chosen", "judge": "chosen_judge"}
SORTED_BY = "sorted_by"
WIDEST = 600  # pixels of a chart, with names
ROW, ROOMY_ROW, FEW = 13, 20, 30  # pixels of a row, and of one among few
NAME = 30  # characters of a name on an axis
LETTER = 5.6  # pixels, of a name on an axis
PALE = 0.15


def choose(kind: str) -> alt.Parameter:
    """A choice that all charts of systems, or of judges, share: one of them, by a click on any of its marks."""
    import altair as alt

    return alt.selection_point(name=CHOICES[kind], fields=[kind], toggle=False)


def let_choose(chart: Chart, kind: str, listed: Mapping[str | None, str] | None = None) -> Chart:
    """The chart with a choice that clicks on its named marks make, or a list of names with what readers see."""
    import altair as alt

    select = alt.PointSelectionConfig(type="point", fields=[kind], toggle=False)
    drawn: Chart = chart.copy(deep=False)
    made = alt.TopLevelSelectionParameter(name=CHOICES[kind], select=select, views=list(_find_named(drawn)))
    if listed is not None:
        names = alt.binding_select(options=list(listed), labels=list(listed.values()), name=f"{kind} ")
        made.bind = {kind: names}
    drawn.params = [*_list_params(drawn), made]
    return drawn


def _list_params(chart: alt.SchemaBase) -> list[Any]:
    given = getattr(chart, "params", None)
    return given if isinstance(given, list) else []


def _find_named(chart: alt.SchemaBase) -> Iterator[str]:
    """Names of marks as they are once charts are put together, which changes them."""
    import altair as alt

    name = getattr(chart, "name", None)
    if isinstance(name, str):
        yield name
    for part in ("layer", "hconcat", "vconcat", "concat"):
        inner = getattr(chart, part, None)
        for drawn in inner if isinstance(inner, list) else ():
            yield from _find_named(drawn)
    if isinstance(chart, alt.FacetChart):
        yield from _find_named(chart.spec)


def fade(choice: alt.Parameter, shown: float = 1.0, *, lesser: str = "") -> alt.Opacity:
    """Full opacity for what is chosen, or for all while nothing is; `lesser` is a test for paler marks."""
    import altair as alt

    hidden = alt.when(~choice).then(alt.value(PALE * shown))
    if lesser:
        hidden = hidden.when(lesser).then(alt.value(0.55 * shown))
    return alt.Opacity(**hidden.otherwise(alt.value(shown)))


def choose_order(orders: Sequence[str]) -> alt.Parameter:
    """A list of orders to choose from; the first is the default."""
    import altair as alt

    return alt.param(name=SORTED_BY, value=orders[0], bind=alt.binding_select(options=list(orders), name="sorted by "))


def place_rows(orders: Mapping[str, str]) -> str:
    """The place of a row, as an expression: {order: the field with the row's place in that order}."""
    *others, (_, last) = orders.items()
    chosen = (f"{SORTED_BY} == {json.dumps(order)} ? datum.{field} : " for order, field in others)
    return "".join(chosen) + f"datum.{last}"


def name_rows(names: Sequence[str]) -> dict[str, Any]:
    """Options of an axis for numbered rows, so that names which are equal when cut keep separate rows."""
    return {
        "labelExpr": name_by_number(cut_names(names, NAME)),
        "labelLimit": 220,
        "labelFontSize": 10,
        "labelOverlap": False,
        "ticks": False,
        "grid": True,
        "gridOpacity": 0.3,
    }


def name_by_number(names: Sequence[str], number: str = "value") -> str:
    """An expression for the name that a number means, by default the number of an axis label.

    All names are one text, since Vega takes a text that is just `constructor` or `toString` for code.
    """
    return f"split({json.dumps(chr(10).join([*names, '']))}, {json.dumps(chr(10))})[datum.{number}]"


def place_names(names: Sequence[str]) -> list[int]:
    """The alphabetical place of each name, from 0."""
    order = sorted(range(len(names)), key=lambda k: (names[k].casefold(), names[k]))
    place = {k: at for at, k in enumerate(order)}
    return [place[k] for k in range(len(order))]


def measure_rows(rows: int) -> int:
    """The height in pixels of a chart with this number of rows."""
    return rows * (ROOMY_ROW if rows <= FEW else ROW)


def measure_names(names: Sequence[str]) -> int:
    """Pixels that names take on an axis."""
    return math.ceil(LETTER * max(min(len(name), NAME) for name in names))


def cut_names(names: Sequence[str], width: int) -> list[str]:
    """Names cut for an axis; those that would be equal with their end cut lose their middle instead."""
    short = [shorten(name, width) for name in names]
    often = Counter(short)
    return [_cut_middle(name, width) if often[cut] > 1 else cut for name, cut in zip(names, short, strict=True)]


def _cut_middle(name: str, width: int) -> str:
    if len(name) <= width:
        return shorten(name, width)
    head = (width - 1) // 2
    return f"{shorten(name[:head], width)}…{shorten(name[head + 1 - width :], width)}"


def place_values(values: pl.Series, *, lowest_first: bool = False) -> list[int]:
    """The place of each value, by default the highest first; unknown values come last, equal ones keep their order."""
    order = values.to_frame("value").with_row_index("k")
    order = order.sort("value", "k", descending=[not lowest_first, False], nulls_last=True)
    return order.with_row_index("place").sort("k")["place"].to_list()


def finite(value: float) -> float | None:
    """A number that a chart can show, or nothing."""
    return value if math.isfinite(value) else None


def tell(*fields: str) -> list[alt.Tooltip]:
    """The tooltip of a mark: short numbers (`:Q`), and names of fields in words."""
    import altair as alt

    told = []
    for field in fields:
        name, kind = field.rsplit(":", 1)
        said = alt.Tooltip(field.replace(".", r"\."), title=name.replace("_", " "))
        told.append(said.format(".2~g" if name == "p_value" else ".4~f") if kind == "Q" else said)
    return told


def tell_shown(shown: int, judges: int, which: str) -> list[str]:
    """How many judges a chart leaves out."""
    return [f"the {shown:,} that {which}; {judges - shown:,} are left out"] if shown < judges else []


def tell_columns(frame: pl.DataFrame) -> list[alt.Tooltip]:
    """All columns of a frame."""
    return tell(*(f"{name}:{'N' if kind == pl.String else 'Q'}" for name, kind in frame.schema.items()))
