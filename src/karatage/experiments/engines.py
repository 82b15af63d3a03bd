"""Engines: work is done in this process, in several on this machine, or on a Dask cluster."""

from __future__ import annotations

import logging
import os
import pickle
import re
import socket
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from karatage.errors import DataError, OptionError
from karatage.memory import count_threads
from karatage.text import shorten

if TYPE_CHECKING:
    from distributed import Client

R = TypeVar("R")
Job = Callable[[Any], R]  # takes the context
Results = Generator[tuple[int, R], None, None]
LOCAL = "local"
PATIENCE = 10.0  # seconds for a cluster to answer
RESUME = "results so far are in the output folder, if one was given, and the same command resumes"
# Larger arrays are sent to other processes once, as memory maps; smaller ones with every job.
_MAPPED_BYTES = 50_000
_CLUSTER = re.compile(r"dask://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:\[\]@]+):(?P<port>\d{1,5})")
_PYTHON = "{}.{}".format(*sys.version_info)
# Packages on which the last bit of results depends; workers must have the same versions.
_DECISIVE = ("karatage", "numba", "numpy", "polars", "scipy")


def check_engine(engine: str) -> None:
    """Refuse an engine that is neither this machine nor the address of a cluster."""
    if engine != LOCAL and _find_address(engine) is None:
        raise OptionError(f"engine '{shorten(engine)}' is neither {LOCAL} nor an address like dask://host:8786")


def work_off(jobs: Mapping[int, Job[R]], context: object, *, engine: str, workers: int) -> Results[R]:
    """Do all jobs, each with the context; yields results as they arrive. Close it to stop early."""
    if engine != LOCAL and jobs:
        yield from _on_cluster(jobs, context, engine)
    elif workers == 1 or len(jobs) < 2:
        yield from ((k, job(context)) for k, job in jobs.items())
    else:
        yield from _in_processes(jobs, context, min(workers, len(jobs)))


# Processes of this machine


@dataclass(frozen=True, eq=False)
class _Parcel:
    """A pickled context for other processes; joblib sends large arrays once, as memory maps that it also removes."""

    tag: str
    content: npt.NDArray[np.uint8]
    arrays: tuple[npt.NDArray[np.uint8], ...]

    @staticmethod
    def of(context: object) -> _Parcel:
        """Pickle a context, with its arrays separately."""
        buffers: list[pickle.PickleBuffer] = []
        content = pickle.dumps(context, protocol=5, buffer_callback=buffers.append)
        arrays = tuple(np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers)
        return _Parcel(uuid.uuid4().hex, np.frombuffer(content, np.uint8), arrays)

    def unpack(self) -> object:
        """The context; a process unpacks it once."""
        if self.tag not in _UNPACKED:
            _UNPACKED.clear()
            _UNPACKED[self.tag] = pickle.loads(self.content.data, buffers=self.arrays)
        return _UNPACKED[self.tag]


_UNPACKED: dict[str, object] = {}


def _in_processes(jobs: Mapping[int, Job[R]], context: object, workers: int) -> Results[R]:
    from joblib import Parallel, delayed

    parcel = _Parcel.of(context)
    threads = os.environ.get("KARATAGE_THREADS") or str(max(1, count_threads() // workers))
    pool = Parallel(
        n_jobs=workers,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,  # with batches, finished results would be stored later
        max_nbytes=_MAPPED_BYTES,
    )
    parent = os.getpid()
    results = pool(delayed(_do)(k, job, parcel, threads, parent) for k, job in jobs.items())
    try:
        for result in results:  # noqa: UP028  # `yield from` would close them where the warning is not yet suppressed
            yield result
    except BrokenProcessPool as problem:
        reason = shorten(str(problem), 80)
        raise DataError(
            f"a process ended, possibly because of too little memory ({reason}); {RESUME}; use fewer workers"
        ) from None
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\d+ tasks (which|have)", UserWarning)  # dropped intentionally
            results.close()


def _do(k: int, job: Job[R], parcel: _Parcel, threads: str, parent: int) -> tuple[int, R]:
    """Do a job in another process, with a share of the machine's cores."""
    _follow(parent)
    os.environ["KARATAGE_THREADS"] = threads
    return k, job(parcel.unpack())


@cache
def _follow(parent: int) -> None:
    """End this process soon after its parent was killed, even before this call; else it waits minutes for work."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# A cluster


def _on_cluster(jobs: Mapping[int, Job[R]], context: object, engine: str) -> Results[R]:
    """The context is sent to every worker once; a result is returned as soon as it is there."""
    with _connect(engine) as client:
        from distributed import KilledWorker, as_completed

        [sent] = client.scatter([context], broadcast=True, hash=False)
        futures = [client.submit(job, sent, pure=False) for job in jobs.values()]
        number = {future.key: k for future, k in zip(futures, jobs, strict=True)}
        waiting = as_completed(futures, loop=client.loop)
        del futures  # otherwise workers keep every result until the end
        try:
            for future in waiting:
                yield number[future.key], future.result()
        except (KilledWorker, CancelledError, OSError) as problem:
            told = f"{engine} lost its workers or its scheduler, possibly because of too little memory"
            raise DataError(f"{told} ({shorten(str(problem), 160)}); {RESUME}") from None
        except (ImportError, AttributeError, pickle.UnpicklingError) as problem:
            reason = f"{type(problem).__name__}: {shorten(str(problem), 160)}"
            raise DataError(f"a worker of {engine} cannot do the work ({reason}); install the same versions") from None


@contextmanager
def _connect(engine: str) -> Iterator[Client]:
    """A client of the cluster, whose workers have the same packages as this process."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise OptionError(f"engine {engine} needs Dask: pip install 'karatage[dask]'") from None
    address = _find_address(engine)
    assert address is not None
    _knock(engine, address)
    log = logging.getLogger("distributed.client")
    level = log.level
    log.setLevel(logging.CRITICAL)  # the errors raised here have the same information
    try:
        with _greet(engine, address) as client:
            _compare_versions(engine, client)
            yield client
    finally:
        log.setLevel(level)


def _greet(engine: str, address: tuple[str, int]) -> Client:
    from distributed import Client

    try:
        client = Client("tcp://{}:{}".format(*address), timeout=PATIENCE, set_as_default=False)
    except (OSError, ImportError) as problem:  # an ImportError means that the scheduler is too different
        raise DataError(f"{engine} cannot be reached ({shorten(str(problem), 160)})") from None
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        client.close()
        raise DataError(f"{engine} has no workers; start some, e.g. with: dask worker {engine[7:]}") from None
    return client


def _find_address(engine: str) -> tuple[str, int] | None:
    match = _CLUSTER.fullmatch(engine)
    return None if match is None or not 0 < int(match["port"]) < 2**16 else (match["host"], int(match["port"]))


def _knock(engine: str, address: tuple[str, int]) -> None:
    """Check that a scheduler answers: it sends the first message, which begins with its own small length."""
    host, port = address
    try:
        with socket.create_connection((host.strip("[]"), port), timeout=PATIENCE) as line:
            greeting = line.recv(8, socket.MSG_WAITALL)
    except OSError as problem:
        reason = "no answer" if isinstance(problem, TimeoutError) else problem.strerror or problem
        raise DataError(f"{engine} cannot be reached ({reason}); start it with: dask scheduler --port {port}") from None
    if len(greeting) < 8 or int.from_bytes(greeting, "little") > 2**20:
        raise DataError(f"{engine} is not a Dask scheduler; start one with: dask scheduler --port {port}")


def _compare_versions(engine: str, client: Client) -> None:
    """Refuse workers on which results could differ; Python is checked first, because it must read the messages."""
    for worker, found in client.get_versions()["workers"].items():
        there = ".".join(found["host"]["python"].split(".")[:2])
        if there != _PYTHON:
            told = f"{engine}: worker {worker} has Python {there}, but here is {_PYTHON}"
            raise DataError(f"{told}; the versions must be the same")
    here_too = list_versions()
    for worker, versions in client.run(_make_listing()).items():
        for name, version in here_too.items():
            if versions[name] != version:
                found = f"{name} {versions[name]}" if versions[name] else f"no {name}"
                advice = "install the same versions on all workers"
                raise DataError(f"{engine}: worker {worker} has {found}, but here is {name} {version}; {advice}")


def list_versions() -> dict[str, str | None]:
    """The versions of packages on which the last bit of results depends; None if one is not installed."""
    return _make_listing()()


def _make_listing() -> Callable[[], dict[str, str | None]]:
    """A function that can be sent without its module, because a worker may lack karatage."""
    names = _DECISIVE

    def look() -> dict[str, str | None]:
        from importlib.metadata import PackageNotFoundError, version

        found: dict[str, str | None] = {}
        for name in names:
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = None
        return found

    return look
