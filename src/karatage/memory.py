"""Memory and threads: how much and how many this process may use, and work that is spread over threads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from karatage.errors import OptionError
from karatage.text import shorten

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

P = TypeVar("P")
R = TypeVar("R")

PER_THREAD = 2**29  # bytes of the limit; a tenth is what one reserves, the rest is for the data
ARENA_MAX = -8  # mallopt's name for how often glibc may reserve 64 MB for threads to allocate in
ENDLESS = 2**62
VARIABLES = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS")  # polars; OpenBLAS under numpy and scipy, OpenMP, MKL
THREADS = "KARATAGE_THREADS"
MOST_THREADS = 1024


def find_limit() -> int | None:
    """How many bytes of addresses this process may use; None where all."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def count_cores() -> int:
    """As many as this process may use and has addresses for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = find_limit()
    return cores if limit is None else max(1, min(cores, limit // PER_THREAD))


def count_threads() -> int:
    """As many as this process has cores and addresses for, or as the environment variable KARATAGE_THREADS says."""
    cores = count_cores()
    asked = os.environ.get(THREADS, "")
    if not asked:
        return cores
    if not (asked.isascii() and asked.isdecimal() and 0 < int(asked) <= MOST_THREADS):
        raise OptionError(
            f"the environment variable {THREADS} is '{shorten(asked)}'; set it to a whole number from 1 to "
            f"{MOST_THREADS:,}, or unset it to use all {cores}"
        )
    return int(asked)


def spread(work: Callable[[P], R], pieces: Iterable[P]) -> list[R]:
    """The results of `work` on all pieces, in their order, whichever thread computed them."""
    waiting, threads = list(pieces), count_threads()
    if len(waiting) < 2 or threads < 2:
        return [work(piece) for piece in waiting]
    return list(_pool(threads, os.getpid()).map(work, waiting))


@lru_cache(maxsize=1)
def _pool(threads: int, _: int) -> ThreadPoolExecutor:
    """Threads that stay for the next call; a forked process has none of its parent's, so each process makes some."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads)


def spare_addresses() -> None:
    """Have libraries that are not yet loaded use no more threads than there are addresses for, and reserve few."""
    if find_limit() is None:
        return
    for name in VARIABLES:
        os.environ.setdefault(name, str(count_cores()))
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # where the C library is another one
        ctypes.CDLL(None).mallopt(ARENA_MAX, 1)


def count_free_memory() -> int:
    """Bytes that this process may still take: the least of the limits of machine, container and process."""
    return max(0, min(_count_machine(), _count_container(), _count_addresses()))


def _count_machine() -> int:
    try:
        found = re.search(r"MemAvailable:\s*(\d+) kB", Path("/proc/meminfo").read_text())
        return int(found[1]) << 10 if found else ENDLESS
    except OSError:  # another system
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else ENDLESS


def _count_container() -> int:
    """What the control group leaves, in the newer and the older layout."""
    home = Path("/sys/fs/cgroup")
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):
            most = (home / limit).read_text().strip()
            return int(most) - int((home / used).read_text()) if most.isdecimal() else ENDLESS
    return ENDLESS


def _count_addresses() -> int:
    limit = find_limit()
    if limit is None:
        return ENDLESS
    with suppress(OSError, ValueError):
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return limit
