"""Safe files: no input is ever replaced, and every output is complete."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import re
import secrets
import socket
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from karatage.errors import DataError, KaratageError, OptionError
from karatage.text import shorten

PathLike = str | os.PathLike[str]
DRAFT = ".part"  # end of the name of a file that is being written, after its process and a random word
DRAFT_PATTERN = r"\.(\d{1,10})\.[0-9a-f]{8}\.part"
STREAM = "-"  # standard input or output
LONGEST_NAME = 120  # bytes of a file's name that is made from data
_RESERVED = '/\\<>:"|?*' if os.name == "nt" else "/\\"  # characters that a file's name cannot contain
_NEW_FILE, _PRIVATE = 0o666, 0o600  # the first is reduced by the umask

Identity = tuple[int, int]  # device and inode
# A file; a folder for some files; a folder with files of the command only, so that no input may be in it;
# and a file of karatage that the same command may read, extend and replace.
OutputKind = Literal["file", "folder", "own folder", "store"]


@dataclass(frozen=True)
class _Input:
    """A file that was read."""

    path: str  # as the user named it
    real: str
    changed: tuple[int, int]  # its size and the time of its last change
    store: bool  # a file of karatage: a command may replace it by an extension

    def still_is(self, identity: Identity, found: os.stat_result) -> bool:
        """Whether the file found is this one, and not a later one with the same inode."""
        if self.changed == (found.st_size, found.st_mtime_ns):
            return True
        with contextlib.suppress(OSError):
            return _identify(Path(self.real).stat()) == identity
        return False


@dataclass(frozen=True)
class _Claim:
    """A file or folder that will be written."""

    path: str
    option: str
    kind: OutputKind
    held: frozenset[Identity] = frozenset()  # files in an own folder


@dataclass(frozen=True)
class _Ledger:
    inputs: dict[Identity, list[_Input]] = field(default_factory=dict)
    claims: dict[str, _Claim] = field(default_factory=dict)  # by real path


_ledger = _Ledger()


def start_over() -> None:
    """Forget all inputs and claims, at the start of a command."""
    _ledger.inputs.clear()
    _ledger.claims.clear()


def note_input(path: PathLike, *, store: bool = False) -> None:
    """Record an input before it is read; refused if the command will write it.

    A `store` is a file of karatage that is read to be extended. Only regular files are recorded.
    """
    name = os.fspath(path)
    try:
        found = os.fstat(0) if name == STREAM else Path(name).stat()
    except (OSError, ValueError):  # the reader reports the error
        return
    if not stat.S_ISREG(found.st_mode):
        return
    real = name if name == STREAM else os.path.realpath(name)
    shown = "standard input" if name == STREAM else name
    noted = _Input(shown, real, (found.st_size, found.st_mtime_ns), store)
    known = _ledger.inputs.get(_identify(found), [])
    _ledger.inputs[_identify(found)] = [other for other in known if (other.path, other.store) != (shown, store)] + [
        noted
    ]
    for output, claim in _ledger.claims.items():
        _refuse_claimed(noted, _identify(found), output, claim)


def claim_output(path: PathLike, option: str, kind: OutputKind = "file") -> None:
    """Record an output file or folder of a command, before it reads any input."""
    name = os.fspath(path)
    if not name or name == STREAM:
        return
    real = os.path.realpath(name)
    if kind == "file" and (name.endswith("/") or Path(real).is_dir()):
        kind = "own folder"  # as for judgments in one file for each judge
    claim = _Claim(name, option, kind, frozenset(_list_files(real) if kind == "own folder" else ()))
    for identity, inputs in _ledger.inputs.items():
        for noted in inputs:
            _refuse_claimed(noted, identity, real, claim)
    other = _ledger.claims.get(real)
    if other is not None and other.option != option and {kind, other.kind} != {"folder"}:
        raise OptionError(f"{other.option} and {option} both name {shorten(name, 200)}; give them different names")
    _ledger.claims[real] = claim


def refuse_replacing(paths: Iterable[PathLike], *, store: bool = False) -> None:
    """Refuse to write any of these files if one of them was read; for several outputs, before the first is written."""
    for path in paths:
        try:
            found = Path(path).stat()
        except (OSError, ValueError):
            continue
        noted = _find_input(path, found)
        if noted is not None and not (store and noted.store):
            raise _refusal(noted, os.fspath(path))


def _find_input(path: PathLike, found: os.stat_result) -> _Input | None:
    """The input that is this file: by inode, or by path if an editor has saved the input again."""
    for noted in _ledger.inputs.get(_identify(found), []):
        if noted.still_is(_identify(found), found):
            return noted
    real = os.path.realpath(path)
    return next((noted for inputs in _ledger.inputs.values() for noted in inputs if noted.real == real), None)


def _refuse_claimed(noted: _Input, identity: Identity, real: str, claim: _Claim) -> None:
    if noted.store and claim.kind in {"store", "own folder"}:
        return
    if claim.kind == "own folder":
        within = os.path.join(real, "")  # noqa: PTH118 compared as text
        named = os.path.realpath(os.path.dirname(noted.path) or ".")  # noqa: PTH120 of a link, where the link is
        inside = noted.real.startswith(within) or os.path.join(named, "").startswith(within)  # noqa: PTH118
        if inside or identity in claim.held:
            raise OptionError(
                f"{shorten(noted.path, 200)} is read, and {claim.option} fills its folder {shorten(claim.path, 200)} "
                "with its files; name another folder to write"
            )
        return
    with contextlib.suppress(OSError):
        if _identify(Path(real).stat()) == identity:
            raise _refusal(noted, claim.path)


def _list_files(folder: str) -> Iterator[Identity]:
    for home, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield _identify((Path(home) / name).stat())


def _refusal(noted: _Input, output: str) -> OptionError:
    same = os.path.normpath(output) == os.path.normpath(noted.path)
    which = "it" if same else f"it is the same file as {shorten(noted.path, 200)}, which"
    return OptionError(f"{shorten(output, 200)} would be overwritten, but {which} is read; name another file to write")


def _identify(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def write_file(path: PathLike, content: bytes, *, store: bool = False, new: bool = False) -> None:
    """Replace the content of a file completely and durably; refused if it was read, except in a `store`.

    Mode, owner and links do not change, and pipes and devices are written to directly. With `new`, an existing file is
    a FileExistsError.
    """
    named = Path(path)
    if not named.name:
        raise DataError("an output was requested, but its name is empty; name a file")
    shown = shorten(os.fspath(path), 200)
    refuse_replacing([path], store=store)
    try:
        if named.is_symlink() and not named.exists():
            to = shorten(str(named.readlink()), 200)
            raise DataError(f"{shown}: is a link to {to}, which does not exist; remove the link or name another file")
        if named.exists() and not named.is_file() and not named.is_dir():
            named.write_bytes(content)
            return
        target = Path(os.path.realpath(named))
        make_folder(target.parent)
        with contextlib.suppress(OSError):  # a folder that can be written, but not listed
            _remove_drafts(target)
        replace_file(target, content, store=store, new=new)
    except (OSError, ValueError) as problem:
        if isinstance(problem, KaratageError) or (new and isinstance(problem, FileExistsError) and named.exists()):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise DataError(f"{shown}: cannot be written: {reason}") from None


def replace_file(target: Path, content: bytes, *, store: bool = False, new: bool = False) -> None:
    """Replace the content of a file: after a crash or a power failure it has the old or the new one, never a part.

    The content is on the disk before it gets the file's name. An error is an OSError, and leaves no file.
    """
    before = os.lstat(target) if target.exists() else None
    if before is not None and not os.access(target, os.W_OK):  # renaming does not check
        raise PermissionError(errno.EACCES, "the file is write-protected")
    draft = target.with_name(f".{_cut(target.name)}.{os.getpid()}.{secrets.token_hex(4)}{DRAFT}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(draft, flags, _NEW_FILE if before is None else _PRIVATE), "wb") as file:  # noqa: PTH123 a descriptor
            file.write(content)
            file.flush()
            if before is not None:
                _keep_owner_and_mode(file.fileno(), before)
            os.fsync(file.fileno())
        refuse_replacing([target], store=store)  # as late as possible: a link may have been made
        if new:
            os.link(draft, target)
        else:
            draft.replace(target)
    finally:  # after an interrupt as well
        draft.unlink(missing_ok=True)
    _sync(target.parent)


def _cut(name: str) -> str:
    """The start of a name, so that the draft's name is not too long."""
    return os.fsdecode(os.fsencode(name)[:LONGEST_NAME])


def _remove_drafts(target: Path) -> None:
    """Remove a file's drafts from killed processes."""
    ours = re.compile(rf"\.{re.escape(_cut(target.name))}{DRAFT_PATTERN}")
    for path in target.parent.iterdir():
        found = ours.fullmatch(path.name)
        if found is not None and not _is_alive(int(found[1])) and _find_input(path, path.stat()) is None:
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # there, the signal ends it
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _keep_owner_and_mode(file: int, before: os.stat_result) -> None:
    """Restore the owner, then the mode, which a change of owner resets. Only the superuser may change owners."""
    if not hasattr(os, "fchown"):
        return
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(file, before.st_uid, before.st_gid)
    os.fchmod(file, stat.S_IMODE(before.st_mode))


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, and sync them to the disk."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in reversed(missing):
        _sync(each.parent)


def _sync(folder: Path) -> None:
    """Sync a folder's names to the disk, if the system can."""
    with contextlib.suppress(OSError):
        held = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)


def name_file(text: str) -> str:
    """A file's name made from data: one part of a path, visible, valid on all file systems.

    >>> name_file("../../logo"), name_file("P(rel=2)@10"), name_file(".hidden")
    ('_._.._logo', 'P(rel=2)@10', '_hidden')
    """
    clean = "".join(c if c.isprintable() and c not in _RESERVED else "_" for c in text)
    clean = f"_{clean[1:]}" if clean[:1] in {"", "."} else clean
    return clean.encode()[:LONGEST_NAME].decode(errors="ignore").rstrip(" .") or "_"


def place_file(folder: PathLike, name: str) -> Path:
    """A file in a folder, or in a folder within it, whose name is made from data.

    >>> place_file("out", "charts/../../x.svg").as_posix()
    'out/charts/_/_/x.svg'
    """
    return Path(folder).joinpath(*map(name_file, name.split("/")))


LOCK = ".lock"
PATIENCE, PAUSE = 30.0, 0.02  # seconds


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Refuse a folder that another process holds.

    The lock is from the system, which removes it when the process ends, so it is never stale. Systems and disks without
    locks have none.
    """
    held = _lock(folder, folder / LOCK, "wait until it ends, stop it, or give another folder")
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


@contextmanager
def hold_file(path: PathLike) -> Iterator[None]:
    """Wait for other processes that hold a file, and hold it; the lock is a file beside it."""
    target = Path(os.path.realpath(path))
    try:
        make_folder(target.parent)
    except OSError as problem:
        raise DataError(f"{shorten(os.fspath(path), 200)}: cannot be written: {problem.strerror or problem}") from None
    lock, end = target.with_name(f".{_cut(target.name)}{LOCK}"), time.monotonic() + PATIENCE
    held = _lock(target, lock, "stop it, and try again", end)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _lock(what: Path, lock: Path, advice: str, end: float = -math.inf) -> int | None:
    """Lock a file that is made for this; where another process has locked it, try until the `end`."""
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        held = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError:  # a read-only folder
        if lock.is_symlink():
            raise DataError(f"{lock} is a link, not a file of karatage; remove it") from None
        return None
    if os.fstat(held).st_nlink > 1:
        os.close(held)
        raise DataError(f"{lock} is a hard link to another file; remove it")
    try:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise
                time.sleep(PAUSE)
    except BlockingIOError:
        holder = shorten(os.read(held, 100).decode(errors="replace").strip()) or "unknown"
        os.close(held)
        raise DataError(f"{what}: another run uses it ({holder}); {advice}") from None
    except OSError:
        os.close(held)
        return None
    with contextlib.suppress(OSError):  # a full disk; the name is only for the message above
        os.ftruncate(held, 0)
        os.write(held, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    return held
