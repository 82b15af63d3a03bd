"""Learning and carrying over: what is kept, dropped and noted, and which options matter."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta
from threadpoolctl import threadpool_limits

import karatage as kt
from karatage.data.disagreement import DroppedTopic, HeldOut, TopicModel
from karatage.errors import DataError, OptionError
from karatage.orders.disagreement import (
    FeatureTable,
    Outcome,
    draw_splits,
    find_obstacle,
    fitting,
    learn_from_features,
    transfer,
    try_splits,
)
from karatage.random_streams import stream
from tests.notes import gives, has_note, list_facts

STEEP = (-1.0, 2.0, -1.0)


def make_table(topics=3, items=200, line=STEEP, seed=0):
    """Items whose judges disagree with chances along a line."""
    rng = np.random.default_rng(seed)
    value = rng.normal(size=(topics * items, 2))
    chance = 1 / (1 + np.exp(-(line[0] + value @ np.array(line[1:]))))
    table = FeatureTable(
        value=value,
        topics=tuple(str(401 + t) for t in range(topics)),
        item_topic=np.repeat(np.arange(topics, dtype=np.int32), items),
        features=("f", "g"),
    )
    return table, Outcome(np.ones(len(value), bool), rng.random(len(value)) < chance)


def make_world(judges=3, seed=0):
    """Judges who are unsure of what runs rank in the middle, and runs of 40 documents."""
    rng = np.random.default_rng(seed)
    merit = rng.normal(size=(4, 60))
    runs = {
        f"s{s}": {
            str(t): {f"d{i:02d}": float(v) for i, v in enumerate(merit[t] + rng.normal(0, 0.3, 60)) if v > -0.5}
            for t in range(4)
        }
        for s in range(6)
    }
    says = {
        f"j{j}": {
            str(t): {f"d{i:02d}": int(v > 0.4) for i, v in enumerate(merit[t] + rng.normal(0, 0.5, 60))}
            for t in range(4)
        }
        for j in range(judges)
    }
    return kt.read_runs(runs), kt.read_judgments(says)


@pytest.fixture(scope="module")
def model():
    return learn_from_features(*make_table(), trials=10, rng=0)


def test_what_is_learned(model):
    assert [topic.topic for topic in model.topics] == ["401", "402", "403"]
    assert not model.dropped
    for topic in model.topics:
        assert topic.items == 200
        assert topic.coefficients[0] > 0.5 > -0.2 > topic.coefficients[1]
        assert topic.mean.auc > 0.75
        assert 0 < topic.spread.auc < 0.2
    assert set(model.versions) == {"karatage", "python", "scikit-learn"}


def test_same_seed_same_model_and_topics_do_not_depend_on_each_other(model):
    again = learn_from_features(*make_table(), trials=10, rng=0)
    assert again.to_json() == model.to_json()
    other = learn_from_features(*make_table(), trials=10, rng=1)
    assert other.topics[0].mean != model.topics[0].mean
    assert other.topics[0].coefficients == model.topics[0].coefficients  # fitted on all items
    table, outcome = make_table()
    known = outcome.known & (table.item_topic == 1)
    alone = learn_from_features(table, Outcome(known, outcome.disagree & known), trials=10, rng=0)
    assert alone.topics == (model.topics[1],)
    assert has_note(alone, "orders.one-topic")


def test_inputs_stay_as_they_are():
    table, outcome = make_table()
    before = table.value.copy(), outcome.disagree.copy()
    learn_from_features(table, outcome, trials=2, rng=0)
    assert (table.value == before[0]).all()
    assert (outcome.disagree == before[1]).all()


def test_trials_and_threshold_matter(model):
    low = learn_from_features(*make_table(), trials=10, threshold=0.1, rng=0)
    high = learn_from_features(*make_table(), trials=10, threshold=0.6, rng=0)
    recall = [m.rates["mean"][0] for m in (low, model, high)]
    assert recall == sorted(recall, reverse=True)
    assert recall[0] > recall[2] + 0.2
    once = learn_from_features(*make_table(), trials=1, rng=0)
    assert np.isnan(once.topics[0].spread.tpr)
    assert once.topics[0].mean != model.topics[0].mean


def test_topics_that_teach_nothing_are_dropped_with_the_reason():
    table, outcome = make_table(topics=5, items=60)
    known, disagree = outcome.known.copy(), outcome.disagree.copy()
    known[9:60] = False  # 401: nine items
    disagree[60:120] = False  # 402: always unanimous
    disagree[120:179] = True  # 403: one item unanimous
    disagree[179] = False
    disagree[180:240] = np.arange(60) % 20 == 0  # 404: rare, and unrelated to the features
    model = learn_from_features(table, Outcome(known, disagree & known), trials=20, rng=0)
    assert [topic.topic for topic in model.topics] == ["405"]
    reasons = {topic.topic: topic.reason for topic in model.dropped}
    assert gives(reasons["401"], 9, 10)
    assert gives(reasons["402"], 0, 60, 2)
    assert gives(reasons["403"], 59, 60, 2)
    assert "recall" in reasons["404"]
    assert has_note(model, "orders.dropped", topics=("401", "402", "403", "404"))


def test_doubts_are_noted():
    often = learn_from_features(*make_table(line=(1, 0, 0)), trials=10, rng=0)
    assert has_note(often, "orders.usual")
    assert has_note(often, "orders.dull", least=0.55)
    always = learn_from_features(*make_table(line=(4, 0, 0)), trials=2, rng=0)
    assert list_facts(always)["orders.saturated"]["share"] == pytest.approx(0.98, abs=0.005)


def test_shares_from_which_on_doubts_are_noted():
    table, _ = make_table(topics=1)
    for count, usual, saturated in (59, False, False), (60, True, False), (179, True, False), (180, True, True):
        disagree = np.zeros(200, bool)
        disagree[np.argsort(-table.value[:, 0])[:count]] = True
        notes = learn_from_features(table, Outcome(np.ones(200, bool), disagree), trials=2, rng=0).notes
        assert has_note(notes, "orders.usual") == usual
        assert has_note(notes, "orders.saturated") == saturated


def test_two_items_of_each_kind_are_enough_to_try():
    disagree = np.arange(12) < 2
    assert find_obstacle(disagree) is None
    assert find_obstacle(~disagree) is None
    assert find_obstacle(disagree[:10]) is None
    assert gives(find_obstacle(disagree[1:]), 1, 11)
    assert gives(find_obstacle(disagree[:9]), 9)


@pytest.mark.parametrize(("items", "learned"), [(2, 1), (10, 7), (11, 8), (12, 8), (100, 70)])
def test_seven_items_of_ten_are_learned_from(items, learned):
    for first, second in draw_splits(items, 5, np.random.default_rng(0)):
        assert len(first) == learned
        assert sorted([*first, *second]) == list(range(items))


def test_held_out_rates_are_the_mean_and_the_spread_over_splits(model):
    table, outcome = make_table()
    rows = table.item_topic == 1
    splits = draw_splits(200, 10, stream(0, "splits 402"))
    with fitting():
        rates = try_splits(table.value[rows], outcome.disagree[rows], splits, model.threshold)
    np.testing.assert_allclose(model.topics[1].mean, rates.mean(axis=0))
    np.testing.assert_allclose(model.topics[1].spread, rates.std(axis=0, ddof=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, r"\b0\b.*\b1\b"),
        ({"threshold": 0.0}, "a threshold of 0 is not a probability"),
        ({"threshold": 1.0}, "a threshold of 1 is not a probability"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        learn_from_features(*make_table(), **options)


def with_lines(model, *lines):
    """The model with other regressions."""
    rates = HeldOut(0.5, 0.5, 0.5, 0.5, 0.5)
    topics = tuple(
        TopicModel(topic=f"t{k}", items=20, disagreed=5, intercept=a, coefficients=(b, c), mean=rates, spread=rates)
        for k, (a, b, c) in enumerate(lines)
    )
    return replace(model, topics=topics)


def test_the_topic_nearest_to_the_prior_is_kept(model):
    """A feature that is the log odds of the Beta's quantiles: the identity line fits it without error."""
    items = 50
    quantile = beta.ppf((np.arange(items) + 0.5) / items, 1.4, 4)
    odds = np.log(quantile / (1 - quantile))
    order = np.random.default_rng(0).permutation(items)
    table = FeatureTable(
        value=np.stack([odds[order], np.zeros(items)], axis=1),
        topics=("new", "empty"),
        item_topic=np.zeros(items, np.int32),
        features=("f", "g"),
    )
    found = transfer(with_lines(model, (1, 1, 0), (0, 1, 0), (0, -1, 0), (0, 1, 0)), table)
    assert found.chosen.tolist() == [1, -1]  # the first of two that are equally near
    assert found.distance[0] == pytest.approx(0, abs=1e-12)
    assert np.isnan(found.distance[1])
    assert found.chance == pytest.approx(quantile[order], abs=1e-12)
    away = transfer(with_lines(model, (0, -1, 0)), table)
    assert away.chance == pytest.approx(1 - quantile[order], abs=1e-12)
    apart = np.sqrt(np.mean(((1 - quantile)[::-1] - quantile) ** 2))
    assert away.distance[0] == pytest.approx(apart)


def test_another_prior_chooses_otherwise(model):
    table, _ = make_table()
    lines = (-2, 0.5, 0), (2, 0.5, 0)
    assert set(transfer(with_lines(model, *lines), table).chosen) == {0}
    flipped = with_lines(model, *lines)
    assert set(transfer(replace(flipped, prior=(4.0, 1.4)), table).chosen) == {1}


def test_same_topics_keep_their_own(model):
    table, _ = make_table()
    own = transfer(model, table, same_topics=True)
    assert own.chosen.tolist() == [0, 1, 2]
    assert len(set(transfer(model, table).chosen)) < 3


def test_what_cannot_be_carried_over(model):
    table, _ = make_table()
    with pytest.raises(DataError, match="topic"):
        transfer(with_lines(model), table)
    dropped = [
        DroppedTopic(topic=f"d{k}", items=items, disagreed=disagreed, reason="")
        for k, (items, disagreed) in enumerate([(9, 1), (3, 3), (0, 0), (60, 1), (60, 59), (60, 2)])
    ]
    with pytest.raises(DataError) as refused:
        transfer(replace(with_lines(model), dropped=tuple(dropped)), table)
    assert gives(refused.value, "3 topics", 10, "2 topics", 2, "1 topic", 0.15)
    other = FeatureTable(value=table.value, topics=table.topics, item_topic=table.item_topic, features=("f", "h"))
    with pytest.raises(DataError, match="model"):
        transfer(model, other)
    with pytest.raises(OptionError, match="features"):
        kt.experiments.predict_disagreement(model, *make_world())


def test_from_runs_and_judgments():
    runs, judgments = make_world()
    model = kt.experiments.learn_disagreement(runs, judgments, trials=5, rng=0)
    assert model.feature_set == "runs"
    chance = kt.experiments.predict_disagreement(model, runs, judgments.keep_rows(np.zeros(len(judgments.grade), bool)))
    assert chance.shape == (240,)
    assert ((chance > 0) & (chance < 1)).all()
    assert (chance == kt.experiments.predict_disagreement(model, runs, judgments)).all()  # grades are not looked at


def test_feature_sets_differ_in_what_travels():
    """Twice the runs, each of them twice: per run nothing changes, summed points double."""
    runs, judgments = make_world()
    frame = {f"{copy}{s}": s for copy in "ab" for s in runs.systems}
    rows = {
        name: {
            topic: {
                runs.documents[int(d)]: float(-n)
                for n, d in enumerate(runs.listed[slice(*runs.bounds[t, runs.systems.index(system)])])
            }
            for t, topic in enumerate(runs.topics)
        }
        for name, system in frame.items()
    }
    twice = kt.read_runs(rows)
    for features, same in ("runs", True), ("sums", False):
        model = kt.experiments.learn_disagreement(runs, judgments, features=features, trials=5, rng=0)
        first, second = (kt.experiments.predict_disagreement(model, r, judgments) for r in (runs, twice))
        assert (np.abs(first - second).max() < 1e-12) == same
    per_run = kt.experiments.learn_disagreement(runs, judgments, trials=5, rng=0)
    assert model.topics[0].mean == per_run.topics[0].mean  # within a collection both are the same model
    assert model.topics[0].coefficients[1] * 6 == pytest.approx(per_run.topics[0].coefficients[1])


def test_disagreement_is_learned_from_votes_alone():
    _, judgments = make_world(judges=7)
    model = kt.experiments.learn_disagreement(None, judgments, features="votes", trials=10, rng=0)
    assert model.features == ("mean_grade", "doubt")
    assert model.rates["mean"][4] > 0.6
    chance = kt.experiments.predict_disagreement(model, None, judgments)
    nothing = kt.experiments.predict_disagreement(
        model, None, judgments.keep_rows(np.zeros(len(judgments.grade), bool))
    )
    assert chance.std() > 0.05
    assert len(np.unique(nothing[:60])) == 1


def test_judgments_that_do_not_overlap():
    runs, judgments = make_world(judges=1)
    with pytest.raises(DataError, match="judges"):
        kt.experiments.learn_disagreement(runs, judgments)
    _, judgments = make_world(judges=2)
    with pytest.raises(DataError, match="judges"):
        kt.experiments.learn_disagreement(None, judgments, features="votes")


def test_any_difference_of_grades_counts_and_is_noted():
    runs, _ = make_world()
    graded = {
        "a": {"0": {f"d{i:02d}": 1 + i % 2 for i in range(60)}},
        "b": {"0": {f"d{i:02d}": 2 for i in range(60)}},
    }
    model = kt.experiments.learn_disagreement(runs, kt.read_judgments(graded), trials=2, rng=0)
    assert sum(t.disagreed for t in (*model.topics, *model.dropped)) == 30
    assert has_note(model, "orders.any-difference", top=2)


def test_threads_change_nothing():
    table, outcome = make_table(topics=1, items=30_000)
    said = set()
    for threads in 1, 2:
        with threadpool_limits(limits=threads):
            said.add(learn_from_features(table, outcome, trials=1, rng=0).to_json())
    assert len(said) == 1
