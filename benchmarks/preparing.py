"""Making what contenders work on: `python -m benchmarks.preparing FOLDER SIZE [COLLECTION]`, SIZE as JSON.

COLLECTION holds `runs/*.gz` and `gold.qrels`; without it, one of the given size is simulated.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import karatage as kt
from benchmarks.judging import class_starts, judgment_set
from benchmarks.setting import SEED, Setting, Size

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELEVANT_PER_TOPIC = 67
TABLE_TOPICS, TABLE_SYSTEMS, TABLE_DEPTH = 50, 20, 100


def prepare(folder: Path, size: Size, collection: Path | None) -> Setting:
    """Fill a folder."""
    if collection is None:
        collection = folder / "collection"
        simulate_collection(collection, size)
    setting = Setting(
        size=size,
        runs=str(collection / "runs"),
        gold=str(collection / "gold.qrels"),
        sets=str(folder / "sets"),
        table=str(folder / "judgments.parquet"),
        table_runs=str(folder / "runs.parquet"),
    )
    write_sets(setting)
    write_table(setting)
    write_table_runs(setting)
    return setting


def simulate_collection(folder: Path, size: Size) -> None:
    """Systems that see relevance through noise; as in T08, the pool holds two in five of what they retrieve."""
    source = np.random.default_rng(SEED)
    documents = 8 * max(size.pool, size.depth)
    relevance = source.normal(size=(size.topics, documents))
    topics = [str(401 + t) for t in range(size.topics)]
    names = [[f"DOC{t:02d}-{d:05d}" for d in range(documents)] for t in range(size.topics)]
    retrieved = np.zeros((size.topics, documents), np.int64)
    (folder / "runs").mkdir(parents=True)
    for system in range(size.systems):
        score = relevance * source.uniform(0.2, 0.8) + source.normal(size=relevance.shape)
        best = np.argsort(-score, axis=1)[:, : size.depth]
        np.put_along_axis(retrieved, best, np.take_along_axis(retrieved, best, axis=1) + 1, axis=1)
        write_run(folder / "runs", f"system{system:03d}", topics, names, best, score)
    with (folder / "gold.qrels").open("w") as file:
        for t, topic in enumerate(topics):
            pooled = np.argsort(-retrieved[t], kind="stable")[: size.pool]
            good = set(np.argsort(-relevance[t])[:RELEVANT_PER_TOPIC].tolist())
            file.writelines(f"{topic} 0 {names[t][d]} {int(d in good)}\n" for d in pooled.tolist())


def write_run(
    folder: Path,
    tag: str,
    topics: list[str],
    names: list[list[str]],
    best: NDArray[np.int64],
    score: NDArray[np.float64],
) -> None:
    """One system's rankings as a packed TREC file."""
    with gzip.open(folder / f"{tag}.gz", "wt", compresslevel=1) as file:
        for t, topic in enumerate(topics):
            for rank, document in enumerate(best[t].tolist(), 1):
                file.write(f"{topic} Q0 {names[t][document]} {rank} {score[t, document]:.6f} {tag}\n")


def write_sets(setting: Setting) -> None:
    """The first judgment set of each class as qrels, for the rivals."""
    gold = kt.read_gold(setting.gold)
    named = gold.to_frame()
    Path(setting.sets).mkdir()
    for k in class_starts(setting.size):
        grade = judgment_set(gold, setting.size, k)
        qrels = named.select("topic", pl.lit("0").alias("iteration"), "document", pl.Series("grade", grade))
        qrels.write_csv(f"{setting.sets}/{k}.qrels", separator=" ", include_header=False)


def write_table(setting: Setting) -> None:
    """Every judge grades every item."""
    size = setting.size
    item = np.repeat(np.arange(size.items), size.judges)
    grade = np.random.default_rng(SEED).integers(0, 4, item.size, np.int8)
    judge = np.tile(np.arange(size.judges), size.items)
    pl.DataFrame({"judge": judge, "item": item, "grade": grade}).select(
        pl.format("judge-{}", "judge").alias("judge"),
        (pl.col("item") % TABLE_TOPICS + 101).cast(pl.String).alias("topic"),
        pl.format("document-{}", "item").alias("document"),
        "grade",
    ).write_parquet(setting.table)


def write_table_runs(setting: Setting) -> None:
    """Systems that retrieve judged documents in random order."""
    source = np.random.default_rng(SEED)
    per_topic = setting.size.items // TABLE_TOPICS
    depth = min(TABLE_DEPTH, per_topic)
    order = source.permuted(np.tile(np.arange(per_topic), (TABLE_SYSTEMS * TABLE_TOPICS, 1)), axis=1)[:, :depth]
    system, topic, rank = np.indices((TABLE_SYSTEMS, TABLE_TOPICS, depth)).reshape(3, -1)
    pl.DataFrame(
        {
            "system": system,
            "topic": topic,
            "item": order.ravel() * TABLE_TOPICS + topic,
            "score": depth - rank,
        }
    ).select(
        pl.format("system-{}", "system").alias("system"),
        (pl.col("topic") + 101).cast(pl.String).alias("topic"),
        pl.format("document-{}", "item").alias("document"),
        "score",
    ).write_parquet(setting.table_runs)


def _main(folder: str, size: str, collection: str | None = None) -> None:
    path = Path(folder)
    path.mkdir()
    setting = prepare(path, Size(**json.loads(size)), None if collection is None else Path(collection))
    setting.save(path / "setting.json")


if __name__ == "__main__":
    _main(*sys.argv[1:])
