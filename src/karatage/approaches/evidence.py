"""What approaches look at, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from karatage.approaches.references import Panel, compare_with_random, compare_with_shuffled
from karatage.data.alignment import Alignment, align
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.gold import Gold
from karatage.data.judgments import Judgments
from karatage.data.posterior import Posterior
from karatage.data.runs import Runs
from karatage.data.scores import Scores
from karatage.data.weights import Weights
from karatage.errors import DataError
from karatage.measures.graded import ceiling
from karatage.measures.scoring import score_aligned
from karatage.measures.spec import parse_measure
from karatage.merging.estimators import Estimator
from karatage.merging.gaps import Gaps
from karatage.random_streams import stream


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What an approach may look at; work that several approaches need is done once."""

    runs: Runs
    judgments: Judgments
    gold: Gold | None
    measures: tuple[str, ...]  # those asked for
    weighed_by: tuple[str, ...] = ()  # measures that weights depend on beside those
    estimators: Collection[Estimator] = ()  # all that will be asked for
    seed: int
    _gaps: dict[tuple[bool, int], dict[str, Gaps]] = field(default_factory=dict)

    @cached_property
    def alignment(self) -> Alignment:
        """Runs and judgments together."""
        return align(self.runs, self.judgments)

    @cached_property
    def by_judge(self) -> dict[str, Scores]:
        """Scores under every judge alone, by the measures asked for and those that weights depend on."""
        measures = tuple(dict.fromkeys([*self.measures, *self.weighed_by]))
        return score_aligned(self.alignment, self.judgments, measures)

    @cached_property
    def gold_scores(self) -> dict[str, FloatArray]:
        """Gold's scores (topic, system) on the judgments' topics, brought to [0, 1]; NaN where gold has none."""
        if self.gold is None:
            raise DataError("there is no gold")
        grades = self.gold.grades
        place = {name: t for t, name in enumerate(grades.topics)}
        found = {}
        for name, scores in score_aligned(align(self.runs, grades), grades, tuple(self.by_judge)).items():
            value = np.full((len(self.judgments.topics), len(self.runs.systems)), np.nan)
            for t, topic in enumerate(self.judgments.topics):
                if topic in place:
                    value[t] = scores.value[0, place[topic]]
            found[name] = value / self.ceiling(name, grades.top_grade)
        return found

    @cached_property
    def panel(self) -> Panel:
        """The judges as they are compared with random ones."""
        return Panel.of(self.alignment, self.judgments, self.by_judge, seed=self.seed)

    @cached_property
    def training(self) -> BoolArray:
        """Topics for training only."""
        taught = set() if self.gold is None else set(self.gold.training)
        return np.array([topic in taught for topic in self.judgments.topics])

    def gaps(self, estimator: Estimator, measure: str) -> Gaps:
        """How far judges are from random ones; all estimators with as many replicates of the same kind share it."""
        kind = estimator.own, estimator.replicates
        if kind not in self._gaps:
            gaps = frozenset(e.gap for e in self.estimators if (e.own, e.replicates) == kind)
            compare = compare_with_shuffled if estimator.own else compare_with_random
            self._gaps[kind] = compare(self.panel, gaps, estimator.replicates)
        return self._gaps[kind][measure]

    def ceiling(self, measure: str, top_grade: int) -> float:
        """The highest score possible on a scale of grades."""
        return ceiling(parse_measure(measure), self.alignment.ranked.shape[2], top_grade)

    def rng(self, name: str) -> np.random.Generator:
        """The random stream of an approach."""
        return stream(self.seed, name)


@dataclass(frozen=True, eq=False)
class Merged:
    """An approach's scores for one measure."""

    value: FloatArray  # (topic, system), NaN where there is none
    posterior: Posterior | None = None  # of approaches that merge grades
    weights: Weights | None = None  # of approaches that weigh judges
    notes: tuple[str, ...] = ()


Approach = Callable[[Evidence], dict[str, Merged]]
