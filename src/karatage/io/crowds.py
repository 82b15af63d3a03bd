"""Crowd models as JSON files."""

from __future__ import annotations

import json

from karatage.data.crowd import CrowdModel
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.sources import PathLike, check_text, expand
from karatage.io.writing import write_bytes


def write_crowd(model: CrowdModel, path: PathLike) -> None:
    """Write a crowd model, for `read_crowd`; a name that ends in .gz or .zst is packed."""
    write_bytes(path, model.to_json().encode())


def read_crowd(path: PathLike) -> CrowdModel:
    """Read a crowd model that `write_crowd` wrote; anything else is refused with what is wrong."""
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"a crowd model comes in one file, not {len(sources)}")
    source = sources[0]
    content = check_text(source, source.read())
    try:
        return CrowdModel.from_dict(json.loads(content))
    except json.JSONDecodeError as problem:
        message = f"is no JSON, or cut short ({problem.msg}, column {problem.colno})"
        raise InputFileError(source.name, problem.lineno, message) from None
    except RecursionError:
        raise InputFileError(source.name, None, "is nested too deeply to be a crowd model") from None
    except DataError as problem:
        raise InputFileError(source.name, None, f"is no crowd model: {problem}") from None
