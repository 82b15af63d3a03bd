"""A command in this process: what it prints, and how it ends."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from unittest.mock import patch

from cyclopts import App
from cyclopts.argument import Argument

from karatage.cli.app import app, call
from karatage.errors import KaratageError


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    stdout: str
    stderr: str
    exit_code: int
    exception: KaratageError | None  # the refusal, which `main` tells on standard error

    @property
    def output(self) -> str:
        """Everything that was printed."""
        return self.stdout + self.stderr


def invoke(words: Sequence[object], *, given: str = "") -> Ended:
    """Run `karatage` with these words and `given` on standard input; exceptions that are no refusal are raised."""
    exit_code, exception = 0, None
    stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    with (
        patch.object(sys, "stdin", stdin),
        redirect_stdout(io.StringIO()) as out,
        redirect_stderr(io.StringIO()) as err,
    ):
        try:
            call([str(word) for word in words])
        except SystemExit as stop:
            exit_code = int(stop.code or 0)
        except KaratageError as problem:
            exit_code, exception = 2, problem
    return Ended(out.getvalue(), err.getvalue(), exit_code, exception)


@cache  # reading all docstrings takes seconds
def list_commands() -> dict[str, list[Argument]]:
    """All commands with their full names, and what they take."""
    found = {}
    for words in _walk(app, ()):
        with app.app_stack(list(words)):
            command = app
            for word in words:
                command = command[word]
            arguments = command.assemble_argument_collection(parse_docstring=True)
            found[" ".join(words)] = [argument for argument in arguments if argument.name != "*"]
    return found


def _walk(group: App, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name in group:
        if name.startswith("-"):
            continue
        if group[name].default_command is None:
            yield from _walk(group[name], (*words, name))
        else:
            yield *words, name
