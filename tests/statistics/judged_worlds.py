"""Collections whose truth is known, with judges from usual to useless, and what the best guess makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

import karatage as kt
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray

THRESHOLDS = (0.8, 1.4, 2.0)
FAMILIES, KIN, DOCUMENTS, DEPTH = 5, 3, 80, 12
WORLDS: dict[str, tuple[str, float]] = {
    "usual": ("usual", 0.25),  # up to this correlation of a system's noise with what judges overrate
    "good": ("good", 0.15),
    "biased": ("usual", 0.95),
    "biased, else good": ("good", 0.95),
    "favoured +.1": ("favoured", 0.1),  # share of the system's documents that are graded too high
    "favoured +.2": ("favoured", 0.2),
    "favoured +.3": ("favoured", 0.3),
    "family +.2": ("family", 0.2),
    "copies": ("copies", 5),  # ranks of the system that judges call relevant
    "random": ("random", 0.0),
    "inverted": ("inverted", 0.0),
    "shrinking": ("shrinking", 0.4),  # share of documents that are graded by gold's grade
    "exaggerating": ("exaggerating", 1.5),  # weight of the number of good systems that show a document
    "perfect": ("perfect", 0.01),  # share of documents with a wrong grade
}


@dataclass(frozen=True, eq=False)
class World:
    """Rankings, gold and judges of many topics."""

    best: LongArray  # (system, topic, rank) documents
    gold: GradeArray  # (topic, document)
    said: GradeArray  # (topic, document)
    favoured: BoolArray  # (system,) by the judges

    @property
    def names(self) -> list[str]:
        return [f"s{k:02d}" for k in range(len(self.best))]

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row for each retrieved document."""
        system, topic, rank = np.indices(self.best.shape)
        names = pl.Series(self.names).gather(pl.Series(system.ravel()))
        document = topic.ravel() * DOCUMENTS + self.best.ravel()
        return pl.DataFrame(
            {"system": names, "topic": topic.ravel(), "document": document, "score": -rank.ravel() * 1.0}
        )

    def grades(self, topics: LongArray, grades: GradeArray) -> pl.DataFrame:
        """One row for each document of these topics."""
        topic, document = np.repeat(topics, DOCUMENTS), np.tile(np.arange(DOCUMENTS), len(topics))
        return pl.DataFrame(
            {"topic": topic, "document": topic * DOCUMENTS + document, "grade": grades[topics].ravel().astype(np.int64)}
        )

    def scores(self, measure: str) -> FloatArray:
        """By all of gold (topic, system), for P@10 and DCG@10."""
        place = self.best[:, :, :10]
        grade = self.gold[np.arange(self.gold.shape[0])[None, :, None], place].astype(float)
        if measure == "P@10":
            return np.asarray((grade > 0).mean(axis=2).T)
        return np.asarray((grade / np.log2(np.arange(2, 12))).sum(axis=2).T)


def make_world(name: str, seed: int, topics: int = 400) -> World:
    kind, strength = WORLDS[name]
    rng = np.random.default_rng(seed)
    systems, shape = FAMILIES * KIN, (topics, DOCUMENTS)
    relevance = rng.normal(0, 1, shape) + rng.normal(-0.3, 0.3, (topics, 1))
    gold = np.searchsorted(THRESHOLDS, relevance).astype(np.int8)
    liking = rng.normal(0, 1, shape)
    widest = strength if kind in ("usual", "good") else 0.25
    taste = rng.uniform(-widest, widest, systems)[:, None, None]
    quality = rng.permutation(np.linspace(0.8, 1.6, systems))[:, None, None]
    noise = np.repeat(rng.normal(0, 1, (FAMILIES, *shape)), KIN, axis=0) + rng.normal(0, 1, (systems, *shape))
    difficulty = rng.gamma(4, 0.25, (topics, 1))
    noise = np.sqrt(1 - taste**2) * noise / np.sqrt(2) + taste * liking
    best = np.argsort(-(quality * relevance + noise * difficulty), axis=2)[:, :, :DEPTH]
    errors = (0.2, 0.2, 0.1) if kind == "good" else (0.5, 0.3, 0.3)
    own, shared, lenient = errors
    seen = relevance + own * rng.normal(0, 1, shape) + shared * liking + lenient
    said = np.searchsorted(THRESHOLDS, seen).astype(np.int8)
    favoured = np.zeros(systems, bool)
    if kind in ("favoured", "family"):
        first = KIN * int(rng.integers(FAMILIES))
        favoured[first : first + (KIN if kind == "family" else 1)] = True
        shown = mark(best[favoured][:, :, :10], shape)
        free = shown & (said == 0)
        said[free & (rng.random(shape) < strength * shown.sum() / free.sum())] = 2
    elif kind == "copies":
        favoured[rng.integers(systems)] = True
        said = np.where(mark(best[favoured][:, :, : int(strength)], shape), 3, 0).astype(np.int8)
    elif kind == "random":
        said = rng.integers(0, 4, shape).astype(np.int8)
    elif kind == "inverted":
        said = (3 - said).astype(np.int8)
    elif kind == "shrinking":
        said = np.where(rng.random(shape) < strength, gold, rng.permuted(gold, axis=1)).astype(np.int8)
    elif kind == "exaggerating":
        popular = sum((q - 1.2) * mark(own[None, :, :10], shape) for q, own in zip(quality[:, 0, 0], best, strict=True))
        said = np.searchsorted(THRESHOLDS, seen + strength * popular).astype(np.int8)
    elif kind == "perfect":
        said = np.where(rng.random(shape) < strength, rng.integers(0, 4, shape), gold).astype(np.int8)
    return World(best, gold, said, favoured)


def mark(documents: LongArray, shape: tuple[int, int]) -> BoolArray:
    """Whether a document (topic, document) is among these (system, topic, rank)."""
    marked = np.zeros(shape, bool)
    for own in documents:
        np.put_along_axis(marked, own, True, axis=1)
    return marked


def judge(
    world: World, topics: LongArray, measure: str, labels: int, *, even: bool, seed: int
) -> tuple[kt.Runs, kt.Judgments, kt.Judgments]:
    """The runs and judges of these topics, and the gold that was drawn from them."""
    runs = kt.read_runs(world.frame.filter(pl.col("topic").is_in(topics.tolist())))
    judgments = kt.read_judgments(world.grades(topics, world.said).with_columns(judge=pl.lit("llm")))
    truth = world.grades(topics, world.gold)
    if even:
        shown = world.frame.filter(pl.col("topic").is_in(topics.tolist()) & (pl.col("score") > -10))
        pool = shown.select("topic", "document").unique(maintain_order=True)
        rows = pool.sample(labels, seed=seed).join(truth, on=["topic", "document"])
    else:
        queue = kt.plan(runs, judgments, kt.Question(measure=measure, seed=seed), budget=labels).queue
        keys = queue.with_columns(pl.col("topic", "document").cast(pl.Int64)).drop("grade")
        rows = keys.join(truth, on=["topic", "document"])
    return runs, judgments, kt.read_gold(rows)
