"""Gold on whole topics or on all documents that matter: prediction-powered means, or gold's own scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from karatage.correction.topics import LEAST_DIFFERING, LEAST_TOPICS, TopicEstimated, estimate_topics
from karatage.data.axes import BoolArray, FloatArray
from karatage.data.estimate import Method
from karatage.data.note import Note
from karatage.decisions.estimators.contract import (
    CLAIM_THESE,
    FEWEST_TOPICS,
    RATES_INSTEAD,
    Boards,
    Estimator,
    Fitted,
    Levels,
    SystemPairs,
    tell_few_topics,
)
from karatage.decisions.estimators.drawn import fit_sample
from karatage.decisions.notes import tell
from karatage.errors import DataError
from karatage.kernels.sampling import sum_square_gaps
from karatage.text import counted

if TYPE_CHECKING:
    from karatage.decisions.case import Case

BLOCK = 2_000_000  # numbers held at once


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicsFitted(Fitted):
    """Scores and differences from gold on whole topics; gold items are topics here."""

    lam: float | None  # weight of the judges; None = estimated from gold's topics

    def take_board(self, case: Case, naive: FloatArray) -> Boards:
        """The slope is from gold's topics, where both scores are known."""
        known = case.gold_topics
        judge, gold = case.scores[known].mean(axis=0), case.gold_scores[known].mean(axis=0)
        return super().take_board(case, naive)._replace(judge=judge[None], gold=gold[None])

    def resample(self, case: Case, draws: int, rng: np.random.Generator) -> Boards | None:
        """Topics with and without gold are resampled separately, so that their numbers stay fixed."""
        known = case.gold_topics
        if known.sum() < 2:
            return None
        gold, judge, rest = case.gold_scores[known].T, case.scores[known].T, case.scores[~known].T
        inside = rng.integers(0, gold.shape[1], (draws, gold.shape[1]))
        outside = rng.integers(0, max(rest.shape[1], 1), (draws, rest.shape[1]))
        naive, corrected, known_judge, known_gold = np.empty((4, draws, len(case.systems)))
        block = max(1, BLOCK // case.scores.size)
        for part in (slice(start, start + block) for start in range(0, draws, block)):
            y, f, r = gold[:, inside[part]], judge[:, inside[part]], rest[:, outside[part]]
            found = estimate_topics(y, f, r, claim=case.question.claim, lam=self.lam)
            corrected[part] = np.asarray(found.value).T
            naive[part] = (f.sum(axis=2) + r.sum(axis=2)).T / len(case.topics)
            known_judge[part], known_gold[part] = f.mean(axis=2).T, y.mean(axis=2).T
        return Boards(naive, corrected, known_judge, known_gold, np.zeros(draws), int(known.sum()))

    def name_more_gold(self, case: Case, more: int) -> str | None:
        """In topics, at most those without gold."""
        left = len(case.topics) - self.gold_items
        return f"Gold on {counted(more, 'more topic')}" if more <= left else None


@dataclass(frozen=True, kw_only=True)
class WholeTopics(Estimator):
    """Gold's scores on its topics, combined with the judges' on all topics."""

    lam: float | None = None  # weight of the judges; None = estimated from gold's topics

    def suits(self, case: Case) -> bool:
        """Gold on whole topics."""
        return case.design.kind == "topics" and self.lam is None

    def explain_choice(self, case: Case) -> tuple[Note, ...]:
        """Why topics are counted, although the measure allows items."""
        return tell.when(case.additive, "choice-topics", topics=case.design.topics, pool=case.design.pool_topics)

    def fit(self, case: Case) -> TopicsFitted:
        """Estimate every system and pair."""
        known = case.gold_topics
        _require(case, int(known.sum()))
        if len(case.topics) == 1:
            return _take_gold(case, self.method)
        claim = case.question.claim
        gold, judge, rest = case.gold_scores[known].T, case.scores[known].T, case.scores[~known].T
        single = estimate_topics(gold, judge, rest, claim=claim, lam=self.lam)
        rows = [
            estimate_topics(gold - gold[a], judge - judge[a], rest - rest[a], claim=claim, lam=self.lam)
            for a in range(len(gold))
        ]
        pairs = TopicEstimated(*(np.stack([np.asarray(part) for part in column]) for column in zip(*rows, strict=True)))
        if claim == "these" and rest.size:
            pairs = pairs._replace(variance=_doubt_agreement(pairs, judge, rest))
        erring, alone = _spread_errors(case, known)
        if claim == "these":  # topics' spread has the rest of gold's errors
            part = known.sum() / len(known)
            pairs = pairs._replace(variance=pairs.variance + part * erring)
            single = single._replace(variance=single.variance + part * alone)
        return TopicsFitted(
            method=self.method,
            lam=self.lam,
            pairs=SystemPairs.of(pairs),
            levels=Levels.of(single),
            gold_variance=np.asarray(pairs.variance),
            erring_variance=erring,
            gold_items=int(known.sum()),
            assumed=("the topics with gold are a random sample of all topics",) if rest.shape[1] else (),
            notes=tuple(_tell(case, int(known.sum()), pairs)) if self.lam is None else (),
        )


WHOLE_TOPICS = WholeTopics(
    method=Method(
        name="topics",
        label="gold topics",
        about="Corrected scores are unbiased for any judges. Intervals are wider when there is less gold.",
    ),
    phrase="by gold on whole topics",
    corrects_gold=True,
)
GOLD_TOPICS = WholeTopics(
    method=Method(
        name="gold-topics",
        label="gold topics alone",
        about="Corrected scores are gold's own, on the topics that have gold; judges' grades are not used.",
        undone="by gold alone",
    ),
    phrase="by gold on whole topics alone",
    corrects_gold=True,
    lam=0.0,
)


def _take_gold(case: Case, method: Method) -> TopicsFitted:
    """The scores of a single topic with gold."""
    value, nothing = case.gold_scores[0], np.zeros((len(case.systems), len(case.systems)))
    return TopicsFitted(
        method=method,
        lam=None,
        pairs=SystemPairs(value=value - value[:, None], variance=nothing, degrees=nothing + np.inf),
        levels=Levels(value=value, variance=np.zeros(len(value)), degrees=np.full(len(value), np.inf)),
        gold_variance=nothing,
        gold_items=1,
    )


def _spread_errors(case: Case, known: BoolArray) -> tuple[FloatArray, FloatArray]:
    """The variance of gold's mean that is due to gold's own errors: of pairs (system, system) and scores (system,)."""
    systems = len(case.systems)
    pairs = np.zeros((systems, systems))
    if case.gold_noise is None:
        return pairs, np.zeros(systems)
    used = case.gold_item >= 0
    used[used] = known[case.topic[case.gold_item[used]]]
    error = case.weight[case.gold_item[used]] * (np.sqrt(case.gold_noise[used])[:, None] / known.sum())
    sum_square_gaps(error, pairs)
    return pairs, (error**2).sum(axis=0)


def _require(case: Case, topics: int) -> None:
    if case.disjoint:
        raise DataError(
            "the systems answered different topics, so topics with gold do not compare them; give runs over the same "
            f"topics{RATES_INSTEAD if case.additive else ''}"
        )
    everything = topics == len(case.topics)
    if case.question.claim == "new" and len(case.topics) < FEWEST_TOPICS:
        way_out = f", or {CLAIM_THESE}" if everything else ""
        raise DataError(f"{tell_few_topics(len(case.topics))}; judge at least {LEAST_TOPICS}{way_out}")
    if topics < FEWEST_TOPICS and not (everything and case.question.claim == "these"):
        found = counted(topics, "topic") if topics else "no topic"
        raise DataError(
            f"{found} {'has' if topics < 2 else 'have'} complete gold, too few for the variance between topics; "
            f"re-judge at least {FEWEST_TOPICS} whole topics, better {LEAST_TOPICS}, drawn at random"
        )


def _doubt_agreement(pairs: TopicEstimated, judge: FloatArray, rest: FloatArray) -> FloatArray:
    """The pairs' variances; unknown where judges made no error on gold's topics but are used elsewhere."""
    variance = np.array(pairs.variance)
    both = np.concatenate([judge, rest], axis=1)
    alike = (both[:, None] == both[None, :]).all(axis=2)
    variance[(variance == 0) & ~alike] = np.inf
    if len(variance) == 2 and np.isinf(variance[0, 1]):
        raise DataError(
            f"judges and gold agree on all {judge.shape[1]} topics with gold, so the judges' errors on other topics "
            f"are unknown; make a claim about new topics (--claim new), or re-judge more topics"
        )
    return variance


def _tell(case: Case, topics: int, pairs: TopicEstimated) -> Iterator[Note]:
    lam, differing = np.asarray(pairs.lam), np.asarray(pairs.differing)
    if topics == len(case.topics):
        return
    yield from tell.when(topics < LEAST_TOPICS, "few-topics-lambda", topics=topics, least=LEAST_TOPICS)
    if lam.shape[0] == 2:
        differ, reliance = int(differing[0, 1]), float(lam[0, 1])
        yield from tell.when(differ < LEAST_DIFFERING, "few-differ", topics=differ)
        yield from tell.when(reliance > 0, "lambda", value=reliance)


class Census(Estimator):
    """Document by document for weighted sums, topic by topic for other measures."""

    def suits(self, case: Case) -> bool:
        """Gold on all documents that matter."""
        return case.design.kind == "census"

    def fit(self, case: Case) -> Fitted:
        """Gold's own scores."""
        if case.design.kind != "census":
            raise DataError(
                "gold does not contain all documents that matter, so it is not enough alone; use --correction auto"
            )
        if case.additive:
            return fit_sample(case, self.method)
        return replace(WHOLE_TOPICS.fit(case), method=self.method)


CENSUS = Census(
    method=Method(
        name="census",
        label="gold alone",
        about="Corrected scores are gold's own: it contains all documents that matter. Judges' grades are not used.",
        undone="by gold alone",
    ),
    phrase="by gold on all documents that matter",
    corrects_gold=True,
)
