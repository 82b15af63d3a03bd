"""Runs an experiment: many independent cells of work, in parallel, each stored in a file as soon as it is done."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import polars as pl

from karatage.data.checks import Column, find_schema, require_known, require_table
from karatage.data.note import Note
from karatage.data.result import list_versions
from karatage.errors import DataError, KaratageError, OptionError
from karatage.experiments.engines import LOCAL, check_engine, work_off
from karatage.experiments.notes import tell
from karatage.io.files import DRAFT_PATTERN, PathLike, hold_folder, make_folder, replace_file
from karatage.text import counted, shorten

METADATA = "karatage"
NUMBERS = 2  # increase it when cells of the same version get other numbers: stored ones are then computed again
# The cell's name, then the first digits of the content's digest.
_FILE = re.compile(r"(?P<stem>.+\.[0-9a-f]{12})\.(?P<digest>[0-9a-f]{16})\.parquet")
_DRAFT = re.compile(rf"\.{_FILE.pattern}{DRAFT_PATTERN}")
_UNREADABLE = (pl.exceptions.PolarsError, OSError, LookupError, ValueError)
_STORED = ("name", "status", "reason", "seconds")  # of an outcome
Status = Literal["done", "skipped", "failed"]
Fact = str | float | int | bool | None
Key = Mapping[str, Fact]
LOOSE = "not converged "  # facts about models begin with this
Progress = Callable[[int, int, str], None]  # cells done, cells in all, the last one's name
# Errors in a cell's work that do not stop the other cells; an interrupt is not among them.
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
    """What a file contains: a table, and facts about it that JSON can represent."""

    about: Mapping[str, Any]
    table: pl.DataFrame


class Search(NamedTuple):
    """The record of a name, and the files of that name that are damaged or belong to another cell."""

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
        """The newest valid record of a name; other files of that name, left by a run that was killed, are removed."""
        damaged: list[str] = []
        for path in sorted(self._files.get(stem, []), key=_age):
            record = _read(path, fingerprint)
            if record is not None:
                self._keep_only(stem, path)
                return Search(record, tuple(damaged))
            damaged.append(path.name)
        return Search(None, tuple(damaged))

    def keep(self, stem: str, record: Record) -> None:
        """Write a record, which replaces all others of its name; a failed write is an OSError."""
        out = io.BytesIO()
        record.table.write_parquet(out, metadata={METADATA: json.dumps(record.about)})
        content = out.getvalue()
        path = self.home / f"{stem}.{_digest(content)}.parquet"
        replace_file(path, content)
        self._files.setdefault(stem, []).append(path)
        self._keep_only(stem, path)

    def _keep_only(self, stem: str, valid: Path) -> None:
        for path in self._files[stem]:
            if path != valid:
                with contextlib.suppress(OSError):  # the next run finds it again
                    path.unlink()
        self._files[stem] = [valid]


@contextmanager
def open_store(home: Path) -> Iterator[Store]:
    """Lock a folder for this run, and remove files that a killed run did not finish."""
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
    """A record, or None if the file is damaged, truncated or about something else.

    The digest is checked first: a reader of Parquet may end the whole process on invalid bytes.
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
    """The result of a cell's work: a table, and facts about all of it."""

    table: pl.DataFrame
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """One piece of work; its result depends on `key` alone.

    `work` is called with the context that all cells share. It should be small: it is sent with each cell, the context
    once to each worker.
    """

    name: str
    key: Key
    work: Callable[[Any], Finding]

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the work, and the version of karatage and of its numbers."""
        made = {"karatage": version("karatage"), "numbers": NUMBERS}
        content = json.dumps({**self.key, "name": self.name, **made}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def stem(self) -> str:
        """The first part of its file's name."""
        return f"{re.sub(r'[^A-Za-z0-9=.,-]+', '_', self.name)[:120]}.{self.fingerprint[:12]}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """How a cell ended: done, skipped because it cannot be done (with the reason), or failed.

    Seconds and `kept` depend on the run, everything else on the cell alone.
    """

    unsaved = ("table", "kept", "damaged")

    name: str
    status: Status
    reason: str = ""
    seconds: float = 0.0
    facts: Mapping[str, Fact] = field(default_factory=dict)
    table: pl.DataFrame = field(default_factory=pl.DataFrame)
    kept: bool = False  # from an earlier run
    damaged: tuple[str, ...] = ()  # files of an earlier run that were damaged


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How cells are run: where, whether stored results are used (unless `fresh`), and a callback for progress.

    `engine` is local, with a number of `workers` (processes), or the address of a Dask cluster, dask://host:port,
    which has its own workers.
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
            raise OptionError(f"workers {self.workers} is for this machine; {self.engine} has its own")


def run_cells(
    cells: Sequence[Cell],
    *,
    folder: PathLike | None = None,
    execution: Execution | None = None,
    context: object = None,
) -> list[Outcome]:
    """Run all cells and return their outcomes in order; they depend neither on the engine nor on interruptions.

    With a folder, each result is written there at once. A stored result is not computed again, unless the cell failed
    or its file is damaged. A cell that raises a KaratageError cannot be done and is skipped; other errors are failures.

    Args:
        cells: The work.
        folder: Where results are stored.
        execution: Where and how; default: in this process.
        context: The argument of every cell's work; other processes receive it pickled.
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
    if found:  # once for all of them: cells that took no time would distort the estimate of the time left
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
    about = {name: getattr(outcome, name) for name in _STORED}
    about |= {"fingerprint": cell.fingerprint, "facts": dict(outcome.facts), "key": dict(cell.key)}
    try:
        store.keep(cell.stem, Record(about, outcome.table))
    except OSError as problem:
        reason = f"{store.home}: a result cannot be written: {problem.strerror or problem}"
        advice = "after you have corrected this, the same command resumes"
        raise DataError(f"{reason}. {so_far} are stored there, all of them complete; {advice}") from None


def _recall(record: Record) -> Outcome:
    found = {name: record.about[name] for name in (*_STORED, "facts")}
    return Outcome(**found, table=record.table, kept=True)


def tell_outcomes(outcomes: Sequence[Outcome]) -> Iterator[Note]:
    """A note for each reason for which cells failed, and one for damaged files of an earlier run."""
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.status == "failed":
            by_reason.setdefault(outcome.reason, []).append(outcome.name)
    for reason, names in by_reason.items():
        yield tell("cells-failed", cells=len(names), reason=reason, first=shorten(names[0], 60))
    damaged = [name for outcome in outcomes for name in outcome.damaged]
    if len(damaged) == 1:
        yield tell("cell-damaged", file=damaged[0])
    elif damaged:
        yield tell("cells-damaged", files=len(damaged), first=damaged[0])


def require_done(outcomes: Sequence[Outcome]) -> None:
    """Refuse incomplete results, which would mislead."""
    lost = [outcome for outcome in outcomes if outcome.status != "done"]
    if lost:
        where = f"the first '{shorten(lost[0].name, 60)}': {lost[0].reason}"
        raise DataError(
            f"{counted(len(lost), 'cell')} of {len(outcomes):,} could not be done, {where}; "
            "the finished ones are stored in the output folder, if one was given: run again to retry the rest"
        )


def tell_kept(outcomes: Sequence[Outcome]) -> tuple[Note, ...]:
    """How many cells were stored by an earlier run."""
    kept = sum(outcome.kept for outcome in outcomes)
    return tell.when(kept, "cells-kept", kept=kept, cells=len(outcomes))


Results = Sequence[tuple[Cell, Outcome]]


class TableRule(NamedTuple):
    """What a table of findings contains: its columns, and those that identify a row."""

    columns: Mapping[str, Column]
    key: tuple[str, ...]


def frame_rows(rows: Iterable[Sequence[object]], columns: Mapping[str, Column]) -> pl.DataFrame:
    """Rows as a table with these columns."""
    return pl.DataFrame(list(rows), schema=find_schema(columns), orient="row")


def stack_cells(results: Results, columns: Mapping[str, Column], study: str | None = None) -> pl.DataFrame:
    """The tables of all cells (of a study), one below the other; columns that they lack come from the cells' keys."""
    schema = pl.Schema(find_schema(columns))
    tables = [pl.DataFrame(schema=schema)]
    for cell, outcome in results:
        if study is None or cell.key["study"] == study:
            known = [name for name in columns if name not in outcome.table.columns]
            table = outcome.table.with_columns(pl.lit(cell.key[name]).alias(name) for name in known)
            tables.append(table.select(*columns).cast(schema))
    return pl.concat(tables)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Findings:
    """Parts that the findings of all experiments have: a long frame, notes, and a log of the run."""

    unsaved: ClassVar[tuple[str, ...]] = ("log",)

    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=list_versions)
    log: tuple[Note, ...] = ()  # of this run: cells that were stored, files that were damaged

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

    def check_table(self, name: str, rule: TableRule, known: Mapping[str, Collection[str]]) -> None:
        """Refuse a table with other columns, with two rows of the same key, or with names that are not `known`."""
        table: pl.DataFrame = getattr(self, name)
        require_table(name, table, rule.columns)
        for column, names in known.items():
            if column in rule.columns:
                require_known(f"{name}: {column}", table[column].unique(), names, "known values")
        if table.select(rule.key).is_duplicated().any():
            raise DataError(f"{name}: a row is there twice")


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment(Generic[C, F]):
    """The parts of an experiment, in the order in which they are used.

    Args:
        kind: Its name in the keys of its cells.
        plan: The class of its plans.
        prepare: Makes the context that all cells share from material and a plan.
        list_first: Cells that run before the others.
        absorb: Adds the results of the first cells to the context.
        list_cells: All other cells.
        sum_up: Makes the findings from the context and all cells with their outcomes.
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
    """Run all cells of an experiment and summarise their results; a cell that could not be done is an error.

    Args:
        experiment: Its parts.
        material: The arguments of `prepare` before the plan.
        plan: The design.
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
    every = [outcome for _, outcome in results]
    return replace(experiment.sum_up(context, results), log=(*tell_kept(every), *tell_outcomes(every)))


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
