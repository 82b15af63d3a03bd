"""Finding, opening and unpacking input: files, folders, globs, standard input, .gz and .zst."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from karatage.errors import DataError, InputFileError, KaratageError, OptionError
from karatage.io.files import STREAM, note_input
from karatage.io.unpacking import read_unpacked
from karatage.text import nearest, shorten

NOTHING = "is empty; remove it or fill it"
LONE_RETURN = "has a carriage return inside the line; convert mixed line ends, e.g. with dos2unix"
_SUFFIXES = {".csv", ".dat", ".json", ".jsonl", ".ndjson", ".parquet", ".qrel", ".qrels", ".res", ".run"}
_SUFFIXES |= {".trec", ".tsv", ".txt"}
_PACKED = {".gz", ".zst"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
NEAR = 0.75  # how alike a file's name must be to be proposed
_GLANCE = 200  # bytes


@dataclass(frozen=True)
class Source:
    """One input file, or standard input."""

    path: str

    @property
    def name(self) -> str:
        """What is shown in messages."""
        return "standard input" if self.path == STREAM else shorten(self.path, 200)

    @property
    def stem(self) -> str:
        """The file's name without what tells its format.

        >>> Source("judges/gpt-4.M.qrels.gz").stem
        'gpt-4.M'
        """
        path = Path(os.fsencode(self.path).decode(errors="replace"))
        if path.suffix in _PACKED:
            path = path.with_suffix("")
        return path.stem if path.suffix.lower() in _SUFFIXES else path.name

    def read(self, *, store: bool = False) -> bytes:
        """The content, unpacked; an empty file is an error. It is an input from now on, which no output may replace."""
        note_input(self.path, store=store)
        content = self.load()
        if not content.strip():
            raise InputFileError(self.name, None, NOTHING)
        return content

    def load(self) -> bytes:
        """The content, unpacked, of a file that is no input."""
        try:
            with nullcontext(sys.stdin.buffer) if self.path == STREAM else Path(self.path).open("rb") as file:
                return read_unpacked(file)
        except OSError as problem:
            raise InputFileError(self.name, None, f"cannot be read: {problem.strerror or problem}") from None
        except DataError as problem:
            raise InputFileError(self.name, None, f"{problem}") from None


def expand(paths: object, *, store: bool = False) -> list[Source]:
    """Every file meant by a path or several, by folders and globs, each once, in order."""
    asked = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(asked, Iterable):
        raise OptionError(f"expected paths, a data frame or a dict, not {type(paths).__name__}")
    found: dict[str, Source] = {}
    for path in asked:
        if not isinstance(path, str | os.PathLike):
            raise OptionError(f"expected a path, not {type(path).__name__}")
        for name in _expand_one(os.fspath(path)):
            note_input(name, store=store)  # even if it cannot be read
            found[name] = Source(name)
    if not found:
        raise OptionError("no input files were given")
    return list(found.values())


def find_files(path: str) -> list[str]:
    """The files that are meant by a path; none where it is wrong, or a name of something else."""
    try:
        return _expand_one(path)
    except KaratageError:
        return []


def _expand_one(path: str) -> list[str]:
    if path == STREAM:
        return [path]
    if not path:
        raise OptionError("the name of an input file is empty")
    try:
        return _find(path)
    except (OSError, ValueError) as problem:  # no access, a name too long, a zero byte in it
        if isinstance(problem, InputFileError):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise InputFileError(shorten(path, 200), None, f"cannot be read: {reason}") from None


def _find(path: str) -> list[str]:
    if Path(path).is_dir():
        names = sorted(str(p) for p in Path(path).iterdir() if p.is_file() and not p.name.startswith("."))
        if not names:
            raise InputFileError(path, None, "is a folder without files")
        return names
    if Path(path).exists():
        return [path]
    if glob.has_magic(path):
        found = glob.glob(path, recursive=True)  # noqa: PTH207 user's own syntax
        names = sorted(name for name in found if Path(name).is_file())
        if not names:
            raise InputFileError(shorten(path, 200), None, "matches no file")
        return names
    folder = Path(path).parent
    near = _guess(Path(path), folder) if folder.is_dir() else None
    hint = f"; did you mean {shorten(str(folder / near), 200)}?" if near else ""
    raise InputFileError(shorten(path, 200), None, f"no such file{hint}")


def _guess(path: Path, folder: Path) -> str | None:
    """A name that is nearly the same, with the same ending, give or take a letter at its end."""
    stem, ending = _split_name(path.name)
    near = {}
    for name in sorted((p.name for p in folder.iterdir()), reverse=True):
        other, its = _split_name(name)
        if its == ending or (its and ending and (its.startswith(ending) or ending.startswith(its))):
            near[other] = name
    found = nearest(stem, near, likeness=NEAR)
    return None if found is None else near[found]


def _split_name(name: str) -> tuple[str, str]:
    path = Path(name)
    path = path.with_suffix("") if path.suffix in _PACKED else path
    return path.stem, path.suffix.lower()


def check_text(source: Source, content: bytes) -> bytes:
    """Content without a byte order mark, sure to be UTF-8 text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    zero = content.find(b"\0")
    if content.startswith(_UTF16) or (zero >= 0 and _alternates(content[:_GLANCE])):
        raise InputFileError(source.name, None, "looks like UTF-16; save it as UTF-8, e.g. iconv -f UTF-16 -t UTF-8")
    if zero >= 0:
        raise InputFileError(source.name, line_of(content, zero), "holds binary data, not text")
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as problem:
            raise InputFileError(
                source.name, line_of(content, problem.start), "is not UTF-8 text; convert it, e.g. with iconv"
            ) from None
    return content


def _alternates(start: bytes) -> bool:
    """Whether every other byte is zero, as plain letters are in UTF-16."""
    return any(start[k::2].count(0) > 0.9 * len(start[k::2]) and not start[1 - k :: 2].count(0) for k in (0, 1))


def check_line_ends(source: Source, content: bytes) -> None:
    """Refuse a carriage return that no newline follows; pairs may be mixed with plain newlines."""
    lone = re.search(rb"\r(?!\n|\Z)", content)
    if lone:
        raise InputFileError(source.name, line_of(content, lone.start()), LONE_RETURN)


def line_of(content: bytes, offset: int) -> int:
    """The number of the line that holds the byte at `offset`."""
    return content.count(b"\n", 0, offset) + 1
