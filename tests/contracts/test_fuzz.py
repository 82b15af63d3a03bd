"""Readers meet damaged files: they return, or raise a KaratageError with a short message, and nothing else.

Mutations are drawn from fixed seeds. To search further: KARATAGE_FUZZ=20000 pytest tests/contracts/test_fuzz.py
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard

import karatage as kt
from karatage.errors import KaratageError

ROUNDS = int(os.environ.get("KARATAGE_FUZZ", "150"))
LONGEST_MESSAGE = 500

RUN = "".join(f"{t} Q0 doc-{d} {d} {9.5 - d / 3:.4f} sys{t % 2}\n" for t in (401, 402, 403) for d in range(8)).encode()
QRELS = "".join(f"{t}\t0\tdoc-{d}\t{(t + d) % 4}\n" for t in (401, 402) for d in range(8)).encode()
SQUARE = "".join(f"{i} w{w} {(i + w) % 3}\n" for i in range(6) for w in range(3)).encode()
LONG = [(f"w{w}", f"{t}", f"doc-{d}", (w + t + d) % 4) for w in range(3) for t in (401, 402) for d in range(3)]
TABLE = pl.DataFrame(LONG, schema=["judge", "topic", "document", "grade"], orient="row").with_columns(
    time=pl.int_range(pl.len()), pi=pl.lit(0.5)
)
BOOK_CSV = b'query,docid,Ann Lee,Bob\n"jeans, blue",d1,1,\n"say ""hi""",d2,,3\nshoes,d3,0,2\n'
BOOK_JSON = json.dumps(
    {
        "name": "book",
        "query_doc_pairs": [
            {
                "query_text": q,
                "doc_id": d,
                "judgements": [{"rating": 1.0, "unrateable": False, "user_email": "a@b.c"}, {"rating": None}],
            }
            for q, d in (("jeans", "d1"), ("shoes", "d2"))
        ],
    },
    indent=1,
).encode()


def encode(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


CSV = encode(TABLE.write_csv)
TSV = encode(lambda out: TABLE.write_csv(out, separator="\t"))
JSONL = encode(TABLE.write_ndjson)
PARQUET = encode(TABLE.write_parquet)
PLAIN_PARQUET = encode(lambda out: TABLE.write_parquet(out, compression="uncompressed", statistics=False))

Reader = Callable[[Path], object]
SEEDS: dict[str, tuple[bytes, Reader]] = {
    "run": (RUN, kt.read_runs),
    "run.gz": (gzip.compress(RUN, mtime=0), kt.read_runs),
    "run.zst": (zstandard.compress(RUN), kt.read_runs),
    "qrels": (QRELS, kt.read_judgments),
    "gold.qrels": (QRELS, kt.read_gold),
    "square.txt": (SQUARE, kt.read_judgments),
    "csv": (CSV, kt.read_judgments),
    "gold.csv": (encode(TABLE.filter(pl.col("judge") == "w0").write_csv), kt.read_gold),
    "csv.gz": (gzip.compress(CSV, mtime=0), kt.read_judgments),
    "csv.zst": (zstandard.compress(CSV), kt.read_judgments),
    "tsv": (TSV, kt.read_judgments),
    "jsonl": (JSONL, kt.read_judgments),
    "list.json": (json.dumps(TABLE.to_dicts()).encode(), kt.read_judgments),
    "parquet": (PARQUET, kt.read_judgments),
    "plain.parquet": (PLAIN_PARQUET, kt.read_judgments),
    "book.csv": (BOOK_CSV, kt.read_judgments),
    "book.json": (BOOK_JSON, kt.read_judgments),
}
NASTY = [
    *(b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\x1a", b"\x1f", b"\x7f", b"\xff", b"\xc3"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", "\N{NO-BREAK SPACE}".encode(), "\u2028".encode(), "１２".encode()),
    *(b'"', b'""', b'"""', b"'", b",", b";", b"|", b"#", b"=", b"\\", b"\\ud800", b"\\u0000", b"{", b"}", b"[", b"]"),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"null", b"None", b"true", b"-1", b"-0", b"1e9", b"1e400", b"1_0", b"0x1"),
    *(b"99999999999999999999", b"0.5", b"126.4", b"127", b"+", b"-", b".", b"e5", b"1e", b"1" * 400),
    *(b"topic", b"judge", b"grade", b"query", b"docid", b"run", b"item", b"gold", b"row", b"row ", b"judge "),
    *(b"query_doc_pairs", b"judgements", b"{}", b"[]", b'{"a":1}', b"[" * 3000, b"PAR1", b"\x1f\x8b", b"A" * 70_000),
]


def mutate(content: bytes, rng: random.Random) -> bytes:
    """One to four small accidents."""
    for _ in range(rng.randint(1, 4)):
        content = rng.choice(ACCIDENTS)(content, rng)
    return content


def _flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def _delete(content: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(content))
    return content[:at] + content[at + rng.choice((1, 1, 2, 5, 30)) :]


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(content))
    return content[:at] + rng.choice(NASTY) + content[at:]


def _truncate(content: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(content))
    return content[:at] if rng.random() < 0.7 else content[at:]


def _move_lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[a], lines[b] = lines[b], lines[a]
    else:
        lines.insert(a, lines[b])
    return b"\n".join(lines)


def _replace_field(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    a = rng.randrange(len(lines))
    separator = rng.choice([s for s in (b"\t", b",", b" ", b":", b'"') if s in lines[a]] or [b" "])
    fields = lines[a].split(separator)
    fields[rng.randrange(len(fields))] = rng.choice(NASTY)
    lines[a] = separator.join(fields)
    return b"\n".join(lines)


ACCIDENTS = [_flip, _delete, _insert, _truncate, _move_lines, _replace_field, _replace_field]


def check(read: Reader, path: Path, content: bytes) -> bool:
    """Whether the file could be read."""
    path.write_bytes(content)
    try:
        read(path)
    except KaratageError as problem:
        message = str(problem)
        assert "\n" not in message, message
        assert len(message) - len(str(path)) < LONGEST_MESSAGE, message
        assert path.name in message, message
        return False
    return True


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_file_is_read_or_refused(name: str, tmp_path: Path) -> None:
    content, read = SEEDS[name]
    path = tmp_path / f"file.{name}"
    assert check(read, path, content)
    rng = random.Random(f"karatage {name}")
    read_well = sum(check(read, path, mutate(content, rng)) for _ in range(ROUNDS))
    assert read_well < ROUNDS  # the accidents do harm


@pytest.mark.parametrize("name", ["csv", "jsonl", "qrels", "run", "square.txt"])
def test_packing_does_not_change_what_is_refused(name: str, tmp_path: Path) -> None:
    """Damage before packing, so that it reaches the parser, behind every kind of packing."""
    content, read = SEEDS[name]
    rng = random.Random(f"karatage packed {name}")
    for n in range(ROUNDS // 3):
        damaged = mutate(content, rng)
        packed = gzip.compress(damaged, 1) if n % 2 else zstandard.compress(damaged)
        plain = check(read, tmp_path / f"file.{name}", damaged)
        assert check(read, tmp_path / f"file.{name}{'.gz' if n % 2 else '.zst'}", packed) == plain
