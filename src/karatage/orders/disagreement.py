"""Predicting on which items judges will disagree [COLLAB14]: learned on one collection, carried over to another."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import Final, NamedTuple

import numpy as np

from karatage.data.axes import BoolArray, FloatArray, LongArray
from karatage.data.disagreement import (
    LEAST_RECALL,
    THRESHOLD,
    DisagreementModel,
    DroppedTopic,
    FeatureSet,
    HeldOut,
    TopicModel,
)
from karatage.data.judgments import Judgments
from karatage.data.runs import Runs
from karatage.data.versions import list_versions
from karatage.errors import DataError, OptionError
from karatage.orders.regression import Line, draw_splits, fit_line, fitting, predict_line, try_splits
from karatage.orders.tables import FeatureTable, Outcome, find_disagreement, split_votes, tabulate
from karatage.progress import follow
from karatage.random_streams import settle_seed, stream
from karatage.text import count_names, counted

LEAST_ITEMS: Final = 10
LEAST_EACH: Final = 2  # items with disagreement, and without
SATURATED: Final = 0.9
DULL: Final = 0.55  # an AUC below says that items are hardly told apart


class Transfer(NamedTuple):
    """Chances of disagreement, and which learned topic's model gave them."""

    chance: FloatArray  # (item,)
    chosen: LongArray  # (topic,) number of the topic in the model, -1 for a topic without items
    distance: FloatArray  # (topic,) RMSE from the prior, NaN for a topic without items


def learn_disagreement(
    runs: Runs | None,
    judgments: Judgments,
    *,
    features: FeatureSet = "runs",
    trials: int = 100,
    threshold: float = THRESHOLD,
    rng: int | np.random.Generator | None = None,
) -> DisagreementModel:
    """Learn, topic by topic, on which items judges disagree; any difference of grades counts as disagreement.

    `features` says what it is predicted from: `runs` (Meta-AP and weighted retrieval per run, which travel to other
    collections), `sums` ([COLLAB14]'s own: weighted retrieval grows with the number of runs) or `votes` (other judges'
    grades of the same item; two judges of each item are kept apart for the outcome, and runs may be None).
    """
    seed = settle_seed(rng)
    if features == "votes":
        known_grades, outcome = split_votes(judgments, seed)
        table = tabulate(features, runs, known_grades)
        need = "three judges: two to disagree, the others to predict it"
    else:
        table, outcome = tabulate(features, runs, judgments), find_disagreement(judgments)
        need = "two judges"
    if not outcome.known.any():
        raise DataError(f"no item was graded by at least {need}; learn from judgments that overlap")
    model = learn_from_features(table, outcome, trials=trials, threshold=threshold, rng=seed)
    if judgments.top_grade < 2:
        return model
    note = (
        f"grades go up to {judgments.top_grade}, and any difference counts as disagreement; for relevant or not alone, "
        "read the judgments with grades mapped to 0 and 1"
    )
    return replace(model, notes=(*model.notes, note))


def predict_disagreement(
    model: DisagreementModel, runs: Runs | None, pool: Judgments, *, same_topics: bool = False
) -> FloatArray:
    """The chance that judges disagree about each item of a pool, judged or not, (item,).

    Every topic is given the learned topic whose predictions come nearest to the prior; with `same_topics` those that
    the model knows by name keep their own. A model of `votes` looks at the pool's grades so far, the others at runs.
    """
    if model.feature_set == "own":
        raise OptionError("the model was learned from features of your own; pass them to transfer() as a table")
    return transfer(model, tabulate(model.feature_set, runs, pool), same_topics=same_topics).chance


def learn_from_features(
    table: FeatureTable,
    outcome: Outcome,
    *,
    trials: int = 100,
    threshold: float = THRESHOLD,
    rng: int | np.random.Generator | None = None,
) -> DisagreementModel:
    """The same from any features: a regression for each topic with enough items, tried on `trials` random splits."""
    if trials < 1:
        raise OptionError(f"{trials} trials: at least 1 split must be held out to tell whether a topic is of use")
    if not 0 < threshold < 1:
        raise OptionError(f"a threshold of {threshold:g} is not a probability between 0 and 1")
    seed = settle_seed(rng)
    kept: list[TopicModel] = []
    dropped: list[DroppedTopic] = []
    with fitting():
        for t, name in follow(enumerate(table.topics), len(table.topics), "topics"):
            rows = (table.item_topic == t) & outcome.known
            value, disagree = table.value[rows], outcome.disagree[rows]
            items, disagreed = len(disagree), int(disagree.sum())
            reason = find_obstacle(disagree)
            if reason is None:
                splits = draw_splits(items, trials, stream(seed, f"splits {name}"))
                rates = try_splits(value, disagree, splits, threshold)
                mean, spread = _summarise(rates)
                if not mean.tpr >= LEAST_RECALL:
                    reason = f"held-out recall is {mean.tpr:.3f} on average, below {LEAST_RECALL:g}"
            if reason is not None:
                dropped.append(DroppedTopic(topic=name, items=items, disagreed=disagreed, reason=reason))
                continue
            line = fit_line(value, disagree)
            kept.append(
                TopicModel(
                    topic=name,
                    items=items,
                    disagreed=disagreed,
                    intercept=line.intercept,
                    coefficients=tuple(line.coefficients.tolist()),
                    mean=mean,
                    spread=spread,
                )
            )
    return DisagreementModel(
        feature_set=table.feature_set,
        features=table.features,
        topics=tuple(kept),
        dropped=tuple(dropped),
        threshold=threshold,
        trials=trials,
        seed=seed,
        versions=list_versions() | {"scikit-learn": version("scikit-learn")},
        notes=(*table.notes, *_find_doubts(kept, dropped, threshold)),
    )


def transfer(model: DisagreementModel, table: FeatureTable, *, same_topics: bool = False) -> Transfer:
    """Predict with every learned topic; for each new one keep what comes nearest to the prior.

    Nearness is the RMSE between a topic's chances in ascending order and the prior's quantiles at (i - 1/2) / n; of
    equally near ones the first is kept. With `same_topics`, a topic that was learned by that name keeps its own.
    """
    from scipy.special import betaincinv

    if not model.topics:
        raise DataError("the disagreement model kept no topic, so nothing can be predicted; learn from more judgments")
    if table.features != model.features:
        raise DataError(f"the model looks at {', '.join(model.features)}, not {', '.join(table.features)}")
    lines = [Line(topic.intercept, np.array(topic.coefficients)) for topic in model.topics]
    own = {topic.topic: k for k, topic in enumerate(model.topics)} if same_topics else {}
    chance = np.empty(len(table.item_topic))
    chosen = np.full(len(table.topics), -1, np.int64)
    distance = np.full(len(table.topics), np.nan)
    for t, name in enumerate(table.topics):
        rows = np.flatnonzero(table.item_topic == t)
        if not len(rows):
            continue
        expected = betaincinv(*model.prior, (np.arange(len(rows)) + 0.5) / len(rows))
        predicted = np.stack([predict_line(line, table.value[rows]) for line in lines])
        apart = np.sqrt(((np.sort(predicted, axis=1) - expected) ** 2).mean(axis=1))
        chosen[t] = own.get(name, int(np.argmin(apart)))
        chance[rows], distance[t] = predicted[chosen[t]], apart[chosen[t]]
    return Transfer(chance, chosen, distance)


def find_obstacle(disagree: BoolArray) -> str | None:
    """Why nothing can be learned from a topic's items, if so."""
    items, disagreed = len(disagree), int(disagree.sum())
    if items < LEAST_ITEMS:
        return f"{counted(items, 'item')} with enough judges, fewer than {LEAST_ITEMS}"
    if min(disagreed, items - disagreed) < LEAST_EACH:
        return f"judges disagree on {disagreed:,} of {items:,} items: at least {LEAST_EACH} of each kind are needed"
    return None


def _summarise(rates: FloatArray) -> tuple[HeldOut, HeldOut]:
    """Mean and standard deviation over the splits where a rate is known."""
    mean, spread = [], []
    for column in rates.T:
        known = column[~np.isnan(column)]
        mean.append(float(known.mean()) if len(known) else float("nan"))
        spread.append(float(known.std(ddof=1)) if len(known) > 1 else float("nan"))
    return HeldOut(*mean), HeldOut(*spread)


def _find_doubts(kept: list[TopicModel], dropped: list[DroppedTopic], threshold: float) -> list[str]:
    notes = []
    items = sum(t.items for t in kept) + sum(t.items for t in dropped)
    disagreed = sum(t.disagreed for t in kept) + sum(t.disagreed for t in dropped)
    if disagreed >= SATURATED * items:
        notes.append(
            f"judges disagree on {disagreed / items:.0%} of items: with many judges or grades, few "
            "items are unanimous; learn from fewer judges or fewer grades"
        )
    usual = [t.topic for t in kept if t.share >= threshold]
    if usual:
        notes.append(
            f"topics on which judges disagree on {threshold:g} of items or more, {count_names(usual)}: nearly all "
            "their items are flagged, so recall says little; look at AUC"
        )
    dull = [t.topic for t in kept if not t.mean.auc >= DULL]
    if dull:
        notes.append(
            f"topics kept for their recall whose items are poorly separated (AUC below {DULL:g}): {count_names(dull)}"
        )
    if dropped:
        notes.append(f"topics dropped: {count_names([t.topic for t in dropped])}")
    if len(kept) == 1:
        notes.append("only one topic was kept, so there is nothing to choose from on a new collection")
    return notes
