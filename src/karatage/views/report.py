"""`report` and `demo`, and pages of any number of results with their charts and tables as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

import numpy as np
import polars as pl

from karatage.data.alignment import require_data
from karatage.data.judgments import Judgments
from karatage.data.options import Adjust, show_options
from karatage.data.records import StudyRecord
from karatage.data.runs import Runs
from karatage.data.survey import Survey
from karatage.decisions.material import Material
from karatage.decisions.plan import plan
from karatage.decisions.question import OtherOptions, Question
from karatage.decisions.survey import survey
from karatage.errors import OptionError
from karatage.io.files import PathLike, name_file, refuse_replacing
from karatage.io.judgments import read_gold, read_judgments
from karatage.io.runs import read_runs
from karatage.io.writing import encode_table, refuse_other_collection, write_bytes, write_judgments, write_run
from karatage.measures.spec import Measure
from karatage.random_streams import settle_seed
from karatage.simulation.collection import World, simulate_collection, simulate_story
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
# Of the demo: the systems and gold labels of its first collection, and the gold labels of its second.
PAIR = ("system-12", "system-11")
MEASURE, LABELS = "DCG@10", 200
STORY_MEASURE, STORY_LABELS = "P@10", 300

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
    record: StudyRecord | None = None,
    **options: Unpack[OtherOptions],
) -> Survey:
    """Compare systems, compare approaches with gold, audit and calibrate the judges, all on one page.

    Args:
        runs: The runs of at least two systems.
        judgments: The judges' grades.
        gold: Trusted grades of some items, used as in `compare`. None: the judges' leaderboard, without
            correction.
        measure: A measure such as `P@10`, or a `kt.Question` with what is claimed and assumed.
        a: One of two systems to decide between; default: the two that there are, or the leaderboard.
        b: The other; differences are b - a.
        approach: The first decides, and all are compared with gold. Default: a vote, plain and weighted averages of
            scores, a model of judges' errors, and up to forty judges alone.
        adjust: For many pairs: Holm, Benjamini-Hochberg, or not at all.
        families: Judge to family: judges of one family may share errors.
        output: Write the page here, an .html file.
        figures: A folder for every chart as .svg and .png; only with a page.
        tables: A folder for every table as .tex and .md; only with a page.
        record: Earlier studies of the judges, from `kt.stats.read_studies`, for the best guess and the audit.
        options: Other arguments of a `kt.Question`.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold)
    approaches = (approach,) if isinstance(approach, str) else tuple(approach)
    question = Question.of(measure, **options)
    if approaches:
        question = replace(question, approach=approaches[0])
    if output is None and (figures is not None or tables is not None):
        raise OptionError("charts and tables are written beside a page; name it with output")
    material = Material(runs=runs, judgments=judgments, gold=gold, record=record)
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
        command: The command that makes it again, shown on the page.
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
    """Tables for files, with the title of their page in the caption."""
    for page in pages:
        for name, table in page.tables:
            yield name, replace(table, caption=f"{table.caption}; {page.title}" if table.caption else page.title)


def _place(
    parts: Iterable[tuple[str, _Part]], folder: PathLike, endings: Sequence[str]
) -> Iterator[tuple[Path, _Part]]:
    """The files of each part; repeated names are numbered, so that no file is overwritten."""
    seen: Counter[str] = Counter()
    for name, part in parts:
        stem = name_file(name)
        seen[stem.casefold()] += 1  # a file system may not distinguish A from a
        number = seen[stem.casefold()]
        for ending in endings:
            yield Path(folder) / f"{stem if number == 1 else f'{stem}-{number}'}{ending}", part


def demo(output: PathLike = "demo", *, rng: int | np.random.Generator | None = 7) -> Survey:
    """Write two simulated collections as ordinary files, and a page about the second; return what the page shows.

    The first has 12 runs, 9 judges, gold and a judged queue, on which the examples of all commands run. The second has
    three versions of a search and judges who share errors.

    Args:
        output: The folder; the page is `report.html` in it.
        rng: Seed.
    """
    story = write_demo(Path(output), settle_seed(rng))
    found = story.survey()
    write_report(story.page, found)
    return found


@dataclass(frozen=True)
class Story:
    """The second collection: three systems, judges who share errors, and gold on the documents that `plan` chose."""

    home: Path
    world: World
    runs: Path  # a folder
    judgments: Path
    gold: Path  # a judged queue
    page: Path  # not yet written

    def survey(self) -> Survey:
        """Compare old with new, from the files."""
        runs, judgments, gold = read_runs(self.runs), read_judgments(self.judgments), read_gold(self.gold)
        return report(runs, judgments, gold, STORY_MEASURE, a="old", b="new")


def write_demo(home: Path, seed: int) -> Story:
    """The files of both collections."""
    world = simulate_collection(rng=seed)
    refuse_other_collection(home, world.runs.systems, world.gold)
    _write_runs(world, home / "runs")
    write_judgments(world.judgments, home / "judgments.csv")
    write_judgments(world.gold, home / "gold.qrels")
    queue = plan(world.runs, world.judgments, MEASURE, budget=LABELS, a=PAIR[0], b=PAIR[1]).queue
    _write_judged(queue, world, home / "judged-queue.csv")
    own, world = home / "story", simulate_story(seed)
    story = Story(home, world, own / "runs", own / "judgments.csv", own / "gold.csv", home / "report.html")
    _write_runs(world, story.runs)
    write_judgments(world.judgments, story.judgments)
    _write_judged(plan(world.runs, world.judgments, STORY_MEASURE, budget=STORY_LABELS).queue, world, story.gold)
    write_judgments(world.pool, own / "truth" / "gold.qrels")  # of the whole pool, which only a simulation has
    return story


def _write_runs(world: World, folder: Path) -> None:
    for system in world.runs.systems:
        write_run(world.runs, system, folder / f"{system}.gz")


def _write_judged(queue: pl.DataFrame, world: World, path: Path) -> None:
    """The documents that `plan` drew, as a file that gold judges filled in."""
    gold = world.gold.to_frame().select("topic", "document", "grade")
    judged = queue.drop("grade").join(gold, on=["topic", "document"], how="left", maintain_order="left")
    write_bytes(path, encode_table(judged, ".csv"))
