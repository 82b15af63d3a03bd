"""Writing judgments and runs in common formats."""

from __future__ import annotations

import gzip
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import zstandard

from karatage.data.alignment import require_data
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.io.files import PathLike, name_file, refuse_replacing, write_file
from karatage.io.parquet import encode_parquet
from karatage.text import list_names, shorten

# Text that a spreadsheet reads as a formula, after any marks that prevent that.
_FORMULA = r"^('*[=+\-@\t\r])"


def write_judgments(judgments: Judgments, path: PathLike, *, raw: bool = False) -> None:
    """Write judgments in the format of the name: .csv, .tsv, .jsonl, .parquet or .qrels (one judge), and .gz or .zst.

    A path that ends in / or is a folder gets one qrels file per judge. In .csv, names that a spreadsheet would read as
    a formula get a ' before them, which karatage's readers remove; `raw` writes them unchanged.
    """
    require_data(judgments=judgments)
    name = os.fspath(path)
    if name.endswith("/") or Path(name).is_dir():
        _write_folder(judgments, Path(name))
        return
    plain = Path(name).with_suffix("") if Path(name).suffix in {".gz", ".zst"} else Path(name)
    suffix = plain.suffix.lower()
    if suffix in {".qrels", ".qrel", ".txt"}:
        write_bytes(name, encode_qrels(judgments.to_frame()))
        return
    if suffix not in _TABLES:
        raise OptionError(f"{name}: cannot tell the format; use .qrels, {', '.join(sorted(_TABLES))}")
    write_bytes(name, encode_table(judgments.to_frame(), suffix, raw=raw))


def encode_table(frame: pl.DataFrame, suffix: str, *, raw: bool = False) -> bytes:
    """A table as file content; formulas in .csv are marked for spreadsheets, unless it is `raw`."""
    if suffix == ".csv" and not raw:
        frame = frame.with_columns(pl.col(pl.String).str.replace(_FORMULA, "'$1"))
        frame = frame.rename({name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)})
    buffer = io.BytesIO()
    _TABLES[suffix](frame, buffer)
    return buffer.getvalue()


def write_run(runs: Runs, system: str, path: PathLike) -> None:
    """Write one system's rankings as a TREC run; scores are the numbers from the ranking's length to 1."""
    require_data(runs=runs)
    if system not in runs.systems:
        raise UnknownNameError("system", system, runs.systems)
    s = runs.systems.index(system)
    parts = []
    for t, topic in enumerate(runs.topics):
        low, high = runs.bounds[t, s]
        documents = runs.documents.gather(runs.listed[low:high]).to_list()
        parts += [f"{topic} Q0 {d} {n} {len(documents) - n + 1} {system}\n" for n, d in enumerate(documents, 1)]
    write_bytes(path, "".join(parts).encode())


def write_bytes(path: PathLike, content: bytes, *, store: bool = False, new: bool = False) -> None:
    """Write a file as `write_file` does, packed as its name says."""
    suffix = Path(path).suffix
    if suffix == ".gz":
        content = gzip.compress(content, mtime=0)  # no time stamp: same content, same file
    elif suffix == ".zst":
        content = zstandard.ZstdCompressor(write_checksum=True).compress(content)
    write_file(path, content, store=store, new=new)


def _write_folder(judgments: Judgments, folder: Path) -> None:
    parts = judgments.to_frame().partition_by("judge", as_dict=True)
    names = {str(judge): f"{name_file(str(judge))}.qrels" for (judge,) in parts}
    taken = Counter(map(str.casefold, names.values()))  # a file system may treat A and a as equal
    clash = next((judge for judge, name in names.items() if taken[name.casefold()] > 1), None)
    if clash is not None:
        raise DataError(f"judge '{shorten(clash)}' would have the same file name as another judge; write .csv instead")
    files = {folder / names[str(judge)]: encode_qrels(frame) for (judge,), frame in parts.items()}
    refuse_replacing(files)
    for path, content in files.items():
        write_bytes(path, content)


def encode_qrels(frame: pl.DataFrame) -> bytes:
    """One judge's grades as qrels."""
    if frame["judge"].n_unique() > 1:
        raise DataError("qrels contain one judge's grades; write a folder (path ending in /), or .csv")
    if "topic" not in frame.columns:
        raise DataError("qrels need topics, and these judgments have only items: write .csv instead")
    _refuse(frame.select("topic", "document"), r"[\x00-\x20]", "qrels cannot contain white space")
    out = io.BytesIO()
    frame.select("topic", pl.lit("0"), "document", "grade").write_csv(
        out, separator=" ", include_header=False, quote_style="never"
    )
    return out.getvalue()


def _write_tsv(frame: pl.DataFrame, out: io.BytesIO) -> None:
    """Write tab-separated text, in which names that need quotes are refused."""
    _refuse(frame, r"[\t\r\n]", "tab-separated text cannot contain tabs or line ends")
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
    ".parquet": lambda frame, out: out.write(encode_parquet(frame)),
}


def refuse_other_collection(home: Path, systems: Sequence[str], gold: Judgments) -> None:
    """Refuse a folder with another collection, whose runs would be mixed with these and whose gold would be lost."""
    ours = {f"{system}.gz" for system in systems}
    folder, there = home / "runs", home / "gold.qrels"
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours) if folder.is_dir() else []
    if others:
        raise OptionError(f"{folder} contains other files, {list_names(others, 2)}; name another folder, or empty it")
    if there.is_file() and not _is_same(there, gold):
        raise OptionError(f"{there} belongs to another collection; name another folder, or empty this one")


def _is_same(path: Path, gold: Judgments) -> bool:
    """Whether a file has exactly these grades, as after the same command."""
    return path.read_bytes() == encode_qrels(gold.to_frame())
