"""Samples of the s-AWARE experiment: a k-tuple of judges and a split of gold each, and how near to gold it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import NamedModel, merge
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.judgments import Judgments
from karatage.experiments.supervised.judges import Ground, Judges, Named, Taught, collect, teach
from karatage.experiments.supervised.plan import TAUGHT_ON_DOCUMENTS, Split, SupervisedPlan, draw_split
from karatage.experiments.tuples import rate_leaderboards
from karatage.measures.scoring import score_grades
from karatage.merging.estimators import merge_scores, normalise
from karatage.random_streams import stream

SCHEMA = {
    "sample": pl.Int64,
    "measure": pl.String,
    "approach": pl.String,
    "tau_ap": pl.Float64,
    "tau": pl.Float64,
    "rmse": pl.Float64,
    "topics": pl.Int64,  # evaluated
    "unseen": pl.Int64,  # judges, or people, of whom the training topics say nothing
}


class Sample(NamedTuple):
    """One draw: its number, its judges, and what it may learn from."""

    number: int
    members: LongArray
    split: Split


def draw_splits(ground: Ground, k: int, numbers: Sequence[int], plan: SupervisedPlan) -> list[Split]:
    """What samples may learn from, by the seed, k and the sample's number alone: the same whoever judges."""
    pool, topic = ground.grade >= 0, ground.gold.item_topic
    return [
        draw_split(topic, pool, ground.topics, plan.training, stream(plan.seed, f"supervised split {k} {number}"))
        for number in numbers
    ]


def rate_samples(ground: Ground, judges: Judges, samples: Sequence[Sample], plan: SupervisedPlan) -> pl.DataFrame:
    """A row for each sample, measure and approach: how near its leaderboard comes to gold's.

    Both are scored on the documents that teach no approach, in topics that teach none; all others count as not judged.
    Topics where none of the k-tuple graded such a document are left out.
    """
    sets = [_lay_out(ground, judges, sample, plan) for sample in samples]
    scored = score_grades(ground.alignment, np.hstack(sets), plan.measures, top_grade=1)
    rows: list[tuple[object, ...]] = []
    first = 0
    for sample, grades in zip(samples, sets, strict=True):
        here = slice(first, first + grades.shape[1])
        rows += _rate(ground, judges, sample, {name: scores.value[here] for name, scores in scored.items()}, plan)
        first = here.stop
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _lay_out(ground: Ground, judges: Judges, sample: Sample, plan: SupervisedPlan) -> GradeArray:
    """Grades (item, set): gold's, each member's, each model's; -1 for what is not evaluated, or nobody graded."""
    said = judges.said[:, sample.members]
    judgments, heard = collect(ground.gold, said), (said >= 0).any(axis=1)
    columns = [ground.grade, *said.T]
    for name, way in plan.ways.items():
        if isinstance(way, NamedModel):
            rng = stream(plan.seed, f"supervised {name} {len(sample.members)} {sample.number}")
            columns.append(np.where(heard, _merge_grades(ground, judgments, sample.split, way, rng), np.int8(-1)))
    return np.where(sample.split.evaluated[:, None], np.stack(columns, axis=1), np.int8(-1))


def _merge_grades(
    ground: Ground, judgments: Judgments, split: Split, named: NamedModel, rng: np.random.Generator
) -> GradeArray:
    """The grades that a model decides on, from all judgments of the k-tuple and the gold it may see."""
    supervision = named.supervision or ("full" if named.needs_gold else "none")
    if supervision == "none":
        return merge(named, judgments, rng=rng).grades
    gold = ground.gold
    by_document = named.name.partition("(")[0] == TAUGHT_ON_DOCUMENTS
    known = split.documents if by_document else split.topics[gold.item_topic]
    return merge(named, judgments, gold=gold.keep_rows(known[gold.item]), supervision=supervision, rng=rng).grades


def _rate(
    ground: Ground, judges: Judges, sample: Sample, value: Mapping[str, FloatArray], plan: SupervisedPlan
) -> Iterator[tuple[object, ...]]:
    """Rows of one sample, from the scores (set, topic, system) of its evaluated documents."""
    taught = teach(ground, judges, sample.members, sample.split.topics, plan)
    heard = _find_heard(ground, judges.said[:, sample.members], sample.split.evaluated)
    where = np.flatnonzero(heard.any(axis=0))
    if not len(where):
        return
    for measure in plan.measures:
        gold, others = value[measure][0], value[measure][1:]
        merged = dict(_merge_scores(judges, sample.members, measure, others, heard, taught, plan))
        boards = np.stack([scores[where].mean(axis=0) for scores in merged.values()])
        near = rate_leaderboards(boards, gold[where].mean(axis=0))
        for n, name in enumerate(merged):
            unseen = taught[name, measure].unseen if (name, measure) in taught else 0
            found = float(near.tau_ap[n]), float(near.tau[n]), float(near.rmse[n])
            yield sample.number, measure, name, *found, len(where), unseen


def _find_heard(ground: Ground, said: GradeArray, evaluated: BoolArray) -> BoolArray:
    """Where a member graded something that is evaluated, (member, topic)."""
    heard = np.zeros((said.shape[1], len(ground.alignment.topics)), bool)
    item, member = np.nonzero((said >= 0) & evaluated[:, None])
    heard[member, ground.gold.item_topic[item]] = True
    return heard


def _merge_scores(
    judges: Judges,
    members: LongArray,
    measure: str,
    value: FloatArray,
    heard: BoolArray,
    taught: Mapping[Named, Taught],
    plan: SupervisedPlan,
) -> Iterator[tuple[str, FloatArray]]:
    """Scores (topic, system) of every approach, from those of the members and then of the models."""
    own, models = value[: len(members)], iter(value[len(members) :])
    for name, way in plan.ways.items():
        if isinstance(way, NamedModel):
            yield name, next(models)
            continue
        weight = np.ones(heard.shape)
        if (name, measure) in taught:
            weight = taught[name, measure].weight
        elif (name, measure) in judges.weight:
            weight = judges.weight[name, measure][members]
        share, _ = normalise(np.where(heard, weight, 0.0), heard)
        yield name, merge_scores(own, share)
