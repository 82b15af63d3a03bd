"""Compiling loops with numba."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.misc.appdirs import AppDirs
from numpy.typing import NDArray

from karatage.progress import remark

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
GradeArray = NDArray[np.int8]
BoolArray = NDArray[np.bool_]

F = TypeVar("F", bound=Callable[..., object])
BESIDE = ""  # numba's word for a cache beside the source
SETTINGS: Any = numba.config  # numba's own, of which mypy knows nothing
PROBE = bytes(2**16)  # an empty file can be created on a full disk, too


def kernel(function: F) -> F:
    """Compile `function` on first use."""
    folder, others = find_cache(), SETTINGS.CACHE_DIR
    SETTINGS.CACHE_DIR = folder  # for this function only, not for those of the caller
    try:
        compiled = numba.njit(cache=folder is not None, nogil=True, error_model="numpy")(function)
    finally:
        SETTINGS.CACHE_DIR = others
    return cast("F", compiled)


@cache
def find_cache() -> str | None:
    """The first writable folder: one of numba's, else a private temporary one; None if no folder is writable."""
    for folder in _list_folders():
        if _can_write(Path(__file__).parent / "__pycache__" if folder == BESIDE else Path(folder)):
            return folder
    advice = "set NUMBA_CACHE_DIR to a folder to keep it in"
    private = _make_private()
    if private is not None and _can_write(private):
        remark(f"compiled code is kept in {private}, as no other folder for it can be written; {advice}")
        return str(private)
    remark(f"compiled code cannot be kept, as no folder for it can be written, so every start is slow; {advice}")
    return None


def _list_folders() -> Iterator[str]:
    if SETTINGS.CACHE_DIR:
        yield SETTINGS.CACHE_DIR
    yield BESIDE
    home = cast("Any", AppDirs)("numba", False).user_cache_dir
    if Path(home).is_absolute():  # without a home it would be './~/.cache', which any user may have filled
        yield home


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as trial:
            return trial.write(PROBE) == len(PROBE)
    except OSError:
        return False


def _make_private() -> Path | None:
    """A temporary folder that is only this user's: the cache is executed, so no other user may be able to write it."""
    me = os.geteuid() if hasattr(os, "geteuid") else 0
    try:
        home = Path(tempfile.gettempdir())
        folder = home / f"karatage-{version('karatage')}-{me}"
        around = home.stat()
        guarded = around.st_uid in (0, me) and (not around.st_mode & 0o022 or bool(around.st_mode & stat.S_ISVTX))
        if not guarded or home.samefile(Path.cwd()):  # Python's last resort is the working folder, which is not safe
            return None
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    return (
        folder if found.st_uid == me and not found.st_mode & 0o077 else None
    )  # fails for a link, which has all permissions
