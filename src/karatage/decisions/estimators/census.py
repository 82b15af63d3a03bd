"""Gold on all that matters: its own scores, in which the judges have no part."""

from __future__ import annotations

from dataclasses import replace

from karatage.data.method import Method
from karatage.decisions.case import Case
from karatage.decisions.estimators.contract import Estimator, Fitted
from karatage.decisions.estimators.drawn import fit_sample
from karatage.decisions.estimators.whole_topics import WHOLE_TOPICS
from karatage.errors import DataError


class Census(Estimator):
    """Document by document for weighted sums, topic by topic for other measures."""

    def suits(self, case: Case) -> bool:
        """Where gold has graded everything."""
        return case.design.kind == "census"

    def fit(self, case: Case) -> Fitted:
        """Gold's own scores."""
        if case.design.kind != "census":
            raise DataError(
                "gold has not graded all that matters, so it is not enough on its own; let the gold's design decide "
                "(--correction auto)"
            )
        if case.additive:
            return fit_sample(case, self.method)
        return replace(WHOLE_TOPICS.fit(case), method=self.method)


CENSUS = Census(
    method=Method(
        name="census",
        label="gold alone",
        about="Corrected scores are gold's own, which knows all that matters here; the judges have no part in them.",
        undone="by gold alone",
    ),
    phrase="by gold on all that matters",
)
