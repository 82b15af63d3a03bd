"""Running an experiment: many independent cells of work, in parallel, each kept in a file as soon as it is done."""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import polars as pl

from karatage.errors import DataError, KaratageError, OptionError
from karatage.io.sources import PathLike
from karatage.io.writing import write_bytes
from karatage.wording import counted, shorten

Status = Literal["done", "skipped", "failed"]
Fact = str | float | int | bool | None
Progress = Callable[[int, int, str], None]  # cells done, cells in all, the last one's name
METADATA = "karatage"
# What a cell's work may die of without taking the others along; an interrupt is not among them.
MISHAPS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, eq=False)
class Finding:
    """What a cell's work found: a table, and numbers about the whole of it."""

    table: pl.DataFrame
    facts: Mapping[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell:
    """One piece of work; `key` holds everything that decides its result."""

    name: str
    key: Mapping[str, Fact]
    work: Callable[[], Finding]

    @property
    def fingerprint(self) -> str:
        """The same for the same work under the same version of karatage."""
        content = json.dumps({**self.key, "name": self.name, "karatage": version("karatage")}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def path(self, folder: Path) -> Path:
        """Where its result is kept."""
        return folder / f"{re.sub(r'[^A-Za-z0-9=.,-]+', '_', self.name)[:120]}.{self.fingerprint[:12]}.parquet"


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """How a cell ended: done, skipped since it cannot be done (with the reason), or failed."""

    name: str
    status: Status
    reason: str = ""
    seconds: float = 0.0
    facts: Mapping[str, Fact] = field(default_factory=dict)
    table: pl.DataFrame = field(default_factory=pl.DataFrame)
    kept: bool = False  # from an earlier run


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How cells are run: with how many workers, whether results of an earlier run count, and whom to tell."""

    workers: int = 1
    fresh: bool = False
    progress: Progress | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.workers < 1:
            raise OptionError(f"workers {self.workers} must be at least 1")


def run_cells(
    cells: Sequence[Cell], *, folder: PathLike | None = None, execution: Execution | None = None
) -> list[Outcome]:
    """Run all cells and give their outcomes in order, which do not depend on the number of workers.

    With a folder, each result is written there at once, and one that is already there is not computed again unless
    it had failed. A cell that raises a KaratageError cannot be done and is skipped; other errors are failures.
    """
    how = execution or Execution()
    home = None if folder is None else Path(folder)
    found: dict[int, Outcome] = {}
    if home is not None and not how.fresh:
        found = {k: kept for k, cell in enumerate(cells) if (kept := _look_up(cell, home)) is not None}
    for done, outcome in enumerate(found.values(), 1):
        _tell(how, done, len(cells), outcome.name)
    waiting = [k for k in range(len(cells)) if k not in found]
    for k, outcome in _work_off(cells, waiting, home, how.workers):
        found[k] = outcome
        _tell(how, len(found), len(cells), outcome.name)
    return [found[k] for k in range(len(cells))]


def _tell(how: Execution, done: int, total: int, name: str) -> None:
    if how.progress is not None:
        how.progress(done, total, name)


def _work_off(
    cells: Sequence[Cell], waiting: Sequence[int], home: Path | None, workers: int
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes as they come; processes are joblib's, so that `joblib.parallel_config` can put a cluster under it."""
    if workers == 1 or len(waiting) < 2:
        yield from (_run(k, cells[k], home) for k in waiting)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=workers, return_as="generator_unordered")
    try:
        yield from pool(delayed(_run)(k, cells[k], home) for k in waiting)
    except BrokenProcessPool as problem:
        advice = "results so far are kept where an output folder was given; run again with fewer workers"
        raise DataError(f"a process died, perhaps for lack of memory ({shorten(str(problem), 80)}); {advice}") from None


def _run(k: int, cell: Cell, home: Path | None) -> tuple[int, Outcome]:
    """Do a cell's work, and keep what it found."""
    start = time.perf_counter()
    outcome = replace(_attempt(cell), seconds=time.perf_counter() - start)
    if home is not None:
        _keep(cell, outcome, home)
    return k, outcome


def _attempt(cell: Cell) -> Outcome:
    try:
        finding = cell.work()
    except KaratageError as problem:
        return Outcome(name=cell.name, status="skipped", reason=shorten(str(problem), 300))
    except MISHAPS as problem:
        return Outcome(
            name=cell.name, status="failed", reason=f"{type(problem).__name__}: {shorten(str(problem), 200)}"
        )
    return Outcome(name=cell.name, status="done", facts=finding.facts, table=finding.table)


def _keep(cell: Cell, outcome: Outcome, home: Path) -> None:
    about = {
        "fingerprint": cell.fingerprint,
        "name": outcome.name,
        "status": outcome.status,
        "reason": outcome.reason,
        "seconds": outcome.seconds,
        "facts": dict(outcome.facts),
        "key": dict(cell.key),
    }
    out = io.BytesIO()
    outcome.table.write_parquet(out, metadata={METADATA: json.dumps(about)})
    write_bytes(cell.path(home), out.getvalue())


def _look_up(cell: Cell, home: Path) -> Outcome | None:
    """What an earlier run found; a file that cannot be read, or that is about something else, does not count."""
    path = cell.path(home)
    if not path.is_file():
        return None
    try:
        about = json.loads(pl.read_parquet_metadata(path)[METADATA])
        if about["fingerprint"] != cell.fingerprint or about["status"] == "failed":
            return None
        return Outcome(
            name=about["name"],
            status=about["status"],
            reason=about["reason"],
            seconds=about["seconds"],
            facts=about["facts"],
            table=pl.read_parquet(path),
            kept=True,
        )
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):
        return None


def tell_failures(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """A note for each way in which cells failed."""
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.status == "failed":
            by_reason.setdefault(outcome.reason, []).append(outcome.name)
    return tuple(
        f"{counted(len(names), 'cell')} failed with {reason}, the first '{shorten(names[0], 60)}'; run again to retry"
        for reason, names in by_reason.items()
    )
