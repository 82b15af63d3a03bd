"""Gold on whole topics: for any measure, prediction-powered means of topic scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karatage.correction.topics import LEAST_DIFFERING, LEAST_TOPICS, TopicEstimated, estimate_topics
from karatage.data.axes import FloatArray
from karatage.deciding.case import Case
from karatage.deciding.corrected import Corrected, Pairs
from karatage.deciding.rates import CLAIM_THESE, tell_few_topics
from karatage.errors import DataError
from karatage.wording import counted

FEWEST = 5  # topics with gold, below which their spread says nothing


def correct_by_topics(case: Case) -> Corrected:
    """Every system and pair: gold's scores on its topics, helped by the judges' on all."""
    known = case.gold_topics
    _require(case, int(known.sum()))
    if len(case.topics) == 1:
        return _take_gold(case)
    claim = case.question.topics
    gold, judge, rest = case.gold_scores[known].T, case.scores[known].T, case.scores[~known].T
    single = estimate_topics(gold, judge, rest, claim=claim)
    rows = [
        estimate_topics(gold - gold[a], judge - judge[a], rest - rest[a], claim=claim) for a in range(len(case.systems))
    ]
    pairs = TopicEstimated(*(np.stack([np.asarray(part) for part in column]) for column in zip(*rows, strict=True)))
    if claim == "these" and rest.size:
        pairs = pairs._replace(variance=_doubt_agreement(pairs, judge, rest))
    return Corrected(
        way="topics",
        value=np.asarray(single.value),
        variance=np.asarray(single.variance),
        degrees=np.asarray(single.degrees),
        pairs=Pairs(
            value=np.asarray(pairs.value), variance=np.asarray(pairs.variance), degrees=np.asarray(pairs.degrees)
        ),
        gold_variance=np.asarray(pairs.variance),
        gold_items=int(known.sum()),
        within=(-np.inf, np.inf),
        assumed=("the topics with gold are a random sample of all topics",) if rest.shape[1] else (),
        notes=tuple(_tell(case, int(known.sum()), pairs)),
    )


def find_least_topics(case: Case) -> int:
    """From how many topics on something is said of new ones: fewer where gold knows all that counts in every topic."""
    return FEWEST if case.gold is not None and case.gold_topics.all() else LEAST_TOPICS


def _take_gold(case: Case) -> Corrected:
    """The one topic there is, which gold knows."""
    value, nothing = case.gold_scores[0], np.zeros((len(case.systems), len(case.systems)))
    return Corrected(
        way="topics",
        value=value,
        variance=np.zeros(len(value)),
        degrees=np.full(len(value), np.inf),
        pairs=Pairs(value=value - value[:, None], variance=nothing, degrees=nothing + np.inf),
        gold_variance=nothing,
        gold_items=1,
        within=(-np.inf, np.inf),
    )


def _require(case: Case, topics: int) -> None:
    if case.disjoint:
        raise DataError("the systems answered different topics, so that topics with gold cannot pair them")
    everything = topics == len(case.topics)
    if case.question.topics == "new" and len(case.topics) < FEWEST:
        way_out = f", or {CLAIM_THESE}" if everything else ""
        raise DataError(f"{tell_few_topics(len(case.topics))}; judge {LEAST_TOPICS} at least{way_out}")
    if topics < FEWEST and not (everything and case.question.topics == "these"):
        found = counted(topics, "topic") if topics else "no topic"
        raise DataError(
            f"{found} {'has' if topics < 2 else 'have'} gold on all that counts, too few to see how topics differ; "
            f"re-judge {LEAST_TOPICS} whole topics at least, drawn at random"
        )


def _doubt_agreement(pairs: TopicEstimated, judge: FloatArray, rest: FloatArray) -> FloatArray:
    """The pairs' variances, unknown where judges were never seen to err on gold's topics but are trusted elsewhere."""
    variance = np.array(pairs.variance)
    both = np.concatenate([judge, rest], axis=1)
    alike = (both[:, None] == both[None, :]).all(axis=2)
    variance[(variance == 0) & ~alike] = np.inf
    if len(variance) == 2 and np.isinf(variance[0, 1]):
        raise DataError(
            f"judges and gold agree on all {judge.shape[1]} topics with gold, so that how they err elsewhere is not "
            "known; claim new topics, or re-judge more"
        )
    return variance


def _tell(case: Case, topics: int, pairs: TopicEstimated) -> Iterator[str]:
    lam, differing = np.asarray(pairs.lam), np.asarray(pairs.differing)
    if topics < LEAST_TOPICS and topics < len(case.topics):
        yield (
            f"{counted(topics, 'topic')} with gold are too few to say how far to rely on the judges, so gold alone "
            f"decides; re-judge {LEAST_TOPICS} at least"
        )
        return
    if topics == len(case.topics) or lam.shape[0] != 2:
        return
    if differing[0, 1] < LEAST_DIFFERING:
        yield (
            f"judges and gold disagree on {counted(int(differing[0, 1]), 'topic')} with gold only, so that how much "
            "they do so elsewhere is hardly known: the interval may be too narrow"
        )
    if lam[0, 1] > 0:
        yield f"reliance on the judges (lambda): {lam[0, 1]:.2f}, where 0 is gold alone and 1 is full trust"
