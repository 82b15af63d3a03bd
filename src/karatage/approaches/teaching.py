"""Weights of judges from gold: weights for a topic are learnt from the gold of other topics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from karatage.aggregation.crossfit import FOLDS, deal_topics
from karatage.approaches.evidence import Evidence
from karatage.data.alignment import align, match_gold
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.gold import Gold
from karatage.data.partition import Partition, assemble_judges
from karatage.data.scores import Scores
from karatage.errors import DataError, OptionError
from karatage.measures.scoring import score_aligned
from karatage.merging.estimators import SupervisedEstimator
from karatage.merging.supervised import fill_unseen, weigh_by_gold
from karatage.random_streams import stream
from karatage.text import count_names


@dataclass(frozen=True, eq=False)
class Taught:
    """Weights of judges in each topic, and how near to gold they came where they were compared."""

    weight: FloatArray  # (judge, topic)
    closeness: FloatArray  # (judge,), NaN for judges who share no topic with the gold that teaches
    notes: tuple[str, ...]


def learn_weights(name: str, estimator: SupervisedEstimator, evidence: Evidence, measure: str) -> Taught:
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

    def learn(self, name: str, estimator: SupervisedEstimator, evidence: Evidence, measure: str) -> Taught:
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
) -> Taught:
    """Weights lesson by lesson; `value` holds the judges' scores and gold's, both (judge, topic, system)."""
    weight, found = np.zeros(shared.shape), []
    lessons, told = _plan_lessons(name, evidence, np.asarray(shared.any(axis=0)))
    for taught, target in lessons:
        learnt = weigh_by_gold(estimator, value[0], np.nan_to_num(value[1]), shared & taught)
        weight[:, target] = fill_unseen(learnt)[:, None]
        found.append(learnt ** (1 / estimator.power))
    lessons_seen = np.isfinite(found).sum(axis=0)
    closeness = np.where(lessons_seen > 0, np.nansum(found, axis=0) / np.maximum(lessons_seen, 1), np.nan)
    unseen = [evidence.judgments.judges[k] for k in np.flatnonzero(np.isnan(closeness))]
    notes = [told]
    if unseen:
        notes.append(f"judges unseen in training get the mean weight of the others: {count_names(unseen)}")
    return Taught(weight, closeness, tuple(notes))


def _plan_lessons(name: str, evidence: Evidence, with_gold: BoolArray) -> tuple[list[tuple[BoolArray, BoolArray]], str]:
    """Which topics are for training, and for which topics."""
    gold = _require_gold(name, evidence)
    everything = np.ones(len(with_gold), bool)
    if gold.training:
        taught = evidence.training & with_gold
        if not taught.any():
            raise DataError(f"{name} has nothing to learn from: no judge has a grade in the training topics")
        return [(taught, everything)], f"judges were weighted by {int(taught.sum())} training topics"
    topics = np.flatnonzero(with_gold)
    if len(topics) < 2:
        raise DataError(
            f"{name} learns from gold, and would be compared with it: gold must cover at least two topics "
            f"of the judgments, so that each is merged with gold of the others; it covers {len(topics)}"
        )
    folds = min(FOLDS, len(topics))
    fold_of = deal_topics(len(with_gold), topics, folds, stream(evidence.seed, "folds of topics"))
    lessons = [(with_gold & (fold_of != fold), fold_of == fold) for fold in range(folds)]
    told = f"judges were weighted, for each topic, by gold of other topics only ({folds} folds), so gold can check it"
    return lessons, told


def _require_gold(name: str, evidence: Evidence) -> Gold:
    if evidence.gold is None:
        raise OptionError(f"{name} learns from gold, and none is given; give gold, or choose another approach")
    return evidence.gold
