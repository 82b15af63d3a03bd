"""Merge grades, then measure, or take the expected measure of their probabilities; or one judge's grades alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.aggregation.registry import NamedModel, fit_across_topics, merge
from karatage.approaches.evidence import Approach, Evidence, Merged
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
from karatage.measures.expected import randomise, score_expected
from karatage.measures.scoring import score_aligned


def merge_then_measure(named: NamedModel) -> Approach:
    """The approach of a model."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """Grades merged by a model, then measured."""
        posterior = merge_grades(named, evidence)
        scored = score_aligned(evidence.alignment, posterior.as_judgments(), evidence.measures)
        return {
            name: Merged(scores.value[0], posterior, notes=scores.notes + posterior.notes)
            for name, scores in scored.items()
        }

    return approach


def merge_then_expect(named: NamedModel) -> Approach:
    """The approach of a model whose probabilities are measured instead of its grades."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """Grades merged into probabilities; expected scores."""
        posterior = merge_grades(named, evidence)
        scored = score_expected(evidence.alignment, posterior.probability[None], evidence.measures, names=(named.name,))
        return {
            name: Merged(scores.value[0], posterior, notes=scores.notes + posterior.notes)
            for name, scores in scored.items()
        }

    return approach


def merge_grades(named: NamedModel, evidence: Evidence) -> Posterior:
    """Without gold, unless the name asks for it: gold is there to compare with."""
    supervision = named.supervision or ("full" if named.needs_gold else "none")
    if supervision == "none":
        known = evidence.known.posteriors.get(named.name)
        return merge(named, evidence.judgments, rng=evidence.rng(named.name)) if known is None else known
    if evidence.gold is None:
        raise OptionError(f"{named.name} learns from gold, and none is given; give gold, or choose another approach")
    grades = evidence.gold.grades
    if evidence.gold.training:
        taught = grades.keep_topics(evidence.gold.training)
        rng = evidence.rng(named.name)
        return merge(named, evidence.judgments, gold=taught, supervision=supervision, rng=rng)
    return fit_across_topics(named, evidence.judgments, grades, supervision, seed=evidence.seed)


def judge_alone(judge: int) -> Approach:
    """The approach of trusting one judge."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """One judge's own scores, on the topics the judge has seen."""
        found = {}
        for name in evidence.measures:
            scores = evidence.by_judge[name]
            found[name] = Merged(np.where(scores.judged[judge][:, None], scores.value[judge], np.nan))
        return found

    return approach


def expect_of_judge(judge: int) -> Approach:
    """The approach of trusting one judge's grades to 95 %: [RANDREL19] 4.2."""

    def approach(evidence: Evidence) -> dict[str, Merged]:
        """One judge's expected scores, on the topics the judge has seen."""
        own = evidence.judgments.keep_rows(evidence.judgments.judge == judge)
        alone = replace(own, judges=(own.judges[judge],), judge=np.zeros_like(own.judge))
        scored = score_expected(evidence.alignment, randomise(alone), evidence.measures, names=alone.judges)
        seen = next(iter(evidence.by_judge.values())).judged[judge][:, None]
        return {
            name: Merged(np.where(seen, scores.value[0], np.nan), notes=scores.notes) for name, scores in scored.items()
        }

    return approach
