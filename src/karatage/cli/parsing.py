"""From words to options: short names, lists of numbers, protection of files, options made from a dataclass.

The name, type, default and help of an option are defined once: by the field of a dataclass and its line under `Args:`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, make_dataclass
from inspect import get_annotations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_origin, get_type_hints

from cyclopts import Parameter, UnknownOptionError
from cyclopts.annotations import resolve_optional

from karatage.data.options import Figures, RateCounts
from karatage.errors import DataError, OptionError
from karatage.text import counted, shorten

if TYPE_CHECKING:
    from cyclopts import App, Token
    from cyclopts.argument import Argument, ArgumentCollection

    from karatage.io.files import OutputKind

SHORT = {
    "judgments": "-j",
    "gold": "-g",
    "measure": "-m",
    "measures": "-m",
    "approach": "-a",
    "approaches": "-a",
    "studies": "-s",
    "configurations": "-c",
    "workers": "-w",
    "format": "-f",
    "output": "-o",
    "quiet": "-q",
}
STANDARD_OUTPUT = "-"
PRICES_FORM = "judgment,gold-relevant,gold-other, e.g. 0.1,2,2"
Made = TypeVar("Made")


@dataclass(frozen=True)
class Reads:
    """Marks an option that names input, which no output may replace, unless both are of a `store`."""

    store: bool = False


@dataclass(frozen=True)
class Writes:
    """Marks an option that names output, which is claimed before the command starts, so that it is not read."""

    kind: OutputKind = "file"


def guard_files(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Record all input and claim all output that a command line names, before anything is read or written."""
    from karatage.io.files import claim_output, note_input
    from karatage.io.sources import find_files

    for argument in arguments:
        _refuse_options(argument, arguments)
        default = argument.field_info.default
        given = [token.value for token in argument.tokens] or ([default] if isinstance(default, str) else [])
        for mark in find_marks(argument.field_info.annotation):
            for path in given:
                if isinstance(mark, Writes):
                    claim_output(path, argument.name, mark.kind)
                else:
                    for name in find_files(path):
                        note_input(name, store=mark.store)


def _refuse_options(argument: Argument, arguments: ArgumentCollection) -> None:
    """Refuse unknown options: as an argument may be `-`, they are parsed as arguments first."""
    for token in argument.tokens:
        if token.keyword is None and token.value.startswith("-") and token.value != STANDARD_OUTPUT:
            raise UnknownOptionError(token=token, argument_collection=arguments)


def find_marks(annotation: Any) -> Iterator[Reads | Writes]:
    """The marks of an option that names files."""
    return (part for part in getattr(annotation, "__metadata__", ()) if isinstance(part, Reads | Writes))


def parse_numbers(text: str) -> tuple[float, ...]:
    """Read `0,0.3,0.6`."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise OptionError(f"'{shorten(text)}' is not a list of numbers; write it like 0,0.3,0.6") from None


def parse_sizes(text: str) -> tuple[int, ...]:
    """Read `2-5,8`.

    >>> parse_sizes("2-5,8")
    (2, 3, 4, 5, 8)
    """
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        if not low.isdecimal() or (dash and not high.isdecimal()) or int(high or low) < int(low) or len(part) > 12:
            raise OptionError(f"'{shorten(text)}' is not a list of numbers; write it like 2-30 or 2,3,5")
        found |= set(range(int(low), int(high or low) + 1))
    return tuple(sorted(found))


def parse_range(text: str) -> tuple[int, int]:
    """Read `2-4`, or `3` for 3 to 3."""
    sizes = parse_sizes(text)
    return sizes[0], sizes[-1]


def read_word(parse: Callable[[str], object]) -> Parameter:
    """An option of one word that `parse` reads; the last counts."""

    def convert(_: object, tokens: Sequence[Token]) -> object:
        return parse(tokens[-1].value)

    return Parameter(converter=convert, n_tokens=1, accepts_keys=False, metavar="LIST")


def parse_pair(text: str) -> tuple[float, float]:
    """Read `0.8,1.6`."""
    parts = text.split(",")
    if len(parts) != 2:
        raise OptionError(f"'{shorten(text)}' has {counted(len(parts), 'part')}; write two numbers, e.g. 0.8,1.6")
    first, second = parse_numbers(text)
    return first, second


def parse_figures(text: str) -> Figures:
    """Read `topics,mean,deviation`.

    >>> parse_figures("50,0.527,0.240")
    Figures(topics=50, mean=0.527, deviation=0.24)
    """
    form = "topics,mean,deviation, e.g. 50,0.527,0.240"
    topics, mean, deviation = _split(text, form)
    return _make(Figures, text, _parse_whole(topics, text, form), *_parse_each((mean, deviation), text, form))


def parse_rates(text: str) -> RateCounts:
    """Read `right/relevant,right/others`.

    >>> parse_rates("43/59,67/84")
    RateCounts(right_relevant=43, relevant=59, right_other=67, others=84)
    """
    form = "right/all of relevant and of other gold items, e.g. 43/59,67/84"
    parts = [share.split("/") for share in text.split(",")]
    if [len(part) for part in parts] != [2, 2]:
        raise OptionError(f"'{shorten(text)}' are not two shares of correct judgments; write them as {form}")
    return _make(RateCounts, text, *(_parse_whole(number, text, form) for part in parts for number in part))


def parse_prices(text: str) -> tuple[float, float, float]:
    """Read `judgment,gold-relevant,gold-other`."""
    return _parse_three(text, PRICES_FORM)


def parse_split(text: str) -> tuple[float, float, float]:
    """Read three shares."""
    return _parse_three(text, "shares of topics, gold-relevant and other gold items, e.g. 0.5,0.25,0.25")


def _parse_three(text: str, form: str) -> tuple[float, float, float]:
    first, second, third = _parse_each(_split(text, form), text, form)
    return first, second, third


def _split(text: str, form: str) -> list[str]:
    parts = text.split(",")
    if len(parts) != 3:
        raise OptionError(f"'{shorten(text)}' has {counted(len(parts), 'part')}; write it as {form}")
    return parts


def _parse_whole(part: str, text: str, form: str) -> int:
    if not (part.strip().isascii() and part.strip().isdecimal()):
        raise OptionError(f"'{shorten(text)}': '{shorten(part.strip())}' is not a whole number; write it as {form}")
    return int(part)


def _parse_each(parts: Iterable[str], text: str, form: str) -> Iterator[float]:
    for part in parts:
        try:
            number = float(part)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise OptionError(f"'{shorten(text)}': '{shorten(part.strip())}' is not a number; write it as {form}")
        yield number


def _make(kind: Callable[..., Made], text: str, *numbers: float) -> Made:
    try:
        return kind(*numbers)
    except DataError as problem:
        raise OptionError(f"'{shorten(text)}': {problem}") from None


LISTS = {
    tuple[float, float]: parse_pair,
    tuple[float, float, float]: parse_split,
    tuple[float, ...]: parse_numbers,
    tuple[int, ...]: parse_sizes,
    tuple[int, int]: parse_range,
}


def make_options(schema: type, *, skip: tuple[str, ...] = (), optional: bool = False, **special: Any) -> Any:
    """The fields of a library dataclass as options of a command, with their types, defaults and help.

    Args:
        schema: The dataclass.
        skip: Fields that the command fills in another way.
        optional: Whether an option that is not given is None, so that a preset or a plan can set it.
        special: For some fields, further metadata of the option; or their whole annotation.
    """
    made = []
    for field in fields(schema):
        if field.name in skip:
            continue
        extra = special.get(field.name, ())
        if get_origin(extra) is Annotated:
            hint, extra = extra.__origin__, extra.__metadata__
        else:
            hint = _find_hint(schema, field.name)
        extra = extra if isinstance(extra, tuple) else (extra,)
        given = resolve_optional(hint)
        if given in LISTS:
            extra = (read_word(LISTS[given]), *extra)
        default = None if field.default is MISSING else field.default
        if optional:
            hint, extra = hint | None, (*extra, Parameter(show_default=show_default(default) or False))
        made.append((field.name, Annotated[(hint, *extra)] if extra else hint, None if optional else default))
    namespace = {"__doc__": schema.__doc__, "__module__": schema.__module__}
    return make_dataclass(schema.__name__, made, namespace=namespace, frozen=True, kw_only=True)


def _find_hint(schema: type, name: str) -> Any:
    """The type of one field: `get_type_hints` needs names of all fields' types, of which some are slow to import."""
    owner = next(kind for kind in schema.__mro__ if name in get_annotations(kind))
    declared = SimpleNamespace(__annotations__={name: get_annotations(owner)[name]})
    return get_type_hints(declared, vars(sys.modules[owner.__module__]))[name]


def show_default(value: object) -> str | None:
    """A default as it would be typed; None where there is nothing to show."""
    if value is None or value is False or value in ((), "", STANDARD_OUTPUT):
        return None
    if isinstance(value, tuple):
        return (" " if isinstance(value[0], str) else ",").join(map(show_number, value))
    return show_number(value)


def show_number(value: object) -> str:
    """A number, without .0 if it is whole."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def find_changed(given: Any, usual: Any) -> list[str]:
    """Options that differ from their defaults, by the names of their fields."""
    return [field.name for field in fields(given) if getattr(given, field.name) != getattr(usual, field.name)]


def name_option(field: str) -> str:
    """The name of a field on the command line."""
    return f"--{field.replace('_', '-')}"
