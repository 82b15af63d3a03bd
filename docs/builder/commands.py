"""The reference of the command line, from the program itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import Enum, EnumType
from typing import Any, get_args

import typer

from karatage.cli.app import app

OPTION = re.compile(r"(?<![\w`-])(--[a-z][\w-]*)")
KINDS = {int: "whole number", float: "number", str: "text", bool: ""}


def describe_all(names: Sequence[str]) -> str:
    """Every command with its arguments, options and defaults, in Markdown."""
    del names
    return "\n\n".join(_describe(name, command) for name, command in walk())


def walk() -> Iterator[tuple[str, Any]]:
    """All commands with their full names, groups before their members."""
    yield from _walk("karatage", typer.main.get_command(app))


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for part, member in getattr(command, "commands", {}).items():
        yield from _walk(f"{name} {part}", member)


def _describe(name: str, command: Any) -> str:
    places = [parameter.metavar or parameter.name.upper() for parameter in command.params if _is_place(parameter)]
    last = ["COMMAND ..."] if hasattr(command, "commands") else []
    usage = " ".join([name, "[OPTIONS]", *(f"[{place}]" for place in places), *last])
    parts = [f"## {name}", f"```{{program}} {name}\n```", f"```text\n{usage}\n```", inspect.cleandoc(command.help)]
    parts += [_describe_parameter(parameter) for parameter in command.params]
    return "\n\n".join(parts)


def _is_place(parameter: Any) -> bool:
    return not parameter.opts[0].startswith("-")


def _describe_parameter(parameter: Any) -> str:
    if _is_place(parameter):
        head = parameter.metavar or parameter.name.upper()
    else:
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        kind = parameter.metavar or _name_kind(parameter.type_descriptor.annotation)
        head = f"{names} <{kind}>" if kind else names
    facts = [OPTION.sub(r"`\1`", parameter.help or ""), *_list_facts(parameter)]
    return f"````{{option}} {head}\n{' '.join(fact for fact in facts if fact)}\n````"


def _name_kind(annotation: Any) -> str:
    """What is given, in words; choices as they are."""
    if annotation in KINDS:
        return KINDS[annotation]
    if isinstance(annotation, EnumType):
        return "|".join(choice.value for choice in annotation)
    return _name_kind(get_args(annotation)[0])


def _list_facts(parameter: Any) -> Iterator[str]:
    if parameter.required:
        yield "*Required.*"
    if parameter.multiple and "repeated" not in parameter.help:
        yield "*May be repeated.*"
    default = parameter.default
    if default is not None and default is not False and default not in ("", "-"):
        values = default if isinstance(default, list) else [default]
        shown = " ".join(str(value.value if isinstance(value, Enum) else value) for value in values)
        yield f"*Default:* `{shown}`."
