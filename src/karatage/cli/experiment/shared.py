"""`karatage experiment`: the options that its commands share, and what they leave behind."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from karatage.cli import options
from karatage.cli.completing import complete_approaches, complete_measures
from karatage.cli.output import STANDARD_OUTPUT, emit, emit_result, encode_frame, encode_result, say, tell
from karatage.cli.terminal import progress, progress_cells
from karatage.text import shorten

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from karatage.experiments.collection import Collection
    from karatage.experiments.engine import Progress
    from karatage.experiments.panels import PanelRules
    from karatage.views.page import Page

CHART_ENDINGS = ("html", "svg", "png")


class Preset(StrEnum):
    """How large an experiment is."""

    small = "small"
    paper = "paper"


RunFolders = Annotated[
    list[str] | None,
    options.reads_arguments("RUNS...", "Folders of TREC runs, each a set of systems; none: a simulated collection."),
]
Judges = Annotated[
    list[str] | None,
    options.reads("--judgments", "-j", help=f"{options.JUDGMENTS_HELP}; or simulated:31; may be repeated."),
]
Correlation = Annotated[
    str | None,
    typer.Option("--correlation", help="Of simulated judges' errors, e.g. 0,0.3,0.6: a panel for each. Default: 0."),
]
Relevant = Annotated[
    str | None,
    typer.Option("--relevant", help="The lowest relevant grade, or middle of each judge's scale; default: 1."),
]
GoldRelevant = Annotated[str | None, typer.Option("--gold-relevant", help="The same for gold; default: as --relevant.")]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help=f"{options.MEASURE_HELP}; may be repeated.", autocompletion=complete_measures),
]
Approaches = Annotated[
    list[str] | None,
    typer.Option(
        "--approach",
        "-a",
        help="An approach or a group of them; may be repeated.",
        autocompletion=complete_approaches,
    ),
]
Sizes = Annotated[str | None, typer.Option("--sizes", help="Judges in a k-tuple: 2-30, or 2,3,5.")]
Samples = Annotated[int | None, typer.Option("--samples", min=1, help="k-tuples drawn of each size.")]
Replicates = Annotated[
    int | None, typer.Option("--replicates", min=1, help="Random judges of each class that weights rest on.")
]
PresetName = Annotated[
    Preset | None, typer.Option("--preset", help="small: seconds, for a try; paper: the paper's full size.")
]
PlanFile = Annotated[
    str | None,
    options.reads("--plan", store=True, help="A plan (TOML), as an earlier run wrote it; other options override it."),
]
Engine = Annotated[str, typer.Option("--engine", help="local, or dask://host:port for a cluster.")]
Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Seed of everything that is drawn at random; default: the plan's.")
]
Format = Annotated[options.Style, typer.Option("--format", "-f", help=f"{options.FORMAT_HELP}.")]
OutputFolder = Annotated[
    str | None,
    options.writes(
        "--output",
        "-o",
        kind="own folder",
        help="A folder for results, tables, charts and a page; a run there can be resumed.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Source:
    """What an experiment is to run on: the part of a plan that names files.

    A command's plan is a dataclass that inherits from this and from the experiment's own plan.
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
        from karatage.experiments.panels import PanelRules, parse_level

        gold = None if self.gold_relevant is None else parse_level(self.gold_relevant)
        return PanelRules(level=parse_level(self.relevant), gold_level=gold)

    def read(self, seed: int, *, quiet: bool) -> Collection:
        """Read it, or simulate what is not given."""
        from karatage.errors import OptionError
        from karatage.experiments.collection import SIMULATED, is_simulated, read_collection
        from karatage.io.judgments import read_gold, read_judgments

        if self.runs and not self.judges:
            raise OptionError(f"no judges were given; name their grades with --judgments, or say {SIMULATED}:31")
        judges = self.judges or (SIMULATED,)
        with progress("Reading", quiet=quiet):
            scale = self.grades if self.gold_grades is None else self.gold_grades
            columns, gold_columns = options.parse_columns(self.columns), options.parse_columns(self.gold_columns)
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


def locate(paths: list[str] | str | None) -> list[str] | str | None:
    """Files and folders by their whole path, so that a plan can be used from anywhere; other words as they are."""
    if isinstance(paths, str):
        return str(Path(paths).absolute()) if Path(paths).exists() or glob.has_magic(paths) else paths
    return [str(locate(path)) for path in paths] if paths else None


@contextmanager
def hold_output(output: str | None) -> Iterator[None]:
    """Have the folder for results to oneself, from before the first file is written until after the last."""
    from karatage.errors import DataError, OptionError
    from karatage.io.files import make_folder
    from karatage.io.locking import hold_folder

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


def parse_numbers(text: str | None) -> tuple[float, ...] | None:
    """Read `0,0.3,0.6`; None stays None."""
    from karatage.errors import OptionError

    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"'{shorten(text)}' is no list of numbers; write it like 0,0.3,0.6") from None


def parse_sizes(text: str | None) -> tuple[int, ...] | None:
    """Read `2-5,8`; None stays None.

    >>> parse_sizes("2-5,8")
    (2, 3, 4, 5, 8)
    """
    from karatage.errors import OptionError

    if text is None:
        return None
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        if not low.isdecimal() or (dash and not high.isdecimal()) or int(high or low) < int(low) or len(part) > 12:
            raise OptionError(f"sizes '{shorten(text)}' is no list of numbers; write it like 2-30 or 2,3,5")
        found |= set(range(int(low), int(high or low) + 1))
    return tuple(sorted(found))


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
    log: tuple[str, ...] = ()  # notes on this run, not on what was found: they go to standard error only


def show(findings: Findings, view: View, *, output: str | None, style: options.Style, quiet: bool) -> None:
    """Write the output folder, if there is to be one, and print."""
    if output is not None:
        with progress("Writing tables and charts", quiet=quiet):
            _write_folder(findings, view, Path(output))
    if style == options.Style.json:
        emit_result(findings.to_dict(), STANDARD_OUTPUT)
    elif style == options.Style.tsv:
        emit(encode_frame(findings.frame, "tsv"), STANDARD_OUTPUT)
    else:
        emit(view.text, STANDARD_OUTPUT)
    if not quiet:
        tell([*findings.notes, *view.log])
        if style != options.Style.table:
            say(findings.sentence)


def _write_folder(findings: Findings, view: View, home: Path) -> None:
    from karatage.io.files import place_file, refuse_replacing
    from karatage.io.writing import write_bytes
    from karatage.views.charts import write_charts
    from karatage.views.page import write_page

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
