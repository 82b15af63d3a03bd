"""One cell of `benchmarks.decisions`: gold is drawn again and again, and two systems are compared as users do."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

import karatage as kt
from karatage.errors import OptionError

Design = Literal["even", "drawn", "topics", "ranks", "negatives", "no-pi"]
Frame = Literal["pool", "top", "pair"]
DESIGNS: tuple[Design, ...] = get_args(Design)
SPOILED: tuple[Design, ...] = ("ranks", "negatives", "no-pi")  # gold that must be refused
FRAMES: tuple[Frame, ...] = get_args(Frame)
COVERED = 0.8  # of gold's items that a judge must have graded
NEARLY_CENSUS = 0.8  # of what a pair weighs differently, or of all topics
BLOCK = 50  # comparisons that are computed and saved together
ITEM = ("topic", "document")
MAPPED = re.compile(r"(?P<name>.+)\((?P<grades>[^()]*=[^()]*)\)")  # a judge whose grades are renamed: name(0=0,1=2)

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The settings of one line of the table."""

    collection: str
    judge: str
    measure: str
    design: Design
    frame: Frame | None  # that an even sample is drawn from
    size: int  # gold labels, or gold topics
    claim: str
    correction: str
    resampled: bool  # whether topics are drawn anew, with replacement
    best: int  # systems, all pairs of which are compared
    others: int  # random pairs of all systems beside them
    seed: int


@dataclass(frozen=True, eq=False)
class Collection:
    """Runs, judges and gold as they were read."""

    name: str
    runs: kt.Runs
    judgments: kt.Judgments
    gold: kt.Judgments

    @staticmethod
    def read(runs: Path, judgments: Path, gold: Path) -> Collection:
        """Read the files; the name tells collections apart in a file of results."""
        read = kt.read_runs(runs), kt.read_judgments(judgments), kt.read_gold(gold)
        digest = hashlib.sha256(repr(read[0].systems).encode())
        for array in (read[0].listed, read[1].grade, read[2].grade):
            digest.update(array.tobytes())
        return Collection(f"{gold.resolve().parent.name}-{digest.hexdigest()[:8]}", *read)

    def list_judges(self) -> tuple[str, ...]:
        """Judges who graded enough of gold's items."""
        gold = self.gold.to_frame().select(ITEM)
        shared = self.judgments.to_frame().join(gold, on=ITEM, how="semi").group_by("judge").len()
        return tuple(shared.filter(pl.col("len") >= COVERED * len(gold))["judge"].sort().to_list())


@dataclass(frozen=True, eq=False)
class World:
    """One judge's grades and all of gold on the topics that runs, judge and gold share."""

    runs: kt.Runs
    judgments: kt.Judgments
    gold: pl.DataFrame  # topic, document, grade

    @cached_property
    def topics(self) -> list[str]:
        """In the order of the runs."""
        shared = set(self.judgments.topics) & set(self.gold["topic"].unique())
        return [topic for topic in self.runs.topics if topic in shared]

    @cached_property
    def pool(self) -> pl.DataFrame:
        """All items that the judge graded."""
        return self.judgments.to_frame().select(ITEM)

    def show(self, measure: str) -> IntArray:
        """The documents that the measure looks at, (topic, system, rank), -1 beyond a ranking's end."""
        depth = kt.parse_measure(measure).cutoff or self.runs.depth
        place = {topic: t for t, topic in enumerate(self.runs.topics)}
        bounds = self.runs.bounds[[place[topic] for topic in self.topics]]
        row = bounds[..., :1] + np.arange(depth)  # (topic, system, rank)
        inside = row < bounds[..., 1:]
        return np.where(inside, self.runs.listed[np.where(inside, row, 0)], -1).astype(np.int64)

    def name_items(self, topic: IntArray, document: IntArray) -> pl.DataFrame:
        """Items by name, each once."""
        key = np.unique((topic * len(self.runs.documents) + document)[document >= 0])
        return pl.DataFrame(
            {
                "topic": pl.Series(self.topics, dtype=pl.String).gather(key // len(self.runs.documents)),
                "document": self.runs.documents.gather(key % len(self.runs.documents)),
            }
        )

    def grade(self, items: pl.DataFrame) -> kt.Judgments:
        """Gold's grades of these items; what gold never judged is not relevant, as in the truth."""
        graded = items.join(self.gold, on=ITEM, how="left", maintain_order="left")
        return kt.read_gold(graded.with_columns(pl.col("grade").fill_null(0)))

    def resample(self, rng: np.random.Generator) -> World:
        """As many topics, drawn with replacement; copies are topics of their own."""
        drawn = rng.integers(len(self.topics), size=len(self.topics))
        names = [f"topic{number:05d}" for number in range(len(drawn))]
        copies = pl.DataFrame({"topic": [self.topics[t] for t in drawn], "copy": names})
        place = {topic: t for t, topic in enumerate(self.runs.topics)}
        bounds = self.runs.bounds[[place[self.topics[t]] for t in drawn]]
        return World(
            runs=replace(self.runs, topics=tuple(names), bounds=bounds),
            judgments=kt.read_judgments(_copy_topics(self.judgments.every.to_frame(), copies)),
            gold=_copy_topics(self.gold, copies),
        )


class Pair(NamedTuple):
    """Two systems and what is known of them."""

    a: str
    b: str
    differ: int  # documents that the two weigh differently
    truth_a: float  # by all gold
    truth_b: float
    judged: float  # the judge's difference

    @property
    def truth(self) -> float:
        """The difference by all gold."""
        return self.truth_b - self.truth_a

    def turn(self) -> Pair:
        """The same in the other order."""
        return Pair(self.b, self.a, self.differ, self.truth_b, self.truth_a, -self.judged)


@lru_cache
def make_world(collection: Collection, judge: str) -> World:
    """The collection with one judge, who may have a mapping of grades behind the name."""
    name, grades = judge, None
    found = MAPPED.fullmatch(judge)
    if judge not in collection.judgments.judges and found is not None:
        name, grades = found["name"], found["grades"]
    if name not in collection.judgments.judges:
        raise OptionError(f"no judge is called '{name}'; known: {', '.join(collection.judgments.judges)}")
    rows = collection.judgments.every.to_frame().filter(pl.col("judge") == name)
    gold = collection.gold.to_frame().drop("judge")
    shared = set(collection.runs.topics) & set(gold["topic"]) & set(rows["topic"])
    here = pl.col("topic").is_in(sorted(shared))
    return World(collection.runs, kt.read_judgments(rows.filter(here), grades=grades), gold.filter(here))


@lru_cache
def list_pairs(world: World, measure: str, best: int, others: int, seed: int) -> tuple[Pair, ...]:
    """All pairs of the best systems by gold, and random pairs of all; of systems with equal rankings the first."""
    truth = _score(world, kt.read_gold(world.gold), measure)
    judged = _score(world, world.judgments, measure)
    shown = world.show(measure)
    _, first = np.unique(shown.transpose(1, 0, 2).reshape(len(truth), -1), axis=0, return_index=True)
    order = sorted(first.tolist(), key=lambda s: -truth[s])
    chosen = list(combinations(order[:best], 2))
    rest = [pair for pair in combinations(order, 2) if pair[1] not in order[:best]]
    rng = np.random.default_rng([seed, zlib.crc32(measure.encode())])
    chosen += [rest[i] for i in rng.permutation(len(rest))[:others]]
    names = world.runs.systems
    return tuple(
        Pair(
            a=names[a],
            b=names[b],
            differ=len(find_different(shown, a, b, measure)[0]),
            truth_a=float(truth[a]),
            truth_b=float(truth[b]),
            judged=float(judged[b] - judged[a]),
        )
        for a, b in chosen
    )


def choose_pairs(world: World, cell: Cell) -> list[Pair]:
    """Pairs in the order in which they are compared, without those of which gold would tell nearly all."""
    if cell.design == "topics" and cell.size > NEARLY_CENSUS * len(world.topics):
        return []
    pairs = list_pairs(world, cell.measure, cell.best, cell.others, cell.seed)
    if cell.design == "topics":
        kept = [pair for pair in pairs if pair.differ]
    else:
        kept = [pair for pair in pairs if cell.size <= NEARLY_CENSUS * pair.differ]
    return [kept[i] for i in np.random.default_rng(cell.seed).permutation(len(kept))]


def find_different(shown: IntArray, a: int, b: int, measure: str) -> tuple[IntArray, IntArray]:
    """Topics and documents that two systems weigh differently: at another rank, or for P in one ranking only."""
    x, y = shown[:, a], shown[:, b]  # (topic, rank)
    if kt.parse_measure(measure).name == "P":
        both = x[:, :, None] == y[:, None, :]
        same_x, same_y = both.any(axis=2), both.any(axis=1)
    else:
        same_x = same_y = x == y
    topic = np.broadcast_to(np.arange(len(x))[:, None], x.shape)
    keep_x, keep_y = ~same_x & (x >= 0), ~same_y & (y >= 0)
    item = np.unique(np.c_[np.r_[topic[keep_x], topic[keep_y]], np.r_[x[keep_x], y[keep_y]]], axis=0)
    return item[:, 0], item[:, 1]


def draw_gold(world: World, cell: Cell, pair: Pair, rng: np.random.Generator) -> kt.Judgments:
    """Gold as a user would have it, by the cell's design."""
    if cell.design in ("drawn", "no-pi"):
        question = kt.Question(measure=cell.measure, seed=int(rng.integers(2**31)))
        plan = kt.plan(world.runs, world.judgments, question, budget=cell.size, a=pair.a, b=pair.b)
        return world.grade(plan.queue.drop("grade") if cell.design == "drawn" else plan.queue.select(ITEM))
    if cell.design == "topics":
        chosen = rng.choice(world.topics, cell.size, replace=False)
        items = pl.concat([world.pool, world.gold.select(ITEM)]).unique(maintain_order=True)
        return world.grade(items.filter(pl.col("topic").is_in(chosen.tolist())))
    items = find_frame(world, cell, pair)
    if len(items) < cell.size:
        raise ValueError(f"there are only {len(items):,} documents to draw from, ask for smaller sizes: {cell}")
    return world.grade(items[np.sort(rng.choice(len(items), cell.size, replace=False))])


def find_frame(world: World, cell: Cell, pair: Pair) -> pl.DataFrame:
    """The items that an even sample is drawn from, or one that is even among too few."""
    if cell.design == "negatives":
        return world.judgments.to_frame().filter(pl.col("grade") == 0).select(ITEM)
    if cell.frame == "pool":
        return world.pool
    shown = world.show(cell.measure)
    if cell.design == "ranks":
        first = shown[:, world.runs.systems.index(pair.b)]
        return world.name_items(np.broadcast_to(np.arange(len(first))[:, None], first.shape).ravel(), first.ravel())
    if cell.frame == "top":
        topic = np.broadcast_to(np.arange(len(shown))[:, None, None], shown.shape)
        return world.name_items(topic.ravel(), shown.ravel())
    a, b = (world.runs.systems.index(name) for name in (pair.a, pair.b))
    return world.name_items(*find_different(shown, a, b, cell.measure))


def compare_once(world: World, cell: Cell, pair: Pair, rng: np.random.Generator) -> dict[str, object]:
    """Draw gold, compare, and note what was found; a refusal is a finding."""
    question = kt.Question(measure=cell.measure, claim=cell.claim, correction=cell.correction)  # type: ignore[arg-type]
    if cell.resampled:
        world = world.resample(rng)
    row: dict[str, object] = {
        "a": pair.a,
        "b": pair.b,
        "truth": pair.truth,
        "truth_a": pair.truth_a,
        "truth_b": pair.truth_b,
        "miss": abs(pair.judged - pair.truth),
    }
    start = process_time()
    try:
        gold = draw_gold(world, cell, pair, rng)
        found = kt.compare(world.runs, world.judgments, gold, question, a=pair.a, b=pair.b)
    except kt.KaratageError as problem:
        return row | {"refusal": str(problem), "seconds": process_time() - start}
    row |= {
        "seconds": process_time() - start,
        "refusal": found.refusal,
        "alarm": found.alarm,
        "claim": found.significant,
        "judges": found.naive.difference.value,
        "judges_a": _value(found.naive.a),
        "judges_b": _value(found.naive.b),
    }
    if found.corrected is None:
        return row | {"refusal": found.refusal or found.same}
    return row | {
        "way": found.corrected.way,
        "value": found.corrected.difference.value,
        "low": found.corrected.difference.low,
        "high": found.corrected.difference.high,
        "value_a": _value(found.corrected.a),
        "value_b": _value(found.corrected.b),
    }


SCHEMA: dict[str, Any] = {
    **dict.fromkeys(("a", "b"), pl.String),
    **dict.fromkeys(("truth", "truth_a", "truth_b", "miss", "seconds"), pl.Float64),
    **dict.fromkeys(("refusal", "alarm", "way"), pl.String),
    "claim": pl.Boolean,
    **dict.fromkeys(("judges", "judges_a", "judges_b", "value", "low", "high", "value_a", "value_b"), pl.Float64),
}


def run_block(collection: Collection, cell: Cell, block: int) -> dict[str, Any]:
    """Some of a cell's comparisons as columns; block by block they take up where the one before ended.

    Cells that differ in judge, claim or correction see the same pairs, and the same gold where the design allows it.
    """
    world = make_world(collection, cell.judge)
    pairs = choose_pairs(world, cell)
    every = len(list_pairs(world, cell.measure, cell.best, cell.others, cell.seed))
    name = zlib.crc32(f"{cell.measure} {cell.design} {cell.frame} {cell.size} {cell.resampled}".encode())
    rows = []
    for number in range(block * BLOCK, (block + 1) * BLOCK) if pairs else ():
        rng = np.random.default_rng([cell.seed, name, number])
        pair = pairs[number % len(pairs)]
        rows.append(compare_once(world, cell, pair.turn() if rng.random() < 0.5 else pair, rng))
    frame = pl.DataFrame(rows, schema=SCHEMA).with_columns(pl.col(pl.Float64).round(9))
    return {"pairs": len(pairs), "left_out": every - len(pairs), "rows": frame.to_dict(as_series=False)}


def _score(world: World, graded: kt.Judgments, measure: str) -> FloatArray:
    """Mean scores over the world's topics, (system,)."""
    return np.asarray(kt.score(world.runs, graded, measure).value[0].mean(axis=0))


def _copy_topics(frame: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    return copies.join(frame, on="topic", maintain_order="left_right").drop("topic").rename({"copy": "topic"})


def _value(estimate: kt.stats.Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
