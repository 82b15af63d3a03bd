"""The reference of the command line, from the program itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Literal, get_args, get_origin

from cyclopts import App
from cyclopts.annotations import resolve_optional
from cyclopts.argument import Argument

from karatage.cli.app import app
from karatage.cli.parsing import show_default

OPTION = re.compile(r"(?<![\w`-])(--[a-z][\w-]*)")
KINDS = {int: "whole number", float: "number", str: "text", bool: ""}


def describe_all(names: Sequence[str]) -> str:
    """Every command with its arguments, options and defaults, in Markdown."""
    del names
    return "\n\n".join(_describe(words, command) for words, command in walk())


def walk() -> Iterator[tuple[tuple[str, ...], App]]:
    """All commands with their full names, groups before their members."""
    yield from _walk((), app)


def _walk(words: tuple[str, ...], command: App) -> Iterator[tuple[tuple[str, ...], App]]:
    yield words, command
    for name in command:
        if not name.startswith("-"):
            yield from _walk((*words, name), command[name]) if command.default_command is None else ()


def list_arguments(words: tuple[str, ...], command: App) -> list[Argument]:
    """What a command takes, in the order of its help."""
    if command.default_command is None:
        return []
    with app.app_stack(list(words)):
        return [
            argument for argument in command.assemble_argument_collection(parse_docstring=True) if argument.name != "*"
        ]


def _describe(words: tuple[str, ...], command: App) -> str:
    name = " ".join(("karatage", *words))
    arguments = list_arguments(words, command)
    places = [f"[{_name_place(argument)}]" for argument in arguments if argument.index is not None]
    last = ["COMMAND ..."] if command.default_command is None else []
    usage = " ".join([name, "[OPTIONS]", *places, *last])
    about = inspect.cleandoc(_indent(command.help))
    parts = [f"## {name}", f"```{{program}} {name}\n```", f"```text\n{usage}\n```", about]
    flags = [name for name in command if not words and name.startswith("--")]
    parts += [f"````{{option}} {name}\n{command[name].help.splitlines()[0]}\n````" for name in flags]
    return "\n\n".join([*parts, *map(_describe_argument, arguments)])


def _indent(text: str) -> str:
    """Examples as code."""
    return re.sub(r"^  (karatage .*)$", r"    \1", text, flags=re.M)


def _name_place(argument: Argument) -> str:
    return argument.name.lstrip("-").upper()


def _describe_argument(argument: Argument) -> str:
    options = [name for name in argument.names if name.startswith("-")]
    kind = argument.parameter.metavar or _name_kind(argument)
    head = ", ".join(options) + (f" <{kind}>" if kind else "") if options else _name_place(argument)
    facts = [OPTION.sub(r"`\1`", argument.parameter.help or ""), *_list_facts(argument)]
    return f"````{{option}} {head}\n{' '.join(fact for fact in facts if fact)}\n````"


def _name_kind(argument: Argument) -> str:
    """What is given, in words; choices as they are."""
    choices = argument.get_choices()
    if choices:
        return "|".join(choices)
    hint = resolve_optional(argument.hint)
    if get_origin(hint) is tuple:
        hint = get_args(hint)[0]
    return "" if get_origin(hint) is Literal else KINDS[hint]


def _list_facts(argument: Argument) -> Iterator[str]:
    shown = argument.parameter.show_default
    default = shown if isinstance(shown, str) else show_default(argument.field_info.default)
    if default:
        yield f"*Default:* `{default}`."
