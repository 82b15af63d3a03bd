"""Predicting where judges disagree: tables of items, regression and its check."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Final, NamedTuple

import numpy as np

from karatage.data.alignment import Alignment, align, require_data
from karatage.data.axes import BoolArray, FloatArray, IntArray, LongArray, freeze
from karatage.data.disagreement import (
    FEATURES,
    LEAST_RECALL,
    THRESHOLD,
    DisagreementModel,
    DroppedTopic,
    FeatureSet,
    HeldOut,
    TopicModel,
)
from karatage.data.judgments import Judgments
from karatage.data.note import Note, Texts
from karatage.data.result import list_versions
from karatage.data.runs import Runs
from karatage.errors import DataError, OptionError
from karatage.orders.state import find_features, find_vote_features
from karatage.progress import follow
from karatage.random_streams import settle_seed, stream
from karatage.text import counted, shorten

tell = Texts(
    "orders",
    {
        "any-difference": "grades go up to {top}, and any difference counts as disagreement; for relevant or not "
        "alone, read the judgments with grades mapped to 0 and 1",
        "dropped": "topics dropped: {topics:names}",
        "dull": "topics kept for their recall whose items are poorly separated (AUC below {least:g}): {topics:names}",
        "one-topic": "only one topic was kept, so there is nothing to choose from on a new collection",
        "saturated": "judges disagree on {share:.0%} of items: with many judges or grades, few items are unanimous; "
        "learn from fewer judges or fewer grades",
        "usual": "topics on which judges disagree on {threshold:g} of items or more, {topics:names}: nearly all their "
        "items are flagged, so recall is not informative; use AUC",
    },
)

ASKED = 2  # judges whose disagreement a model of votes predicts


@dataclass(frozen=True, eq=False, kw_only=True)
class FeatureTable:
    """Features of items, and the topics they belong to."""

    value: FloatArray  # (item, feature)
    topics: tuple[str, ...]
    item_topic: IntArray  # (item,)
    features: tuple[str, ...]
    feature_set: FeatureSet = "own"
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what does not fit together, and protect the arrays."""
        if self.value.shape != (len(self.item_topic), len(self.features)):
            raise DataError(
                f"features of shape {self.value.shape} do not fit {len(self.item_topic):,} items "
                f"and {len(self.features)} names"
            )
        bad = np.argwhere(~np.isfinite(self.value))
        if len(bad):
            item, k = bad[0]
            raise DataError(f"feature {self.features[k]} of item {item} is {self.value[item, k]}, not a finite number")
        freeze(self.value, self.item_topic)


class Outcome(NamedTuple):
    """Whether judges disagree."""

    known: BoolArray  # (item,) whether enough judges graded it to tell
    disagree: BoolArray  # (item,)


def tabulate(feature_set: FeatureSet, runs: Runs | None, pool: Judgments) -> FeatureTable:
    """The features of a pool's items; runs and sums need runs, votes come from the pool's own grades."""
    if feature_set not in FEATURES:
        raise OptionError(f"feature set '{feature_set}' is not one of {', '.join(FEATURES)}")
    if feature_set == "votes":
        value = np.stack(find_vote_features(pool), axis=1)
        return _make_table(feature_set, value, pool, pool.notes)
    if runs is None:
        raise OptionError(f"features '{feature_set}' come from runs; give runs, or take features 'votes'")
    return tabulate_aligned(feature_set, align(runs, pool), pool)


def tabulate_aligned(feature_set: FeatureSet, alignment: Alignment, pool: Judgments) -> FeatureTable:
    """The same for features from runs that are aligned with the pool."""
    found = find_features(alignment.ranked, len(pool.item_topic))
    retrieval = found.weighted_retrieval / (len(alignment.systems) if feature_set == "runs" else 1)
    return _make_table(feature_set, np.stack([found.meta_ap, retrieval], axis=1), pool, alignment.notes)


def find_disagreement(judgments: Judgments) -> Outcome:
    """Whether the judges of an item are unanimous, where there are two or more; any difference of grades counts."""
    start = judgments.row_start
    known = np.diff(start) >= 2
    low, high = (np.zeros(len(known), np.int8) for _ in range(2))
    if len(judgments.grade):
        graded = np.flatnonzero(np.diff(start))
        low[graded] = np.minimum.reduceat(judgments.grade, start[graded])
        high[graded] = np.maximum.reduceat(judgments.grade, start[graded])
    return Outcome(known, known & (low != high))


def split_votes(judgments: Judgments, seed: int) -> tuple[Judgments, Outcome]:
    """Two judges of each item drawn at random to tell whether they disagree, and the grades of all the others.

    Items with fewer than three judges are not used. Each topic has its own stream.
    """
    topic = judgments.item_topic[judgments.item]
    draw = np.empty(len(topic))
    for t, name in enumerate(judgments.topics):
        rows = topic == t
        draw[rows] = stream(seed, f"judges asked {name}").random(int(rows.sum()))
    order = np.lexsort((draw, judgments.item))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    asked = place - judgments.row_start[judgments.item] < ASKED
    outcome = find_disagreement(judgments.keep_rows(asked))
    known = np.diff(judgments.row_start) > ASKED
    return judgments.keep_rows(~asked), Outcome(known, known & outcome.disagree)


def _make_table(feature_set: FeatureSet, value: FloatArray, pool: Judgments, notes: tuple[Note, ...]) -> FeatureTable:
    return FeatureTable(
        value=value,
        topics=pool.topics,
        item_topic=pool.item_topic,
        features=FEATURES[feature_set],
        feature_set=feature_set,
        notes=notes,
    )


TRAINED_SHARE: Final = 0.7


class Line(NamedTuple):
    """The log odds of disagreement: intercept + sum of coefficient times feature."""

    intercept: float
    coefficients: FloatArray  # (feature,)


@contextmanager
def fitting() -> Iterator[None]:
    """One thread in the linear algebra, so that fits are the same to the last bit however many there are.

    Where Newton's steps get stuck, the solver goes on by another way and says so; no action is needed.
    """
    import sklearn
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    unchecked = sklearn.config_context(assume_finite=True, skip_parameter_validation=True)  # halves the time
    with threadpool_limits(limits=1, user_api="blas"), unchecked, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def fit_line(features: FloatArray, disagree: BoolArray) -> Line:
    """Ridge-penalised (C = 1) on features brought to mean 0 and deviation 1; coefficients in the features' own units.

    The penalty is scikit-learn's default: without it a topic that can be separated has no finite fit. Where there is
    one outcome only, its probability is 0 or 1 for any features.
    """
    from sklearn.linear_model import LogisticRegression

    if disagree.all() or not disagree.any():
        return Line(math.inf if disagree.all() else -math.inf, np.zeros(features.shape[1]))
    centre, width = features.mean(axis=0), features.std(axis=0)
    width[width < 1e-12 * np.maximum(np.abs(centre), 1)] = 1.0  # a feature that never varies
    model = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    model.fit((features - centre) / width, disagree)
    coefficients = model.coef_[0] / width
    return Line(float(model.intercept_[0] - (coefficients * centre).sum()), coefficients)


def predict_line(line: Line, features: FloatArray) -> FloatArray:
    """Chances (item,)."""
    odds = np.full(len(features), line.intercept, np.float64)
    for k, coefficient in enumerate(line.coefficients):
        odds += coefficient * features[:, k]
    decay = np.exp(-np.abs(odds))
    return np.asarray(np.where(odds >= 0, 1, decay) / (1 + decay))


def draw_splits(items: int, trials: int, rng: np.random.Generator) -> list[tuple[LongArray, LongArray]]:
    """Items to learn from and items held out, at random, 70 to 30."""
    learned = min(max(round(TRAINED_SHARE * items), 1), items - 1)
    orders = (rng.permutation(items) for _ in range(trials))
    return [(order[:learned], order[learned:]) for order in orders]


def try_splits(
    features: FloatArray, disagree: BoolArray, splits: list[tuple[LongArray, LongArray]], threshold: float
) -> FloatArray:
    """Rates (split, rate) of models learned on one part of each split and tried on the other."""
    rates = np.empty((len(splits), len(HeldOut._fields)))
    for k, (learned, held_out) in enumerate(splits):
        chance = predict_line(fit_line(features[learned], disagree[learned]), features[held_out])
        rates[k] = rate_chances(chance, disagree[held_out], threshold)
    return rates


def rate_chances(chance: FloatArray, disagree: BoolArray, threshold: float) -> HeldOut:
    """TPR, PPV, TNR, NPV at a threshold, and AUC; NaN where there is nothing to take a share of."""
    flagged = chance >= threshold
    hits, passed = int((flagged & disagree).sum()), int((~flagged & ~disagree).sum())
    positives, flags, items = int(disagree.sum()), int(flagged.sum()), len(disagree)
    return HeldOut(
        tpr=_share(hits, positives),
        ppv=_share(hits, flags),
        tnr=_share(passed, items - positives),
        npv=_share(passed, items - flags),
        auc=find_auc(chance, disagree),
    )


def find_auc(chance: FloatArray, disagree: BoolArray) -> float:
    """Chance that an item with disagreement is ranked above one without, ties half; NaN where one kind is missing."""
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    rank = np.cumsum(count) - (count - 1) / 2  # of ties the mean rank
    positives = int(disagree.sum())
    above = float(rank[place][disagree].sum()) - positives * (positives + 1) / 2
    return above / (positives * (len(disagree) - positives)) if 0 < positives < len(disagree) else math.nan


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


LEAST_ITEMS: Final = 10
LEAST_EACH: Final = 2  # items with disagreement, and without
SATURATED: Final = 0.9
DULL: Final = 0.55  # with an AUC below this, items are poorly separated


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

    `features` names the predictors. `runs`: Meta-AP and weighted retrieval per run, which can be used on other
    collections. `sums`: those of [COLLAB14], where weighted retrieval grows with the number of runs. `votes`: other
    judges' grades of the same item; two judges of each item are only used for the outcome, and runs may be None.
    """
    require_data("runs", runs=runs, judgments=judgments)
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
    graded = tell.when(judgments.top_grade > 1, "any-difference", top=judgments.top_grade)
    return replace(model, notes=(*model.notes, *graded))


def predict_disagreement(
    model: DisagreementModel, runs: Runs | None, pool: Judgments, *, same_topics: bool = False
) -> FloatArray:
    """The chance that judges disagree about each item of a pool, judged or not, (item,).

    Every topic is given the learned topic whose predictions come nearest to the prior; with `same_topics` those that
    the model knows by name keep their own. A model of `votes` looks at the pool's grades so far, the others at runs.
    """
    require_data("runs", runs=runs)
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


def transfer(
    model: DisagreementModel, table: FeatureTable, *, same_topics: bool = False, other_topics: bool = False
) -> Transfer:
    """Predict with every learned topic; for each new one keep what comes nearest to the prior.

    Nearness is the RMSE between a topic's chances in ascending order and the prior's quantiles at (i - 1/2) / n; of
    equally near ones the first is kept. With `same_topics`, a topic that was learned by that name keeps its own; with
    `other_topics`, it gets another topic's.
    """
    from scipy.special import betaincinv

    if not model.topics:
        raise DataError(
            f"the disagreement model kept no topic, so nothing can be predicted{_tell_dropped(model)}; learn from more "
            "judgments"
        )
    if table.features != model.features:
        raise DataError(f"the model uses {', '.join(model.features)}, not {', '.join(table.features)}")
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
        if other_topics:
            apart = np.where([topic.topic == name for topic in model.topics], np.inf, apart)
            if np.isinf(apart).all():
                raise DataError(f"topic {shorten(name)} is the only one that the disagreement model kept; learn more")
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


def _tell_dropped(model: DisagreementModel) -> str:
    """Why topics were dropped, each reason with the number of its topics."""
    small = [topic for topic in model.dropped if topic.items < LEAST_ITEMS]
    settled = [topic for topic in model.dropped if min(topic.disagreed, topic.items - topic.disagreed) < LEAST_EACH]
    alike = [topic for topic in settled if topic not in small]
    reasons = [
        (len(small), f"with fewer than {LEAST_ITEMS} items that enough judges graded"),
        (len(alike), f"with fewer than {LEAST_EACH} items on which judges disagree, or agree"),
        (len(model.dropped) - len(small) - len(alike), f"with held-out recall below {LEAST_RECALL:g}"),
    ]
    told = ", ".join(f"{counted(topics, 'topic')} {reason}" for topics, reason in reasons if topics)
    return f" ({told})" if told else ""


def _summarise(rates: FloatArray) -> tuple[HeldOut, HeldOut]:
    """Mean and standard deviation over the splits where a rate is known."""
    mean, spread = [], []
    for column in rates.T:
        known = column[~np.isnan(column)]
        mean.append(float(known.mean()) if len(known) else float("nan"))
        spread.append(float(known.std(ddof=1)) if len(known) > 1 else float("nan"))
    return HeldOut(*mean), HeldOut(*spread)


def _find_doubts(kept: list[TopicModel], dropped: list[DroppedTopic], threshold: float) -> tuple[Note, ...]:
    items = sum(t.items for t in kept) + sum(t.items for t in dropped)
    disagreed = sum(t.disagreed for t in kept) + sum(t.disagreed for t in dropped)
    usual = tuple(t.topic for t in kept if t.share >= threshold)
    dull = tuple(t.topic for t in kept if not t.mean.auc >= DULL)
    return (
        *tell.when(disagreed >= SATURATED * items, "saturated", share=disagreed / items),
        *tell.when(usual, "usual", threshold=threshold, topics=usual),
        *tell.when(dull, "dull", least=DULL, topics=dull),
        *tell.when(dropped, "dropped", topics=tuple(t.topic for t in dropped)),
        *tell.when(len(kept) == 1, "one-topic"),
    )
