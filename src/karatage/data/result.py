"""Results: how they are written as JSON, and which kinds can be read."""

from __future__ import annotations

import platform
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from karatage.data.display import Shown

if TYPE_CHECKING:
    import polars as pl


def list_versions() -> dict[str, str]:
    """The versions of karatage and Python."""
    return {"karatage": _find_own(), "python": platform.python_version()}


@cache
def _find_own() -> str:
    from importlib.metadata import version  # slow to import

    return version("karatage")


SCHEMA: Final = 2  # of the JSON; files of schema 1 do not have the number
KINDS: Final[dict[str, type[Result]]] = {}  # of results that can be read back; imported modules add theirs


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
