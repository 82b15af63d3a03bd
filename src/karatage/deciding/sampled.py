"""Gold drawn with known chances: unbiased whatever the judge."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.correction.sampled import Claim, Drawn, sum_topics
from karatage.data.axes import BoolArray
from karatage.deciding.case import Case
from karatage.deciding.corrected import Corrected, Pairs
from karatage.deciding.process import DEFAULT_MERGE, gives_grades
from karatage.deciding.rates import CLAIM_THESE, LEAST_TOPICS, WEIGHTED_SUMS, tell_few_topics
from karatage.deciding.topics import find_least_topics
from karatage.errors import DataError
from karatage.wording import counted

LEAST_ITEMS = 10


def correct_by_sample(case: Case) -> Corrected:
    """Every system and pair, over these topics or topics like them."""
    _require(case)
    inside = case.topic >= 0
    place = np.cumsum(inside) - 1
    drawn = Drawn(place[case.drawn.item], case.drawn.gain, case.drawn.pi, case.drawn.batch)
    weight = case.weight[inside]
    weight = np.where(_find_unseen(case)[inside, None], 0.0, weight)
    claim: Claim = "these topics" if case.question.topics == "these" else "new topics"
    found = sum_topics(weight, case.said[inside].astype(np.int64), case.topic[inside], len(case.topics), drawn)
    single, pairs, gold = found.scores(claim), found.differences(claim), found.differences("these topics")
    shape = np.shape(pairs.value)
    if (drawn.pi < 1).any() and not np.ptp(drawn.gain):
        raise DataError(
            f"all {counted(len(drawn.gain), 'gold item')} gain the same by {case.question.parsed}, so gold tells "
            "nothing apart; is the lowest relevant grade right?"
        )
    if shape == (2, 2) and np.isinf(np.asarray(pairs.variance)).any():
        raise DataError(
            "fewer than two gold items tell the two systems apart; judge more of those that karatage plan draws"
        )
    return Corrected(
        way="census" if case.gold is not None and case.gold.draw is None else "sampled",
        value=np.asarray(single.value),
        variance=np.asarray(single.variance),
        degrees=np.full(shape[0], single.degrees),
        pairs=Pairs(
            value=np.asarray(pairs.value),
            variance=np.asarray(pairs.variance),
            degrees=np.array(np.broadcast_to(pairs.degrees, shape)),
        ),
        gold_variance=np.asarray(gold.variance),
        gold_items=int(np.ptp(weight[drawn.item], axis=1).astype(bool).sum()),
        within=(-np.inf, np.inf),
        per_topic=found.term[:, :-1],
        assumed=(_name_assumption(case),),
        notes=tuple(_tell(case)),
    )


def _find_unseen(case: Case) -> BoolArray:
    """Items that count as not relevant, since gold could not or did not speak of them."""
    assert case.gold is not None
    unknown: BoolArray = case.gold_grade < 0
    if case.even:
        return unknown & ~case.judged
    if case.gold.draw is None:
        return unknown & (case.matters | ~case.judged)
    return np.zeros(len(unknown), bool)


def _name_assumption(case: Case) -> str:
    if case.even:
        return "gold was drawn evenly from what was judged"
    if (case.drawn.pi == 1).all():
        return "gold has graded all that matters"
    return "gold items were drawn with the chances in the file, and all drawn ones were graded"


def _require(case: Case) -> None:
    assert case.gold is not None
    if case.linear is None:
        raise DataError(
            f"{case.question.parsed} is no weighted sum of grades, so gold on single documents does not correct it; "
            f"re-judge whole topics, or ask for {WEIGHTED_SUMS}"
        )
    if case.gold.draw is None and case.design.kind != "census":
        raise DataError(
            "gold has no column pi, the chance with which each item was drawn; let karatage plan draw the gold, or "
            "undo error rates instead"
        )
    if case.disjoint:
        raise DataError("the systems answered different topics, so they are compared by error rates, not item by item")
    if case.question.topics == "new" and len(case.topics) < find_least_topics(case):
        raise DataError(f"{tell_few_topics(len(case.topics))}; judge {LEAST_TOPICS} at least, or {CLAIM_THESE}")
    if not (case.gold_item >= 0).any():
        raise DataError("no gold item is among the documents of these systems and topics; are items written alike?")
    if len(case.drawn.item) < LEAST_ITEMS and (case.drawn.pi < 1).any():
        few = counted(len(case.drawn.item), "gold item")
        verb = "is" if len(case.drawn.item) == 1 else "are"
        raise DataError(f"{few} {verb} too few to tell anything; judge {LEAST_ITEMS} at least")


def _tell(case: Case) -> Iterator[str]:
    if not gives_grades(case.approach):
        yield f"gold on single documents cannot correct {case.approach}, so what it corrects is {DEFAULT_MERGE}"
    if ((case.topic >= 0) & ~case.matters & case.weight.any(axis=1) & (case.gold_grade < 0)).any():
        yield "what all systems rank alike needs no gold: their scores, unlike differences, lean on the judges there"
    outside = int((case.gold_item < 0).sum())
    if outside:
        yield f"{counted(outside, 'gold item')} outside of these systems' documents and topics, not used"
    unseen = int((case.matters & case.judged & _find_unseen(case)).sum())
    if unseen:
        yield f"documents that matter and were judged but have no gold, counted as not relevant: {unseen:,}"
    alone = int((case.matters & ~case.judged & ~_find_unseen(case)).sum())
    if alone:
        yield f"documents that matter but nobody judged, which corrected scores know from gold alone: {alone:,}"
