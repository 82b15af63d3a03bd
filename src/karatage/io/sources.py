"""Finding, opening and unpacking input: files, folders, globs, standard input, .gz and .zst."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import zstandard
from zlib_ng import gzip_ng, zlib_ng

from karatage.errors import InputFileError, KaratageError, nearest, shorten

PathLike = str | os.PathLike[str]
STANDARD_INPUT = "-"
_SUFFIXES = {".csv", ".dat", ".json", ".jsonl", ".ndjson", ".parquet", ".qrel", ".qrels", ".res", ".run"}
_SUFFIXES |= {".trec", ".tsv", ".txt"}


@dataclass(frozen=True)
class Source:
    """One input file, or standard input."""

    path: str

    @property
    def name(self) -> str:
        """What is shown in messages."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @property
    def stem(self) -> str:
        """The file's name without what tells its format.

        >>> Source("judges/gpt-4.M.qrels.gz").stem
        'gpt-4.M'
        """
        path = Path(self.path)
        if path.suffix in {".gz", ".zst"}:
            path = path.with_suffix("")
        return path.stem if path.suffix.lower() in _SUFFIXES else path.name

    def read(self) -> bytes:
        """The content, unpacked; an empty file is an error."""
        try:
            packed = sys.stdin.buffer.read() if self.path == STANDARD_INPUT else Path(self.path).read_bytes()
        except OSError as problem:
            raise InputFileError(self.name, None, f"cannot be read: {problem.strerror or problem}") from None
        content = self._unpack(packed)
        if not content.strip():
            raise InputFileError(self.name, None, "is empty; remove it or fill it")
        return content

    def _unpack(self, packed: bytes) -> bytes:
        try:
            if packed[:2] == b"\x1f\x8b":
                return gzip_ng.decompress(packed)
            if packed[:4] == b"\x28\xb5\x2f\xfd":
                return b"".join(zstandard.ZstdDecompressor().read_to_iter(packed, read_across_frames=True))
        except (EOFError, OSError, zlib_ng.error, zstandard.ZstdError) as problem:
            raise InputFileError(
                self.name,
                None,
                f"is damaged or cut short and cannot be unpacked ({shorten(str(problem), 80)})",
            ) from None
        return packed


def expand(paths: PathLike | Iterable[PathLike]) -> list[Source]:
    """Every file meant by paths, folders and globs, each once, in order."""
    asked = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: dict[str, Source] = {}
    for path in asked:
        for name in _expand_one(os.fspath(path)):
            found[name] = Source(name)
    if not found:
        raise KaratageError("no input files were given")
    return list(found.values())


def _expand_one(path: str) -> list[str]:
    if path == STANDARD_INPUT:
        return [path]
    if Path(path).is_dir():
        names = sorted(str(p) for p in Path(path).iterdir() if p.is_file() and not p.name.startswith("."))
        if not names:
            raise InputFileError(path, None, "is a folder without files")
        return names
    if Path(path).exists():
        return [path]
    if glob.has_magic(path):
        names = sorted(name for name in glob.glob(path) if Path(name).is_file())  # noqa: PTH207 user's own syntax
        if not names:
            raise InputFileError(path, None, "matches no file")
        return names
    folder = Path(path).parent
    near = nearest(Path(path).name, [p.name for p in folder.iterdir()]) if folder.is_dir() else None
    hint = f"; did you mean {folder / near}?" if near else ""
    raise InputFileError(shorten(path, 200), None, f"no such file{hint}")


def check_text(source: Source, content: bytes) -> bytes:
    """Content without a byte order mark, sure to be UTF-8 text."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    zero = content.find(b"\0")
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


def line_of(content: bytes, offset: int) -> int:
    """The number of the line that holds the byte at `offset`."""
    return content.count(b"\n", 0, offset) + 1
