"""Gold on documents drawn with known probabilities, or a simple random sample: unbiased for any judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from karatage.correction.evenness import Frame, check_evenness
from karatage.correction.gathering import Sample
from karatage.correction.precision import measure_accuracy, require_gold
from karatage.correction.sampled import Claim, Drawn, Sampled, choose_sizes, sum_topics
from karatage.data.axes import BoolArray, FloatArray, GradeArray, LongArray
from karatage.data.estimate import Accuracy, Estimate, Method
from karatage.data.judgments import Draw
from karatage.data.note import Note
from karatage.decisions.estimators.contract import (
    BY_DOCUMENT,
    CLAIM_THESE,
    LEAST_ITEMS,
    LEAST_TOPICS,
    RATES_INSTEAD,
    WEIGHTED_SUMS,
    Estimator,
    Fitted,
    Guessed,
    Levels,
    Objection,
    SystemPairs,
    find_least_topics,
    tell_few_topics,
)
from karatage.decisions.notes import tell
from karatage.errors import DataError
from karatage.text import count_names, counted

if TYPE_CHECKING:
    from karatage.decisions.case import Case

LEAST_TO_FORECAST = 20  # gold items on which systems differ
LITTLE = 0.01  # of a system's weight, up to which the judges' calibrated grades may replace gold
LEAST_LINEAR = 0.1  # of the variance
TINY = 1e-12
MOST_UNKNOWN = 0.05  # of a system's weight


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnFitted(Fitted):
    """Scores and differences from gold on a sample of the documents that matter."""

    sample: Sample

    def guess(self, case: Case) -> Guessed | None:
        """The best guess, by the corrections of all systems."""
        from karatage.decisions.estimators.guess import guess_from

        return None if case.linear is None else guess_from(case, self.sample, self)

    def count_more_gold(self, case: Case, naive: Estimate, power: float) -> float:
        """Unknown where gold is too little to estimate its variance around the judges' predictions."""
        if self.gold_items < LEAST_TO_FORECAST:
            return math.nan
        return super().count_more_gold(case, naive, power)

    def _find_rest(self, case: Case, naive: Estimate) -> float:
        """For new topics the judges' variance, as in `plan`: the difference of two variances is too noisy."""
        return naive.standard_error**2 if case.question.claim == "new" else super()._find_rest(case, naive)

    def name_more_gold(self, case: Case, more: int) -> str | None:
        """At most the documents that matter, from which `plan` draws."""
        left = int((case.matters & (case.gold_grade < 0)).sum())
        if more < left:
            return f"{super().name_more_gold(case, more)} drawn by karatage plan"
        return f"Gold on all {left:,} other documents that matter" if left else None


class DrawnGold(Estimator):
    """Gold drawn with the sampling probabilities in its file."""

    def suits(self, case: Case) -> bool:
        """Gold with sampling probabilities."""
        return case.design.kind == "sampled"

    def fit(self, case: Case) -> DrawnFitted:
        """Weight each gold item by the inverse of its sampling probability."""
        return fit_sample(case, self.method)


DRAWN = DrawnGold(
    method=Method(
        name="sampled",
        label="gold drawn",
        about="Corrected differences are unbiased for any judges. Intervals are wider when there is less gold.",
    ),
    phrase="by gold drawn with known sampling probabilities",
    needs_chances=True,
    corrects_gold=True,
)


def fit_sample(case: Case, method: Method) -> DrawnFitted:
    """Every system and pair, over these topics or topics like them."""
    _require(case)
    inside = case.topic >= 0
    place = np.cumsum(inside) - 1
    drawn = Drawn(place[case.drawn.item], case.drawn.gain, case.drawn.pi, case.drawn.batch)
    weight = (case.weight if case.curve is None else case.weight_without_gold)[inside]
    weight = np.where(_find_unseen(case)[inside, None], 0.0, weight)
    factors = None
    if case.inverse_ideals is not None and case.scale is not None:
        factors = case.inverse_ideals / np.where(case.scale > 0, case.scale, 1.0)
    claim: Claim = "these topics" if case.question.claim == "these" else "new topics"
    said, topic = case.said[inside].astype(np.int64), case.topic[inside]
    curve = None if case.curve is None else case.rankings
    noise = None if case.gold_noise is None else case.gold_noise[case.gold_item >= 0]
    found = sum_topics(weight, said, topic, len(case.topics), drawn, factors=factors, noise=noise, curve=curve)
    if curve is not None:
        _require_linear(case, found)
    single, pairs, gold = found.scores(claim), found.differences(claim), found.differences("these topics")
    if (drawn.pi < 1).any() and not np.ptp(drawn.gain):
        raise DataError(
            f"all {counted(len(drawn.gain), 'gold item')} have the same gain in {case.question.parsed}, so gold shows "
            f"no differences; check the lowest relevant grade (rel, e.g. P(rel=2)@10)"
        )
    if np.shape(pairs.value) == (2, 2) and np.isinf(np.asarray(pairs.variance)).any():
        raise DataError(
            "the systems differ on fewer than two gold items; grade more of the documents that karatage plan draws"
        )
    levels = Levels.of(single) if case.curve is None and _measure_unreached(case) <= LITTLE else None
    return DrawnFitted(
        sample=Sample(weight, said, topic, drawn, found),
        method=method,
        pairs=SystemPairs.of(pairs),
        levels=levels,
        gold_variance=np.asarray(gold.variance),
        erring_variance=found.spread_errors(),
        gold_items=int(np.ptp(weight[drawn.item], axis=1).astype(bool).sum()),
        accuracy=None if case.gold is None or case.gold.draw is None else find_accuracy(case),
        per_topic=found.term[:, :-1] - (0.0 if levels is not None else found.term[:, :-1].mean(axis=1, keepdims=True)),
        assumed=(_name_assumption(case),),
        notes=tuple(_tell(case)),
    )


def _require_linear(case: Case, found: Sampled) -> None:
    """Refuse gold that is too little for a measure with curvature, of whose variance that is then the most.

    The linear part decreases as 1 / gold and the rest as its square, so the amount that is enough is known.
    """
    share = found.share_linear()[np.triu_indices(len(case.systems), 1)]
    typical = float(np.median(share))
    if typical < LEAST_LINEAR:
        gold = len(case.drawn.item)
        enough = math.ceil(gold * (1 / max(typical, TINY) - 1) / (1 / LEAST_LINEAR - 1))
        raise DataError(
            f"{counted(gold, 'gold item')} are too few for {case.question.parsed}, which is not a weighted sum of "
            f"grades: only {typical:.0%} of the variance is linear in gold's grades, and at least {LEAST_LINEAR:.0%} "
            f"is needed; about {enough:,} gold labels are enough, drawn by karatage plan, or use {WEIGHTED_SUMS}"
        )


def find_accuracy(case: Case) -> Accuracy | None:
    """The judges' accuracy on gold items, for information; None where gold is too little."""
    try:
        accuracy = measure_judges(case)
        require_gold(accuracy)
    except DataError:
        return None
    return accuracy if case.gives_grades else None


def measure_judges(case: Case) -> Accuracy:
    """The accuracy of the merged judge, on gold items."""
    item = np.flatnonzero(case.judged)
    kinds = find_kinds(case, item, case.said[item])
    both = item[case.gold_grade[item] >= 0]
    weight = np.zeros(len(case.said))
    weight[case.drawn.item] = 1 / case.drawn.pi
    trusted, heard = kinds.of[case.gold_grade[both]], kinds.of[case.said[both]]
    return measure_accuracy(trusted, heard, kinds=kinds.names, weight=weight[both])


class Kinds(NamedTuple):
    """Grades with the same gain, of judges or gold."""

    names: list[str]
    gain: FloatArray  # (kind,) from the lowest
    of: LongArray  # (grade,) the kind of a grade, -1 where it does not occur


def find_kinds(case: Case, item: LongArray, said: GradeArray) -> Kinds:
    """The kinds that occur among gold's grades of these items (label,), and among judges' grades of those that count.

    For two kinds, both.
    """
    assert case.gain is not None
    gain, kind = np.unique(case.gain, return_inverse=True)
    trusted = case.gold_grade[item]
    both = trusted >= 0
    if not both.any():
        raise DataError(
            "the judges graded no item that has gold, so their errors are unknown; check that items are written in "
            "the same way in both"
        )
    heard = kind[said[both | case.weight[item].any(axis=1)]]
    binary = len(gain) == 2
    kept = np.arange(2) if binary else np.union1d(kind[trusted[both]], heard).astype(np.int64)
    place = np.full(len(gain), -1)
    place[kept] = np.arange(len(kept))
    return Kinds(_name_kinds(place[kind], len(kept), binary), gain[kept], place[kind])


def _name_kinds(kind: LongArray, kinds: int, binary: bool) -> list[str]:
    if binary:
        return ["not relevant", "relevant"]
    grades = [np.flatnonzero(kind == k) for k in range(kinds)]
    return [f"grade {g[0]}" if len(g) == 1 else f"grades {g[0]}-{g[-1]}" for g in grades]


def _measure_unreached(case: Case) -> float:
    """The largest share of a system's weight on documents without gold that could not have been drawn."""
    reached = case.matters if case.frame is None else case.frame
    left = (case.gold_grade < 0) & ~reached & ~_find_unseen(case)
    return float((case.weight[left].sum(axis=0) / np.maximum(case.weight.sum(axis=0), TINY)).max())


def _find_unseen(case: Case) -> BoolArray:
    """Items that count as not relevant, because gold could not or does not contain them."""
    assert case.gold is not None
    unknown: BoolArray = case.gold_grade < 0
    if case.frame is not None:
        return unknown & ~case.frame & ~case.judged
    if case.gold.draw is None:
        return unknown & (case.matters | ~case.judged)
    return np.zeros(len(unknown), bool)


def _name_assumption(case: Case) -> str:
    if case.frame is not None:
        return f"each of {int(case.frame.sum()):,} documents had the same probability to get gold"
    if (case.drawn.pi == 1).all():
        return "gold contains all documents that matter"
    return "gold items were drawn with the probabilities in the file, and all drawn items were graded"


def _require(case: Case) -> None:
    assert case.gold is not None
    if case.gain is None:
        raise DataError(
            f"{case.question.parsed} is not computed from gains, so gold on single documents does not correct it; "
            f"re-judge whole topics, or use {BY_DOCUMENT}"
        )
    if case.gold.draw is None and case.curve is not None:
        raise DataError(
            f"gold has no column pi, the sampling probability of each item, and {case.question.parsed} is not a "
            f"weighted sum of grades; let karatage plan draw the gold, re-judge whole topics, or use {WEIGHTED_SUMS}"
        )
    if case.gold.draw is None and case.design.kind != "census":
        raise DataError(
            "gold has no column pi, the sampling probability of each item; leave out --correction, so that the design "
            "of the gold decides, or let karatage plan draw the gold"
        )
    if case.disjoint:
        raise DataError(
            "the systems answered different topics, so gold on single documents does not compare them; give runs over "
            f"the same topics{RATES_INSTEAD if case.additive else ''}"
        )
    if case.question.claim == "new" and len(case.topics) < find_least_topics(case):
        raise DataError(f"{tell_few_topics(len(case.topics))}; judge at least {LEAST_TOPICS}, or {CLAIM_THESE}")
    if not (case.gold_item >= 0).any():
        raise DataError(
            "no gold item is among the documents of these systems and topics; check that topics and documents are "
            "written in the same way in both"
        )
    if len(case.drawn.item) < LEAST_ITEMS and (case.drawn.pi < 1).any():
        few = counted(len(case.drawn.item), "gold item")
        verb = "is" if len(case.drawn.item) == 1 else "are"
        raise DataError(f"{few} {verb} too few; judge at least {LEAST_ITEMS}")


def _tell(case: Case) -> Iterator[Note]:
    merged = case.gives_grades
    yield from tell.when(not merged, "merged-instead", approach=case.approach, merge=case.merge)
    share = _measure_unreached(case)
    yield from tell.when(case.curve is None and share > LITTLE, "scores-unknown", share=share)
    yield from tell.when(case.curve is not None, "scores-untold", measure=str(case.question.parsed))
    outside = int((case.gold_item < 0).sum())
    yield from tell.when(outside, "gold-outside", items=outside)
    unseen = int((case.matters & case.judged & _find_unseen(case)).sum())
    yield from tell.when(unseen, "without-gold", documents=unseen)
    alone = int((case.matters & ~case.judged & ~_find_unseen(case)).sum())
    yield from tell.when(alone, "gold-alone", documents=alone)


class UnevenError(DataError):
    """Gold that is not a simple random sample."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EvenFitted(DrawnFitted):
    """Scores and differences from a simple random sample."""

    def second_opinion(self, case: Case, fit: Callable[[Estimator, Case], Fitted]) -> Objection | None:  # noqa: ARG002
        """Documents without a judgment count as not relevant, and gold on judged documents cannot check that.

        A system that retrieved many of them would seem worse, so no claim is made about it.
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
            f"none of them, so their relevance is unknown (systems: {count_names(names)}); have the judges grade "
            "them, or draw gold with karatage plan, which includes them",
            apart=unknown[:, None] | unknown,
        )


class Even(Estimator):
    """Every document of the frame had the same probability."""

    def suits(self, case: Case) -> bool:
        """Gold that may be a simple random sample."""
        return case.design.kind == "items"

    def fit(self, case: Case) -> EvenFitted:
        """As with equal sampling probabilities."""
        return EvenFitted(**vars(fit_sample(_as_even_sample(case), self.method)))


EVEN = Even(
    method=Method(
        name="even",
        label="gold drawn evenly",
        about=f"{DRAWN.method.about} Gold is assumed to be a simple random sample; a test did not reject this.",
    ),
    phrase="by gold assumed to be a simple random sample",
    corrects_gold=True,
)


def _as_even_sample(case: Case) -> Case:
    assert case.gold is not None
    if case.gold.draw is not None:
        raise DataError(
            "gold has sampling probabilities (pi), so it is not a simple random sample; use --correction sampled"
        )
    if case.gain is None or case.curve is not None:
        return case  # which is refused as any sample of single documents
    sampled = case.gold_grade >= 0
    if not (sampled & case.judged).any():
        raise DataError(
            "the judges graded no document that has gold; have these documents judged, or check that topics and "
            "documents are written in the same way"
        )
    frame = next(f for f in _list_frames(case) if not (sampled & ~f).any())
    _require_even(case, frame, sampled)
    chance = float(sampled.sum() / frame.sum())
    rows = len(case.gold.grade)
    draw = Draw(pi=np.full(rows, chance), batch=np.ones(rows, np.int32))
    return replace(case, gold=replace(case.gold, draw=draw), frame=frame)


def _list_frames(case: Case) -> Iterator[BoolArray]:
    """Possible frames of a simple random sample (item,), the smallest first; each with and without unjudged items."""
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
    """Refuse gold that does not look like a simple random sample."""
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
