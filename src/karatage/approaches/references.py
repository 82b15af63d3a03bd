"""Judges against random ones: where scoring meets the gaps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from karatage.data.alignment import Alignment
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.judgments import Judgments
from karatage.data.scores import Scores
from karatage.measures.graded import ceiling
from karatage.measures.scoring import score_grades, score_packed
from karatage.measures.spec import parse_measure
from karatage.merging.estimators import Gap
from karatage.merging.gaps import Distance, Gaps, measure_gaps
from karatage.merging.random_judges import CLASSES, RandomJudges, shuffle_grades
from karatage.progress import follow
from karatage.random_streams import stream

_SCORES_AT_ONCE = 4_000_000  # of one measure under replicates, which bounds memory


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


def compare_with_random(panel: Panel, gaps: Collection[Gap], replicates: int) -> dict[str, Gaps]:
    """Distances of all judges from the three classes of random ones, by measure."""
    alignment, kept = panel.alignment, panel.alignment.retrieved_topics
    drawn = RandomJudges.draw(int(alignment.item_start[-1]), replicates, stream(panel.seed, "random judges"))
    found = {name: _Sums(panel.present.shape, gaps, tuple(CLASSES)) for name in panel.value}
    pieces = list(_pieces(replicates, len(kept) * len(alignment.systems)))
    parts = [(c, bits, sets) for c, bits in enumerate(drawn.bits.values()) for sets in pieces]
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
