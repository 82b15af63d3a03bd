"""Merge grades into probabilities, then take the expected measure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.aggregation.registry import NamedModel
from karatage.approaches.evidence import Approach, Evidence, Merged
from karatage.approaches.upstream import merge_grades
from karatage.measures.expected import randomise, score_expected


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
