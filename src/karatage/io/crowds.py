"""Crowd models as JSON files."""

from __future__ import annotations

from typing import Final

from karatage.data.crowd import CrowdModel
from karatage.errors import DataError, InputFileError
from karatage.io.documents import find_document, load_document
from karatage.io.files import PathLike
from karatage.io.writing import write_bytes

WHAT: Final = "a crowd model"


def write_crowd(model: CrowdModel, path: PathLike) -> None:
    """Write a crowd model, for `read_crowd`; a name that ends in .gz or .zst is packed."""
    write_bytes(path, model.to_json().encode())


def read_crowd(path: PathLike) -> CrowdModel:
    """Read a crowd model that `write_crowd` wrote; anything else is refused with what is wrong."""
    source = find_document(path, WHAT)
    found = load_document(source, WHAT)
    try:
        return CrowdModel.from_dict(found)
    except DataError as problem:
        raise InputFileError(source.name, None, f"is no crowd model: {problem}") from None
