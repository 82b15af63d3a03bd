"""Learning from gold without being graded on it: each topic is merged with gold of the other topics only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from karatage.aggregation.notes import tell
from karatage.aggregation.registry import NamedModel
from karatage.aggregation.votes import Supervision
from karatage.data.judgments import Judgments, match_gold
from karatage.data.posterior import Posterior
from karatage.errors import DataError
from karatage.random_streams import stream

FOLDS = 5


def fit_across_topics(
    named: NamedModel, judgments: Judgments, gold: Judgments, supervision: Supervision, *, seed: int
) -> Posterior:
    """Fit once per fold of topics with the gold of the other folds, and keep that fold's items."""
    with_gold = np.unique(judgments.item_topic[match_gold(judgments, gold) >= 0])
    if len(with_gold) < 2:
        raise DataError(
            f"{named.name} learns from gold, and would be compared with it: gold must cover at least two topics "
            f"of the judgments, so that each is merged with gold of the others; it covers {len(with_gold)}"
        )
    folds = min(FOLDS, len(with_gold))
    fold_of = deal_topics(len(judgments.topics), with_gold, folds, stream(seed, "folds of topics"))
    place = {name: t for t, name in enumerate(judgments.topics)}
    fold_of_gold = np.array([fold_of[place[name]] if name in place else -1 for name in gold.topics])
    parts = [
        named.model.fit(
            judgments,
            gold=gold.keep_rows(fold_of_gold[gold.item_topic[gold.item]] != fold),
            supervision=supervision,
            rng=stream(seed, named.name),
        )
        for fold in range(folds)
    ]
    probability, grades = parts[0].probability.copy(), parts[0].grades.copy()
    width = probability.shape[1]
    for fold, part in enumerate(parts):
        own = fold_of[judgments.item_topic] == fold
        if part.probability.shape[1] != width:
            raise DataError(f"gold has grades in only some topics that the judges never gave; {named.name} needs them")
        probability[own], grades[own] = part.probability[own], part.grades[own]
    told = (note for part in parts for note in part.notes if note.kind != "aggregation.gold-known")
    return replace(
        parts[0],
        model=named.name,
        probability=probability,
        grades=grades,
        parameters={},
        trace=np.empty(0),
        converged=all(part.converged for part in parts),
        notes=(tell("crossfit", model=named.name, folds=folds), *told),
    )


def deal_topics(topics: int, with_gold: np.ndarray, folds: int, rng: np.random.Generator) -> np.ndarray:
    """A fold for every topic, so that those with gold are spread evenly."""
    fold = rng.integers(folds, size=topics)
    fold[rng.permutation(with_gold)] = np.arange(len(with_gold)) % folds
    return fold
