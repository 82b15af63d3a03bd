"""Writing judgments and runs in the field's formats; a file appears whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import zstandard

from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.io.sources import PathLike


def write_judgments(judgments: Judgments, path: PathLike) -> None:
    """Write judgments; the name's ending says how: .csv, .tsv, .jsonl, .parquet or .qrels (one judge), and .gz or .zst.

    A path that ends in / or is a folder gets one qrels file per judge.
    """
    name = os.fspath(path)
    if name.endswith("/") or Path(name).is_dir():
        _write_folder(judgments, Path(name))
        return
    plain = Path(name).with_suffix("") if Path(name).suffix in {".gz", ".zst"} else Path(name)
    if plain.suffix in {".qrels", ".qrel", ".txt"}:
        write_bytes(name, _qrels(judgments.to_frame()))
        return
    if plain.suffix not in _TABLES:
        raise OptionError(f"{name}: cannot tell the format; use .qrels, {', '.join(sorted(_TABLES))}")
    write_bytes(name, encode_table(judgments.to_frame(), plain.suffix))


def encode_table(frame: pl.DataFrame, suffix: str) -> bytes:
    """A table as file content."""
    buffer = io.BytesIO()
    _TABLES[suffix](frame, buffer)
    return buffer.getvalue()


_TABLES: dict[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
    ".csv": lambda frame, out: frame.write_csv(out),
    ".tsv": lambda frame, out: frame.write_csv(out, separator="\t", quote_style="never"),
    ".jsonl": lambda frame, out: frame.write_ndjson(out),
    ".parquet": lambda frame, out: frame.write_parquet(out),
}


def write_run(runs: Runs, system: str, path: PathLike) -> None:
    """Write one system's rankings as a TREC run; scores count down from the ranking's length."""
    s = runs.systems.index(system)
    parts = []
    for t, topic in enumerate(runs.topics):
        low, high = runs.bounds[t, s]
        documents = runs.documents.gather(runs.listed[low:high]).to_list()
        parts += [
            f"{topic} Q0 {d} {n} {len(documents) - n + 1} {system}\n" for n, d in enumerate(documents, 1)
        ]
    write_bytes(path, "".join(parts).encode())


def write_bytes(path: PathLike, content: bytes) -> None:
    """Write a file, packed as its name says, by way of a temporary one beside it."""
    target = Path(path)
    if target.suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: same content, same file
    elif target.suffix == ".zst":
        content = zstandard.compress(content)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        draft.write_bytes(content)
        draft.replace(target)
    except OSError as problem:
        raise DataError(f"{target}: cannot be written: {problem.strerror or problem}") from None


def _write_folder(judgments: Judgments, folder: Path) -> None:
    for judge, frame in judgments.to_frame().partition_by("judge", as_dict=True).items():
        name = str(judge[0]).replace("/", "_").replace("\0", "_")
        write_bytes(folder / f"{name}.qrels", _qrels(frame))


def _qrels(frame: pl.DataFrame) -> bytes:
    if frame["judge"].n_unique() > 1:
        raise DataError("qrels hold one judge's grades; write a folder (path ending in /), or .csv")
    if "topic" not in frame.columns:
        raise DataError("qrels need topics; these judgments name items only: write .csv instead")
    for column in ("topic", "document"):
        spaced = frame[column].str.contains(r"\s")
        if spaced.any():
            raise DataError(
                f"qrels cannot hold white space in a {column}: '{frame[column].filter(spaced)[0]}'"
            )
    out = io.BytesIO()
    frame.select("topic", pl.lit("0"), "document", "grade").write_csv(
        out, separator=" ", include_header=False, quote_style="never"
    )
    return out.getvalue()
