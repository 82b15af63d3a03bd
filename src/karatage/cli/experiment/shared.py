"""`karatage experiment`: the options that its commands share, and what they leave behind."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

from cyclopts import Parameter

from karatage.cli.options import (
    AT_LEAST_0,
    FOLDER,
    PATH,
    Fresh,
    InputFiles,
    MostMemory,
    Printing,
    Workers,
    complete,
    list_approaches,
    list_measures,
    parse_columns,
)
from karatage.cli.output import encode_frame, encode_result, put, say, tell
from karatage.cli.parsing import Reads, Writes, make_options
from karatage.cli.terminal import progress, progress_cells
from karatage.errors import DataError, OptionError
from karatage.text import shorten

if TYPE_CHECKING:
    import altair as alt
    import polars as pl
    from _typeshed import DataclassInstance

    from karatage.experiments.collection import Collection, PanelRules
    from karatage.experiments.engine import Execution, Progress
    from karatage.experiments.plans import Plan
    from karatage.views.page import Page

    Schema = TypeVar("Schema", bound=DataclassInstance)
    Found = TypeVar("Found", bound="Findings")

CHART_ENDINGS = ("html", "svg", "png")
RunFolders = Annotated[
    InputFiles, Parameter(help="Folders of TREC runs, each a set of systems; none: a simulated collection.")
]


@dataclass(frozen=True, kw_only=True)
class RunOptions(Printing):
    """How an experiment is run, and what is written.

    Args:
        plan: A plan (TOML), as an earlier run wrote it; other options override it.
        engine: local, or dask://host:port for a cluster.
        output: A folder for results, tables, charts and a page; a run there can be resumed.
    """

    plan: Annotated[str | None, PATH, Reads(store=True)] = None
    engine: str = "local"
    workers: Workers = 1
    fresh: Fresh = False
    output: Annotated[str | None, FOLDER, Writes("own folder")] = None


@dataclass(frozen=True, kw_only=True)
class FileRunOptions(RunOptions):
    """The same for an experiment that reads files."""

    most_memory: MostMemory = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """What an experiment is to run on: the part of a plan that names files.

    A command's plan is a dataclass that inherits from this and from the experiment's own plan.

    Args:
        judges: The judges' grades: tables, or a folder with one qrels file per judge; or simulated:31; may be repeated.
        gold: Trusted grades: qrels, a table, or a judged queue.
        correlations: Correlation of simulated judges' errors, e.g. 0,0.3,0.6: a panel for each; default: 0.
        relevant: The lowest relevant grade, or middle of each judge's scale.
        gold_relevant: The same for gold; default: as --relevant.
        grades: What labels mean: 0-3, or no=0,yes=1,broken=drop, or both.
        gold_grades: The same for gold; default: as --grades.
        columns: Which column is what, e.g. judge=team,grade=score.
        gold_columns: The same for gold.
    """

    runs: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    gold: str | None = None
    correlations: tuple[float, ...] | None = None
    relevant: str = "1"
    gold_relevant: str | None = None
    grades: str | None = None
    gold_grades: str | None = None
    columns: str | None = None
    gold_columns: str | None = None

    def make_rules(self) -> PanelRules:
        """What counts as relevant, and who may judge."""
        from karatage.experiments.collection import PanelRules, parse_level

        gold = None if self.gold_relevant is None else parse_level(self.gold_relevant)
        return PanelRules(level=parse_level(self.relevant), gold_level=gold)

    def read(self, seed: int, *, quiet: bool) -> Collection:
        """Read it, or simulate what is not given."""
        from karatage.experiments.collection import SIMULATED, is_simulated, read_collection
        from karatage.io.judgments import read_gold, read_judgments

        if self.runs and not self.judges:
            raise OptionError(f"no judges were given; name their grades with --judgments, or say {SIMULATED}:31")
        judges = self.judges or (SIMULATED,)
        with progress("Reading", quiet=quiet):
            scale = self.grades if self.gold_grades is None else self.gold_grades
            columns, gold_columns = parse_columns(self.columns), parse_columns(self.gold_columns)
            return read_collection(
                self.runs or SIMULATED,
                judges[0]
                if is_simulated(judges[0])
                else read_judgments(list(judges), grades=self.grades, columns=columns, repeats="last"),
                None if self.gold is None else read_gold(self.gold, grades=scale, columns=gold_columns),
                correlations=self.correlations,
                rules=self.make_rules(),
                rng=seed,
            )


SourceOptions = make_options(
    Source,
    skip=("runs",),
    optional=True,
    judges=(PATH, Reads(), Parameter(name=("--judgments", "-j"))),
    gold=(PATH, Reads()),
    correlations=Parameter(name="--correlation"),
)


def make_plan_options(schema: type, **special: Any) -> Any:
    """The options of an experiment's plan, None where not given: then a preset or a plan says what they are."""
    usual = {
        "measures": (Parameter(name=("--measure", "-m")), complete(list_measures)),
        "approaches": (Parameter(name=("--approach", "-a")), complete(list_approaches)),
        "seed": AT_LEAST_0,
    }
    return make_options(schema, optional=True, **{**usual, **special})


def list_given(runs: tuple[str, ...], files: Any, options: Any) -> dict[str, Any]:
    """What the command line says of a plan; files by their whole path."""
    named = {**vars(files), "runs": runs}
    named |= {name: locate(named[name]) for name in ("runs", "judges", "gold") if name in named}
    return {**named, **vars(options)}


def locate(paths: tuple[str, ...] | str | None) -> list[str] | str | None:
    """Files and folders by their whole path, so that a plan can be used from anywhere; other words as they are."""
    if isinstance(paths, str):
        return str(Path(paths).absolute()) if Path(paths).exists() or glob.has_magic(paths) else paths
    return [str(locate(path)) for path in paths] if paths else None


@contextmanager
def hold_output(output: str | None) -> Iterator[None]:
    """Have the folder for results to oneself, from before the first file is written until after the last."""
    from karatage.io.files import hold_folder, make_folder

    if output is None:
        yield
        return
    if Path(output).exists() and not Path(output).is_dir():
        raise OptionError(f"{shorten(output, 200)} is a file; results go to a folder, so give another name")
    try:
        make_folder(Path(output))
    except OSError as problem:
        reason = problem.strerror or problem
        raise DataError(f"{shorten(output, 200)}: cannot hold results: {reason}; give another folder") from None
    with hold_folder(Path(output)):
        yield


@contextmanager
def watch_over(output: str | None, *, quiet: bool) -> Iterator[Progress | None]:
    """A bar for the cells of a run; one that is interrupted says what is left of it."""
    try:
        with progress_cells(quiet=quiet) as bar:
            yield bar
    except KeyboardInterrupt:
        kept = "nothing is kept without --output" if output is None else "the same command goes on from there"
        say(f"Stopped; {'' if output is None else f'what was done is in {output}, and '}{kept}.")
        raise


class Findings(Protocol):
    """What every experiment returns."""

    @property
    def frame(self) -> pl.DataFrame:
        """Everything, in long form."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Doubts."""
        ...

    @property
    def sentence(self) -> str:
        """What to take away."""
        ...

    @property
    def log(self) -> tuple[str, ...]:
        """Notes on this run, not on what was found."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        ...


Charts = Mapping[str, "alt.TopLevelMixin"]


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """How findings are shown: `text` is printed, the rest stands in the output folder."""

    text: str
    tables: Mapping[str, pl.DataFrame]  # file name without ending -> table
    draw: Callable[[], Charts]  # file name without ending -> chart
    lay_out: Callable[[Charts], Page]
    long_text: str | None = None  # for tables.txt, where it is to say more than what is printed
    still: str | None = None  # a pattern: charts of such names need no interactive HTML, which is large


def perform(
    asked: Plan[Schema], to: RunOptions, run: Callable[[Execution], Found], make_view: Callable[[Found], View]
) -> None:
    """Run an experiment, write its folder if there is to be one, and print what was found."""
    from karatage.experiments.engine import Execution
    from karatage.experiments.plans import write_plan

    with hold_output(to.output):
        with watch_over(to.output, quiet=to.quiet) as watch:
            log = () if to.output is None else write_plan(asked, to.output)
            found = run(Execution(workers=to.workers, fresh=to.fresh, progress=watch, engine=to.engine))
        show(found, make_view(found), to)
        if not to.quiet:
            tell((*log, *found.log))


def show(findings: Findings, view: View, to: RunOptions) -> None:
    """Write the output folder, if there is to be one, and print."""
    if to.output is not None:
        with progress("Writing tables and charts", quiet=to.quiet):
            _write_folder(findings, view, Path(to.output))
    put(findings, to, lambda: view.text, frame=lambda: findings.frame, facts=findings.to_dict)


def _write_folder(findings: Findings, view: View, home: Path) -> None:
    from karatage.io.files import place_file, refuse_replacing
    from karatage.io.writing import write_bytes
    from karatage.views.charts import write_charts
    from karatage.views.html import write_page

    tables = {home / f"results.{ending}": (findings.frame, ending) for ending in ("csv", "parquet")}
    for name, frame in view.tables.items():
        tables |= {place_file(home, f"{name}.{ending}"): (frame, ending) for ending in ("tsv", "parquet")}
    text, facts, page = home / "tables.txt", home / "findings.json", home / "page.html"
    drawn = view.draw()
    charts = {
        place_file(home, f"{name}.{ending}"): chart
        for name, chart in drawn.items()
        for ending in CHART_ENDINGS
        if ending != "html" or view.still is None or not re.search(view.still, name)
    }
    refuse_replacing([*tables, text, facts, *charts, page])
    for path, (frame, ending) in tables.items():
        write_bytes(path, encode_frame(frame, ending))
    write_bytes(text, (view.long_text or view.text).encode())
    write_bytes(facts, encode_result(findings.to_dict()))
    write_charts((chart, path) for path, chart in charts.items())
    write_page(page, view.lay_out(drawn))
