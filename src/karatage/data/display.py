"""The display of results and data: as text, in notebooks and as charts."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

from karatage.text import shorten

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

LINE: Final = 80  # characters of a sentence in `repr`


class Display(Protocol):
    """The display of results, in a layer above them."""

    def show(self, result: object) -> str:
        """As HTML, for a notebook."""
        ...

    def chart(self, result: object) -> alt.TopLevelMixin:
        """The main chart."""
        ...

    def write(self, result: object) -> str:
        """As text, for the terminal."""
        ...


_displays: list[Callable[[], Display]] = []


def provide_display(find: Callable[[], Display]) -> None:
    """Set the display of results; `find` is called at the first use."""
    _displays[:] = [find]


class Shown:
    """A frozen dataclass with a display: a line, its first table as text, HTML for notebooks, and a chart."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def sentence(self) -> str:
            """What to take away."""
            ...

        def to_frame(self) -> pl.DataFrame:
            """The main table."""
            ...

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]  # else the dataclass makes its own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shorten(self.sentence, LINE)})"

    def __str__(self) -> str:
        return _displays[0]().write(self)

    def _repr_html_(self) -> str:
        return _displays[0]().show(self)

    def plot(self) -> alt.TopLevelMixin:
        """The main chart of this result, for notebooks and to `save` as HTML, SVG or PNG."""
        return _displays[0]().chart(self)


class Listed:
    """Rows with a number, iteration and a display in notebooks."""

    __slots__ = ()
    if TYPE_CHECKING:

        def to_frame(self) -> pl.DataFrame:
            """All rows."""
            ...

    def __iter__(self) -> Iterator[Any]:
        """Over rows as named tuples."""
        frame = self.to_frame()
        row: Any = namedtuple("Row", frame.columns)  # type: ignore[misc]  # as the columns are
        return map(row._make, frame.iter_rows())

    def to_pandas(self) -> Any:
        """All rows as a data frame of pandas, which must be installed."""
        return self.to_frame().to_pandas()

    def _repr_html_(self) -> str:
        return _displays[0]().show(self)
