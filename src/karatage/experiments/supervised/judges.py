"""Judges of the s-AWARE experiment, whole or put together from people, and their weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from karatage.approaches.downstream import weigh_telling
from karatage.approaches.evidence import Panel, compare_with_shuffled
from karatage.data.alignment import Alignment, match_gold
from karatage.data.axes import BoolArray, FloatArray, GradeArray, IntArray, LongArray
from karatage.data.judgments import Judgments
from karatage.data.partition import Partition
from karatage.experiments.supervised.plan import SupervisedPlan
from karatage.measures.registry import ceiling, parse_measure
from karatage.measures.scoring import score_aligned, score_packed
from karatage.merging.estimators import OWN_REPLICATES, Estimator, SupervisedEstimator, fill_unseen, weigh_by_gold
from karatage.merging.gaps import Gap, Gaps, measure_gaps
from karatage.merging.random_judges import RandomJudges
from karatage.random_streams import stream

NOBODY = -1
Named = tuple[str, str]  # approach and measure
RandomScores = Mapping[str, Mapping[str, FloatArray]]  # measure -> class -> (replicate, topic, system)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """What does not change with the k-tuple: systems, gold on the documents that some judge graded, random judges."""

    alignment: Alignment
    gold: Judgments
    grade: GradeArray  # (item,) gold's, -1 for documents that do not count
    topics: LongArray  # that some run has, with documents that count
    ceiling: Mapping[str, float]  # measure -> the highest possible score
    value: Mapping[str, FloatArray]  # measure -> (topic, system), gold's scores brought to [0, 1]
    random: RandomScores

    @staticmethod
    def of(
        alignment: Alignment, gold: Judgments, panel: Judgments, plan: SupervisedPlan, like: Ground | None = None
    ) -> Ground:
        """Score gold, and random judges where some approach compares with them.

        `like` is another panel's, of the same systems; where the same documents count, it is the same.
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
    """As `approaches.evidence` draws them, but kept: judges put together later meet the same ones."""
    drawn = RandomJudges.draw(len(pool), plan.replicates, stream(plan.seed, "random judges"))
    found: dict[str, dict[str, FloatArray]] = {name: {} for name in plan.measures}
    for kind, bits in drawn.bits.items():
        graded = np.where(pool[:, None], bits, 0).astype(np.uint8)
        scored = score_packed(alignment, graded, slice(0, plan.replicates), plan.measures, top_grade=1)
        for name, value in scored.items():
            found[name][kind] = value
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Judges:
    """Judges that k-tuples are taken from, with all that is known of them before gold is split."""

    said: GradeArray  # (item, judge), -1 where there is no grade
    person: IntArray  # (item, judge) who said it, -1 where there is no grade
    people: int
    value: Mapping[str, FloatArray]  # measure -> (judge, topic, system), on all documents, brought to [0, 1]
    present: BoolArray  # (judge, topic)
    weight: Mapping[Named, FloatArray]  # (judge, topic), of approaches that need no gold

    @staticmethod
    def of(ground: Ground, parts: Sequence[Partition], plan: SupervisedPlan) -> Judges:
        """The judges of all partitions, which share their people, side by side."""
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
    said, person = np.full(shape, -1, np.int8), np.full(shape, NOBODY, np.int32)
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
    """Weights by the distance from random judges, or from judges' own grades shuffled; gold has no part in them."""
    estimators = {name: way for name, way in plan.ways.items() if isinstance(way, Estimator)}
    found: dict[bool, dict[str, Gaps]] = {}
    for own in {estimator.own for estimator in estimators.values()}:
        gaps = sorted({estimator.gap for estimator in estimators.values() if estimator.own == own})
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


def _compare_with_random(ground: Ground, panel: Panel, measure: str, gaps: Sequence[Gap]) -> Gaps:
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
    """Weights of a k-tuple's judges, and how many of them, or of their people, gold says nothing of."""

    weight: FloatArray  # (judge, topic)
    unseen: int


def teach(
    ground: Ground, judges: Judges, members: LongArray, training: BoolArray, plan: SupervisedPlan
) -> dict[Named, Taught]:
    """Weights by nearness to gold on the training topics, for every supervised approach and measure [SAWARE20].

    Approaches with `sub` weigh people, on the documents that each of them graded.
    """
    found: dict[Named, Taught] = {}
    estimators = {name: way for name, way in plan.ways.items() if isinstance(way, SupervisedEstimator)}
    for sub in {estimator.sub for estimator in estimators.values()}:
        lesson = (_teach_people if sub else _teach_judges)(ground, judges, members, training, plan.measures)
        mine = {name: estimator for name, estimator in estimators.items() if estimator.sub == sub}
        for measure in plan.measures:
            # Powers of one gap share its comparison with gold.
            near = {gap: lesson.compare(gap, measure) for gap in {e.gap for e in mine.values()}}
            for name, estimator in mine.items():
                found[name, measure] = lesson.weigh(near[estimator.gap] ** estimator.power)
    return found


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Learners, judges or people, beside gold on the training topics, and what part they have in the k-tuple."""

    own: Mapping[str, FloatArray]  # measure -> (learner, topic, system)
    gold: Mapping[str, FloatArray]  # measure -> (topic, system), or as `own`
    shared: BoolArray  # (learner, topic)
    parts: FloatArray  # (member, learner, topic), which sum to 1 over learners where a member has grades
    training: BoolArray

    def compare(self, gap: Gap, measure: str) -> FloatArray:
        """How near learners are to gold, NaN for those it says nothing of."""
        return weigh_by_gold(SupervisedEstimator(gap, 1), self.own[measure], self.gold[measure], self.shared)

    def weigh(self, near: FloatArray) -> Taught:
        """A member's weight in a topic is the mean of its learners', by how many documents each graded there."""
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
    """People against gold on the documents that each graded for the k-tuple in training topics."""
    person, said, topic = judges.person[:, members], judges.said[:, members], ground.gold.item_topic
    item, member = np.nonzero((person >= 0) & (training[topic] & (ground.grade >= 0))[:, None])
    # One row for each item and person, in this order, even where a person graded it for two members.
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
