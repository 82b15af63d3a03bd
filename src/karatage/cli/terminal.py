"""Colour, and progress with the remaining time, which goes to standard error only."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from karatage.progress import take_remarks
from karatage.text import shorten

if TYPE_CHECKING:
    from rich.console import Console

    from karatage.experiments.engine import Progress as CellProgress

NAME = 40  # characters of what is being done
_asked = {"quiet": False}
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def wants_colour(stream: TextIO) -> bool:
    """Whether to print in colour: never with NO_COLOR or on a dumb terminal, else with FORCE_COLOR or on a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def remember_quiet(quiet: bool) -> None:
    """Keep whether notes are wanted, for notes that are printed when the command has ended."""
    _asked["quiet"] = quiet


def tell_remarks() -> None:
    """Print notes about the process itself on standard error."""
    for note in take_remarks():
        if not _asked["quiet"]:
            sys.stderr.write(f"note: {note}\n")


def remove_colour(text: str) -> str:
    """The text without colour, for a file."""
    return _COLOURS.sub("", text)


def _make_console(*, quiet: bool) -> Console | None:
    """Where progress is shown; None with --quiet, without a terminal, and on a dumb terminal."""
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return None
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def progress_steps(message: str, *, quiet: bool) -> Iterator[Callable[[int, float], None] | None]:
    """For work with an unknown number of steps: a function to call with each step's number and objective."""
    console = _make_console(quiet=quiet)
    if console is None:
        yield None
        return
    with console.status(message) as status:
        yield lambda step, reached: status.update(f"{message}: step {step:,}, objective {reached:,.2f}")


@contextmanager
def progress(message: str, *, quiet: bool) -> Iterator[None]:
    """Show that work is in progress; if the work has parts, show a bar with the remaining time."""
    console = _make_console(quiet=quiet)
    if console is None:
        yield
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    from karatage.progress import watch

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeLeft())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True) as bar:
        whole = bar.add_task(message, total=None)

        def show(done: int, total: int, name: str) -> None:
            bar.update(whole, visible=False)
            if name not in tasks:
                tasks[name] = bar.add_task(f"{message}: {name}", total=total)
            bar.update(tasks[name], completed=done, total=total)
            if done == total:
                bar.remove_task(tasks.pop(name))
                bar.update(whole, visible=not tasks)

        with watch(show):
            yield


@contextmanager
def progress_cells(*, quiet: bool) -> Iterator[CellProgress | None]:
    """A bar with the remaining time: a function that an experiment calls after each of its cells."""
    console = _make_console(quiet=quiet)
    if console is None:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, name: bar.update(task, completed=done, total=total, description=shorten(name, NAME))
