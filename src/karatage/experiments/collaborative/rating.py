"""How near sets of judgments come to full expert judging, and how much of that hangs on the topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karatage.data.axes import FloatArray, GradeArray
from karatage.experiments.collaborative.ground import Ground
from karatage.experiments.tuples import rate_leaderboards
from karatage.measures.scoring import score_grades


@dataclass(frozen=True, eq=False)
class Rated:
    """Rank correlations of leaderboards with gold's."""

    tau: FloatArray  # (set,)
    tau_ap: FloatArray  # (set,)
    again: FloatArray  # (resample, set) tau_ap on topics drawn with replacement

    def find_error(self, k: int, less: int | None = None) -> float | None:
        """The standard error of a set's tau_ap over topics, or of its difference from another's."""
        if len(self.again) < 2:
            return None
        values = self.again[:, k] if less is None else self.again[:, k] - self.again[:, less]
        return float(values.std(ddof=1))


def rate_sets(ground: Ground, grades: Sequence[GradeArray], *, resamples: int | None = None) -> Rated:
    """Hold the leaderboards of sets of grades, each (item,), against gold's; `resamples` as planned by default."""
    measure, sets = ground.plan.measure, np.stack(grades, axis=1)
    value = score_grades(ground.alignment, sets, [measure], top_grade=1)[measure].value
    near = rate_leaderboards(value.mean(axis=1), ground.value.mean(axis=0))
    drawn = ground.resample_topics()[:resamples]
    again = np.empty((len(drawn), len(grades)))
    for k, topics in enumerate(drawn):
        # Gold's leaderboard is drawn anew as well: other topics have another truth.
        again[k] = rate_leaderboards(value[:, topics].mean(axis=1), ground.value[topics].mean(axis=0)).tau_ap
    return Rated(near.tau, near.tau_ap, again)
