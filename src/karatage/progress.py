"""Progress of long work, reported to a callback; the library itself prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Watcher = Callable[[int, int, str], None]  # parts done, parts in all, and what they are
P = TypeVar("P")
_watcher: ContextVar[Watcher | None] = ContextVar("karatage watcher", default=None)
_remarks: dict[str, None] = {}  # in their order, each once


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Be told how far work has come while it is done.

    Args:
        watcher: Called with the number of parts done, the number of parts in all, and what they are. Work within a part
            may have its own parts, under another name.

    >>> with watch(lambda done, total, name: print(done, "of", total, name)):
    ...     squares = [part**2 for part in follow([1, 2], 2, "numbers")]
    0 of 2 numbers
    1 of 2 numbers
    2 of 2 numbers
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def follow(parts: Iterable[P], total: int, name: str) -> Iterator[P]:
    """The parts as they are, while progress is reported; a single part is not worth telling."""
    watcher = _watcher.get()
    if watcher is None or total < 2:
        yield from parts
        return
    done = 0
    for part in parts:
        watcher(done, total, name)
        yield part
        done += 1
    watcher(done, total, name)


def remark(note: str) -> None:
    """Keep a note on how this process runs, not on what it finds; the command line tells it at the end."""
    _remarks[note] = None


def take_remarks() -> list[str]:
    """The notes so far, which are then forgotten.

    >>> before = take_remarks()
    >>> remark("the disk is slow")
    >>> take_remarks(), take_remarks()
    (['the disk is slow'], [])
    """
    told = list(_remarks)
    _remarks.clear()
    return told
