"""`karatage doctor`."""

from __future__ import annotations

import shlex
from textwrap import fill, wrap
from typing import TYPE_CHECKING

import typer

from karatage.cli import options
from karatage.cli.output import (
    STANDARD_OUTPUT,
    WIDTH,
    choose_style,
    emit,
    emit_result,
    encode_frame,
    render,
    say,
    show_table,
    tell,
    tell_rest,
)
from karatage.cli.terminal import progress
from karatage.text import make_printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

    from karatage.data.diagnosis import Check, Diagnosis

BAD_FILES = 2  # exit code
STYLES = {"ok": "green", "warning": "yellow", "wrong": "bold red"}
MARGIN = " " * 11
LONGEST = 600  # characters of a finding


def doctor(
    run_files: options.RunFiles = None,
    *,
    judgments: options.SomeJudgmentFiles = None,
    runs: options.MoreRunFiles = None,
    gold: options.GoldFiles = None,
    measure: options.MeasureName = "P@10",
    a: options.SystemA = None,
    b: options.SystemB = None,
    grades: options.Grades = None,
    gold_grades: options.GoldGrades = None,
    columns: options.Columns = None,
    gold_columns: options.GoldColumns = None,
    repeats: options.Repeats = None,
    top: options.Top = 5,
    seed: options.Seed = 0,
    style: options.Format = None,
    output: options.Output = STANDARD_OUTPUT,
    raw: options.Raw = False,
    most_memory: options.MostMemory = None,
    quiet: options.Quiet = False,
) -> None:
    """Check files, and say in plain words what can and what cannot be concluded from them.

    Any of runs, judgments and gold may be given. Files that cannot be read are told, each with its line, and the others
    are looked at without them; the exit code is then 2.

    Example, on the files that `karatage demo` writes:

        karatage doctor demo/runs -j demo/judgments.csv -g demo/gold.qrels
    """
    from karatage.decisions.diagnosis.diagnose import examine
    from karatage.decisions.diagnosis.reading import Sources
    from karatage.decisions.question import Question
    from karatage.errors import OptionError

    chosen = choose_style(style, output)
    paths = [*(run_files or []), *(runs or [])]
    if not (paths or judgments or gold):
        raise OptionError("no files were given, e.g. karatage doctor runs/ -j crowd.csv -g gold.qrels")
    sources = Sources(
        runs=paths or None,
        judgments=judgments or None,
        gold=gold or None,
        grades=(grades, gold_grades),
        columns=(options.parse_columns(columns), options.parse_columns(gold_columns)),
        repeats=None if repeats is None else repeats.value,
    )
    with progress("Examining", quiet=quiet):
        found = examine(sources, Question(measure=measure, seed=seed), a=a, b=b)
    if chosen == "json":
        emit_result(found.to_dict(), output)
    elif chosen == "table":
        emit(_render(found, top), output)
    else:
        emit(encode_frame(found.to_frame(), chosen, raw=raw), output)
    if not quiet:
        tell(found.notes)
        if chosen != "table" or output != STANDARD_OUTPUT:
            say(found.sentence)
    if found.state == "wrong":
        raise typer.Exit(BAD_FILES)


def _render(found: Diagnosis, top: int) -> str:
    from karatage.views.diagnosis import tabulate_judged, tabulate_measures

    parts: list[RenderableType] = list(_list_checks(found))
    table = tabulate_judged(found)
    if (found.systems["judged"] < 1).any() or (found.systems["short"] > 0).any():
        parts += ["", show_table(table, top=top), *tell_rest(table, top, "system")]
    if found.measures["way"].is_not_null().any():
        parts += ["", show_table(tabulate_measures(found))]
    listed = {"What can be concluded": found.can, "What cannot be concluded": found.cannot}
    for title, lines in listed.items():
        if lines:
            parts += ["", title, *(_indent(line) for line in lines)]
    if not found.commands:
        return render(*parts, "", fill(found.sentence, WIDTH))
    commands = "\n".join(_break(command) for command in found.commands)
    printable = make_printable(commands, keep="\n")  # not rendered: what is to be copied must not be broken into lines
    return render(*parts, "", "What to type next") + f"{printable}\n" + render("", fill(found.sentence, WIDTH))


def _list_checks(found: Diagnosis) -> Iterator[RenderableType]:
    """Checks under the heading of what they are about."""
    from karatage.views.diagnosis import TITLES

    about = ""
    for check in found.checks:
        if check.about != about:
            yield f"\n{TITLES[check.about]}" if about else TITLES[check.about]
            about = check.about
        yield _write_check(check)


def _write_check(check: Check) -> Text:
    """The state in a column of its own, and what to do on lines below."""
    from rich.text import Text

    lines = _wrap(check.finding) + [f"{MARGIN}{line}" for line in _wrap(f"-> {check.advice}" if check.advice else "")]
    text = Text("\n".join([lines[0], *(line if line.startswith(MARGIN) else MARGIN + line for line in lines[1:])]))
    return Text.assemble("  ", (f"{check.state:<9}", STYLES[check.state]), text)


def _wrap(text: str) -> list[str]:
    return wrap(shorten(text, LONGEST), WIDTH - len(MARGIN), break_on_hyphens=False)


def _indent(line: str) -> str:
    return fill(shorten(line, LONGEST), WIDTH, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)


def _break(command: str) -> str:
    """A command over several lines, none of them broken inside a word, so that it can be copied."""
    lines, room = ["  karatage"], WIDTH - 2
    for part in _pair(shlex.split(command)[1:]):
        text = shlex.join(part)
        if len(lines[-1]) + 1 + len(text) > room:
            lines.append(f"      {text}")
        else:
            lines[-1] += f" {text}"
    return " \\\n".join(lines)


def _pair(words: list[str]) -> Iterator[list[str]]:
    """Words, with what is said of an option beside it."""
    left = iter(words)
    for word in left:
        yield [word, next(left)] if word.startswith("-") and word != STANDARD_OUTPUT else [word]
