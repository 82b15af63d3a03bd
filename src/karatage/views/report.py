"""One page of any number of results, and its charts and tables as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from karatage.data.alignment import require_data
from karatage.data.judgments import Judgments
from karatage.data.options import Adjust, show_options
from karatage.data.runs import Runs
from karatage.data.survey import Survey
from karatage.decisions.material import Material
from karatage.decisions.question import OtherOptions, Question
from karatage.decisions.survey import survey
from karatage.errors import OptionError
from karatage.io.files import PathLike, name_file, refuse_replacing
from karatage.measures.spec import Measure
from karatage.views.charts import write_charts
from karatage.views.html import write_page
from karatage.views.page import Page, combine
from karatage.views.pictures import prepare_pictures
from karatage.views.showing import lay_out
from karatage.views.table import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from karatage.views.table import Table

PAGE_ENDINGS = (".html", ".htm")
CHART_ENDINGS = (".svg", ".png")
TABLE_ENDINGS = (".tex", ".md")

_Part = TypeVar("_Part")


@show_options(Question)
def report(
    runs: Runs,
    judgments: Judgments,
    gold: Judgments | None = None,
    measure: str | Measure | Question = Question.measure,
    *,
    a: str | None = None,
    b: str | None = None,
    approach: str | Sequence[str] = (),
    adjust: Adjust = "holm",
    families: Mapping[str, str] | None = None,
    output: PathLike | None = None,
    figures: PathLike | None = None,
    tables: PathLike | None = None,
    **options: Unpack[OtherOptions],
) -> Survey:
    """Compare systems, hold approaches against gold, audit and calibrate the judges; all of it on one page.

    Args:
        runs: What the systems retrieved, two at least.
        judgments: What the judges said.
        gold: Trusted grades of some items, used as in `compare`. None: the judges' own leaderboard, which nothing
            corrects.
        measure: A measure such as `P@10`, or a `kt.Question` that says what is claimed and assumed.
        a: One of two systems to decide between; default: the two that there are, or the leaderboard.
        b: The other; differences are b - a.
        approach: The first decides, and all are held against gold. Default: a vote, plain and weighted averages of
            scores, a model of judges' errors, and up to forty judges alone.
        adjust: For many pairs: Holm, Benjamini-Hochberg, or not at all.
        families: Judge to family: judges of one family may err alike.
        output: Write the page here, an .html file.
        figures: A folder for every chart as .svg and .png; only with a page.
        tables: A folder for every table as .tex and .md; only with a page.
        options: What else a `kt.Question` says, by the same names.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold)
    approaches = (approach,) if isinstance(approach, str) else tuple(approach)
    question = Question.of(measure, **options)
    if approaches:
        question = replace(question, approach=approaches[0])
    if output is None and (figures is not None or tables is not None):
        raise OptionError("charts and tables are written beside a page; name it with output")
    material = Material(runs=runs, judgments=judgments, gold=gold)
    found = survey(material, question, a=a, b=b, approaches=approaches, families=families, adjust=adjust)
    if output is not None:
        write_report(output, found, figures=figures, tables=tables)
    return found


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
        results: What `report`, `compare`, `evaluate`, `audit` or any other verb returned; the first gives the title.
        command: What to type to get it again, shown on the page.
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
