"""Running an experiment: many independent cells of work, in parallel, each kept in a file as soon as it is done."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import polars as pl

from karatage.data.result import list_versions
from karatage.errors import DataError, KaratageError, OptionError
from karatage.experiments.engines import LOCAL, check_engine, work_off
from karatage.io.files import DRAFT_PATTERN, PathLike, hold_folder, make_folder, replace_file
from karatage.text import counted, shorten

METADATA = "karatage"
# A name that tells the cell, then the first digits of the content's digest.
_FILE = re.compile(r"(?P<stem>.+\.[0-9a-f]{12})\.(?P<digest>[0-9a-f]{16})\.parquet")
_DRAFT = re.compile(rf"\.{_FILE.pattern}{DRAFT_PATTERN}")
_UNREADABLE = (pl.exceptions.PolarsError, OSError, LookupError, ValueError)
Status = Literal["done", "skipped", "failed"]
Fact = str | float | int | bool | None
LOOSE = "not converged "  # facts about models begin with this
Progress = Callable[[int, int, str], None]  # cells done, cells in all, the last one's name
# What a cell's work may die of without taking the others along; an interrupt is not among them.
MISHAPS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    pl.exceptions.PolarsError,
)
C = TypeVar("C")
F = TypeVar("F", bound="Findings")


class Record(NamedTuple):
    """What a file holds: a table, and anything that JSON can say about it."""

    about: Mapping[str, Any]
    table: pl.DataFrame


class Search(NamedTuple):
    """What was found under a name, and the files there that do not hold what they should."""

    record: Record | None
    damaged: tuple[str, ...] = ()


class Store:
    """A folder of records; `open_store` makes one."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._files: dict[str, list[Path]] = {}
        for path in home.iterdir():
            if (match := _FILE.fullmatch(path.name)) is not None:
                self._files.setdefault(match["stem"], []).append(path)

    def look_up(self, stem: str, fingerprint: str) -> Search:
        """The newest sound record under a name; any others there, left by a run that was killed, are removed."""
        damaged: list[str] = []
        for path in sorted(self._files.get(stem, []), key=_age):
            record = _read(path, fingerprint)
            if record is not None:
                self._keep_only(stem, path)
                return Search(record, tuple(damaged))
            damaged.append(path.name)
        return Search(None, tuple(damaged))

    def keep(self, stem: str, record: Record) -> None:
        """Write a record in the place of all others under its name; a disk that will not take it is an OSError."""
        out = io.BytesIO()
        record.table.write_parquet(out, metadata={METADATA: json.dumps(record.about)})
        content = out.getvalue()
        path = self.home / f"{stem}.{_digest(content)}.parquet"
        replace_file(path, content)
        self._files.setdefault(stem, []).append(path)
        self._keep_only(stem, path)

    def _keep_only(self, stem: str, sound: Path) -> None:
        for path in self._files[stem]:
            if path != sound:
                with contextlib.suppress(OSError):  # it is found and told again next time
                    path.unlink()
        self._files[stem] = [sound]


@contextmanager
def open_store(home: Path) -> Iterator[Store]:
    """Have a folder to oneself; what a killed run left half-written there is removed."""
    with contextlib.ExitStack() as stack:
        try:
            make_folder(home)
            stack.enter_context(hold_folder(home))
            for path in home.iterdir():
                if _DRAFT.fullmatch(path.name):
                    path.unlink(missing_ok=True)
            store = Store(home)
        except OSError as problem:
            reason = problem.strerror or problem
            raise DataError(f"{home}: cannot hold results: {reason}; give another folder") from None
        yield store


def _age(path: Path) -> int:
    try:
        return -path.stat().st_mtime_ns
    except OSError:
        return 0


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read(path: Path, fingerprint: str) -> Record | None:
    """A record, or nothing when the file is damaged, cut short or about something else.

    The digest comes first: a reader of Parquet may end the whole process on bytes that nobody ever wrote.
    """
    try:
        content = path.read_bytes()
        match = _FILE.fullmatch(path.name)
        if match is None or _digest(content) != match["digest"]:
            return None
        about = json.loads(pl.read_parquet_metadata(io.BytesIO(content))[METADATA])
        return Record(about, pl.read_parquet(io.BytesIO(content))) if about["fingerprint"] == fingerprint else None
    except _UNREADABLE:
        return None


@dataclass(frozen=True, eq=False)
class Finding:
    """What a cell's work found: a table, and numbers about the whole of it."""

    table: pl.DataFrame
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """One piece of work; `key` holds everything that decides its result.

    `work` is called with the context that all cells share. It should hold little itself: it travels with each cell,
    the context once to each worker.
    """

    name: str
    key: Mapping[str, Fact]
    work: Callable[[Any], Finding]

    @cached_property
    def fingerprint(self) -> str:
        """The same for the same work under the same version of karatage."""
        content = json.dumps({**self.key, "name": self.name, "karatage": version("karatage")}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def stem(self) -> str:
        """How the name of its file begins."""
        return f"{re.sub(r'[^A-Za-z0-9=.,-]+', '_', self.name)[:120]}.{self.fingerprint[:12]}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """How a cell ended: done, skipped since it cannot be done (with the reason), or failed.

    Seconds and `kept` depend on the run, all else on the cell alone.
    """

    unsaved = ("table", "kept", "damaged")

    name: str
    status: Status
    reason: str = ""
    seconds: float = 0.0
    facts: Mapping[str, Fact] = field(default_factory=dict)
    table: pl.DataFrame = field(default_factory=pl.DataFrame)
    kept: bool = False  # from an earlier run
    damaged: tuple[str, ...] = ()  # files of an earlier run that could not be trusted


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How cells are run: where, whether results of an earlier run count, and whom to tell.

    `engine` is local, with so many `workers` (processes), or the address of a Dask cluster, dask://host:port, which
    has workers of its own.
    """

    workers: int = 1
    fresh: bool = False
    progress: Progress | None = None
    engine: str = LOCAL

    def __post_init__(self) -> None:
        """Check the options."""
        if self.workers < 1:
            raise OptionError(f"workers {self.workers} must be at least 1")
        check_engine(self.engine)
        if self.engine != LOCAL and self.workers > 1:
            raise OptionError(f"workers {self.workers} are for this machine; {self.engine} has its own")


def run_cells(
    cells: Sequence[Cell],
    *,
    folder: PathLike | None = None,
    execution: Execution | None = None,
    context: object = None,
) -> list[Outcome]:
    """Run all cells and give their outcomes in order, which depend neither on the engine nor on interruptions.

    With a folder, each result is written there at once, and one that is already there is not computed again unless
    it had failed or its file is damaged. A cell that raises a KaratageError cannot be done and is skipped; other
    errors are failures.

    Args:
        cells: What to do.
        folder: Where results are kept.
        execution: Where and how; default: in this process.
        context: What every cell's work is called with; it must be possible to pickle it if there are other processes.
    """
    how = execution or Execution()
    if folder is None:
        return _run(cells, None, how, context)
    with open_store(Path(folder)) as store:
        return _run(cells, store, how, context)


def _run(cells: Sequence[Cell], store: Store | None, how: Execution, context: object) -> list[Outcome]:
    found: dict[int, Outcome] = {}
    damaged: dict[int, tuple[str, ...]] = {}
    if store is not None and not how.fresh:
        for k, cell in enumerate(cells):
            search = store.look_up(cell.stem, cell.fingerprint)
            damaged[k] = search.damaged
            if search.record is not None and search.record.about["status"] != "failed":
                found[k] = _recall(search.record)
    if found:  # once for all of them, or the time left would be reckoned from cells that took none
        _tell(how, len(found), len(cells), cells[max(found)].name)
    jobs = {k: partial(_attempt, cell) for k, cell in enumerate(cells) if k not in found}
    with closing(work_off(jobs, context, engine=how.engine, workers=how.workers)) as results:
        for k, result in results:
            found[k] = replace(result, damaged=damaged.get(k, ()))
            if store is not None:
                _keep(cells[k], result, store, f"{len(found) - 1:,} of {counted(len(cells), 'cell')}")
            _tell(how, len(found), len(cells), result.name)
    return [found[k] for k in range(len(cells))]


def _tell(how: Execution, done: int, total: int, name: str) -> None:
    if how.progress is not None:
        how.progress(done, total, name)


def _attempt(cell: Cell, context: object) -> Outcome:
    """Do a cell's work, wherever that is."""
    start = time.perf_counter()
    outcome = _work(cell, context)
    return replace(outcome, seconds=time.perf_counter() - start)


def _work(cell: Cell, context: object) -> Outcome:
    try:
        finding = cell.work(context)
    except KaratageError as problem:
        return Outcome(name=cell.name, status="skipped", reason=shorten(str(problem), 300))
    except MISHAPS as problem:
        return Outcome(
            name=cell.name, status="failed", reason=f"{type(problem).__name__}: {shorten(str(problem), 200)}"
        )
    return Outcome(name=cell.name, status="done", facts=finding.facts, table=finding.table)


def _keep(cell: Cell, outcome: Outcome, store: Store, so_far: str) -> None:
    about = {
        "fingerprint": cell.fingerprint,
        "name": outcome.name,
        "status": outcome.status,
        "reason": outcome.reason,
        "seconds": outcome.seconds,
        "facts": dict(outcome.facts),
        "key": dict(cell.key),
    }
    try:
        store.keep(cell.stem, Record(about, outcome.table))
    except OSError as problem:
        reason = f"{store.home}: a result cannot be written: {problem.strerror or problem}"
        advice = "once that is mended, the same command goes on from there"
        raise DataError(f"{reason}. {so_far} are kept there, and nothing half-written; {advice}") from None


def _recall(record: Record) -> Outcome:
    about = record.about
    return Outcome(
        name=about["name"],
        status=about["status"],
        reason=about["reason"],
        seconds=about["seconds"],
        facts=about["facts"],
        table=record.table,
        kept=True,
    )


def tell_outcomes(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note for each way in which cells failed, and one for files of an earlier run that were damaged."""
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.status == "failed":
            by_reason.setdefault(outcome.reason, []).append(outcome.name)
    notes = [
        f"{counted(len(names), 'cell')} failed with {reason}, the first '{shorten(names[0], 60)}'; run again to retry"
        for reason, names in by_reason.items()
    ]
    damaged = [name for outcome in outcomes for name in outcome.damaged]
    if damaged:
        what = f"cell file {damaged[0]} was" if len(damaged) == 1 else f"{len(damaged):,} cell files were"
        first = "" if len(damaged) == 1 else f", the first {damaged[0]}"
        notes.append(f"{what} damaged or not the cell's own, and computed again{first}")
    return tuple(notes)


def require_done(outcomes: Sequence[Outcome]) -> None:
    """Refuse to go on with holes, which would mislead."""
    lost = [outcome for outcome in outcomes if outcome.status != "done"]
    if lost:
        where = f"the first '{shorten(lost[0].name, 60)}': {lost[0].reason}"
        raise DataError(
            f"{counted(len(lost), 'cell')} of {len(outcomes):,} could not be done, {where}; "
            "what was done is kept in the output folder, if one was given: run again to retry the rest"
        )


def tell_run(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """What an earlier run had done, and what went wrong."""
    kept = sum(outcome.kept for outcome in outcomes)
    found = f"{kept:,} of {counted(len(outcomes), 'cell')} were found done by an earlier run"
    return (*([found] if kept else []), *tell_outcomes(outcomes))


Results = Sequence[tuple[Cell, Outcome]]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Findings:
    """What the findings of all experiments have: a long frame, notes on them, and a log of the run."""

    unsaved: ClassVar[tuple[str, ...]] = ("log",)

    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    log: tuple[str, ...] = ()  # of this run: what an earlier one had done, files that were damaged

    if TYPE_CHECKING:

        @property
        def frame(self) -> pl.DataFrame:
            """Everything, in long form."""
            ...

        @property
        def sentence(self) -> str:
            """What to take away."""
            ...

    def to_frame(self) -> pl.DataFrame:
        """The same as `frame`."""
        return self.frame


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment(Generic[C, F]):
    """The parts of an experiment, in the order in which they are used.

    Args:
        kind: What it is called in the keys of its cells.
        plan: The class of its plans.
        prepare: Makes the context that all cells share from material and a plan.
        list_first: Cells that run before the others.
        absorb: Adds to the context what the first cells found.
        list_cells: All other cells.
        sum_up: Makes the findings of the context and of all cells with their outcomes.
    """

    kind: str
    plan: Callable[[], Any]
    prepare: Callable[..., C]
    list_first: Callable[[C], Iterable[Cell]] = lambda _: ()
    absorb: Callable[[C, Results], C] = lambda context, _: context
    list_cells: Callable[[C], Iterable[Cell]]
    sum_up: Callable[[C, Results], F]


def run_experiment(
    experiment: Experiment[C, F],
    *material: object,
    plan: object = None,
    output: PathLike | None = None,
    execution: Execution | None = None,
) -> F:
    """Run all cells of an experiment, and sum up what they found; cells that could not be done are an error.

    Args:
        experiment: Its parts.
        material: What `prepare` takes before the plan.
        plan: What is tried.
        output: A folder for the results of cells.
        execution: How cells are run.
    """
    context = experiment.prepare(*material, experiment.plan() if plan is None else plan)
    stages = [_mark(experiment.list_first(context), experiment), _mark(experiment.list_cells(context), experiment)]
    total, results = sum(map(len, stages)), list[tuple[Cell, Outcome]]()
    for number, cells in enumerate(stages):
        how = _count_from(len(results), total, execution or Execution())
        home = None if output is None else Path(output) / "cells"
        outcomes = run_cells(cells, folder=home, execution=how, context=context)
        require_done(outcomes)
        results += zip(cells, outcomes, strict=True)
        if number == 0:
            context = experiment.absorb(context, results)
    return replace(experiment.sum_up(context, results), log=tell_run([outcome for _, outcome in results]))


def _mark(cells: Iterable[Cell], experiment: Experiment[C, F]) -> list[Cell]:
    return [replace(cell, key={"experiment": experiment.kind, **cell.key}) for cell in cells]


def _count_from(before: int, total: int, how: Execution) -> Execution:
    """Progress that counts the cells of all stages."""
    told = how.progress
    if told is None:
        return how
    return replace(how, progress=lambda done, _, name: told(before + done, total, name))


def count_loose(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many fits did not converge, by model: facts of cells whose names begin with `LOOSE`."""
    found: dict[str, int] = {}
    for outcome in outcomes:
        for fact, count in outcome.facts.items():
            if fact.startswith(LOOSE):
                name = fact.removeprefix(LOOSE)
                found[name] = found.get(name, 0) + int(count or 0)
    return found
