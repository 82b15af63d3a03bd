"""Writing judgments and runs in the field's formats; a file appears whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import zstandard

from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.io.sources import PathLike
from karatage.wording import shorten

DRAFT = ".part"  # how the name of a file ends that is being written


def write_judgments(judgments: Judgments, path: PathLike) -> None:
    """Write judgments; the name's ending says how: .csv, .tsv, .jsonl, .parquet or .qrels (one judge), and .gz or .zst.

    A path that ends in / or is a folder gets one qrels file per judge.
    """
    name = os.fspath(path)
    if name.endswith("/") or Path(name).is_dir():
        _write_folder(judgments, Path(name))
        return
    plain = Path(name).with_suffix("") if Path(name).suffix in {".gz", ".zst"} else Path(name)
    suffix = plain.suffix.lower()
    if suffix in {".qrels", ".qrel", ".txt"}:
        write_bytes(name, _qrels(judgments.to_frame()))
        return
    if suffix not in _TABLES:
        raise OptionError(f"{name}: cannot tell the format; use .qrels, {', '.join(sorted(_TABLES))}")
    write_bytes(name, encode_table(judgments.to_frame(), suffix))


def encode_table(frame: pl.DataFrame, suffix: str) -> bytes:
    """A table as file content."""
    buffer = io.BytesIO()
    _TABLES[suffix](frame, buffer)
    return buffer.getvalue()


def write_run(runs: Runs, system: str, path: PathLike) -> None:
    """Write one system's rankings as a TREC run; scores count down from the ranking's length."""
    if system not in runs.systems:
        raise UnknownNameError("system", system, runs.systems)
    s = runs.systems.index(system)
    parts = []
    for t, topic in enumerate(runs.topics):
        low, high = runs.bounds[t, s]
        documents = runs.documents.gather(runs.listed[low:high]).to_list()
        parts += [f"{topic} Q0 {d} {n} {len(documents) - n + 1} {system}\n" for n, d in enumerate(documents, 1)]
    write_bytes(path, "".join(parts).encode())


def write_bytes(path: PathLike, content: bytes) -> None:
    """Write a file, packed as its name says, by way of a temporary one beside it."""
    target = Path(path)
    if not target.name:
        raise DataError("an output was asked for, but its name is empty; name a file")
    if target.suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: same content, same file
    elif target.suffix == ".zst":
        content = zstandard.compress(content)
    try:
        if target.exists() and not target.is_file() and not target.is_dir():  # a pipe or a device stays what it is
            target.write_bytes(content)
            return
        target = Path(os.path.realpath(target))  # a link stays one
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, content)
    except OSError as problem:
        raise DataError(f"{target}: cannot be written: {problem.strerror or problem}") from None


def replace_file(target: Path, content: bytes, *, durable: bool = False) -> None:
    """Give a file new content by way of a draft beside it; after an error, which is an OSError, no draft is left.

    A durable file is on the disk before it takes its name, so that no loss of power leaves it empty.
    """
    draft = target.with_name(f".{target.name}.{os.getpid()}{DRAFT}")
    try:
        with draft.open("wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:  # an interrupt as well
        draft.unlink(missing_ok=True)
        raise


def _write_folder(judgments: Judgments, folder: Path) -> None:
    parts = judgments.to_frame().partition_by("judge", as_dict=True)
    names = {str(judge): _file_name(str(judge)) for (judge,) in parts}
    if len(set(names.values())) < len(names):
        clash = next(judge for judge, name in names.items() if list(names.values()).count(name) > 1)
        raise DataError(f"judge '{shorten(clash)}' would share a file with another judge; write .csv instead")
    for (judge,), frame in parts.items():
        write_bytes(folder / f"{names[str(judge)]}.qrels", _qrels(frame))


def _file_name(judge: str) -> str:
    """A judge's name without what a file's name cannot hold; a leading dot would hide the file from readers."""
    return re.sub(r"[/\0]|^\.", "_", judge)


def _qrels(frame: pl.DataFrame) -> bytes:
    if frame["judge"].n_unique() > 1:
        raise DataError("qrels hold one judge's grades; write a folder (path ending in /), or .csv")
    if "topic" not in frame.columns:
        raise DataError("qrels need topics; these judgments name items only: write .csv instead")
    _refuse(frame.select("topic", "document"), r"[\x00-\x20]", "qrels cannot hold white space")
    out = io.BytesIO()
    frame.select("topic", pl.lit("0"), "document", "grade").write_csv(
        out, separator=" ", include_header=False, quote_style="never"
    )
    return out.getvalue()


def _write_tsv(frame: pl.DataFrame, out: io.BytesIO) -> None:
    """Tab-separated text knows no quotes, so a name that would need them cannot be written."""
    _refuse(frame, r"[\t\r\n]", "tab-separated text cannot hold tabs or line ends")
    frame.write_csv(out, separator="\t", quote_style="never")


def _refuse(frame: pl.DataFrame, pattern: str, why: str) -> None:
    for column in frame.select(pl.col(pl.String)).iter_columns():
        bad = column.str.contains(pattern)
        if bad.any():
            name = shorten(str(column.filter(bad)[0]))
            raise DataError(f"{why}, as in the {column.name} '{name}'; write .csv instead")


_TABLES: dict[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
    ".csv": lambda frame, out: frame.write_csv(out),
    ".tsv": _write_tsv,
    ".jsonl": lambda frame, out: frame.write_ndjson(out),
    ".parquet": lambda frame, out: frame.write_parquet(out),
}
