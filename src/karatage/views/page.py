"""A page of results as data; `html` and `text` write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import altair as alt

    from karatage.views.table import Table


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart to show, made when it is first asked for.

    Screen readers read the caption in its place; the table has the numbers behind it.
    """

    make: Callable[[], alt.TopLevelMixin]
    caption: str
    name: str = ""  # stem of its file
    table: Table | None = None

    @cached_property
    def chart(self) -> alt.TopLevelMixin:
        """Made once."""
        return self.make()


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a page: paragraphs (blank lines between them), then charts, then tables.

    Args:
        title: What it is about.
        text: Paragraphs.
        tables: Numbers.
        charts: Left out in the terminal, with the tables behind them.
        background: Paragraphs before `text`, which the terminal leaves out.
        commands: What to type next.
        detail: Whether the terminal leaves it out.
    """

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    charts: Sequence[Figure] = ()
    background: str = ""
    commands: Sequence[str] = ()
    detail: bool = False

    @property
    def paragraphs(self) -> list[str]:
        """The text, without the background."""
        return split_paragraphs(self.text)


@dataclass(frozen=True, eq=False)
class Page:
    """What readers see: the main sentence, the evidence in sections, all warnings, and how the result was made."""

    title: str
    sentence: str
    sections: Sequence[Section] = ()
    notes: Sequence[object] = ()
    facts: Sequence[tuple[str, str]] = ()  # versions, seed, command ...

    @property
    def figures(self) -> Iterator[tuple[str, Figure]]:
        """All charts with a name each, in order."""
        charts = [figure for section in self.sections for figure in section.charts]
        for number, figure in enumerate(charts, 1):
            yield figure.name or f"figure-{number}", figure

    @property
    def tables(self) -> Iterator[tuple[str, Table]]:
        """All tables with a name each, in order; those behind charts are among them."""
        number = 0
        for section in self.sections:
            behind = [figure.table for figure in section.charts if figure.table is not None]
            for table in (*behind, *section.tables):
                number += 1
                yield table.name or f"table-{number}", table

    @property
    def short(self) -> Page:
        """The page without its details."""
        kept = (section for section in self.sections if not section.detail)
        return replace(self, sections=[replace(part, tables=[t for t in part.tables if not t.detail]) for part in kept])


Shows = TypeVar("Shows", bound="Callable[..., Page]")
VIEWS: dict[type, Callable[[Any], Page]] = {}  # that make a page of each kind of result; `showing` fills it


def shows(kind: type) -> Callable[[Shows], Shows]:
    """Register the function that makes a page of results of a kind."""

    def register(view: Shows) -> Shows:
        VIEWS[kind] = view
        return view

    return register


def split_paragraphs(text: str) -> list[str]:
    """Paragraphs are separated by blank lines."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def combine(pages: Sequence[Page]) -> Page:
    """Pages one after the other under the first one's title and sentence; each one's own is above its sections."""
    if len(pages) == 1:
        return pages[0]
    sections = []
    for page in pages:
        first, *rest = page.sections
        sections += [
            replace(first, title=f"{page.title}: {first.title}", text=f"{page.sentence}\n\n{first.text}"),
            *rest,
        ]
    return Page(
        pages[0].title,
        pages[0].sentence,
        sections,
        tuple(dict.fromkeys(note for page in pages for note in page.notes)),
        tuple(dict.fromkeys(fact for page in pages for fact in page.facts)),
    )


class Recorded(Protocol):
    """A result with the seed and the versions that it was made with."""

    @property
    def seed(self) -> int:
        """The seed."""
        ...

    @property
    def versions(self) -> Mapping[str, str]:
        """The software."""
        ...


def list_facts(result: Recorded, **options: object) -> list[tuple[str, str]]:
    """What was asked, the seed and the versions."""
    return [*list_options(**options), ("seed", str(result.seed)), ("versions", spell_versions(result.versions))]


def list_options(**options: object) -> list[tuple[str, str]]:
    """What was asked; empty options are left out."""
    return [(name.replace("_", " "), str(value)) for name, value in options.items() if value not in (None, "", ())]


def spell_versions(versions: Mapping[str, str]) -> str:
    """The software on a line."""
    return ", ".join(f"{name} {number}" for name, number in versions.items())
