"""Results show themselves in notebooks, and draw themselves."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

# Charts and tables are made from results, in a layer above them; a result that shows itself looks up there late, when
# it is asked to, so that no module below depends on one above, and none loads charts that nobody wants.
SHOWING = "karatage.views.showing"


class Shown:
    """A result with a face of its own in notebooks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        shown: str = import_module(SHOWING).show(self)
        return shown

    def plot(self) -> alt.TopLevelMixin:
        """The chart that says most about this result, for notebooks and to `save` as HTML, SVG or PNG."""
        chart: alt.TopLevelMixin = import_module(SHOWING).draw(self)
        return chart


class Result(Protocol):
    """What results have in common."""

    @property
    def sentence(self) -> str:
        """What to take away."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Doubts."""
        ...

    def to_frame(self) -> pl.DataFrame:
        """The table that says most."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        ...

    def to_json(self) -> str:
        """The same as JSON text."""
        ...

    def plot(self) -> alt.TopLevelMixin:
        """The chart that says most."""
        ...
