"""Chances of relevance against a dense regression, solved in the plainest way."""

from __future__ import annotations

import numpy as np
import pytest

from karatage.errors import DataError
from karatage.orders.relevance import Predictors, Prior, Relevance, fit_relevance

ITEMS, TOPICS, SYSTEMS = 600, 3, 4
PRIOR = Prior(mean=(-2.0, 0.5, 0.0), spread=(2.0, 1.0, 1.5), topics=1.0, slopes=0.3, systems=0.7, within=0.5)


def make_evidence(items: int = ITEMS) -> tuple[Predictors, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    topic = np.sort(rng.integers(0, TOPICS, items)).astype(np.int32)
    x = np.c_[np.ones(items), rng.normal(size=(items, 2))]
    load = rng.random((items, SYSTEMS)) * (rng.random((items, SYSTEMS)) < 0.6)
    item, system = np.nonzero(load)
    start = np.r_[0, np.cumsum((load > 0).sum(axis=1))]
    relevant = (rng.random(items) < 1 / (1 + np.exp(1 - x[:, 1] - 2 * load[:, 0]))).astype(np.int8)
    return Predictors(x, start, system.astype(np.int32), load[item, system], topic), load, relevant


def solve_densely(
    evidence: Predictors, load: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Effects, their covariance, and the table of features: common ones, then each topic's own."""
    both = np.c_[evidence.x, load]
    width = both.shape[1]
    table = np.zeros((len(both), width * (1 + TOPICS)))
    table[:, :width] = both
    for i, t in enumerate(evidence.topic):
        table[i, width * (1 + t) : width * (2 + t)] = both[i]
    mean = np.zeros(table.shape[1])
    mean[:3] = PRIOR.mean
    own = [PRIOR.topics, *[PRIOR.slopes] * 2, *[PRIOR.within] * SYSTEMS]
    precise = np.r_[PRIOR.spread, [PRIOR.systems] * SYSTEMS, np.tile(own, TOPICS)] ** -2.0
    effect = mean.copy()
    for _ in range(50):
        chance = 1 / (1 + np.exp(-table @ effect))
        curve = table.T @ (table * (chance * (1 - chance))[:, None]) + np.diag(precise)
        effect = effect + np.linalg.solve(curve, table.T @ (share - chance) - precise * (effect - mean))
    return effect, np.linalg.inv(curve), table


@pytest.fixture(scope="module")
def fitted() -> tuple[Relevance, Predictors, np.ndarray, np.ndarray]:
    evidence, load, relevant = make_evidence()
    model = fit_relevance(evidence, relevant, PRIOR, systems=SYSTEMS, topics=TOPICS)
    return model, evidence, load, relevant


def test_effects_are_those_of_a_dense_regression(fitted: tuple[Relevance, Predictors, np.ndarray, np.ndarray]) -> None:
    model, evidence, load, relevant = fitted
    effect, covariance, table = solve_densely(evidence, load, relevant)
    np.testing.assert_allclose(np.r_[model.common, model.own.ravel()], effect, atol=1e-8)
    width = len(model.common)
    np.testing.assert_allclose(model.root @ model.root.T, covariance[:width, :width], atol=1e-10)
    np.testing.assert_allclose(model.chance(evidence), 1 / (1 + np.exp(-table @ effect)), atol=1e-9)


def test_drawn_effects_vary_as_the_curvature_says(fitted: tuple[Relevance, Predictors, np.ndarray, np.ndarray]) -> None:
    model, evidence, load, relevant = fitted
    effect, covariance, table = solve_densely(evidence, load, relevant)
    drawn = model.draw_effects(40_000, np.random.default_rng(1))
    at = np.array([0, 300, 599])
    odds = np.stack([np.r_[evidence.x[i], load[i]] @ drawn[evidence.topic[i]] for i in at])
    np.testing.assert_allclose(odds.mean(axis=1), table[at] @ effect, atol=0.02)
    np.testing.assert_allclose(np.cov(odds), table[at] @ covariance @ table[at].T, atol=0.02)


def test_items_are_relevant_as_often_as_their_chances_say(
    fitted: tuple[Relevance, Predictors, np.ndarray, np.ndarray],
) -> None:
    model, evidence, load, _ = fitted
    draws = 20_000
    few = evidence.take(np.array([5, 400]))
    drawn = model.draw(few, draws, np.random.default_rng(2))
    assert drawn.dtype == np.int8
    assert set(np.unique(drawn)) == {0, 1}
    effect = model.draw_effects(draws, np.random.default_rng(3))
    for k, i in enumerate((5, 400)):
        chance = (1 / (1 + np.exp(-(np.r_[evidence.x[i], load[i]] @ effect[evidence.topic[i]])))).mean()
        assert abs(drawn[k].mean() - chance) < 4 * np.sqrt(chance * (1 - chance) / draws) + 0.003


def test_without_items_the_prior_is_left() -> None:
    evidence, _, relevant = make_evidence()
    nothing = evidence.take(np.zeros(0, np.int64))
    model = fit_relevance(nothing, relevant[:0], PRIOR, systems=SYSTEMS, topics=TOPICS)
    np.testing.assert_allclose(model.common, [*PRIOR.mean, 0, 0, 0, 0])
    np.testing.assert_allclose(np.diag(model.root), [*PRIOR.spread, *[0.7] * SYSTEMS])
    np.testing.assert_allclose(np.diag(model.own_root[0]), [1.0, 0.3, 0.3, *[0.5] * SYSTEMS])


def test_extreme_features_do_not_overshoot() -> None:
    evidence, _, relevant = make_evidence()
    steep = evidence._replace(x=evidence.x * np.array([1.0, 50.0, 1.0]))
    model = fit_relevance(steep, relevant, PRIOR, systems=SYSTEMS, topics=TOPICS)
    assert np.isfinite(model.common).all()
    assert 0.03 * 0.2 < model.common[1] < 1.0


def test_taking_items_keeps_their_systems() -> None:
    evidence, load, _ = make_evidence()
    at = np.array([7, 3, 3])
    few = evidence.take(at)
    for k, i in enumerate(at):
        row = np.zeros(SYSTEMS)
        row[few.system[few.start[k] : few.start[k + 1]]] = few.load[few.start[k] : few.start[k + 1]]
        np.testing.assert_array_equal(row, load[i])


def test_a_feature_that_is_no_number_is_refused() -> None:
    evidence, _, relevant = make_evidence()
    x = evidence.x.copy()
    x[3, 1] = np.nan
    with pytest.raises(DataError, match="number"):
        fit_relevance(evidence._replace(x=x), relevant, PRIOR, systems=SYSTEMS, topics=TOPICS)
