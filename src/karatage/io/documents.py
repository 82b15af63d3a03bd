"""A JSON document in one file, and what is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from karatage.errors import InputFileError, OptionError
from karatage.io.files import PathLike
from karatage.io.sources import Source, check_text, expand
from karatage.text import shorten

HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")  # of a character beyond the first 65,536


def find_document(path: PathLike, what: str) -> Source:
    """The one file, or standard input, that holds it."""
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"{what} comes in one file, not {len(sources)}")
    return sources[0]


def load_document(source: Source, what: str) -> object:
    """What the file says; `what` it should be is for messages."""
    content = check_text(source, source.read())
    try:
        found: object = json.loads(content, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
    except json.JSONDecodeError as problem:
        message = f"is no JSON, or cut short, so it is not {what} ({problem.msg}, column {problem.colno})"
        raise InputFileError(source.name, problem.lineno, message) from None
    except RecursionError:
        raise InputFileError(source.name, None, f"is nested too deeply to be {what}") from None
    except ValueError as problem:
        raise InputFileError(source.name, None, f"is no JSON: {problem}") from None
    if HALF.search(content):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = f"holds half of a character (\\ud800 to \\udfff without its pair), so it is not {what}"
            raise InputFileError(source.name, None, message) from None
    return found


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not a JSON number")


def _refuse_repeats(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{shorten(twice)}' stands twice in one object")
    return found
