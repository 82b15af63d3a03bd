"""A simulated test collection: systems of known quality, topics of varying difficulty, judges who err."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karatage.data.axes import Coded, FloatArray, GradeArray
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.errors import OptionError
from karatage.seeding import generator

THRESHOLDS = np.array([0.8, 1.4, 2.0])  # of latent relevance, for grades 1, 2, 3


@dataclass(frozen=True, eq=False)
class World:
    """A collection whose truth is known."""

    runs: Runs
    judgments: Judgments
    gold: Judgments


@dataclass(frozen=True)
class JudgeProfile:
    """How a simulated judge errs: own noise, leniency, and share of grades given at random."""

    name: str
    noise: float = 0.5
    leniency: float = 0.0
    random: float = 0.0


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
    systems: int = 12,
    topics: int = 40,
    depth: int = 50,
    judges: Sequence[JudgeProfile] = PANEL,
    rng: int | np.random.Generator | None = None,
) -> World:
    """Make a collection.

    Each document has a latent relevance for its topic, cut into gold grades 0-3. A system sees it through noise
    that falls with the system's quality; a judge sees it through an error shared by all judges, one of its own,
    and a leniency, and cuts likewise.
    """
    if min(systems, topics, depth, len(judges)) < 1:
        raise OptionError("a collection needs at least one system, topic, judge and rank")
    source = generator(rng)
    pool = 2 * depth
    relevance = source.normal(0.0, 1.0, (topics, pool)) + source.normal(-0.3, 0.3, (topics, 1))
    gold = _cut(relevance)
    grades = _judge(relevance, judges, source)
    quality = np.linspace(1.6, 0.8, systems)
    noise = source.normal(0.0, 1.0, (systems, topics, pool)) * source.gamma(4.0, 0.25, (1, topics, 1))
    score = quality[:, None, None] * relevance + noise
    topic_names = [str(101 + t) for t in range(topics)]
    document_names = [f"doc-{t:03d}-{d:03d}" for t in range(topics) for d in range(pool)]
    return World(
        runs=_runs(score, depth, topic_names, document_names, source),
        judgments=_judgments(grades, [j.name for j in judges], topic_names, document_names),
        gold=_judgments(gold[None], ["gold"], topic_names, document_names),
    )


def _cut(relevance: FloatArray) -> GradeArray:
    return np.searchsorted(THRESHOLDS, relevance).astype(np.int8)


def _judge(relevance: FloatArray, judges: Sequence[JudgeProfile], source: np.random.Generator) -> GradeArray:
    shared = source.normal(0.0, 0.3, relevance.shape)
    grades = np.empty((len(judges), *relevance.shape), np.int8)
    for k, judge in enumerate(judges):
        seen = relevance + shared + source.normal(0.0, 1.0, relevance.shape) * judge.noise + judge.leniency
        careless = source.random(relevance.shape) < judge.random
        grades[k] = np.where(careless, source.integers(0, len(THRESHOLDS) + 1, relevance.shape), _cut(seen))
    return grades


def _runs(score: FloatArray, depth: int, topics: list[str], documents: list[str], source: np.random.Generator) -> Runs:
    systems, _, pool = score.shape
    best = np.argsort(-score, axis=2)[:, :, :depth]
    system, topic, _ = np.indices(best.shape)
    names = [f"system-{k:02d}" for k in source.permutation(systems) + 1]
    return Runs.build(
        system=Coded.of([names[k] for k in system.ravel()]),
        topic=Coded.of([topics[t] for t in topic.ravel()]),
        document=Coded.of([documents[k] for k in (topic * pool + best).ravel()]),
        score=np.take_along_axis(score, best, axis=2).ravel(),
    )


def _judgments(grades: GradeArray, judges: list[str], topics: list[str], documents: list[str]) -> Judgments:
    judge, topic, document = np.indices(grades.shape)
    pool = grades.shape[2]
    return Judgments.build(
        judge=Coded.of([judges[k] for k in judge.ravel()]),
        topic=Coded.of([topics[t] for t in topic.ravel()]),
        document=Coded.of([documents[k] for k in (topic * pool + document).ravel()]),
        grade=grades.ravel(),
        top_grade=len(THRESHOLDS),
    )
