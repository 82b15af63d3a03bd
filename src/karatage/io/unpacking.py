"""Unpacking input piece by piece, under a ceiling of memory: a small file may unpack to more than a machine holds."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

import zstandard
from zlib_ng import zlib_ng

from karatage.errors import DataError, OptionError
from karatage.memory import count_free_memory
from karatage.text import shorten

VARIABLE = "KARATAGE_MOST_MEMORY"
SIZE_FORM = "a size such as 800M, 8G or 2.5GB"
RATIO = 200  # text of runs and judgments packs 3 to 30 times
HARMLESS = 1 << 26  # bytes that may be unpacked at any ratio
SHARE = 0.5  # of free memory, as what is read has to be turned into tables
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 24  # bytes, read at once
_SLICE = 1 << 12  # packed bytes: gzip makes at most 1,032 bytes of one, zstandard 32,768
_GZIP_HEADER = 31  # for zlib: with the header and checksum of gzip
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_DAMAGED = cast("tuple[type[Exception], ...]", (EOFError, OSError, zlib_ng.error, zstandard.ZstdError))


class DamagedError(DataError):
    """Packed content that is cut short or altered."""


def read_unpacked(file: BinaryIO) -> bytes:
    """All that a file holds, unpacked; DamagedError where that cannot be, DataError where it is too much."""
    packed = _join(iter(lambda: file.read(_PIECE), b""), require_room())
    unpack = next((how for mark, how in _UNPACK.items() if packed.startswith(mark)), None)
    if unpack is None:
        return packed
    try:
        return _join(unpack(packed), require_room(len(packed)))
    except _DAMAGED as problem:
        what = f"is damaged or cut short and cannot be unpacked ({shorten(str(problem), 80)})"
        raise DamagedError(what) from None


def require_room(packed: int | None = None) -> Callable[[int], None]:
    """What refuses a number of bytes that reading one file may not take; also beside the size that it has `packed`."""
    most = parse_size(os.environ[VARIABLE], VARIABLE) if os.environ.get(VARIABLE) else None
    ceiling = most if most is not None else int(SHARE * count_free_memory())

    def check(size: int) -> None:
        if size > ceiling:
            raise DataError(
                f"holds more than the {write_size(ceiling)} that reading one file may take; split it, or allow more "
                f"with --most-memory or {VARIABLE}"
            )
        if packed is not None and most is None and size > max(HARMLESS, RATIO * packed):
            raise DataError(
                f"unpacks to more than {RATIO} times its {packed:,} bytes, as no table of text does; if you trust it, "
                f"say how much memory it may take with --most-memory or {VARIABLE}"
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
    """All members, one after the other; zeros behind the last are padding."""
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
    """All frames; zstandard itself says nothing when the last one is cut short."""
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
        raise OptionError(f"{what} '{shorten(text)}' is no amount of memory; write {SIZE_FORM}")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def write_size(size: int) -> str:
    """A number of bytes, for people.

    >>> write_size(3 << 29), write_size(700)
    ('1.5 GB', '700 bytes')
    """
    for unit in "TGM":
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}B"
    return f"{size:,} bytes"
