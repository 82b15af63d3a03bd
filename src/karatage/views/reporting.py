"""One page of any number of results, and its charts and tables as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from karatage.errors import OptionError
from karatage.io.files import name_file, refuse_replacing
from karatage.views.charts import write_charts
from karatage.views.markup import write_table
from karatage.views.page import Page, write_page
from karatage.views.pictures import prepare_pictures
from karatage.views.showing import lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from karatage.io.files import PathLike
    from karatage.views.tables import Table

PAGE_ENDINGS = (".html", ".htm")
CHART_ENDINGS = (".svg", ".png")
TABLE_ENDINGS = (".tex", ".md")

_Part = TypeVar("_Part")


def write_report(
    path: PathLike,
    *results: object,
    command: str | None = None,
    figures: PathLike | None = None,
    tables: PathLike | None = None,
) -> None:
    """Write results as one HTML page that needs no network.

    Args:
        path: The page, an .html file.
        results: What `survey`, `compare`, `evaluate`, `audit` or any other verb returned; the first has the say on top.
        command: What to type to get it again, for the page to tell.
        figures: A folder for every chart as .svg and .png.
        tables: A folder for every table as .tex and .md.
    """
    if not str(path).endswith(PAGE_ENDINGS):
        raise OptionError(f"{path}: a page is an .html file; for machines, write results as .json")
    if not results:
        raise OptionError("a report needs at least one result")
    prepare_pictures()
    pages = [lay_out(result) for result in results]
    page = combine(pages)
    if command is not None:
        page = replace(page, facts=[("command", command), *page.facts])
    charts = {} if figures is None else dict(_place(page.figures, figures, CHART_ENDINGS))
    written = {} if tables is None else dict(_place(_tell_titles(pages), tables, TABLE_ENDINGS))
    refuse_replacing([path, *charts, *written])
    write_page(path, page)
    write_charts((figure.chart, place) for place, figure in charts.items())
    for place, table in written.items():
        write_table(table, place)


def _tell_titles(pages: Sequence[Page]) -> Iterator[tuple[str, Table]]:
    """Tables that will stand alone say which page they are of."""
    for page in pages:
        for name, table in page.tables:
            yield name, replace(table, caption=f"{table.caption}; {page.title}" if table.caption else page.title)


def combine(pages: Sequence[Page]) -> Page:
    """Pages one after the other under the first one's title and sentence; what each says stands over its sections."""
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


def _place(
    parts: Iterable[tuple[str, _Part]], folder: PathLike, endings: Sequence[str]
) -> Iterator[tuple[Path, _Part]]:
    """The files of each part; names that come again are numbered, so that no file is written over."""
    seen: Counter[str] = Counter()
    for name, part in parts:
        stem = name_file(name)
        seen[stem.casefold()] += 1  # a file system may not tell A from a
        number = seen[stem.casefold()]
        for ending in endings:
            yield Path(folder) / f"{stem if number == 1 else f'{stem}-{number}'}{ending}", part
