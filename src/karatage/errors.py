"""The exceptions that karatage raises; each is also the builtin a caller would expect."""

from __future__ import annotations

from collections.abc import Iterable

from karatage.text import nearest, shorten


class KaratageError(Exception):
    """Anything wrong with the input or the request; the command line prints it and exits 2."""


class InputFileError(KaratageError, ValueError):
    """A file that cannot be read as what it should be.

    >>> print(InputFileError("a.run", 3, "expected 6 columns, got 5"))
    a.run:3: expected 6 columns, got 5
    """

    def __init__(self, path: object, line: int | None, message: str) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {message}")


class DataError(KaratageError, ValueError):
    """Data that contradict each other or cannot support what was asked."""


class JudgeError(DataError):
    """Judges whose errors cannot be corrected."""


class RowError(DataError):
    """A row that cannot stand; a reader turns `row` into the file and line it came from."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(f"row {row + 1}: {message}")
        self.row = row
        self.message = message


class OptionError(KaratageError, ValueError):
    """An option outside what is offered."""


class WrongTypeError(KaratageError, TypeError):
    """An argument of another type than its name says."""


class PictureError(KaratageError, RuntimeError):
    """A still picture that cannot be made on this machine; its chart can still be shown by a browser."""


class UnknownNameError(KaratageError, LookupError):
    """A name that is not among those offered; the message suggests the nearest.

    >>> print(UnknownNameError("measure", "nCDG", ["nDCG", "DCG", "P"]))
    unknown measure 'nCDG'; did you mean 'nDCG'? Known: DCG, P, nDCG
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = nearest(name, names)
        hint = f"; did you mean '{near}'?" if near else "."
        shown = ", ".join(shorten(known) for known in names[:12]) + (
            f" and {len(names) - 12} more" if names[12:] else ""
        )
        super().__init__(f"unknown {kind} '{shorten(name)}'{hint} Known: {shown}")


class UnknownOptionError(UnknownNameError, TypeError):
    """An option that a function does not have, under any name."""
