"""Running kernels on several cores; they are free of the interpreter lock, so threads suffice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

from karatage.errors import OptionError
from karatage.memory import count_cores
from karatage.text import shorten

VARIABLE = "KARATAGE_THREADS"
MOST = 1024
P = TypeVar("P")
R = TypeVar("R")


def count_threads() -> int:
    """As many as this process has cores and addresses for, or as the environment variable KARATAGE_THREADS says."""
    cores = count_cores()
    asked = os.environ.get(VARIABLE, "")
    if not asked:
        return cores
    if not (asked.isascii() and asked.isdecimal() and 0 < int(asked) <= MOST):
        raise OptionError(
            f"the environment variable {VARIABLE} is '{shorten(asked)}'; set it to a whole number from 1 to {MOST:,}, "
            f"or unset it to use all {cores}"
        )
    return int(asked)


def spread(work: Callable[[P], R], pieces: Iterable[P]) -> list[R]:
    """The results of `work` on all pieces, in their order, whichever thread did them."""
    waiting, threads = list(pieces), count_threads()
    if len(waiting) < 2 or threads < 2:
        return [work(piece) for piece in waiting]
    return list(_pool(threads, os.getpid()).map(work, waiting))


@lru_cache(maxsize=1)
def _pool(threads: int, _: int) -> ThreadPoolExecutor:
    """Threads that stay for the next call; a forked process has none of its parent's, so each makes its own."""
    return ThreadPoolExecutor(threads)
