"""Running an experiment: many independent cells of work, in parallel, each kept in a file as soon as it is done."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import polars as pl

from karatage.errors import DataError, KaratageError, OptionError
from karatage.experiments.engines import LOCAL, check_engine, work_off
from karatage.experiments.keeping import Record, Store, open_store
from karatage.io.files import PathLike
from karatage.text import counted, shorten

Status = Literal["done", "skipped", "failed"]
Fact = str | float | int | bool | None
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
