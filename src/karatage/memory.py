"""Address space, where it is limited (`ulimit -v`, batch systems): fewer threads and arenas, as each reserves some."""

from __future__ import annotations

import os
from contextlib import suppress

PER_THREAD = 2**29  # bytes of the limit; a tenth is what one reserves, the rest is for the data
ARENA_MAX = -8  # mallopt's name for how often glibc may reserve 64 MB for threads to allocate in
VARIABLES = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS")  # polars; OpenBLAS under numpy and scipy, OpenMP, MKL


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


def spare_addresses() -> None:
    """Have libraries that are not yet loaded use no more threads than there are addresses for, and reserve few."""
    if find_limit() is None:
        return
    for name in VARIABLES:
        os.environ.setdefault(name, str(count_cores()))
    import ctypes

    with suppress(AttributeError, OSError, TypeError):  # where the C library is another one
        ctypes.CDLL(None).mallopt(ARENA_MAX, 1)
