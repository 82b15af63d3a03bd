"""Reading what an earlier batch found about judges, as `aggregate --judges` wrote it."""

from __future__ import annotations

import io
import re

import numpy as np
import polars as pl

from karatage.data.judgments import HIGHEST_GRADE
from karatage.data.record import JudgeRecord
from karatage.errors import InputFileError, OptionError
from karatage.io.delimited import read_delimited
from karatage.io.files import PathLike
from karatage.io.parquet import MAGIC, list_columns, read_columns
from karatage.io.sources import Source, check_line_ends, check_text, expand

CELL = re.compile(r"answers_(\d+)_(\d+)")


def read_record(path: PathLike) -> JudgeRecord:
    """Read a table of judges (.csv, .tsv, .parquet) with columns `judge` and `answers_GRADE_SAID`."""
    sources = expand(path, store=True)
    if len(sources) != 1:
        raise OptionError(f"a history comes in one file, not {len(sources)}")
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
        raise InputFileError(source.name, None, "has a judge without a name, or twice: one row for each judge")
    return JudgeRecord(judges=tuple(judges.to_list()), answers=answers)


def _read(source: Source) -> pl.DataFrame:
    content = source.read(store=True)
    if content.startswith(MAGIC):
        return read_columns(source, content, list_columns(source, content))
    content = check_text(source, content)
    check_line_ends(source, content)
    first = next((line.decode() for line in io.BytesIO(content) if line.strip()), "")
    return read_delimited(source, content, "\t" if "\t" in first else ",").frame
