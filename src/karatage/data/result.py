"""The base of results and data: how they are displayed, and written as JSON."""

from __future__ import annotations

import platform
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from karatage.text import shorten

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


def list_versions() -> dict[str, str]:
    """The versions of karatage and Python."""
    return {"karatage": _find_own(), "python": platform.python_version()}


@cache
def _find_own() -> str:
    from importlib.metadata import version  # slow to import

    return version("karatage")


LINE: Final = 80  # characters of a sentence in `repr`
SCHEMA: Final = 2  # of the JSON; files of schema 1 do not have the number
KINDS: Final[dict[str, type[Result]]] = {}  # of results that can be read back; imported modules add theirs


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


class Result(Shown):
    """A result of a `kind`, a frozen dataclass.

    Its JSON contains the fields by name, and the properties and methods in `derived`. Their values follow from the
    fields, which is checked when the result is read. `unsaved` fields are not written and have a default.
    """

    kind: ClassVar[str]
    derived: ClassVar[tuple[str, ...]] = ("sentence",)
    unsaved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, *, kind: str) -> None:
        super().__init_subclass__()
        cls.kind = kind
        KINDS[kind] = cls

    if TYPE_CHECKING:

        @property
        def notes(self) -> tuple[object, ...]:
            """Warnings and remarks."""
            ...

    @property
    def rows(self) -> pl.DataFrame:
        """The main table, as in the JSON."""
        return self.to_frame()

    def tell_facts(self) -> dict[str, Any]:
        """All facts for JSON, with tables whose rows are made when they are written."""
        from karatage.data.codec import unstructure  # slow to import

        facts: dict[str, Any] = unstructure(self)
        return {"kind": facts.pop("kind"), "schema": SCHEMA, **facts}

    def to_dict(self, **asked: Any) -> dict[str, Any]:
        """All facts for JSON; `tell_facts` has options for more."""
        from karatage.data.plain import make_rows

        facts: dict[str, Any] = make_rows(self.tell_facts(**asked))
        return facts

    def to_json(self, **asked: Any) -> str:
        """The same as JSON text."""
        from karatage.data.plain import write_json

        return write_json(self.tell_facts(**asked))
