"""`karatage doctor`."""

from __future__ import annotations

import shlex
import sys
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Annotated

from karatage.cli.options import (
    FLAT,
    GoldFiles,
    JudgmentFiles,
    MeasureName,
    Output,
    Pair,
    Reading,
    RunFiles,
    Seed,
    Top,
    parse_columns,
)
from karatage.cli.output import WIDTH, choose_style, put, render, show_table, tell_rest
from karatage.cli.parsing import STANDARD_OUTPUT
from karatage.cli.terminal import progress
from karatage.errors import OptionError
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
    runs: RunFiles = (),
    *,
    judgments: JudgmentFiles = (),
    gold: GoldFiles = (),
    measure: MeasureName = "P@10",
    pair: Annotated[Pair, FLAT] = Pair(),
    top: Top = 5,
    seed: Seed = 0,
    reading: Annotated[Reading, FLAT] = Reading(),
    to: Annotated[Output, FLAT] = Output(),
) -> None:
    """Check files."""
    from karatage.decisions.diagnose import examine
    from karatage.decisions.question import Question
    from karatage.decisions.reading import Sources

    choose_style(to.format, to.output)
    if not (runs or judgments or gold):
        raise OptionError("no files were given, e.g. karatage doctor runs/ -j crowd.csv -g gold.qrels")
    sources = Sources(
        runs=list(runs) or None,
        judgments=list(judgments) or None,
        gold=list(gold) or None,
        grades=(reading.grades, reading.gold_grades),
        columns=(parse_columns(reading.columns), parse_columns(reading.gold_columns)),
        repeats=reading.repeats,
    )
    with progress("Examining", quiet=to.quiet):
        found = examine(sources, Question(measure=measure, seed=seed), a=pair.a, b=pair.b)
    put(found, to, lambda: _render(found, top), frame=found.to_frame, facts=found.to_dict, output=to.output)
    if found.state == "wrong":
        sys.exit(BAD_FILES)


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
