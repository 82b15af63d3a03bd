"""Measure with every judge's grades, then merge the scores: uniform, AWARE and s-AWARE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karatage.approaches.evidence import Evidence, Merged
from karatage.approaches.teaching import People, TaughtWeights, learn_weights
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.weights import Weights
from karatage.merging.estimators import Estimator, SupervisedEstimator
from karatage.merging.gaps import Gaps
from karatage.merging.weights import merge_scores, normalise, weigh_judges
from karatage.text import count_names, counted


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
            notes = (*_tell_silent(self.name, evidence, silent), *_tell_dull(evidence, dull))
            weights = _write_down(self, evidence, measure, share, self._distances(evidence, measure))
            found[measure] = Merged(merge_scores(evidence.by_judge[measure].value, share), weights=weights, notes=notes)
        return found

    def _weigh(self, evidence: Evidence, measure: str) -> tuple[FloatArray, BoolArray, BoolArray]:
        """Shares (judge, topic), topics where all weights are 0, and where a judge tells no systems apart."""
        gaps, present = evidence.gaps(self.estimator, measure), evidence.panel.present
        weight, dull = weigh_telling(self.estimator, gaps, evidence.by_judge[measure].value, present)
        return *normalise(weight, present), dull

    def _distances(self, evidence: Evidence, measure: str) -> dict[str, FloatArray]:
        """Distances by class, the mean over topics where there is one for each, and over measures."""
        tables = []
        for name in self.measures or (measure,):
            gaps = evidence.gaps(self.estimator, name)
            if self.estimator.granularity == "sgl":
                tables.append(gaps.single[self.estimator.gap])
            else:
                by_topic = gaps.by_topic[self.estimator.gap]
                count = np.isfinite(by_topic).sum(axis=1)
                tables.append(np.where(count > 0, np.nansum(by_topic, axis=1) / np.maximum(count, 1), np.nan))
        mean = np.mean(tables, axis=0)
        return {name: mean[:, c].copy() for c, name in enumerate(gaps.classes)}


@dataclass(frozen=True)
class Supervised:
    """Scores merged with weights by how near judges are to gold on other topics: [SAWARE20]."""

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


def _tell_silent(name: str, evidence: Evidence, silent: BoolArray) -> tuple[str, ...]:
    if not silent.any():
        return ()
    topics = [evidence.judgments.topics[t] for t in np.flatnonzero(silent)]
    return (f"{name}: where all weights are 0, judges count alike; topics concerned: {count_names(topics)}",)


def _tell_dull(evidence: Evidence, dull: BoolArray) -> tuple[str, ...]:
    if not dull.any():
        return ()
    judges = [evidence.judgments.judges[k] for k in np.flatnonzero(dull.any(axis=1))]
    where = f"{counted(int(dull.sum()), 'time')} all systems score the same under a judge, who then has no weight"
    return (f"{where} in that topic; judges concerned: {count_names(judges)}",)
