"""Keeping a second process out of a folder while one works in it."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from karatage.errors import DataError
from karatage.text import shorten

LOCK = ".lock"


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Refuse to go on where another process holds the folder.

    The lock is the system's own: it goes with the process, however that ends, so none is ever stale. Where the system
    or the disk knows no locks, there is none.
    """
    held = _lock(folder)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _lock(folder: Path) -> int | None:
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        held = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError:  # a folder that can only be read
        if (folder / LOCK).is_symlink():
            raise DataError(f"{folder / LOCK} is a link, but should be a file of karatage's own; remove it") from None
        return None
    if os.fstat(held).st_nlink > 1:
        os.close(held)
        raise DataError(f"{folder / LOCK} is another file, too, by a hard link; remove it")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = shorten(os.read(held, 100).decode(errors="replace").strip()) or "unknown"
        os.close(held)
        advice = "wait until it ends, stop it, or give another folder"
        raise DataError(f"{folder}: another run is at work there ({holder}); {advice}") from None
    except OSError:
        os.close(held)
        return None
    with contextlib.suppress(OSError):  # a full disk: the name is only for the message above
        os.ftruncate(held, 0)
        os.write(held, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    return held
