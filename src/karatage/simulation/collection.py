"""Simulated collections: systems, topics, gold and judges, with known true scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from karatage.data.axes import BoolArray, Coded, FloatArray, GradeArray, LongArray, freeze
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import OptionError
from karatage.random_streams import generator
from karatage.simulation.profiles import THRESHOLDS, TOPIC_SPREAD, CollectionShape, JudgeProfile, SystemProfile

USUAL = CollectionShape()


@dataclass(frozen=True, eq=False)
class World:
    """A collection whose truth is known."""

    runs: Runs
    judgments: Judgments  # of the pool
    gold: Judgments  # of all documents
    pool: Judgments  # gold of the documents in the pool
    quality: FloatArray  # (system,) weight of a document's relevance in its score, beside noise of 1
    difficulty: FloatArray  # (topic,) noise of all systems, 1 on average

    def __post_init__(self) -> None:
        """Protect the arrays."""
        freeze(self.quality, self.difficulty)

    @property
    def systems(self) -> pl.DataFrame:
        """One row per system, best first: system, quality."""
        frame = pl.DataFrame({"system": self.runs.systems, "quality": self.quality})
        return frame.sort("quality", "system", descending=[True, False])

    @property
    def topics(self) -> pl.DataFrame:
        """One row per topic: topic, difficulty, documents and relevant ones, and how many of both are in the pool."""
        frame = pl.DataFrame({"topic": self.gold.topics, "difficulty": self.difficulty})
        kinds = (self.gold, "documents", "relevant"), (self.pool, "pooled", "pooled_relevant")
        for graded, documents, relevant in kinds:
            counts = {documents: pl.len(), relevant: (pl.col("grade") > 0).sum()}
            found = graded.to_frame().group_by("topic").agg(**counts)
            frame = frame.join(found, on="topic", how="left", maintain_order="left")
        return frame


PANEL = (
    JudgeProfile("careful-1", noise=0.3),
    JudgeProfile("careful-2", noise=0.35),
    JudgeProfile("careful-3", noise=0.4, leniency=-0.2),
    JudgeProfile("crowd-1", noise=0.7),
    JudgeProfile("crowd-2", noise=0.8, leniency=0.3),
    JudgeProfile("crowd-3", noise=0.9, random=0.1),
    JudgeProfile("llm-large", noise=0.4, leniency=0.5),
    JudgeProfile("llm-small", noise=0.6, leniency=0.8, random=0.1),
    JudgeProfile("spammer", random=1.0),
)


def simulate_collection(
    *,
    systems: int | Sequence[SystemProfile] = 12,
    topics: int = 40,
    depth: int = 50,
    judges: Sequence[JudgeProfile] = PANEL,
    shape: CollectionShape = USUAL,
    rng: int | np.random.Generator | None = None,
) -> World:
    """Make a collection.

    Each document has a latent relevance for its topic, cut into gold grades 0-3. A system sees it with noise that falls
    with the system's quality and grows with the topic's difficulty. A judge sees it with an error shared by all judges,
    a separate error, and a leniency, and cuts likewise. Judges see the pool only.

    Args:
        systems: How many systems, without taste and with names that do not show their quality; or their profiles.
        topics: How many.
        depth: Documents that each system retrieves for a topic.
        judges: Who grades the documents of the pool.
        shape: Documents of a topic, pool, share of relevant documents, range of quality, spread of difficulty, error
            that judges share. The pool alone changes neither runs nor gold.
        rng: Seed or generator.
    """
    count = systems if isinstance(systems, int) else len(systems)
    if min(count, topics, depth, len(judges)) < 1:
        raise OptionError("a collection needs at least one system, topic, judge and rank")
    if not isinstance(systems, int) and len({system.name for system in systems}) < count:
        raise OptionError("two systems have the same name; give each a different one")
    documents = _count_documents(shape, depth)
    source = generator(rng)
    relevance = source.normal(0.0, 1.0, (topics, documents)) + source.normal(
        shape.topic_mean, TOPIC_SPREAD, (topics, 1)
    )
    gold = _cut(relevance)
    liking = source.normal(0.0, 1.0, relevance.shape)  # what all judges see in a document beyond its relevance
    grades = _judge(relevance + shape.shared * liking, judges, source)
    noise = source.normal(0.0, 1.0, (count, topics, documents))
    difficulty = _draw_difficulty(shape.difficulty, topics, source)
    ranking = _profile(count, shape.quality, source) if isinstance(systems, int) else systems
    score = _score(ranking, relevance, noise, liking, difficulty)
    best = np.argsort(-score, axis=2)[:, :, :depth]
    names = _Names(
        systems=[system.name for system in ranking],
        topics=[str(101 + t) for t in range(topics)],
        documents=[f"doc-{t:03d}-{d:03d}" for t in range(topics) for d in range(documents)],
    )
    pooled = _pool(best, shape.pool, documents)
    runs = _runs(score, best, names)
    quality = {system.name: system.quality for system in ranking}
    return World(
        runs=runs,
        judgments=_judgments(grades, [j.name for j in judges], names, pooled),
        gold=_judgments(gold[None], ["gold"], names, np.ones_like(pooled)),
        pool=_judgments(gold[None], ["gold"], names, pooled),
        quality=np.array([quality[name] for name in runs.systems]),
        difficulty=difficulty,
    )


@dataclass(frozen=True, eq=False)
class _Names:
    """What the axes are called; documents topic after topic."""

    systems: list[str]
    topics: list[str]
    documents: list[str]


def _count_documents(shape: CollectionShape, depth: int) -> int:
    documents = 2 * depth if shape.documents is None else shape.documents
    if documents < depth:
        raise OptionError(f"{documents:,} documents a topic do not fill rankings of {depth:,}; ask for more documents")
    if shape.pool is not None and not 1 <= shape.pool <= depth:
        raise OptionError(f"a pool of {shape.pool:,} ranks cannot be made from rankings of {depth:,}; give 1-{depth}")
    return documents


def _draw_difficulty(spread: float, topics: int, source: np.random.Generator) -> FloatArray:
    return source.gamma(spread**-2, spread**2, topics) if spread else np.ones(topics)


def _cut(relevance: FloatArray) -> GradeArray:
    return np.searchsorted(THRESHOLDS, relevance).astype(np.int8)


def _profile(count: int, quality: tuple[float, float], source: np.random.Generator) -> list[SystemProfile]:
    worst, best = quality
    names = [f"system-{k:02d}" for k in source.permutation(count) + 1]
    return [SystemProfile(n, q) for n, q in zip(names, np.linspace(best, worst, count).tolist(), strict=True)]


def _score(
    systems: Sequence[SystemProfile],
    relevance: FloatArray,
    noise: FloatArray,
    liking: FloatArray,
    difficulty: FloatArray,
) -> FloatArray:
    """Scores (system, topic, document)."""
    quality = np.array([system.quality for system in systems])[:, None, None]
    taste = np.array([system.taste for system in systems])[:, None, None]
    noise = np.sqrt(1 - taste**2) * noise + taste * liking
    score: FloatArray = quality * relevance + noise * difficulty[:, None]
    return score


def _judge(relevance: FloatArray, judges: Sequence[JudgeProfile], source: np.random.Generator) -> GradeArray:
    grades = np.empty((len(judges), *relevance.shape), np.int8)
    for k, judge in enumerate(judges):
        seen = relevance + source.normal(0.0, 1.0, relevance.shape) * judge.noise + judge.leniency
        careless = source.random(relevance.shape) < judge.random
        grades[k] = np.where(careless, source.integers(0, len(THRESHOLDS) + 1, relevance.shape), _cut(seen))
    return grades


def _pool(best: LongArray, depth: int | None, documents: int) -> BoolArray:
    """Which documents are judged, (topic, document)."""
    topics = best.shape[1]
    pooled = np.full((topics, documents), depth is None)
    if depth is not None:
        pooled[np.arange(topics)[:, None], best[:, :, :depth]] = True
    return pooled


def _runs(score: FloatArray, best: LongArray, names: _Names) -> Runs:
    system, topic = np.indices(best.shape)[:2]
    return Runs.build(
        system=_code(system, names.systems),
        topic=_code(topic, names.topics),
        document=_code(topic * score.shape[2] + best, names.documents),
        score=np.take_along_axis(score, best, axis=2).ravel(),
    )


def _judgments(grades: GradeArray, judges: list[str], names: _Names, pooled: BoolArray) -> Judgments:
    seen = np.broadcast_to(pooled, grades.shape)
    judge, topic, document = np.nonzero(seen)
    return Judgments.build(
        judge=_code(judge, judges),
        topic=_code(topic, names.topics),
        document=_code(topic * grades.shape[2] + document, names.documents),
        grade=grades[seen],
        top_grade=len(THRESHOLDS),
    )


def _code(number: NDArray[np.integer], names: list[str]) -> Coded:
    """Numbers as a column of the names that occur."""
    used, code = np.unique(number, return_inverse=True)
    return Coded.sorting(code.ravel().astype(np.int32), pl.Series("name", names, dtype=pl.String).gather(used))


SYSTEMS = (SystemProfile("old"), SystemProfile("new", taste=0.35), SystemProfile("newer", quality=1.9))
JUDGES = (
    JudgeProfile("llm-a", noise=0.4, leniency=0.2),
    JudgeProfile("llm-b", noise=0.5, leniency=0.4),
    JudgeProfile("llm-c", noise=0.6, leniency=0.3),
)
SHAPE = CollectionShape(documents=100, pool=10, shared=0.4)
TOPICS, DEPTH = 60, 20


def simulate_story(rng: int | np.random.Generator | None = None) -> World:
    """Three versions of a search, three LLM-like judges with correlated errors, and the truth.

    `new` ranks as well as `old` does, and retrieves more documents that the judges overrate; `newer` ranks better.

    Args:
        rng: Seed or generator.
    """
    return simulate_collection(systems=SYSTEMS, topics=TOPICS, depth=DEPTH, judges=JUDGES, shape=SHAPE, rng=rng)
