"""Merge grades, then measure; or one judge's grades alone."""

from __future__ import annotations

import numpy as np

from karatage.aggregation.crossfit import fit_across_topics
from karatage.aggregation.registry import NamedModel, merge
from karatage.approaches.evidence import Approach, Evidence, Merged
from karatage.data.posterior import Posterior
from karatage.errors import OptionError
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
