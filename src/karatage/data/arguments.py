"""What public functions do with their arguments: wrong types are refused in words, options shown one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import TypeVar

from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import WrongTypeError

READERS = {"runs": "kt.read_runs", **dict.fromkeys(("gold", "judged", "like_gold"), "kt.read_gold")}
Function = TypeVar("Function", bound=Callable[..., object])


def require_data(*optional: str, **given: object) -> None:
    """Refuse arguments that are not what their names say.

    Args:
        optional: Names of arguments that may be None.
        given: The arguments by their names, in the order in which the function takes them.
    """
    for name, value in given.items():
        if isinstance(value, Runs if name == "runs" else Judgments) or (value is None and name in optional):
            continue
        got, order = type(value).__name__, ", ".join(given)
        if isinstance(value, Runs | Judgments) and len(given) > 1:
            raise WrongTypeError(f"expected {name}, got {got}: the arguments are {order}")
        raise WrongTypeError(f"expected {name}, got {got}; give what {READERS.get(name, 'kt.read_judgments')} returns")


def require_readable(**given: object) -> None:
    """The same where an argument may also be anything that can be read."""
    if any(isinstance(value, Judgments if name == "runs" else Runs) for name, value in given.items()):
        require_data(**given)


def show_options(schema: type, *skip: str) -> Callable[[Function], Function]:
    """Show the fields of a dataclass in the signature of a function that takes them as `**options`."""

    def show(function: Function) -> Function:
        signature = inspect.signature(function)
        named = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        known = {*skip, *(p.name for p in named)}
        options = [
            inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
            for f in fields(schema)
            if f.name not in known and f.default is not MISSING
        ]
        function.__signature__ = signature.replace(parameters=[*named, *options])  # type: ignore[attr-defined]
        return function

    return show
