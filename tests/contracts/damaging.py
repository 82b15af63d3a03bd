"""Small files of every format that is read, and accidents that happen to them: shared by the gate and the soak."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import zstandard

import karatage as kt
from karatage.errors import KaratageError
from karatage.experiments.aware.plan import AwarePlan
from karatage.experiments.noisy.plan import NoisyPlan
from karatage.experiments.plans import Plan, read_plan
from karatage.io.models import read_families, read_record
from karatage.io.queues import read_asked
from tests.contracts.fuzzing import HOSTILE_NAMES

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

GOLD_QUEUE = TABLE.filter(pl.col("judge") == "w0").select(
    "topic", "document", "grade", pi=pl.lit(0.25), batch=pl.lit(1), batch_size=pl.len(), measure=pl.lit("P@5")
)
ASKED = GOLD_QUEUE.with_columns(
    to=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("expert")).otherwise(pl.lit("crowd")),
    judgments=pl.lit(3),
    batch_size=pl.lit(3),
)
FAMILIES = "judge\tfamily\n" + "".join(f"w{w}\tfamily {w % 2}\n" for w in range(4))
RECORD = pl.DataFrame(
    {"judge": ["w0", "w1"], **{f"answers_{g}_{s}": [1.5 + g, 2.0 * s] for g in range(2) for s in range(2)}}
)
CROWD = kt.simulation.load_crowd("hcb").to_json().encode()
GRADED_CROWD = kt.simulation.load_crowd("llm-dl-2021").to_json().encode()
MODEL = {
    "format": "karatage disagreement model",
    "version": 1,
    "feature_set": "own",
    "features": ["length", "age"],
    "threshold": 0.3,
    "prior": [1.4, 4.0],
    "trials": 10,
    "topics": [
        {
            "topic": "401",
            "items": 50,
            "disagreed": 9,
            "intercept": -0.3,
            "coefficients": [0.1, 0.2],
            "mean": {"tpr": 0.5, "ppv": 0.5, "tnr": 0.9, "npv": 0.9, "auc": 0.7},
            "spread": {"tpr": 0.1, "ppv": None, "tnr": 0.1, "npv": 0.1, "auc": 0.1},
        }
    ],
    "dropped": [{"topic": "402", "items": 5, "disagreed": 0, "reason": "judges agree"}],
    "notes": [],
    "sentence": "",
    "seed": 0,
    "versions": {},
}
Reader = Callable[[Path], object]


def _read_model(path: Path) -> object:
    model = kt.experiments.read_disagreement(path)
    return model.sentence, model.to_frame(), model.to_json()


def _read_crowd(path: Path) -> object:
    model = kt.simulation.read_crowd(path)
    return model.sentence, model.to_frame(), model.to_json(), model.shares


def _read_aware(path: Path) -> object:
    return read_plan(path, AwarePlan, "aware").to_toml()


def _read_noisy(path: Path) -> object:
    return read_plan(path, NoisyPlan, "noisy").to_toml()


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
    "list.json.gz": (gzip.compress(json.dumps(TABLE.to_dicts()).encode(), mtime=0), kt.read_judgments),
    "jsonl.zst": (zstandard.compress(JSONL), kt.read_judgments),
    "queue.csv": (encode(GOLD_QUEUE.write_csv), kt.read_gold),
    "queue.jsonl": (encode(GOLD_QUEUE.write_ndjson), kt.read_gold),
    "queue.parquet": (encode(GOLD_QUEUE.write_parquet), kt.read_gold),
    "judged.csv": (encode(ASKED.write_csv), kt.read_gold),
    "asked.csv": (encode(ASKED.write_csv), read_asked),
    "asked.tsv": (encode(lambda out: ASKED.write_csv(out, separator="\t")), read_asked),
    "asked.jsonl": (encode(ASKED.write_ndjson), read_asked),
    "asked.parquet": (encode(ASKED.write_parquet), read_asked),
    "families.tsv": (FAMILIES.encode(), read_families),
    "families.tsv.gz": (gzip.compress(FAMILIES.encode(), mtime=0), read_families),
    "record.csv": (encode(RECORD.write_csv), read_record),
    "record.tsv": (encode(lambda out: RECORD.write_csv(out, separator="\t")), read_record),
    "record.parquet": (encode(RECORD.write_parquet), read_record),
    "crowd.json": (CROWD, _read_crowd),
    "graded-crowd.json": (GRADED_CROWD, _read_crowd),
    "crowd.json.zst": (zstandard.compress(CROWD), _read_crowd),
    "disagreement.json": (json.dumps(MODEL, indent=1).encode(), _read_model),
    "disagreement.json.gz": (gzip.compress(json.dumps(MODEL).encode(), mtime=0), _read_model),
    "aware.toml": (Plan("aware", AwarePlan()).to_toml().encode(), _read_aware),
    "noisy.toml": (Plan("noisy", NoisyPlan()).to_toml().encode(), _read_noisy),
}
NASTY = [
    *(b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\n\n", b"\0", b"\x1a", b"\x1f", b"\x7f", b"\xff", b"\xc3"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", "\N{NO-BREAK SPACE}".encode(), "\u2028".encode(), "１２".encode()),
    *(b'"', b'""', b'"""', b"'", b",", b";", b"|", b"#", b"=", b"\\", b"\\ud800", b"\\u0000", b"{", b"}", b"[", b"]"),
    *(b"nan", b"NaN", b"inf", b"-Infinity", b"null", b"None", b"true", b"-1", b"-0", b"1e9", b"1e400", b"1_0", b"0x1"),
    *(b"99999999999999999999", b"0.5", b"126.4", b"127", b"+", b"-", b".", b"e5", b"1e", b"1" * 400),
    *(b"topic", b"judge", b"grade", b"query", b"docid", b"run", b"item", b"gold", b"row", b"row ", b"judge "),
    *(b"query_doc_pairs", b"judgements", b"{}", b"[]", b'{"a":1}', b"[" * 3000, b"PAR1", b"\x1f\x8b", b"A" * 70_000),
    *(name.encode(errors="surrogatepass") for name in HOSTILE_NAMES),
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
