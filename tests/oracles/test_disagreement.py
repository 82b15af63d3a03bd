"""Features, fits and rates against slow and obvious ones and other libraries; real judges against shuffled ones."""

import math
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import beta
from sklearn.metrics import confusion_matrix, roc_auc_score

from karatage.orders.control import control_disagreement
from karatage.orders.disagreement import (
    FeatureTable,
    Outcome,
    find_auc,
    fit_line,
    fitting,
    learn_from_features,
    predict_line,
    rate_chances,
    transfer,
    try_splits,
)
from karatage.orders.state import find_features


def slow_features(ranked, items):
    harmonic = [sum(1 / k for k in range(1, n + 1)) for n in range(1001)]
    systems = ranked.shape[1]
    meta_ap, points, rank_sum = np.zeros(items), np.zeros(items), np.zeros(items)
    place = {
        (int(item), system): rank
        for topic in ranked
        for system, ranking in enumerate(topic)
        for rank, item in enumerate(ranking[:1000], 1)
    }
    for item in range(items):
        for system in range(systems):
            rank = place.get((item, system))
            if rank is None:
                rank_sum[item] += 1001
                continue
            meta_ap[item] += 1 + harmonic[1000] - harmonic[rank]
            points[item] += 10 if rank <= 10 else 5 if rank <= 100 else 1
            rank_sum[item] += rank
    return meta_ap / systems, points, rank_sum / systems


@pytest.mark.parametrize("depth", [7, 150, 1300])
def test_features(depth):
    rng = np.random.default_rng(depth)
    ranked = np.full((3, 4, depth), -1, np.int32)
    for topic in range(3):
        for system in range(4):
            drawn = rng.permutation(2 * depth)[:depth]
            ranked[topic, system] = np.where(drawn < depth, drawn + depth * topic, -1)  # gaps: not in the pool
            ranked[topic, system, rng.integers(0, depth + 1) :] = -1
    found = find_features(ranked, 3 * depth)
    for own, slow in zip(found, slow_features(ranked, 3 * depth), strict=True):
        np.testing.assert_allclose(own, slow, rtol=1e-13, atol=1e-13)


def make_items(items, seed, line=(-0.5, 1.2, -0.7)):
    rng = np.random.default_rng(seed)
    value = rng.normal(size=(items, 2)) * (3, 40) + (5, 100)
    odds = line[0] + line[1] * (value[:, 0] - 5) / 3 + line[2] * (value[:, 1] - 100) / 40
    return value, rng.random(items) < 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize("seed", range(5))
def test_fit_is_where_the_penalised_likelihood_is_highest(seed):
    """Minus log likelihood plus half the squared coefficients of standardised features."""
    value, disagree = make_items(80, seed)
    scaled = (value - value.mean(axis=0)) / value.std(axis=0)

    def loss(line):
        odds = line[0] + scaled @ line[1:]
        return np.logaddexp(0, np.where(disagree, -odds, odds)).sum() + 0.5 * (line[1:] ** 2).sum()

    best = minimize(loss, np.zeros(3), tol=1e-12)
    with fitting():
        found = fit_line(value, disagree)
    chance = 1 / (1 + np.exp(-(best.x[0] + scaled @ best.x[1:])))
    np.testing.assert_allclose(predict_line(found, value), chance, atol=2e-6)
    np.testing.assert_allclose(found.coefficients * value.std(axis=0), best.x[1:], atol=1e-5)


def test_fit_of_features_that_never_vary_and_of_what_can_be_separated():
    value = np.stack([np.arange(20.0), np.full(20, 1e6)], axis=1)
    with fitting():
        found = fit_line(value, np.arange(20) >= 10)
    assert np.isfinite([found.intercept, *found.coefficients]).all()
    chance = predict_line(found, value)
    assert (np.diff(chance) > 0).all()
    assert chance[9] == pytest.approx(1 - chance[10])


@pytest.mark.parametrize("seed", range(20))
def test_rates(seed):
    rng = np.random.default_rng(seed)
    disagree = rng.random(30) < 0.4
    chance = rng.random(30).round(1)  # ties
    found = rate_chances(chance, disagree, 0.3)
    (passed, false), (missed, hits) = confusion_matrix(disagree, chance >= 0.3, labels=[False, True])
    assert found.tpr == hits / (hits + missed)
    assert found.tnr == passed / (passed + false)
    assert found.ppv == (hits / (hits + false) if hits + false else pytest.approx(math.nan, nan_ok=True))
    assert found.npv == (passed / (passed + missed) if passed + missed else pytest.approx(math.nan, nan_ok=True))
    assert found.auc == pytest.approx(roc_auc_score(disagree, chance))


def test_rates_that_cannot_be_known():
    found = rate_chances(np.array([0.1, 0.2]), np.array([False, False]), 0.3)
    assert math.isnan(found.tpr)
    assert math.isnan(found.ppv)
    assert math.isnan(found.auc)
    assert (found.tnr, found.npv) == (1, 1)
    assert rate_chances(np.array([0.3]), np.array([True]), 0.3).tpr == 1  # a chance on the threshold is flagged


def test_a_split_that_shows_one_outcome_only():
    value = np.arange(8.0)[:, None]
    disagree = np.arange(8) >= 4
    splits = [(np.arange(4), np.arange(4, 8)), (np.arange(4, 8), np.arange(4))]
    rates = try_splits(value, disagree, splits, 0.3)
    assert rates[0, 0] == 0  # never seen, so never predicted
    assert rates[1, 2] == 0


def test_transfer_by_enumeration():
    rng = np.random.default_rng(5)
    value = rng.normal(size=(300, 2))
    table = FeatureTable(
        value=value,
        topics=("1", "2", "3"),
        item_topic=np.repeat(np.arange(3, dtype=np.int32), [50, 130, 120]),
        features=("f", "g"),
    )
    disagree = rng.random(300) < 1 / (1 + np.exp(1 - value[:, 0] * np.repeat([2, -1, 0.5], [50, 130, 120])))
    model = learn_from_features(table, Outcome(np.ones(300, bool), disagree), trials=5, threshold=0.1, rng=0)
    assert len(model.topics) == 3
    found = transfer(model, table)
    for t in range(3):
        rows = np.flatnonzero(table.item_topic == t)
        distances = []
        for topic in model.topics:
            odds = topic.intercept + value[rows] @ np.array(topic.coefficients)
            chance = sorted(1 / (1 + np.exp(-odds)))
            quantiles = [beta(1.4, 4).ppf((i - 0.5) / len(rows)) for i in range(1, len(rows) + 1)]
            distances.append(math.sqrt(sum((c - q) ** 2 for c, q in zip(chance, quantiles, strict=True)) / len(rows)))
        assert found.chosen[t] == np.argmin(distances)
        assert found.distance[t] == pytest.approx(min(distances))


@pytest.fixture(scope="module")
def study():
    """The study on real judges; benchmarks are no package that tests could import."""
    path = Path(__file__).parents[2] / "benchmarks" / "disagreement.py"
    spec = spec_from_file_location("study_of_disagreement", path)
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.mark.parametrize(("case", "topics", "auc"), [("RF 2010", 25, 0.53), ("Crowdsourcing 2011", 46, 0.54)])
def test_grades_of_others_predict_disagreement_on_real_crowds(shared_data, study, case, topics, auc):
    """Against 19 shuffles within topics; all figures: `python -m benchmarks.disagreement`."""
    table, outcome = next((c.table, c.outcome) for c in study.vote_cases(shared_data) if c.name == case)
    known = outcome.known & (table.item_topic < topics)
    control = control_disagreement(table, Outcome(known, outcome.disagree & known), trials=1, shuffles=19, rng=0)
    assert control.p_value() == 0.05
    assert control.found.auc > auc
    assert control.gain_p_value <= 0.1
    assert control.shuffled[:, 4].mean() == pytest.approx(0.5, abs=0.02)


def test_rankings_predict_disagreement_of_assessor_and_models(shared_data, study):
    """DL 2021: within topics, and from half of the topics to the others; not so where all three are models."""
    cases = {case.name: case for case in study.ranking_cases(shared_data)}
    mixed, models = cases["DL 2021, NIST and two GPT"], cases["DL 2021, three LLM, yes or no"]
    known = mixed.outcome.known & (mixed.table.item_topic < 20)
    some = Outcome(known, mixed.outcome.disagree & known)
    control = control_disagreement(mixed.table, some, trials=1, shuffles=19, rng=0)
    assert control.p_value() == 0.05
    assert control.found.auc > 0.56
    carried = study.carry_over(mixed, halves=1, trials=3, shuffles=49)
    assert carried["auc"] > 0.52
    assert carried["halves with p <= .05"] == 1
    assert study.carry_over(models, halves=1, trials=3, shuffles=49)["auc"] < 0.52


def test_auc_of_ties_is_a_half():
    assert find_auc(np.zeros(6), np.arange(6) > 2) == 0.5
