"""Sources of input: files, folders, globs and standard input, packed or not."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import zstandard
from zlib_ng import zlib_ng

from karatage.errors import DataError, InputFileError, KaratageError, OptionError
from karatage.io.files import STREAM, note_input
from karatage.memory import count_free_memory
from karatage.text import nearest, shorten

VARIABLE = "KARATAGE_MOST_MEMORY"
SIZE_FORM = "a size such as 800M, 8G or 2.5GB"
RATIO = 200  # as text, runs and judgments have ratios of 3 to 30
HARMLESS = 1 << 26  # bytes that may be unpacked at any ratio
SHARE = 0.5  # of free memory, as the content must be converted to tables
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 24  # bytes, read at once
_SLICE = 1 << 12  # packed bytes: gzip makes at most 1,032 bytes of one, zstandard 32,768
_GZIP_HEADER = 31  # for zlib: with the header and checksum of gzip
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_DAMAGED = cast("tuple[type[Exception], ...]", (EOFError, OSError, zlib_ng.error, zstandard.ZstdError))


class DamagedError(DataError):
    """Packed content that is cut short or altered."""


def read_unpacked(file: BinaryIO) -> bytes:
    """A file's unpacked content; DamagedError if that is impossible, DataError if it is too large."""
    packed = _join(iter(lambda: file.read(_PIECE), b""), require_room())
    unpack = next((how for mark, how in _UNPACK.items() if packed.startswith(mark)), None)
    if unpack is None:
        return packed
    try:
        return _join(unpack(packed), require_room(len(packed)))
    except _DAMAGED as problem:
        what = f"is damaged or cut short and cannot be unpacked ({shorten(str(problem), 80)})"
        raise DamagedError(what) from None


def require_room(packed: int | None = None, ratio: int = RATIO) -> Callable[[int], None]:
    """A function that refuses sizes above the limit for one file, or above `ratio` times its `packed` size."""
    most = parse_size(os.environ[VARIABLE], VARIABLE) if os.environ.get(VARIABLE) else None
    ceiling = most if most is not None else int(SHARE * count_free_memory())

    def check(size: int) -> None:
        if size > ceiling:
            raise DataError(
                f"is larger than {write_size(ceiling)}, the limit for reading one file; split it, or raise the limit "
                f"with --most-memory or {VARIABLE}"
            )
        if packed is not None and most is None and size > max(HARMLESS, ratio * packed):
            raise DataError(
                f"unpacks to more than {ratio:,} times its {packed:,} bytes, which is unusual; if you trust it, "
                f"allow memory with --most-memory or {VARIABLE}"
            )

    return check


def _join(pieces: Iterator[bytes], check: Callable[[int], None]) -> bytes:
    found, size = [], 0
    for piece in pieces:
        size += len(piece)
        check(size)
        found.append(piece)
    return found[0] if len(found) == 1 else b"".join(found)


def _unpack_gzip(packed: bytes) -> Iterator[bytes]:
    """All members in turn; zeros after the last one are padding."""
    at = 0
    while at < len(packed):
        member = zlib_ng.decompressobj(wbits=_GZIP_HEADER)
        while not member.eof:
            if at >= len(packed):
                raise EOFError("it ends too early")
            yield member.decompress(packed[at : at + _SLICE])
            at += _SLICE
        at = min(at, len(packed)) - len(member.unused_data)
        while packed[at : at + 1] == b"\0":
            at += 1


def _unpack_zstandard(packed: bytes) -> Iterator[bytes]:
    """All frames; zstandard does not report that the last one is incomplete."""
    whole, at = memoryview(packed), 0
    while at < len(whole):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if at >= len(whole):
                raise EOFError("the last frame is incomplete")
            yield frame.decompress(whole[at : at + _SLICE])
            at += _SLICE
        at = min(at, len(whole)) - len(frame.unused_data)


_UNPACK = {_GZIP: _unpack_gzip, _ZSTANDARD: _unpack_zstandard}


def parse_size(text: str, what: str) -> int:
    """Bytes.

    >>> parse_size("1.5G", "--most-memory"), parse_size("800 mb", "--most-memory")
    (1610612736, 838860800)
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None or not float(found[1]):
        raise OptionError(f"{what} '{shorten(text)}' is not an amount of memory; write {SIZE_FORM}")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def write_size(size: int) -> str:
    """A number of bytes in words.

    >>> write_size(3 << 29), write_size(700)
    ('1.5 GB', '700 bytes')
    """
    for unit in "TGM":
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}B"
    return f"{size:,} bytes"


NOTHING = "is empty; remove it or fill it"
LONE_RETURN = "has a carriage return inside the line; convert mixed line ends, e.g. with dos2unix"
_SUFFIXES = frozenset(
    ".csv .dat .json .jsonl .ndjson .parquet .qrel .qrels .res .run .trec .tsv .txt".split()  # noqa: SIM905
)
_PACKED = {".gz", ".zst"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
NEAR = 0.75  # how similar a file's name must be to be proposed
_GLANCE = 200  # bytes


@dataclass(frozen=True)
class Source:
    """One input file, or standard input."""

    path: str

    @property
    def name(self) -> str:
        """The name in messages."""
        return "standard input" if self.path == STREAM else shorten(self.path, 200)

    @property
    def stem(self) -> str:
        """The file's name without the endings of formats.

        >>> Source("judges/gpt-4.M.qrels.gz").stem
        'gpt-4.M'
        """
        path = Path(os.fsencode(self.path).decode(errors="replace"))
        if path.suffix in _PACKED:
            path = path.with_suffix("")
        return path.stem if path.suffix.lower() in _SUFFIXES else path.name

    def read(self, *, store: bool = False) -> bytes:
        """The unpacked content; an empty file is an error. The file becomes an input, which no output may replace."""
        note_input(self.path, store=store)
        content = self.load()
        if not content.strip():
            raise InputFileError(self.name, None, NOTHING)
        return content

    def load(self) -> bytes:
        """The unpacked content, without making the file an input."""
        try:
            with nullcontext(sys.stdin.buffer) if self.path == STREAM else Path(self.path).open("rb") as file:
                return read_unpacked(file)
        except OSError as problem:
            raise InputFileError(self.name, None, f"cannot be read: {problem.strerror or problem}") from None
        except DataError as problem:
            raise InputFileError(self.name, None, f"{problem}") from None


def expand(paths: object, *, store: bool = False) -> list[Source]:
    """All files of paths, folders and globs, each once, in order."""
    asked = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(asked, Iterable):
        raise OptionError(f"expected paths, a data frame or a dict, not {type(paths).__name__}")
    found: dict[str, Source] = {}
    for path in asked:
        if not isinstance(path, str | os.PathLike):
            raise OptionError(f"expected a path, not {type(path).__name__}")
        for name in _expand_one(os.fspath(path)):
            note_input(name, store=store)  # also if it cannot be read
            found[name] = Source(name)
    if not found:
        raise OptionError("no input files were given")
    return list(found.values())


def find_files(path: str) -> list[str]:
    """The files of a path; none if it is not the name of a file."""
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
    """A similar name with the same ending, or with one that is a few letters longer or shorter."""
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
    """The content without a byte order mark, unless it is not UTF-8 text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    zero = content.find(b"\0")
    if content.startswith(_UTF16) or (zero >= 0 and _alternates(content[:_GLANCE])):
        raise InputFileError(source.name, None, "looks like UTF-16; save it as UTF-8, e.g. iconv -f UTF-16 -t UTF-8")
    if zero >= 0:
        raise InputFileError(source.name, line_of(content, zero), "contains binary data, not text")
    if not content.isascii():
        try:
            content.decode()
        except UnicodeDecodeError as problem:
            raise InputFileError(
                source.name, line_of(content, problem.start), "is not UTF-8 text; convert it, e.g. with iconv"
            ) from None
    return content


def _alternates(start: bytes) -> bool:
    """Whether every other byte is zero, as for letters in UTF-16."""
    return any(start[k::2].count(0) > 0.9 * len(start[k::2]) and not start[1 - k :: 2].count(0) for k in (0, 1))


def check_line_ends(source: Source, content: bytes) -> None:
    """Refuse a carriage return that no newline follows; pairs may be mixed with plain newlines."""
    lone = re.search(rb"\r(?!\n|\Z)", content)
    if lone:
        raise InputFileError(source.name, line_of(content, lone.start()), LONE_RETURN)


def line_of(content: bytes, offset: int) -> int:
    """The number of the line with the byte at `offset`."""
    return content.count(b"\n", 0, offset) + 1
