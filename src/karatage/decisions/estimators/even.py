"""A plain sample of gold: an even draw from its frame, if it looks like one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from karatage.correction.choosing import choose_sizes
from karatage.correction.evenness import Frame, check_evenness
from karatage.data.axes import BoolArray
from karatage.data.draw import Draw
from karatage.data.method import Method
from karatage.decisions.case import Case
from karatage.decisions.estimators.contract import Estimator, Fitted, Objection
from karatage.decisions.estimators.drawn import DRAWN, DrawnFitted, fit_sample
from karatage.errors import DataError
from karatage.text import count_names

MOST_UNKNOWN = 0.05  # of a system's weight


class UnevenError(DataError):
    """A plain sample that is not an even draw."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EvenFitted(DrawnFitted):
    """Scores and differences from a plain sample."""

    def second_opinion(self, case: Case, fit: Callable[[Estimator, Case], Fitted]) -> Objection | None:  # noqa: ARG002
        """Documents without a judgment count as not relevant, which a sample of judged documents does not check.

        A system that retrieves many of them would be called worse, so nothing is claimed of it.
        """
        unjudged = (case.topic >= 0) & (case.said < 0)
        if (unjudged & (case.gold_grade >= 0)).any():
            return None
        whole = np.maximum(case.rank_weight.sum(axis=0), np.finfo(float).tiny)
        share = case.rank_weight[unjudged & case.matters].sum(axis=0) / whole
        unknown = share > MOST_UNKNOWN
        if not unknown.any():
            return None
        names = [case.systems[s] for s in np.flatnonzero(unknown)]
        return Objection(
            reason=f"up to {share.max():.0%} of a system's weight is on documents without a judgment, and gold has "
            f"none of them, so their relevance is unknown (systems: {count_names(names)}); have the judges grade them, "
            "or draw gold with karatage plan, which includes them",
            apart=unknown[:, None] | unknown,
        )


class Even(Estimator):
    """Every document of the frame had the same chance."""

    def suits(self, case: Case) -> bool:
        """Where gold is a plain sample."""
        return case.design.kind == "items"

    def fit(self, case: Case) -> EvenFitted:
        """As if the file had said so."""
        return EvenFitted(**vars(fit_sample(_as_even_sample(case), self.method)))


EVEN = Even(
    method=Method(
        name="even",
        label="gold drawn evenly",
        about=f"{DRAWN.method.about} Gold is taken as a simple random sample, and looks like one.",
    ),
    phrase="by gold taken as a simple random sample",
)


def _as_even_sample(case: Case) -> Case:
    assert case.gold is not None
    if case.gold.draw is not None:
        raise DataError(
            "gold has sampling probabilities (pi), so it is not a simple random sample; use --correction sampled"
        )
    if case.linear is None:
        return case  # which is refused as any sample of single documents
    sampled = case.gold_grade >= 0
    if not (sampled & case.judged).any():
        raise DataError(
            "the judges graded no document that has gold; have these documents judged, or check that topics and "
            "documents are written alike"
        )
    frame = next(f for f in _list_frames(case) if not (sampled & ~f).any())
    _require_even(case, frame, sampled)
    chance = float(sampled.sum() / frame.sum())
    rows = len(case.gold.grade)
    draw = Draw(pi=np.full(rows, chance), batch=np.ones(rows, np.int32))
    return replace(case, gold=replace(case.gold, draw=draw), frame=frame)


def _list_frames(case: Case) -> Iterator[BoolArray]:
    """What a plain sample may have been drawn from (item,), the smallest first; judged or not where gold says so."""
    yield case.matters & case.judged
    yield case.matters
    own: BoolArray = (case.topic >= 0) & case.rank_weight.any(axis=1)
    yield own & case.judged
    yield own
    top: BoolArray = (case.topic >= 0) & case.ranks.any(axis=1)
    yield top & case.judged
    yield top
    yield case.judged
    yield case.topic >= 0


def _require_even(case: Case, frame: BoolArray, sampled: BoolArray) -> None:
    """Refuse a sample that does not look like an even draw."""
    design = case.read_design_in(frame)
    if design.clustered:
        raise UnevenError(
            f"gold is on {design.topics} of {design.pool_topics} topics, so it is not a simple random sample of all "
            "documents; spread the gold over all topics (karatage plan does), or re-judge whole topics drawn at random"
        )
    items = np.flatnonzero(frame)
    found = check_evenness(
        Frame(
            topic=case.topic[items],
            said=case.said[items],
            rank=case.ranks[items],
            gap=choose_sizes(case.rank_weight[items]),
            depth=case.depth,
            topics=case.topic_names,
            systems=case.material.runs.systems,
        ),
        sampled[items],
    )
    if found.uneven is not None:
        raise UnevenError(
            f"gold does not look like a simple random sample: {found.uneven.sentence}; draw gold with karatage plan "
            "and keep the column pi of its queue, or re-judge whole topics drawn at random"
        )
