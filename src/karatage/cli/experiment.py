"""`karatage experiment`: the papers' experiments. Each has a plan and a source of data; one function runs them all."""

from __future__ import annotations

import glob
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, make_dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from karatage.cli.options import (
    AT_LEAST_0,
    FLAT,
    FOLDER,
    PATH,
    Fresh,
    InputFiles,
    MostMemory,
    Printing,
    Workers,
    complete,
    list_approaches,
    list_crowds,
    list_measures,
    list_models,
    list_orders,
    parse_columns,
)
from karatage.cli.output import encode_result, hold_output, put, say, tell, write_folder
from karatage.cli.parsing import Reads, Writes, make_options
from karatage.cli.terminal import progress, progress_cells, wants_colour
from karatage.errors import OptionError
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.collaborative.plan import DISAGREEMENT, FILE_ENDINGS, INDEPENDENT, CollaborativePlan
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.plans import list_presets, make_plan, narrow_options, write_plan
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.experiments.supervised.plan import SupervisedPlan

if TYPE_CHECKING:
    import polars as pl

    from karatage.data.judgments import Judgments
    from karatage.experiments.collection import PanelRules
    from karatage.experiments.engine import Progress
    from karatage.simulation.collection import World
    from karatage.views.page import Page

FILES = ("runs", "judges", "judgments", "gold", "learn_from", "learn_gold", "learn_runs", "disagreement")
TOP, MORE = 12, "tables.txt of --output has all"  # rows of long tables that are printed


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
    """The data of an experiment: the part of a plan that names files.

    Args:
        judges: The judges' grades: tables, or a folder with one qrels file per judge; or simulated:31; may be repeated.
        gold: Trusted grades: qrels, a table, or a judged queue.
        correlations: Correlation of simulated judges' errors, e.g. 0,0.3,0.6: a panel for each; default: 0.
        relevant: The lowest relevant grade, or middle of each judge's scale.
        gold_relevant: The same for gold; default: as --relevant.
        grades: What labels mean: a scale (0-3), a mapping (no=0,yes=1,broken=drop), or both.
        gold_grades: The same for gold; default: as --grades.
        columns: Names of the columns as role=NAME, e.g. judge=team,grade=score.
        gold_columns: Names of the columns of gold as role=NAME, e.g. grade=score.
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
        """Which grades are relevant, and which judges are used."""
        from karatage.experiments.collection import PanelRules, parse_level

        gold = None if self.gold_relevant is None else parse_level(self.gold_relevant)
        whole = "whole" in getattr(self, "configurations", ("whole",))  # partitioned judges may have graded parts
        return PanelRules(level=parse_level(self.relevant), gold_level=gold, whole_only=whole)

    def read(self, seed: int, pool: int | None = None) -> dict[str, Any]:
        """Read the data, or simulate what is not given; of simulated runs, `pool` ranks are judged."""
        from karatage.experiments.collection import SIMULATED, is_simulated, read_collection
        from karatage.io.judgments import read_gold, read_judgments

        if self.runs and not self.judges:
            raise OptionError(
                f"no judges were given; name the files of their grades with --judgments, or write {SIMULATED}:31"
            )
        judges = self.judges or (SIMULATED,)
        scale = self.grades if self.gold_grades is None else self.gold_grades
        columns, gold_columns = parse_columns(self.columns), parse_columns(self.gold_columns)
        found = read_collection(
            self.runs or _simulate(seed, pool),
            judges[0]
            if is_simulated(judges[0])
            else read_judgments(list(judges), grades=self.grades, columns=columns, repeats="last"),
            None if self.gold is None else read_gold(self.gold, grades=scale, columns=gold_columns),
            correlations=self.correlations,
            rules=self.make_rules(),
            rng=seed,
        )
        return {"collection": found}


@dataclass(frozen=True, kw_only=True)
class Pool:
    """The data of an experiment that has experts instead of judges.

    Args:
        gold: Trusted grades: qrels, a table, or a judged queue.
        judgments: The judges' grades: tables, or a folder with one qrels file per judge; may be repeated.
        learn_from: Judgments of another collection, to learn where judges disagree; may be repeated.
        learn_gold: Gold for --learn-from.
        learn_runs: Runs of that collection; may be repeated. Default: the same runs.
        grades: What labels mean: a scale (0-3), a mapping (no=0,yes=1,broken=drop), or both.
        gold_grades: What gold's labels mean: 0-3, or no=0,yes=1,broken=drop.
        columns: Names of the columns as role=NAME, e.g. judge=team,grade=score.
        gold_columns: Names of the columns of gold as role=NAME, e.g. grade=score.
    """

    runs: tuple[str, ...] = ()
    gold: str | None = None
    judgments: tuple[str, ...] = ()
    learn_from: tuple[str, ...] = ()
    learn_gold: str | None = None
    learn_runs: tuple[str, ...] = ()
    grades: str | None = None
    gold_grades: str | None = None
    columns: str | None = None
    gold_columns: str | None = None

    def read(self, seed: int, pool: int | None = None) -> dict[str, Any]:
        """Read the data, or simulate a collection, of whose runs `pool` ranks are judged, and one to learn from."""
        from karatage.experiments.collaborative.lesson import Lesson, OtherJudges, keep_others, simulate_lesson
        from karatage.io.runs import read_runs

        learns = (*self.learn_from, *self.learn_runs, *filter(None, [self.learn_gold]))
        if not self.runs:
            if self.gold is not None or self.judgments or learns:
                raise OptionError(
                    "gold and judgments need runs; name the folder of the runs, or leave out both to use a simulated "
                    "collection"
                )
            world = _simulate(seed, pool)
            found = {"runs": world.runs, "gold": world.pool}
            if DISAGREEMENT not in getattr(self, "orders", ()) or getattr(self, "disagreement", None) is not None:
                return found
            return {**found, "others": OtherJudges(keep_others(world.judgments), simulate_lesson(seed, pool))}
        if self.gold is None:
            raise OptionError("gold is missing: it contains the experts' grades; name its qrels file with --gold")
        if learns and not (self.learn_from and self.learn_gold):
            raise OptionError("learning needs judgments and gold; name them with --learn-from and --learn-gold")
        runs = read_runs(list(self.runs))
        gold = self._read_gold(self.gold)
        judgments = self._read_judges(self.judgments) if self.judgments else None
        lesson = None
        if self.learn_gold is not None:
            elsewhere = read_runs(list(self.learn_runs)) if self.learn_runs else runs
            lesson = Lesson(elsewhere, self._read_gold(self.learn_gold), self._read_judges(self.learn_from))
        return {"runs": runs, "gold": gold, "others": OtherJudges(judgments, lesson)}

    def _read_gold(self, path: str) -> Judgments:
        from karatage.io.judgments import read_gold

        return read_gold(path, grades=self.gold_grades, columns=parse_columns(self.gold_columns))

    def _read_judges(self, paths: tuple[str, ...]) -> Judgments:
        from karatage.io.judgments import read_judgments

        columns = parse_columns(self.columns)
        return read_judgments(list(paths), grades=self.grades, columns=columns, repeats="last")


def _simulate(seed: int, pool: int | None) -> World:
    """A collection; `pool` ranks of its runs are judged, or all documents."""
    from karatage.random_streams import stream
    from karatage.simulation.collection import simulate_collection
    from karatage.simulation.profiles import CollectionShape

    return simulate_collection(shape=CollectionShape(pool=pool), rng=stream(seed, "collection"))


@dataclass(frozen=True, kw_only=True)
class Command:
    """What is specific to the command of one experiment.

    Args:
        kind: Its name; its modules are in the folder of the same name.
        plan: Its options.
        source: The part of its plan that names files; None: it reads no files.
        pool: Ranks of simulated runs that are judged; None: all documents are.
        tables: Finds the tables that go to files, by name.
        charts: Folder of charts, with a slash.
        still: A pattern of names of charts that are not written as interactive HTML, which is large.
    """

    kind: str
    plan: Any
    source: type[Source | Pool] | None = None
    pool: int | None = None
    tables: Callable[[Any], dict[str, pl.DataFrame]] = attrgetter("tables")
    charts: str = ""
    still: str | None = None

    def run(self, runs: tuple[str, ...], files: Any, options: Any, preset: str | None, to: RunOptions) -> None:
        """Make the plan, run the experiment, write its folder if one is named, and print the findings."""
        from karatage.experiments.engine import Execution

        schema = self.plan
        if self.source is not None:
            bases = (self.source, self.plan)
            schema = make_dataclass(self.plan.__name__, (), bases=bases, frozen=True, kw_only=True)
        given = _list_given({} if files is None else {**vars(files), "runs": runs}, vars(options))
        asked = make_plan(schema, self.kind, preset=preset, path=to.plan, given=given)
        material: dict[str, Any] = {}
        if self.source is not None:
            with progress("Reading", quiet=to.quiet):
                material = asked.options.read(asked.options.seed, self.pool)
        design, name = narrow_options(self.plan, asked.options), self.kind.replace("-", "_")
        experiment = getattr(import_module(f"karatage.experiments.{name}.findings"), f"experiment_{name}")
        with hold_output(to.output):
            with watch_over(to.output, quiet=to.quiet) as watch:
                log = () if to.output is None else write_plan(asked, to.output)
                how = Execution(workers=to.workers, fresh=to.fresh, progress=watch, engine=to.engine)
                found = experiment(**material, plan=design, output=to.output, execution=how)
            self.show(found, to)
            if not to.quiet:
                tell((*log, *found.log))

    def show(self, found: Any, to: RunOptions) -> None:
        """Write the output folder, if one is named, and print."""
        from karatage.views.showing import lay_out
        from karatage.views.text import render_page

        page = lay_out(found)
        if to.output is not None:
            with progress("Writing tables and charts", quiet=to.quiet):
                self._write_folder(found, page, Path(to.output))

        def write() -> str:
            return render_page(page, top=TOP, all_rows=MORE, colour=wants_colour(sys.stdout))

        put(found, to, write, frame=lambda: found.frame, facts=found.to_dict)

    def _write_folder(self, found: Any, page: Page, home: Path) -> None:
        from karatage.views.html import write_page
        from karatage.views.text import render_page

        tables = {f"{name}.tsv": frame for name, frame in self.tables(found).items()}
        tables |= {f"{name}.parquet": frame for name, frame in self.tables(found).items()}
        tables |= {"results.csv": found.frame, "results.parquet": found.frame}
        texts = {"tables.txt": render_page(page, detail=True).encode(), "findings.json": encode_result(found.to_dict())}
        figures = {f"{self.charts}{name}": figure for name, figure in page.figures}
        write_folder(home, tables, texts, figures, still=self.still, more=["page.html"])
        write_page(home / "page.html", page)


def _list_given(files: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The part of a plan that the command line gives; files by their absolute path."""
    given = {**files, **options}
    given |= {name: locate(given[name]) for name in FILES if name in given}
    crowds = (name for name in ("crowds", "table_crowds") if name in given)
    return given | {name: [_locate_crowd(crowd) for crowd in given[name] or ()] or None for name in crowds}


def _locate_crowd(name: str) -> str:
    """A file by its absolute path; names of crowds are unchanged, even if this folder has a file of that name."""
    file = name.removesuffix(INDEPENDENT)
    return f"{locate(file)}{name.removeprefix(file)}" if file.endswith(FILE_ENDINGS) else name


def locate(paths: tuple[str, ...] | str | None) -> list[str] | str | None:
    """Files and folders by their absolute path, so that a plan can be used in any folder; other words are unchanged."""
    if isinstance(paths, str):
        return str(Path(paths).absolute()) if Path(paths).exists() or glob.has_magic(paths) else paths
    return [str(locate(path)) for path in paths] if paths else None


@contextmanager
def watch_over(output: str | None, *, quiet: bool) -> Iterator[Progress | None]:
    """A bar for the cells of a run; after an interruption, say what was kept."""
    try:
        with progress_cells(quiet=quiet) as bar:
            yield bar
    except KeyboardInterrupt:
        kept = "nothing was stored, because there is no --output" if output is None else "the same command resumes it"
        say(f"Stopped; {'' if output is None else f'finished cells are in {output}, and '}{kept}.")
        raise


def _make(command: Command, runs_help: str, presets: str, **special: Any) -> Callable[..., None]:
    """The function of a command, with the options of its plan and of its data; None if an option is not given."""
    usual = {
        "measures": (Parameter(name=("--measure", "-m")), complete(list_measures)),
        "approaches": (Parameter(name=("--approach", "-a")), complete(list_approaches)),
        "studies": Parameter(name=("--study", "-s")),
        "seed": AT_LEAST_0,
    }
    kinds: dict[str, Any] = {"options": make_options(command.plan, optional=True, **{**usual, **special})}
    if command.source is not None:
        named = {
            "judges": (PATH, Reads(), Parameter(name=("--judgments", "-j"))),
            **dict.fromkeys(("judgments", "gold", "learn_from", "learn_gold", "learn_runs"), (PATH, Reads())),
            "correlations": Parameter(name="--correlation"),
        }
        kinds = {"files": make_options(command.source, skip=("runs",), optional=True, **named), **kinds}
    kinds["to"] = RunOptions if command.source is None else FileRunOptions
    about = {name: Annotated[kind, FLAT] for name, kind in kinds.items()}
    choice = Annotated[str | None, Parameter(choices=list_presets(command.kind))]
    files, options, to = (kinds[name]() if name in kinds else None for name in ("files", "options", "to"))

    def call(
        runs: Any = (), /, *, files: Any = files, options: Any = options, preset: Any = None, to: Any = to
    ) -> None:
        command.run(runs, files, options, preset, to)

    def call_without_files(*, options: Any = options, preset: Any = None, to: Any = to) -> None:
        command.run((), None, options, preset, to)

    made: Callable[..., None] = call_without_files if command.source is None else call
    made.__doc__ = f"Run an experiment.\n\nArgs:\n    preset: {presets}"
    made.__annotations__ = {"runs": Annotated[InputFiles, Parameter(help=runs_help)], **about, "preset": choice}
    return made


def _list_random_relevance(found: Any) -> dict[str, pl.DataFrame]:
    """The tables of the paper, and the values they were computed from."""
    checked = {"check": found.check} if len(found.check) else {}
    return {**found.tables, "means": found.summary, "tuples": found.tuples, **checked}


def _list_collaborative(found: Any) -> dict[str, pl.DataFrame]:
    """The tables that are in the JSON, and those that were added since it has a schema."""
    more = {"table32": found.table32}
    if found.predicted is not None:
        more |= {
            "disagreement-learned": found.predicted.model.to_frame(),
            "disagreement-predicted": found.predicted.rates,
        }
    return {**found.tables, **{name: table for name, table in more.items() if len(table)}}


SETS = "Folders of TREC runs, each a set of systems; none: a simulated collection."
SIZES = "small: takes seconds; paper: the paper's full size."
POOL = 10  # if all documents were judged, uncertain grades would change the scores of all systems alike
aware = _make(
    Command(kind="aware", plan=AwarePlan, source=Source, charts="charts/", still="tau_ap-|rmse-"), SETS, SIZES
)
supervised = _make(
    Command(kind="supervised", plan=SupervisedPlan, source=Source),
    SETS,
    SIZES,
    configurations=Parameter(name=("--configuration", "-c")),
)
random_relevance = _make(
    Command(kind="random-relevance", plan=RandomRelevancePlan, source=Source, pool=POOL, tables=_list_random_relevance),
    SETS,
    SIZES,
)
noisy = _make(
    Command(kind="noisy", plan=NoisyPlan),
    "",
    "paper: its simulation; small: some of each; ebay, trec, dcg: its examples; power: sizes and power "
    "of tests; coverage: intervals in 300 worlds.",
)
collaborative = _make(
    Command(kind="collaborative", plan=CollaborativePlan, source=Pool, tables=_list_collaborative),
    "TREC runs: files, folders, globs; none: a simulated collection.",
    "small: takes seconds; paper: full size, crowds with shared errors; thesis: its own design.",
    orders=(Parameter(name="--order"), complete(list_orders)),
    crowds=(PATH, Reads(), Parameter(name="--crowd"), complete(list_crowds)),
    table_crowds=(PATH, Reads(), Parameter(name="--table-crowd"), complete(list_crowds)),
    approach=complete(list_models),
    approaches=(Parameter(name="--compare"), complete(list_models)),
    ratios=Parameter(name="--ratio"),
    measure=complete(list_measures),
    disagreement=(PATH, Reads()),
)
