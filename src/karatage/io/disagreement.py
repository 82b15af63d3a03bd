"""Disagreement models as JSON files."""

from __future__ import annotations

import json
from typing import Final

from karatage.data.disagreement import DisagreementModel
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.sources import PathLike, Source, check_text, expand
from karatage.io.writing import write_bytes
from karatage.wording import shorten

FORMAT: Final = "karatage disagreement model"
VERSION: Final = 1


def write_disagreement(model: DisagreementModel, path: PathLike) -> None:
    """Write what was learned, for `read_disagreement`; a name that ends in .gz or .zst is packed."""
    content = {"format": FORMAT, "version": VERSION, **model.to_dict()}
    write_bytes(path, f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode())


def read_disagreement(path: PathLike) -> DisagreementModel:
    """Read a model that `write_disagreement` wrote; anything else is refused with what is wrong."""
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"a disagreement model comes in one file, not {len(sources)}")
    source = sources[0]
    found = _parse(source)
    if found.get("format") != FORMAT:
        raise InputFileError(source.name, None, "holds no disagreement model; write one with write_disagreement")
    if found.get("version") != VERSION:
        version = shorten(repr(found.get("version")))
        raise InputFileError(
            source.name, None, f"is written in version {version} of the format, this reads {VERSION}: learn it again"
        )
    try:
        return DisagreementModel.from_dict(found)
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}; learn the model again, or take it from a copy") from None


def _parse(source: Source) -> dict[str, object]:
    content = check_text(source, source.read())
    try:
        found = json.loads(content)
    except json.JSONDecodeError as problem:
        message = f"is no JSON, or cut short ({problem.msg}, column {problem.colno})"
        raise InputFileError(source.name, problem.lineno, message) from None
    except RecursionError:
        raise InputFileError(source.name, None, "is nested too deeply to be a disagreement model") from None
    return found if isinstance(found, dict) else {}
