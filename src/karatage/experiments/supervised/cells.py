"""The cells of the s-AWARE experiment: k-tuples of judges with a split of gold, and how close to gold they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from karatage.aggregation.registry import NamedModel, merge
from karatage.approaches.downstream import weigh_telling
from karatage.approaches.evidence import Panel, compare_with_shuffled, draw_random
from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.checks import AMOUNT, CORRELATION, COUNT, NUMBER, TEXT, Column, maybe
from karatage.data.judgments import Judgments, match_gold
from karatage.data.note import Note
from karatage.data.partition import Partition, assemble_judges
from karatage.errors import OptionError
from karatage.experiments.collection import WHOLE, Collection, align_runs, fingerprint
from karatage.experiments.engine import Cell, Finding, Key, TableRule, frame_rows
from karatage.experiments.notes import tell
from karatage.experiments.supervised.plan import (
    TAUGHT_ON_DOCUMENTS,
    Configuration,
    Place,
    Split,
    SupervisedPlan,
    draw_split,
)
from karatage.experiments.tuples import draw_tuples, list_blocks, rate_leaderboards
from karatage.measures.registry import ceiling, parse_measure
from karatage.measures.scoring import score_aligned, score_grades, score_packed
from karatage.merging.estimators import (
    OWN_REPLICATES,
    Estimator,
    SupervisedEstimator,
    fill_unseen,
    list_compared,
    merge_scores,
    normalise,
    weigh_by_gold,
)
from karatage.merging.gaps import Gap, Gaps, measure_gaps
from karatage.random_streams import stream
from karatage.simulation.panel import partition_judges

BLOCK = 25  # samples to a cell, which then takes seconds
Named = tuple[str, str]  # approach and measure
RandomScores = Mapping[str, Mapping[str, FloatArray]]  # measure -> class -> (replicate, topic, system)
OUTCOMES = ("tau_ap", "tau", "rmse")
RATED = {
    "sample": COUNT,
    "measure": TEXT,
    "approach": TEXT,
    "tau_ap": CORRELATION,
    "tau": CORRELATION,
    "rmse": AMOUNT,
    "topics": COUNT,  # evaluated
    "unseen": COUNT,  # judges, or people, without documents in the training topics
}
# A row with a topic `without` has the tau_ap of the leaderboard without this test topic.
CELL = {"without": maybe(COUNT), **RATED, **dict.fromkeys(("tau", "rmse"), maybe(NUMBER))}
PLACES = {**dict.fromkeys(Place._fields, TEXT), "size": Column("int64", 1)}
SAMPLES = TableRule({**PLACES, **RATED}, (*PLACES, "measure", "sample", "approach"))


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """What all k-tuples share: systems, gold on the documents that some judge graded, random judges."""

    alignment: Alignment
    gold: Judgments
    grade: GradeArray  # (item,) gold's, -1 for documents that are not used
    topics: LongArray  # that some run has, with documents that are used
    ceiling: Mapping[str, float]  # measure -> the highest possible score
    value: Mapping[str, FloatArray]  # measure -> (topic, system), gold's scores, scaled to [0, 1]
    random: RandomScores

    @staticmethod
    def of(
        alignment: Alignment, gold: Judgments, panel: Judgments, plan: SupervisedPlan, like: Ground | None = None
    ) -> Ground:
        """Score gold, and random judges if some approach needs them.

        `like` is another panel's, of the same systems; if the same documents are used, it is returned.
        """
        graded = np.zeros(len(gold.item_topic), bool)
        graded[panel.item] = True
        known = gold.keep_rows(graded[gold.item])
        pool = match_gold(known, known) >= 0
        if like is not None and np.array_equal(like.grade >= 0, pool):
            return like
        depth = alignment.ranked.shape[2]
        highest = {name: ceiling(parse_measure(name), depth, gold.top_grade) for name in plan.measures}
        scored = score_aligned(alignment, known, plan.measures)
        counted = np.bincount(known.item_topic[known.item], minlength=len(known.topics)) > 0
        compared = any(isinstance(way, Estimator) and not way.own for way in plan.ways.values())
        return Ground(
            alignment=alignment,
            gold=known,
            grade=match_gold(known, known),
            topics=alignment.retrieved_topics[counted[alignment.retrieved_topics]],
            ceiling=highest,
            value={name: scores.value[0] / highest[name] for name, scores in scored.items()},
            random=_score_random(alignment, pool, plan) if compared else {},
        )


def _score_random(alignment: Alignment, pool: BoolArray, plan: SupervisedPlan) -> RandomScores:
    """As `approaches.evidence` draws them, but stored, so that all samples are compared with the same ones."""
    _, classes = list_compared(way for way in plan.ways.values() if isinstance(way, Estimator) and not way.own)
    drawn = draw_random(classes, len(pool), plan.replicates, plan.seed)
    found: dict[str, dict[str, FloatArray]] = {name: {} for name in plan.measures}
    for kind, bits in drawn.items():
        graded = np.where(pool[:, None], bits, 0).astype(np.uint8)
        scored = score_packed(alignment, graded, slice(0, plan.replicates), plan.measures, top_grade=1)
        for name, value in scored.items():
            found[name][kind] = value
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Judges:
    """Judges from whom k-tuples are drawn, with everything that does not depend on the split of gold."""

    said: GradeArray  # (item, judge), -1 where there is no grade
    person: IntArray  # (item, judge) who gave the grade, -1 where there is none
    people: int
    value: Mapping[str, FloatArray]  # measure -> (judge, topic, system), on all documents, scaled to [0, 1]
    present: BoolArray  # (judge, topic)
    weight: Mapping[Named, FloatArray]  # (judge, topic), of approaches that need no gold

    @staticmethod
    def of(ground: Ground, parts: Sequence[Partition], plan: SupervisedPlan) -> Judges:
        """The judges of all partitions of the same people."""
        said, person = zip(*map(_spread, parts), strict=True)
        judgments = collect(ground.gold, np.hstack(said))
        scores = score_aligned(ground.alignment, judgments, plan.measures)
        panel = Panel.of(ground.alignment, judgments, scores, seed=plan.seed)
        return Judges(
            said=np.hstack(said),
            person=np.hstack(person),
            people=len(parts[0].people),
            value=panel.value,
            present=panel.present,
            weight=_weigh_unsupervised(ground, panel, plan),
        )


def _spread(part: Partition) -> tuple[GradeArray, IntArray]:
    """Grades and who gave them, (item, judge)."""
    given = part.judgments
    shape = len(given.item_topic), len(given.judges)
    said, person = np.full(shape, -1, np.int8), np.full(shape, -1, np.int32)
    said[given.item, given.judge] = given.grade
    person[given.item, given.judge] = part.person
    return said, person


def collect(like: Judgments, said: GradeArray) -> Judgments:
    """Grades (item, judge) as judgments over the items of `like`."""
    item, judge = np.nonzero(said >= 0)
    names = tuple(map(str, range(said.shape[1])))
    return _over_items(like, names, judge.astype(np.int32), item.astype(np.int32), said[item, judge])


def _over_items(
    like: Judgments, judges: tuple[str, ...], judge: IntArray, item: IntArray, grade: GradeArray
) -> Judgments:
    return replace(
        like, judges=judges, judge=judge, item=item, grade=grade, draw=None, top_grade=1, notes=(), with_repeats=None
    )


def _weigh_unsupervised(ground: Ground, panel: Panel, plan: SupervisedPlan) -> dict[Named, FloatArray]:
    """Weights by the distance from random judges, or from judges' own shuffled grades; they do not depend on gold."""
    estimators = {name: way for name, way in plan.ways.items() if isinstance(way, Estimator)}
    found: dict[bool, dict[str, Gaps]] = {}
    for own in {estimator.own for estimator in estimators.values()}:
        gaps, _ = list_compared(estimator for estimator in estimators.values() if estimator.own == own)
        if own:
            found[own] = compare_with_shuffled(panel, gaps, min(plan.replicates, OWN_REPLICATES))
        else:
            found[own] = {name: _compare_with_random(ground, panel, name, gaps) for name in plan.measures}
    weighed = {}
    for name, estimator in estimators.items():
        for measure in plan.measures:
            near, value = found[estimator.own][measure], panel.value[measure]
            weighed[name, measure], _ = weigh_telling(estimator, near, value, panel.present)
    return weighed


def _compare_with_random(ground: Ground, panel: Panel, measure: str, gaps: frozenset[Gap]) -> Gaps:
    kept, classes = ground.alignment.retrieved_topics, ground.random[measure]
    single = {gap: np.zeros((len(panel.present), len(classes))) for gap in gaps}
    by_topic = {gap: np.full((*panel.present.shape, len(classes)), np.nan) for gap in gaps}
    for number, others in enumerate(classes.values()):
        scaled = others[:, kept] / ground.ceiling[measure]
        near = measure_gaps(panel.value[measure][:, kept], panel.telling(measure)[:, kept], scaled, gaps)
        for gap, distance in near.items():
            single[gap][:, number] = distance.single
            by_topic[gap][:, kept, number] = distance.by_topic
    return Gaps(tuple(classes), single, by_topic)


class Taught(NamedTuple):
    """Weights of a k-tuple's judges, and how many of them, or of their people, have no documents with gold."""

    weight: FloatArray  # (judge, topic)
    unseen: int


def teach(
    ground: Ground, judges: Judges, members: LongArray, training: BoolArray, plan: SupervisedPlan
) -> dict[Named, Taught]:
    """Weights by closeness to gold on the training topics, for every supervised approach and measure [SAWARE20].

    Approaches with `sub` weight people, on the documents that each of them graded.
    """
    found: dict[Named, Taught] = {}
    estimators = {name: way for name, way in plan.ways.items() if isinstance(way, SupervisedEstimator)}
    for sub in {estimator.sub for estimator in estimators.values()}:
        lesson = (_teach_people if sub else _teach_judges)(ground, judges, members, training, plan.measures)
        mine = {name: estimator for name, estimator in estimators.items() if estimator.sub == sub}
        for measure in plan.measures:
            # Powers of one gap need only one comparison with gold.
            near = {gap: lesson.compare(gap, measure) for gap in {e.gap for e in mine.values()}}
            for name, estimator in mine.items():
                found[name, measure] = lesson.weigh(near[estimator.gap] ** estimator.power)
    return found


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Learners (judges or people) and gold on the training topics, and the learners' parts in the k-tuple."""

    own: Mapping[str, FloatArray]  # measure -> (learner, topic, system)
    gold: Mapping[str, FloatArray]  # measure -> (topic, system), or as `own`
    shared: BoolArray  # (learner, topic)
    parts: FloatArray  # (member, learner, topic), with sum 1 over learners where a member has grades
    training: BoolArray

    def compare(self, gap: Gap, measure: str) -> FloatArray:
        """How close learners are to gold, NaN for those without documents with gold."""
        return weigh_by_gold(SupervisedEstimator(gap, 1), self.own[measure], self.gold[measure], self.shared)

    def weigh(self, near: FloatArray) -> Taught:
        """A member's weight in a topic is the mean over its learners, weighted by how many documents each graded."""
        asked = self.parts[:, :, ~self.training].any(axis=(0, 2))
        return Taught(np.einsum("l,mlt->mt", fill_unseen(near), self.parts), int(np.isnan(near[asked]).sum()))


def _teach_judges(
    ground: Ground, judges: Judges, members: LongArray, training: BoolArray, measures: Sequence[str]
) -> _Lesson:
    own = {name: judges.value[name][members] for name in measures}
    parts = np.repeat(np.eye(len(members))[:, :, None], len(training), axis=2)
    return _Lesson(own, ground.value, judges.present[members] & training, parts, training)


def _teach_people(
    ground: Ground, judges: Judges, members: LongArray, training: BoolArray, measures: Sequence[str]
) -> _Lesson:
    """People compared with gold on the documents that each graded for the k-tuple in training topics."""
    person, said, topic = judges.person[:, members], judges.said[:, members], ground.gold.item_topic
    item, member = np.nonzero((person >= 0) & (training[topic] & (ground.grade >= 0))[:, None])
    # One row for each item and person, in this order, even if a person graded it for two members.
    _, row = np.unique(item * np.int64(judges.people) + person[item, member], return_index=True)
    item, member = item[row], member[row]
    names = tuple(map(str, range(judges.people)))
    own = _over_items(ground.gold, names, person[item, member], item.astype(np.int32), said[item, member])
    alignment = ground.alignment.only(ground.topics[training[ground.topics]])
    theirs = score_aligned(alignment, own, measures)
    golds = score_aligned(alignment, replace(own, grade=ground.grade[item]), measures)
    counts = np.zeros((len(members), judges.people, len(training)))
    item, member = np.nonzero(person >= 0)
    np.add.at(counts, (member, person[item, member], topic[item]), 1.0)
    return _Lesson(
        {name: scores.value / ground.ceiling[name] for name, scores in theirs.items()},
        {name: scores.value / ground.ceiling[name] for name, scores in golds.items()},
        theirs[measures[0]].judged & np.isin(np.arange(len(training)), ground.topics),
        counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0),
        training,
    )


class Sample(NamedTuple):
    """One draw: its number, its judges, and the gold for training."""

    number: int
    members: LongArray
    split: Split


def rate_samples(ground: Ground, judges: Judges, samples: Sequence[Sample], plan: SupervisedPlan) -> pl.DataFrame:
    """A row for each sample, measure and approach: how close its leaderboard is to gold's.

    Both are scored on documents and topics that no approach uses for training; all others count as not judged.
    Topics in which no member of the k-tuple graded such a document are left out.
    """
    sets = [_lay_out(ground, judges, sample, plan) for sample in samples]
    scored = score_grades(ground.alignment, np.hstack(sets), plan.measures, top_grade=1)
    rows: list[tuple[object, ...]] = []
    first = 0
    for sample, grades in zip(samples, sets, strict=True):
        here = slice(first, first + grades.shape[1])
        rows += _rate(ground, judges, sample, {name: scores.value[here] for name, scores in scored.items()}, plan)
        first = here.stop
    return frame_rows(rows, CELL)


def _lay_out(ground: Ground, judges: Judges, sample: Sample, plan: SupervisedPlan) -> GradeArray:
    """Grades (item, set): gold's, each member's, each model's; -1 if not evaluated or not graded by any judge."""
    said = judges.said[:, sample.members]
    judgments, graded = collect(ground.gold, said), (said >= 0).any(axis=1)
    columns = [ground.grade, *said.T]
    for name, way in plan.ways.items():
        if isinstance(way, NamedModel):
            rng = stream(plan.seed, f"supervised {name} {len(sample.members)} {sample.number}")
            columns.append(np.where(graded, _merge_grades(ground, judgments, sample.split, way, rng), np.int8(-1)))
    return np.where(sample.split.evaluated[:, None], np.stack(columns, axis=1), np.int8(-1))


def _merge_grades(
    ground: Ground, judgments: Judgments, split: Split, named: NamedModel, rng: np.random.Generator
) -> GradeArray:
    """The grades merged by a model, from all judgments of the k-tuple and its training gold."""
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
    present = np.zeros((len(sample.members), len(ground.alignment.topics)), bool)
    item, member = np.nonzero((judges.said[:, sample.members] >= 0) & sample.split.evaluated[:, None])
    present[member, ground.gold.item_topic[item]] = True
    where = np.flatnonzero(present.any(axis=0))
    if not len(where):
        return
    for measure in plan.measures:
        gold, others = value[measure][0], value[measure][1:]
        merged = dict(_merge_scores(judges, sample.members, measure, others, present, taught, plan))
        boards = np.stack([scores[where] for scores in merged.values()])
        near = rate_leaderboards(boards.mean(axis=1), gold[where].mean(axis=0))
        for n, name in enumerate(merged):
            unseen = taught[name, measure].unseen if (name, measure) in taught else 0
            found = float(near.tau_ap[n]), float(near.tau[n]), float(near.rmse[n])
            yield None, sample.number, measure, name, *found, len(where), unseen
        for topic in ground.topics[~sample.split.topics[ground.topics]]:
            left = where != topic
            if left.any():
                less = rate_leaderboards(boards[:, left].mean(axis=1), gold[where[left]].mean(axis=0)).tau_ap
                for name, near_gold in zip(merged, less.tolist(), strict=True):
                    yield int(topic), sample.number, measure, name, near_gold, None, None, int(left.sum()), 0


def _merge_scores(
    judges: Judges,
    members: LongArray,
    measure: str,
    value: FloatArray,
    present: BoolArray,
    taught: Mapping[Named, Taught],
    plan: SupervisedPlan,
) -> Iterator[tuple[str, FloatArray]]:
    """Scores (topic, system) of every approach, from those of the members and then of the models."""
    own, models = value[: len(members)], iter(value[len(members) :])
    for name, way in plan.ways.items():
        if isinstance(way, NamedModel):
            yield name, next(models)
            continue
        weight = np.ones(present.shape)
        if (name, measure) in taught:
            weight = taught[name, measure].weight
        elif (name, measure) in judges.weight:
            weight = judges.weight[name, measure][members]
        share, _ = normalise(np.where(present, weight, 0.0), present)
        yield name, merge_scores(own, share)


@dataclass(frozen=True, eq=False)
class Setting:
    """The data of a place; without judges, each sample makes them from the panel."""

    ground: Ground
    panel: Judgments
    judges: Judges | None
    sizes: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Settings:
    """The data that all cells share."""

    plan: SupervisedPlan
    collection: str
    digest: str
    notes: tuple[Note, ...]
    places: Mapping[Place, Setting]


def prepare(collection: Collection, plan: SupervisedPlan) -> Settings:
    """Every place, with its judges if they are the same for all samples; places left out are noted."""
    notes, places = [*collection.notes], {}
    for systems, alignment in align_runs(collection).items():
        notes += alignment.notes
        ground = None
        for name, panel in collection.panels.items():
            ground = Ground.of(alignment, collection.gold, panel, plan, like=ground)
            left = len(collection.gold.grade) - len(ground.gold.grade)
            notes += tell.when(left, "documents-ungraded", panel=name, documents=left)
            for configuration in _find_configurations(name, panel, plan, notes):
                place = Place(systems, name, configuration)
                places[place] = _make_setting(place, ground, panel, plan, notes)
    return Settings(plan, collection.name, fingerprint(collection), tuple(dict.fromkeys(notes)), places)


def _find_configurations(
    name: str, panel: Judgments, plan: SupervisedPlan, notes: list[Note]
) -> Iterator[Configuration]:
    for configuration in plan.configurations:
        if configuration == "partitioned" or _is_whole(panel):
            yield configuration
        elif "partitioned" in plan.configurations:
            notes.append(tell("partly-graded", panel=name))
        else:
            raise OptionError(f"panel '{name}': judges graded only parts of the pool; use partitioned ones")


def _is_whole(panel: Judgments) -> bool:
    graded = np.bincount(panel.judge, minlength=len(panel.judges))
    return bool((graded >= WHOLE * len(panel.item_topic)).all())


def _make_setting(place: Place, ground: Ground, panel: Judgments, plan: SupervisedPlan, notes: list[Note]) -> Setting:
    if place.configuration == "whole":
        part = Partition(judgments=panel, people=panel.judges, person=panel.judge)
    elif _is_whole(panel):
        return Setting(ground, panel, None, plan.find_sizes(place, len(panel.judges), notes))
    else:
        part = assemble_judges(panel)
        notes += (note for note in part.judgments.notes if note not in panel.notes)
    sizes = plan.find_sizes(place, len(part.judgments.judges), notes)
    return Setting(ground, panel, Judges.of(ground, [part], plan), sizes)


def list_cells(settings: Settings) -> Iterator[Cell]:
    """Blocks of samples; their results depend on the seed and the samples' numbers, not on the block."""
    plan = settings.plan
    decides = ("measures", "samples", "replicates", "training", "people", "teams", "seed", "ways")
    about: Key = {name: repr(getattr(plan, name)) for name in decides}
    for place, setting in settings.places.items():
        for size in setting.sizes:
            for first, last in list_blocks(plan.samples, BLOCK):
                here: Key = {**place._asdict(), "size": size, "first": first, "last": last}
                yield Cell(
                    name=f"{'-'.join(place)} size={size} {first + 1}-{last}",
                    key={"collection": settings.digest, **about, **here},
                    work=partial(try_block, place, size, range(first, last)),
                )


def try_block(place: Place, size: int, numbers: Sequence[int], settings: Settings) -> Finding:
    """How close every approach is to gold in some samples of a place and size."""
    plan, setting = settings.plan, settings.places[place]
    ground, judges = setting.ground, setting.judges
    if judges is None:
        named = {number: stream(plan.seed, f"supervised people {size} {number}") for number in numbers}
        parts = [
            partition_judges(setting.panel, judges=size, people=plan.people, teams=plan.teams, rng=rng)
            for rng in named.values()
        ]
        judges = Judges.of(ground, parts, plan)
        chosen = np.arange(len(numbers) * size).reshape(-1, size)
    else:
        found = draw_tuples(judges.said.shape[1], [size], plan.samples, plan.seed)[size]
        chosen = found[np.array(numbers) % len(found)]  # if there are fewer, they are repeated
    samples = [
        Sample(number, members, _draw_split(ground, size, number, plan))
        for number, members in zip(numbers, chosen, strict=True)
    ]
    return Finding(rate_samples(ground, judges, samples, plan))


def _draw_split(ground: Ground, size: int, number: int, plan: SupervisedPlan) -> Split:
    """The split of a sample depends on the seed, its size and number alone, not on the judges."""
    rng = stream(plan.seed, f"supervised split {size} {number}")
    return draw_split(ground.gold.item_topic, ground.grade >= 0, ground.topics, plan.training, rng)
