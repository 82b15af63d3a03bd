"""Measure with every judge's grades, then merge the scores: uniform, AWARE and s-AWARE.

s-AWARE learns the weights for a topic from the gold of other topics.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karatage.approaches.evidence import Evidence, Merged
from karatage.data.alignment import align
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.judgments import Gold, deal_topics, match_gold
from karatage.data.note import Note, Texts
from karatage.data.partition import Partition, assemble_judges
from karatage.data.scores import Scores, Weights
from karatage.errors import DataError, OptionError
from karatage.measures.scoring import score_aligned
from karatage.merging.estimators import (
    Estimator,
    SupervisedEstimator,
    fill_unseen,
    merge_scores,
    normalise,
    weigh_by_gold,
    weigh_judges,
)
from karatage.merging.gaps import Gaps

tell = Texts(
    "approaches",
    {
        "closeness": "{approach}: weights grow with the closeness to random judges, as equations 20 to 27 of [AWARE17] "
        "say, so judges like random ones get the highest",
        "few-items": "judges with fewer than {least} items: {judges:names}",
        "gold-random": "grades are random: a relevant document is relevant with probability {certainty:g}",
        "gold-topics-missing": "judged topics without gold, left out when comparing with it: {topics:names}",
        "gold-topics-unjudged": "topics with gold but without judgments: {topics:names}",
        "less-than-half": "judges who graded less than half of their topics' pools, compared with random judges of all "
        "of it, so that weights also depend on how much they graded: {judges:names}",
        "same-scores": "{times:count time} all systems have the same score under a judge, who then has no weight in "
        "that topic; judges concerned: {judges:names}",
        "some-topics": "judges of only some of the {topics:count topic}, used on those topics: {judges:names}",
        "training-topics": "training topics, from which approaches may learn, left out: {topics:names}",
        "uniform": "approaches with nearly uniform weights, which differ by less than {least:.0%} between judges: "
        "{approaches:names}",
        "unseen": "judges unseen in training get the mean weight of the others: {judges:names}",
        "weighted-by-folds": "judges were weighted, for each topic, by gold of other topics only ({folds} folds), so "
        "gold can check it",
        "weighted-by-training": "judges were weighted by {topics} training topics",
        "weights-zero": "{approach}: where all weights are 0, judges have equal weights; topics: {topics:names}",
    },
)


def merge_alike(evidence: Evidence) -> dict[str, Merged]:
    """The plain mean of the scores under each judge present in a topic."""
    found = {}
    for name in evidence.measures:
        scores = evidence.by_judge[name]
        there = scores.judged[:, :, None] & np.isfinite(scores.value)
        total, count = np.where(there, scores.value, 0.0).sum(axis=0), there.sum(axis=0)
        found[name] = Merged(np.where(count > 0, total / np.maximum(count, 1), np.nan))
    return found


def weigh_telling(
    estimator: Estimator, gaps: Gaps, value: FloatArray, present: BoolArray
) -> tuple[FloatArray, BoolArray]:
    """Weights (judge, topic), not normalised, and where a judge has none for telling no systems apart."""
    dull = present & (np.ptp(value, axis=2) == 0)
    return weigh_judges(estimator, gaps, present & ~dull), dull


@dataclass(frozen=True)
class Aware:
    """Scores merged with weights by how far judges are from random ones: [AWARE17].

    With `measures`, weights are the mean of those by each of them, whatever is measured.
    """

    name: str
    estimator: Estimator
    measures: tuple[str, ...] = ()

    def __call__(self, evidence: Evidence) -> dict[str, Merged]:
        """Merge the scores by every measure asked for."""
        found = {}
        for measure in evidence.measures:
            share, silent, dull = _average_shares([self._weigh(evidence, m) for m in self.measures or (measure,)])
            notes = (
                *tell.when(self.estimator.closeness, "closeness", approach=self.name),
                *_tell_silent(self.name, evidence, silent),
                *_tell_dull(evidence, dull),
            )
            weights = _write_down(self, evidence, measure, share, self._distances(evidence, measure))
            found[measure] = Merged(merge_scores(evidence.by_judge[measure].value, share), weights=weights, notes=notes)
        return found

    def _weigh(self, evidence: Evidence, measure: str) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Shares (judge, topic), topics where all weights are 0, and where a judge tells no systems apart."""
        gaps, present = evidence.gaps[self.estimator.kind][measure], evidence.panel.present
        weight, dull = weigh_telling(self.estimator, gaps, evidence.by_judge[measure].value, present)
        return *normalise(weight, present), dull

    def _distances(self, evidence: Evidence, measure: str) -> dict[str, FloatArray]:
        """Distances by class, the mean over topics where there is one for each, and over measures."""
        tables = []
        for name in self.measures or (measure,):
            table = self.estimator.find_distances(evidence.gaps[self.estimator.kind][name])
            if self.estimator.granularity == "tpc":
                count = np.isfinite(table).sum(axis=1)
                table = np.where(count > 0, np.nansum(table, axis=1) / np.maximum(count, 1), np.nan)
            tables.append(table)
        mean = np.mean(tables, axis=0)
        return {name: mean[:, c].copy() for c, name in enumerate(self.estimator.classes)}


@dataclass(frozen=True)
class Supervised:
    """Scores merged with weights by how close judges are to gold on other topics: [SAWARE20]."""

    name: str
    estimator: SupervisedEstimator
    measures: tuple[str, ...] = ()

    def __call__(self, evidence: Evidence) -> dict[str, Merged]:
        """Merge the scores by every measure asked for."""
        merge = _merge_people if self.estimator.sub else _merge_judges
        return merge(self, evidence)

    def report(
        self, evidence: Evidence, measure: str, value: FloatArray, share: FloatArray, taught: list[TaughtWeights]
    ) -> Merged:
        """Merged scores with the judges' shares in them."""
        closeness = {"gold": np.mean([t.closeness for t in taught], axis=0)}
        weights = _write_down(self, evidence, measure, share, closeness)
        return Merged(value, weights=weights, notes=taught[0].notes)


def _write_down(
    approach: Aware | Supervised,
    evidence: Evidence,
    measure: str,
    share: FloatArray,
    distance: dict[str, FloatArray],
) -> Weights:
    return Weights(
        approach=approach.name,
        measure=measure,
        judges=evidence.judgments.judges,
        topics=evidence.judgments.topics,
        share=share,
        present=evidence.panel.present,
        gap=approach.estimator.gap,
        distance=distance,
    )


def _merge_judges(approach: Supervised, evidence: Evidence) -> dict[str, Merged]:
    found, present = {}, evidence.panel.present
    for measure in evidence.measures:
        taught = [
            learn_weights(approach.name, approach.estimator, evidence, m) for m in approach.measures or (measure,)
        ]
        share = np.mean([normalise(np.where(present, t.weight, 0.0), present)[0] for t in taught], axis=0)
        value = merge_scores(evidence.by_judge[measure].value, share)
        found[measure] = approach.report(evidence, measure, value, share, taught)
    return found


def _merge_people(approach: Supervised, evidence: Evidence) -> dict[str, Merged]:
    """The same for judges put together from people."""
    people, found = People.of(approach.name, evidence, tuple(evidence.by_judge)), {}
    present = next(iter(people.whole.values())).judged & evidence.panel.present.any(axis=0)
    for measure in evidence.measures:
        taught = [people.learn(approach.name, approach.estimator, evidence, m) for m in approach.measures or (measure,)]
        weighed = [people.weigh(t.weight) for t in taught]
        share = np.mean([normalise(np.where(present, weight, 0.0), present)[0] for weight, _ in weighed], axis=0)
        value = merge_scores(people.whole[measure].value, share)
        own_share = np.einsum("jt,pjt->pt", share, weighed[0][1])
        found[measure] = approach.report(evidence, measure, value, own_share, taught)
    return found


def _average_shares(
    parts: list[tuple[FloatArray, BoolArray, BoolArray]],
) -> tuple[FloatArray, BoolArray, BoolArray]:
    shares, silent, dull = zip(*parts, strict=True)
    return np.mean(shares, axis=0), np.any(silent, axis=0), np.any(dull, axis=0)


def _tell_silent(name: str, evidence: Evidence, silent: BoolArray) -> tuple[Note, ...]:
    topics = tuple(evidence.judgments.topics[t] for t in np.flatnonzero(silent))
    return tell.when(topics, "weights-zero", approach=name, topics=topics)


def _tell_dull(evidence: Evidence, dull: BoolArray) -> tuple[Note, ...]:
    judges = tuple(evidence.judgments.judges[k] for k in np.flatnonzero(dull.any(axis=1)))
    return tell.when(judges, "same-scores", times=int(dull.sum()), judges=judges)


@dataclass(frozen=True, eq=False)
class TaughtWeights:
    """Weights of judges in each topic, and their closeness to gold where they were compared."""

    weight: FloatArray  # (judge, topic)
    closeness: FloatArray  # (judge,), NaN for judges who share no topic with the gold for training
    notes: tuple[Note, ...]


def learn_weights(name: str, estimator: SupervisedEstimator, evidence: Evidence, measure: str) -> TaughtWeights:
    """Judges against gold, on the topics where both have scores."""
    _require_gold(name, evidence)
    gold, own = evidence.gold_scores[measure], evidence.panel.value[measure]
    shared = evidence.panel.present & np.isfinite(gold).all(axis=1)
    return _learn(name, estimator, evidence, np.stack([own, np.broadcast_to(gold, own.shape)]), shared)


@dataclass(frozen=True, eq=False)
class People:
    """Judges as people who graded parts of topics, put together into whole judges."""

    partition: Partition
    whole: dict[str, Scores]  # measure -> scores under the judges put together
    own: dict[str, Scores]  # measure -> each person's scores, on the documents that gold has
    gold: dict[str, Scores]  # measure -> gold's scores on the same documents as each person's
    top_grade: int  # of people and gold

    @staticmethod
    def of(name: str, evidence: Evidence, measures: tuple[str, ...]) -> People:
        """Put the judges together, and score what each of them did beside gold's grades of it."""
        judgments, grades = evidence.judgments, _require_gold(name, evidence).grades
        known = match_gold(judgments, grades)
        top = max(judgments.top_grade, grades.top_grade)
        own = replace(judgments.keep_rows(known[judgments.item] >= 0), top_grade=top)
        partition = assemble_judges(judgments)
        return People(
            partition,
            score_aligned(align(evidence.runs, partition.judgments), partition.judgments, measures),
            score_aligned(evidence.alignment, own, measures),
            score_aligned(evidence.alignment, replace(own, grade=known[own.item]), measures),
            top,
        )

    def learn(self, name: str, estimator: SupervisedEstimator, evidence: Evidence, measure: str) -> TaughtWeights:
        """People against gold on the documents that both graded."""
        retrieved = evidence.panel.present.any(axis=0)
        value = np.stack([self.own[measure].value, self.gold[measure].value]) / evidence.ceiling(
            measure, self.top_grade
        )
        return _learn(name, estimator, evidence, value, self.own[measure].judged & retrieved)

    def weigh(self, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights of the judges put together, (judge, topic), from people's; and each person's part in them.

        The parts (person, judge, topic) sum to 1 over people where a judge has grades.
        """
        given, person = self.partition.judgments, self.partition.person
        parts = np.zeros((len(self.partition.people), len(given.judges), len(given.topics)))
        np.add.at(parts, (person, given.judge, given.item_topic[given.item]), 1.0)
        parts /= np.maximum(parts.sum(axis=0), 1.0)
        return np.einsum("pt,pjt->jt", weight, parts), parts


def _learn(
    name: str, estimator: SupervisedEstimator, evidence: Evidence, value: FloatArray, shared: BoolArray
) -> TaughtWeights:
    """Weights lesson by lesson; `value` holds the judges' scores and gold's, both (judge, topic, system)."""
    weight, found = np.zeros(shared.shape), []
    lessons, told = _plan_lessons(name, evidence, np.asarray(shared.any(axis=0)))
    for taught, target in lessons:
        learnt = weigh_by_gold(estimator, value[0], np.nan_to_num(value[1]), shared & taught)
        weight[:, target] = fill_unseen(learnt)[:, None]
        found.append(learnt ** (1 / estimator.power))
    lessons_seen = np.isfinite(found).sum(axis=0)
    closeness = np.where(lessons_seen > 0, np.nansum(found, axis=0) / np.maximum(lessons_seen, 1), np.nan)
    unseen = tuple(evidence.judgments.judges[k] for k in np.flatnonzero(np.isnan(closeness)))
    return TaughtWeights(weight, closeness, (told, *tell.when(unseen, "unseen", judges=unseen)))


def _plan_lessons(
    name: str, evidence: Evidence, with_gold: BoolArray
) -> tuple[list[tuple[BoolArray, BoolArray]], Note]:
    """Which topics are for training, and for which topics."""
    gold = _require_gold(name, evidence)
    everything = np.ones(len(with_gold), bool)
    if gold.training:
        taught = evidence.training & with_gold
        if not taught.any():
            raise DataError(f"{name} cannot learn: no judge has a grade in the training topics")
        return [(taught, everything)], tell("weighted-by-training", topics=int(taught.sum()))
    topics = np.flatnonzero(with_gold)
    fold_of, folds = deal_topics(name, len(with_gold), topics, evidence.seed)
    lessons = [(with_gold & (fold_of != fold), fold_of == fold) for fold in range(folds)]
    return lessons, tell("weighted-by-folds", folds=folds)


def _require_gold(name: str, evidence: Evidence) -> Gold:
    if evidence.gold is None:
        raise OptionError(f"{name} learns from gold, and none is given; give gold, or choose another approach")
    return evidence.gold
