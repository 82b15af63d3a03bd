"""Records of judges: a JSON file to which studies are added, one block of lines for each."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Final

from karatage.data.codec import structure, unstructure
from karatage.data.records import Study, StudyRecord
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.files import STREAM, PathLike, hold_file
from karatage.io.models import find_document, load_document
from karatage.io.sources import Source
from karatage.io.writing import write_bytes
from karatage.text import shorten

RECORD: Final = "a record of judges"
FORMAT: Final = "karatage record of judges"
VERSION: Final = 1
DIGEST: Final = "digest"  # of a study's other entries
DIGITS: Final = 16


def read_studies(path: PathLike) -> StudyRecord:
    """Read a record of judges from `add_studies`; anything else is refused, with the place and the reason."""
    return _read(find_document(path, RECORD, store=True))


def add_studies(path: PathLike, *studies: Study) -> StudyRecord:
    """Add studies to a record, which is made if there is none, and return the whole.

    Of several studies of a judge on one collection the one with the most gold is kept. The file is locked while it is
    read, extended and replaced, so that several processes can add studies, and it is complete after a crash.
    """
    if os.fspath(path) == STREAM:
        raise OptionError("a record of judges is read and replaced, so it must be a file")
    with hold_file(path):
        known = _read(Source(os.fspath(path))) if Path(path).exists() else StudyRecord()
        found = known.merge(studies)
        write_bytes(path, encode_record(found), store=True)
    return found


def encode_record(record: StudyRecord) -> bytes:
    """A record as file content: a line for each entry of a study."""
    blocks = []
    for study in record.studies:
        facts = unstructure(study)
        facts[DIGEST] = _digest(facts)
        lines = (f"   {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in facts.items())
        blocks.append("  {\n" + ",\n".join(lines) + "\n  }")
    studies = "[\n" + ",\n".join(blocks) + "\n ]" if blocks else "[]"
    return f'{{\n "format": "{FORMAT}",\n "version": {VERSION},\n "studies": {studies}\n}}\n'.encode()


def _read(source: Source) -> StudyRecord:
    whole = load_document(source, RECORD, store=True)
    found = whole if isinstance(whole, dict) else {}
    if found.get("format") != FORMAT:
        raise InputFileError(source.name, None, f"is not {RECORD}; karatage compare --update-record makes one")
    if found.get("version") != VERSION:
        version = shorten(repr(found.get("version")))
        raise InputFileError(source.name, None, f"has version {version} of the format, not {VERSION}")
    entries = found.get("studies")
    if not isinstance(entries, list):
        raise InputFileError(source.name, None, "has no list of studies")
    studies = tuple(_read_study(source, number, entry) for number, entry in enumerate(entries, 1))
    try:
        return StudyRecord(studies=studies)
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}; remove one of the two") from None


def _read_study(source: Source, number: int, entry: object) -> Study:
    if not isinstance(entry, dict):
        raise InputFileError(source.name, None, f"study {number} is not an object")
    named = f"study {number} ({shorten(str(entry.get('judge')))})"
    facts: dict[str, Any] = dict(entry)
    digest = facts.pop(DIGEST, None)
    try:
        study = structure(facts, Study)
        if len(facts) > len(unstructure(study)):
            raise DataError("has an unknown entry")
        if digest != _digest(facts):
            raise DataError("was changed after it was written: its digest does not match")
    except DataError as problem:
        message = f"{named}: {problem}; remove this study, or use a copy of the file"
        raise InputFileError(source.name, None, message) from None
    return study


def _digest(facts: dict[str, Any]) -> str:
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:DIGITS]
