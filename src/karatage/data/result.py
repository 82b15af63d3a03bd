"""What results and data have in common: results are written as JSON and read back, and all show themselves."""

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
    """Of karatage and Python."""
    return {"karatage": _find_own(), "python": platform.python_version()}


@cache
def _find_own() -> str:
    from importlib.metadata import version  # slow to import

    return version("karatage")


LINE: Final = 80  # characters of a sentence in `repr`
SCHEMA: Final = 2  # of what is written; 1 is without a number
KINDS: Final[dict[str, type[Result]]] = {}  # that can be read back: classes enter when their module is imported


class Display(Protocol):
    """What shows results, in a layer above them."""

    def show(self, result: object) -> str:
        """As HTML, for a notebook."""
        ...

    def chart(self, result: object) -> alt.TopLevelMixin:
        """The chart that says most."""
        ...

    def write(self, result: object) -> str:
        """As text, for the terminal."""
        ...


_displays: list[Callable[[], Display]] = []


def provide_display(find: Callable[[], Display]) -> None:
    """Say where results are shown; `find` is called when one is first asked to."""
    _displays[:] = [find]


class Shown:
    """A frozen dataclass that shows itself: a line, its first table as text, HTML for notebooks, a chart."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def sentence(self) -> str:
            """What to take away."""
            ...

        def to_frame(self) -> pl.DataFrame:
            """The table that says most."""
            ...

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]  # or the dataclass would make its own

    def __repr__(self) -> str:
        return f"{type(self).__name__}({shorten(self.sentence, LINE)})"

    def __str__(self) -> str:
        return _displays[0]().write(self)

    def _repr_html_(self) -> str:
        return _displays[0]().show(self)

    def plot(self) -> alt.TopLevelMixin:
        """The chart that says most about this result, for notebooks and to `save` as HTML, SVG or PNG."""
        return _displays[0]().chart(self)


class Listed:
    """Rows that are counted, gone through and shown in notebooks."""

    __slots__ = ()
    if TYPE_CHECKING:

        def to_frame(self) -> pl.DataFrame:
            """All rows."""
            ...

    def __iter__(self) -> Iterator[Any]:
        """Rows as named tuples."""
        frame = self.to_frame()
        row: Any = namedtuple("Row", frame.columns)  # type: ignore[misc]  # as the columns are
        return map(row._make, frame.iter_rows())

    def to_pandas(self) -> Any:
        """All rows as a data frame of pandas, which has to be installed."""
        return self.to_frame().to_pandas()

    def _repr_html_(self) -> str:
        return _displays[0]().show(self)


class Result(Shown):
    """A result of a `kind`, a frozen dataclass.

    Its JSON has the fields under their own names, and beside them what `derived` names: properties or methods whose
    values follow from the fields, which is checked when the result is read. Fields that are `unsaved` have a default.
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
            """Warnings, as notes or as text."""
            ...

    @property
    def rows(self) -> pl.DataFrame:
        """The table that says most, as it is written into JSON."""
        return self.to_frame()

    def tell_facts(self) -> dict[str, Any]:
        """Everything, ready for JSON, with tables whose rows are made as they are written."""
        from karatage.data.codec import unstructure  # which loads much, and `import karatage` nothing

        facts: dict[str, Any] = unstructure(self)
        return {"kind": facts.pop("kind"), "schema": SCHEMA, **facts}

    def to_dict(self, **asked: Any) -> dict[str, Any]:
        """Everything, ready for JSON; what can be `asked` for beside it, `tell_facts` says."""
        from karatage.data.plain import make_rows

        facts: dict[str, Any] = make_rows(self.tell_facts(**asked))
        return facts

    def to_json(self, **asked: Any) -> str:
        """The same as JSON text."""
        from karatage.data.plain import write_json

        return write_json(self.tell_facts(**asked))
