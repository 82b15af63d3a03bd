"""Disagreement models as JSON files."""

from __future__ import annotations

import json
from typing import Final

from karatage.data.disagreement import DisagreementModel
from karatage.errors import DataError, InputFileError
from karatage.io.documents import find_document, load_document
from karatage.io.files import PathLike
from karatage.io.writing import write_bytes
from karatage.text import shorten

WHAT: Final = "a disagreement model"
FORMAT: Final = "karatage disagreement model"
VERSION: Final = 1


def write_disagreement(model: DisagreementModel, path: PathLike) -> None:
    """Write what was learned, for `read_disagreement`; a name that ends in .gz or .zst is packed."""
    content = {"format": FORMAT, "version": VERSION, **model.to_dict()}
    write_bytes(path, f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode())


def read_disagreement(path: PathLike) -> DisagreementModel:
    """Read a model that `write_disagreement` wrote; anything else is refused with what is wrong."""
    source = find_document(path, WHAT)
    whole = load_document(source, WHAT)
    found = whole if isinstance(whole, dict) else {}
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
