"""What approaches look at, and what they return: scores under every judge, and how far these are from random ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from karatage.data.alignment import Alignment, align
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.judgments import Gold, Judgments
from karatage.data.note import Note
from karatage.data.posterior import Posterior
from karatage.data.runs import Runs
from karatage.data.scores import Scores, Weights
from karatage.errors import DataError
from karatage.measures.registry import ceiling, parse_measure
from karatage.measures.scoring import score_aligned, score_grades, score_packed
from karatage.merging.estimators import Estimator, Kind, list_compared
from karatage.merging.gaps import CLASSES, Bits, Distance, Gap, Gaps, RandomJudges, measure_gaps, shuffle_grades
from karatage.progress import follow
from karatage.random_streams import stream
from karatage.simulation.crowd import draw_rates, list_crowds

_SCORES_AT_ONCE = 4_000_000  # of one measure under replicates, which bounds memory


class Known(NamedTuple):
    """What was made of the same runs and judgments before, with the same seed."""

    alignment: Alignment | None = None
    posteriors: Mapping[str, Posterior] = MappingProxyType({})  # by the model's name


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
    known: Known

    @cached_property
    def alignment(self) -> Alignment:
        """Runs and judgments together."""
        return align(self.runs, self.judgments) if self.known.alignment is None else self.known.alignment

    @cached_property
    def by_judge(self) -> dict[str, Scores]:
        """Scores under every judge alone, by the measures asked for and those that weights depend on."""
        measures = tuple(dict.fromkeys([*self.measures, *self.weighed_by]))
        return score_aligned(self.alignment, self.judgments, measures)

    @cached_property
    def gold_alignment(self) -> Alignment:
        """Runs and gold together."""
        return align(self.runs, self._require_gold().grades)

    @cached_property
    def by_gold(self) -> dict[str, Scores]:
        """Scores by gold's grades, by the same measures."""
        return score_aligned(self.gold_alignment, self._require_gold().grades, tuple(self.by_judge))

    def _require_gold(self) -> Gold:
        if self.gold is None:
            raise DataError("there is no gold")
        return self.gold

    @cached_property
    def gold_scores(self) -> dict[str, FloatArray]:
        """Gold's scores (topic, system) on the judgments' topics, brought to [0, 1]; NaN where gold has none."""
        grades = self._require_gold().grades
        place = {name: t for t, name in enumerate(grades.topics)}
        found = {}
        for name, scores in self.by_gold.items():
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

    @cached_property
    def gaps(self) -> dict[Kind, dict[str, Gaps]]:
        """How far judges are from random ones, for all estimators that will be asked for."""
        return compare_judges(self.panel, self.estimators)

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
    weights: Weights | None = None  # of approaches with weights of judges
    notes: tuple[Note, ...] = ()


Approach = Callable[[Evidence], dict[str, Merged]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Judges with their scores, brought to [0, 1], by each measure."""

    alignment: Alignment
    judgments: Judgments
    value: Mapping[str, FloatArray]  # measure -> (judge, topic, system)
    present: BoolArray  # (judge, topic) where a judge has grades and some run has the topic
    ceiling: Mapping[str, float]  # measure -> the highest possible score
    seed: int

    def telling(self, measure: str) -> BoolArray:
        """Where a judge's scores differ between systems, (judge, topic): equal ones are neither random nor not."""
        telling: BoolArray = self.present & (np.ptp(self.value[measure], axis=2) > 0)
        return telling

    @staticmethod
    def of(alignment: Alignment, judgments: Judgments, scores: Mapping[str, Scores], *, seed: int) -> Panel:
        """A panel from the judges' own scores."""
        depth, top = alignment.ranked.shape[2], judgments.top_grade
        highest = {name: ceiling(parse_measure(name), depth, top) for name in scores}
        retrieved = np.isin(np.arange(len(alignment.topics)), alignment.retrieved_topics)
        return Panel(
            alignment=alignment,
            judgments=judgments,
            value={name: found.value / highest[name] for name, found in scores.items()},
            present=next(iter(scores.values())).judged & retrieved,
            ceiling=highest,
            seed=seed,
        )


def compare_judges(panel: Panel, estimators: Collection[Estimator]) -> dict[Kind, dict[str, Gaps]]:
    """Distances of judges from random ones by measure, once for all estimators with as many replicates of a kind."""
    found = {}
    for kind in dict.fromkeys(e.kind for e in estimators):
        alike = [e for e in estimators if e.kind == kind]
        gaps, classes = list_compared(alike)
        if kind.own:
            found[kind] = compare_with_shuffled(panel, gaps, kind.replicates)
        else:
            found[kind] = compare_with_random(panel, gaps, kind.replicates, classes)
    return found


def draw_random(classes: Collection[str], items: int, replicates: int, seed: int) -> dict[str, Bits]:
    """Random judges of a pool by class. The paper's three share a stream; every other class has its own."""
    found: dict[str, Bits] = {}
    if not CLASSES.keys().isdisjoint(classes):
        found |= RandomJudges.draw(items, replicates, stream(seed, "random judges")).bits
    for name in classes:
        if name not in CLASSES:
            source = stream(seed, f"random judges {name}")
            rate = draw_rates(name, replicates, source) if name in list_crowds() else float(name)
            found |= RandomJudges.draw(items, replicates, source, {name: rate}).bits
    return {name: found[name] for name in classes}


def compare_with_random(
    panel: Panel, gaps: Collection[Gap], replicates: int, classes: Collection[str] = tuple(CLASSES)
) -> dict[str, Gaps]:
    """Distances of all judges from classes of random ones, by measure."""
    alignment, kept = panel.alignment, panel.alignment.retrieved_topics
    drawn = draw_random(classes, int(alignment.item_start[-1]), replicates, panel.seed)
    found = {name: _Sums(panel.present.shape, gaps, tuple(classes)) for name in panel.value}
    pieces = list(_pieces(replicates, len(kept) * len(alignment.systems)))
    parts = [(c, bits, sets) for c, bits in enumerate(drawn.values()) for sets in pieces]
    for c, bits, sets in follow(parts, len(parts), "groups of random judges"):
        scored = score_packed(alignment, bits, sets, list(panel.value), top_grade=panel.judgments.top_grade)
        for name, others in scored.items():
            near = measure_gaps(
                panel.value[name][:, kept],
                panel.telling(name)[:, kept],
                others[:, kept] / panel.ceiling[name],
                gaps,
            )
            found[name].add(near, slice(None), kept, c, len(others) / replicates)
    return {name: sums.settle() for name, sums in found.items()}


def compare_with_shuffled(panel: Panel, gaps: Collection[Gap], replicates: int) -> dict[str, Gaps]:
    """Distances of each judge from its own grades shuffled within topics, by measure."""
    found = {name: _Sums(panel.present.shape, gaps, ("own",)) for name in panel.value}
    telling = {name: panel.telling(name) for name in panel.value}
    judges = len(panel.judgments.judges)
    for judge in follow(range(judges), judges, "judges weighted"):
        where = np.flatnonzero(panel.present[judge])
        if not len(where):
            continue
        grade = shuffle_grades(panel.judgments, judge, replicates, panel.seed)
        top, alignment = panel.judgments.top_grade, panel.alignment.only(where)
        for sets in _pieces(replicates, len(where) * len(alignment.systems)):
            scored = score_grades(alignment, grade[:, sets], list(panel.value), top_grade=top)
            for name, others in scored.items():
                own = panel.value[name][judge : judge + 1, where]
                near = measure_gaps(
                    own, telling[name][judge : judge + 1, where], others.value[:, where] / panel.ceiling[name], gaps
                )
                found[name].add(near, slice(judge, judge + 1), where, 0, len(others.value) / replicates)
    return {name: sums.settle() for name, sums in found.items()}


def _pieces(replicates: int, scores: int) -> Iterator[slice]:
    """Replicates in pieces, in eights, so that their scores fit in memory."""
    size = max(_SCORES_AT_ONCE // max(scores, 1) // 8, 8) * 8
    for first in range(0, replicates, size):
        yield slice(first, min(first + size, replicates))


class _Sums:
    """Means over replicates that come in pieces."""

    def __init__(self, shape: tuple[int, ...], gaps: Collection[Gap], classes: tuple[str, ...]) -> None:
        self.classes = classes
        self.single = {gap: np.zeros((shape[0], len(classes))) for gap in gaps}
        self.by_topic = {gap: np.full((*shape, len(classes)), np.nan) for gap in gaps}

    def add(self, near: Mapping[Gap, Distance], judges: slice, topics: np.ndarray, number: int, part: float) -> None:
        """Add the distances to some replicates of a class, which make up a part of all of them."""
        for gap, distance in near.items():
            self.single[gap][judges, number] += part * distance.single
            cells = np.arange(len(self.single[gap]))[judges][:, None], topics[None, :], number
            before = np.nan_to_num(self.by_topic[gap][cells])
            self.by_topic[gap][cells] = before + part * distance.by_topic

    def settle(self) -> Gaps:
        """What was found."""
        return Gaps(self.classes, self.single, self.by_topic)
