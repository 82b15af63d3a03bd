"""Merge grades into probabilities, then take the expected measure."""

from __future__ import annotations

from karatage.aggregation.registry import NamedModel
from karatage.approaches.evidence import Approach, Evidence, Merged
from karatage.approaches.upstream import merge_grades
from karatage.measures.expected import score_expected


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
