"""Keeping results in a folder: one file each, whole or not at all, and recognised when it is damaged."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from karatage.errors import DataError
from karatage.io.files import DRAFT_PATTERN, hold_folder, make_folder, replace_file

METADATA = "karatage"
# A name that tells the cell, then the first digits of the content's digest.
_FILE = re.compile(r"(?P<stem>.+\.[0-9a-f]{12})\.(?P<digest>[0-9a-f]{16})\.parquet")
_DRAFT = re.compile(rf"\.{_FILE.pattern}{DRAFT_PATTERN}")
_UNREADABLE = (pl.exceptions.PolarsError, OSError, LookupError, ValueError)


class Record(NamedTuple):
    """What a file holds: a table, and anything that JSON can say about it."""

    about: Mapping[str, Any]
    table: pl.DataFrame


class Search(NamedTuple):
    """What was found under a name, and the files there that do not hold what they should."""

    record: Record | None
    damaged: tuple[str, ...] = ()


class Store:
    """A folder of records; `open_store` makes one."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._files: dict[str, list[Path]] = {}
        for path in home.iterdir():
            if (match := _FILE.fullmatch(path.name)) is not None:
                self._files.setdefault(match["stem"], []).append(path)

    def look_up(self, stem: str, fingerprint: str) -> Search:
        """The newest sound record under a name; any others there, left by a run that was killed, are removed."""
        damaged: list[str] = []
        for path in sorted(self._files.get(stem, []), key=_age):
            record = _read(path, fingerprint)
            if record is not None:
                self._keep_only(stem, path)
                return Search(record, tuple(damaged))
            damaged.append(path.name)
        return Search(None, tuple(damaged))

    def keep(self, stem: str, record: Record) -> None:
        """Write a record in the place of all others under its name; a disk that will not take it is an OSError."""
        out = io.BytesIO()
        record.table.write_parquet(out, metadata={METADATA: json.dumps(record.about)})
        content = out.getvalue()
        path = self.home / f"{stem}.{_digest(content)}.parquet"
        replace_file(path, content)
        self._files.setdefault(stem, []).append(path)
        self._keep_only(stem, path)

    def _keep_only(self, stem: str, sound: Path) -> None:
        for path in self._files[stem]:
            if path != sound:
                with contextlib.suppress(OSError):  # it is found and told again next time
                    path.unlink()
        self._files[stem] = [sound]


@contextmanager
def open_store(home: Path) -> Iterator[Store]:
    """Have a folder to oneself; what a killed run left half-written there is removed."""
    with contextlib.ExitStack() as stack:
        try:
            make_folder(home)
            stack.enter_context(hold_folder(home))
            for path in home.iterdir():
                if _DRAFT.fullmatch(path.name):
                    path.unlink(missing_ok=True)
            store = Store(home)
        except OSError as problem:
            reason = problem.strerror or problem
            raise DataError(f"{home}: cannot hold results: {reason}; give another folder") from None
        yield store


def _age(path: Path) -> int:
    try:
        return -path.stat().st_mtime_ns
    except OSError:
        return 0


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read(path: Path, fingerprint: str) -> Record | None:
    """A record, or nothing when the file is damaged, cut short or about something else.

    The digest comes first: a reader of Parquet may end the whole process on bytes that nobody ever wrote.
    """
    try:
        content = path.read_bytes()
        match = _FILE.fullmatch(path.name)
        if match is None or _digest(content) != match["digest"]:
            return None
        about = json.loads(pl.read_parquet_metadata(io.BytesIO(content))[METADATA])
        return Record(about, pl.read_parquet(io.BytesIO(content))) if about["fingerprint"] == fingerprint else None
    except _UNREADABLE:
        return None
