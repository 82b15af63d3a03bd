"""Small files beside judgments and runs: crowds, disagreement models, families of judges, judges' records."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl

from karatage.data.axes import HIGHEST_GRADE
from karatage.data.crowd import CrowdModel
from karatage.data.disagreement import DisagreementModel
from karatage.data.posterior import JudgeRecord
from karatage.errors import DataError, InputFileError, OptionError
from karatage.io.files import PathLike
from karatage.io.parquet import MAGIC, list_columns, read_columns
from karatage.io.rows import ALIASES, plain
from karatage.io.sources import Source, check_line_ends, check_text, expand
from karatage.io.tables import read_delimited
from karatage.io.writing import write_bytes
from karatage.text import shorten

HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")  # of a character beyond the first 65,536


def find_document(path: PathLike, what: str, *, store: bool = False) -> Source:
    """The single file, or standard input, with a document."""
    sources = expand(path, store=store)
    if len(sources) != 1:
        raise OptionError(f"{what} must be one file, not {len(sources)}")
    return sources[0]


def load_document(source: Source, what: str, *, store: bool = False) -> object:
    """The content of a JSON file; `what` it should be is for messages."""
    content = check_text(source, source.read(store=store))
    try:
        found: object = json.loads(content, parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)
    except json.JSONDecodeError as problem:
        message = f"is not JSON, or cut short, so it is not {what} ({problem.msg}, column {problem.colno})"
        raise InputFileError(source.name, problem.lineno, message) from None
    except RecursionError:
        raise InputFileError(source.name, None, f"is nested too deeply to be {what}") from None
    except ValueError as problem:
        raise InputFileError(source.name, None, f"is not JSON: {problem}") from None
    if HALF.search(content):
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = f"contains half of a surrogate pair (\\ud800 to \\udfff without its pair), so it is not {what}"
            raise InputFileError(source.name, None, message) from None
    return found


def _refuse_constant(text: str) -> object:
    raise ValueError(f"{text} is not a JSON number")


def _refuse_repeats(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"'{shorten(twice)}' occurs twice in one object")
    return found


CROWD_MODEL: Final = "a crowd model"


def write_crowd(model: CrowdModel, path: PathLike) -> None:
    """Write a crowd model, for `read_crowd`; a name that ends in .gz or .zst is packed."""
    write_bytes(path, model.to_json().encode())


def read_crowd(path: PathLike) -> CrowdModel:
    """Read a crowd model from `write_crowd`; anything else is refused with the reason."""
    source = find_document(path, CROWD_MODEL)
    found = load_document(source, CROWD_MODEL)
    try:
        return CrowdModel.from_dict(found)
    except DataError as problem:
        raise InputFileError(source.name, None, f"is not a crowd model: {problem}") from None


DISAGREEMENT_MODEL: Final = "a disagreement model"
FORMAT: Final = "karatage disagreement model"
VERSION: Final = 1


def write_disagreement(model: DisagreementModel, path: PathLike) -> None:
    """Write a disagreement model, for `read_disagreement`; a name that ends in .gz or .zst is packed."""
    content = {"format": FORMAT, "version": VERSION, **model.to_dict()}
    write_bytes(path, f"{json.dumps(content, ensure_ascii=False, indent=2)}\n".encode())


def read_disagreement(path: PathLike) -> DisagreementModel:
    """Read a model from `write_disagreement`; anything else is refused with the reason."""
    source = find_document(path, DISAGREEMENT_MODEL)
    whole = load_document(source, DISAGREEMENT_MODEL)
    found = whole if isinstance(whole, dict) else {}
    if found.get("format") != FORMAT:
        raise InputFileError(
            source.name, None, "is not a disagreement model; write one with kt.experiments.write_disagreement"
        )
    if found.get("version") != VERSION:
        version = shorten(repr(found.get("version")))
        raise InputFileError(
            source.name, None, f"has version {version} of the format, not {VERSION}: learn the model again"
        )
    try:
        return DisagreementModel.from_dict(found)
    except DataError as problem:
        raise InputFileError(source.name, None, f"{problem}; learn the model again, or use a copy") from None


def read_families(path: PathLike) -> dict[str, str]:
    """Read a table of judges and their families, set apart by a tab, with or without a header.

    Families are judges that may share errors: models of one maker, prompts of one model, people of one team.
    """
    sources = expand(path)
    if len(sources) != 1:
        raise OptionError(f"families must be one file, not {len(sources)}")
    source = sources[0]
    content = check_text(source, source.read())
    check_line_ends(source, content)
    found: dict[str, str] = {}
    line_of_judge: dict[str, int] = {}
    for number, line in enumerate(content.decode().split("\n"), 1):
        fields = [field.strip() for field in line.split("\t")]
        if not any(fields):
            continue
        if len(fields) != 2 or not all(fields):
            raise InputFileError(source.name, number, f"expected judge<TAB>family, got '{shorten(line.strip())}'")
        judge, family = fields
        if not line_of_judge and plain(judge) in ALIASES["judge"] and plain(family) == "family":
            continue
        if judge in found:
            first = f"on line {line_of_judge[judge]}"
            raise InputFileError(source.name, number, f"judge '{shorten(judge)}' already has a family {first}")
        found[judge], line_of_judge[judge] = family, number
    if not found:
        raise InputFileError(source.name, None, "has a header but no judges")
    return found


CELL = re.compile(r"answers_(\d+)_(\d+)")


def read_record(path: PathLike) -> JudgeRecord:
    """Read a table of judges (.csv, .tsv, .parquet) with columns `judge` and `answers_GRADE_SAID`."""
    sources = expand(path, store=True)
    if len(sources) != 1:
        raise OptionError(f"a history must be one file, not {len(sources)}")
    source = sources[0]
    frame = _read(source)
    cells = {name: (int(at[1]), int(at[2])) for name in frame.columns if (at := CELL.fullmatch(name))}
    if "judge" not in frame.columns or not cells:
        raise InputFileError(
            source.name, None, "needs the columns judge and answers_0_0, ...: write it with aggregate -a ds --judges"
        )
    size = 1 + max(max(cell) for cell in cells.values())
    if size > HIGHEST_GRADE + 1:
        raise InputFileError(source.name, None, f"has a column for grade {size - 1}; grades go up to {HIGHEST_GRADE}")
    answers = np.zeros((len(frame), size, size))
    for name, (grade, said) in cells.items():
        counts = frame[name].cast(pl.Float64, strict=False).to_numpy()
        if not (np.isfinite(counts) & (counts >= 0)).all():
            raise InputFileError(source.name, None, f"column {name} must hold counts from 0")
        answers[:, grade, said] = counts
    judges = frame["judge"].cast(pl.String)
    if judges.null_count() or judges.n_unique() < len(judges):
        raise InputFileError(
            source.name, None, "has a judge without a name, or a judge twice: give one row for each judge"
        )
    return JudgeRecord(judges=tuple(judges.to_list()), answers=answers)


def _read(source: Source) -> pl.DataFrame:
    content = source.read(store=True)
    if content.startswith(MAGIC):
        return read_columns(source, content, list_columns(source, content))
    content = check_text(source, content)
    check_line_ends(source, content)
    first = next((line.decode() for line in io.BytesIO(content) if line.strip()), "")
    return read_delimited(source, content, "\t" if "\t" in first else ",").frame
