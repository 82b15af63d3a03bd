from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import norm

from karatage.aggregation.latent import ITEM_VARIANCE, Cubam, _believe, _describe, _Place
from karatage.aggregation.majority import MajorityVote
from karatage.errors import DataError, OptionError
from karatage.kernels.latent import move_cuts, move_items
from tests.notes import has_note
from tests.unit.aggregation.latent_crowds import assert_never_falls, crowd, gold_of, pairs, rows

SPREAD = np.array([1.0, 9.0])


def _item_height(x: float, lean: float, w: np.ndarray, t: np.ndarray, said: np.ndarray) -> float:
    """By the definition, up to a constant: a mixture of N(1, .8^2) and N(-1, .8^2)."""
    share = 1 / (1 + np.exp(-lean))
    deviation = np.sqrt(ITEM_VARIANCE)
    prior = share * norm.pdf(x, 1, deviation) + (1 - share) * norm.pdf(x, -1, deviation)
    return np.log(prior / norm.pdf(0, 0, deviation)) + log_ndtr(np.where(said == 1, 1, -1) * (w * x - t)).sum()


def _judge_height(at: np.ndarray, x: np.ndarray, said: np.ndarray) -> float:
    w, t = at
    prior = -0.5 * ((w - 1) ** 2 / SPREAD[0] + t**2 / SPREAD[1])
    return prior + log_ndtr(np.where(said == 1, 1, -1) * (w * x - t)).sum()


def _simulate(rng: np.random.Generator, judges: int = 25, items: int = 500, per_item: int = 10):
    judge, item = pairs(judges, items, per_item, rng)
    truth = rng.integers(0, 2, items)
    x = rng.normal(2 * truth - 1, 0.8)
    w, t = rng.normal(1.2, 0.6, judges), rng.normal(0, 1, judges)
    said = w[judge] * x[item] - t[judge] + rng.normal(size=len(judge)) > 0
    return crowd(np.c_[judge, item, said]), truth, w, t


@pytest.mark.parametrize("lean", [0.0, 1.5, np.inf])
def test_items_reach_their_peak(lean: float) -> None:
    rng = np.random.default_rng(1)
    w, t = rng.normal(1, 0.5, 4), rng.normal(0, 1, 4)
    said = np.array([1, 0, 1, 1], np.int32)
    x, curvature = np.zeros(1), np.zeros(1)
    judge, start = np.arange(4, dtype=np.int32), np.array([0, 4])
    height = move_items(start, judge, said, np.array([lean]), ITEM_VARIANCE, w, t, x, curvature)

    def depth(at: np.ndarray) -> float:
        return -_item_height(float(at[0]), lean, w, t, said)

    best = minimize(depth, np.zeros(1), tol=1e-12)
    assert x[0] == pytest.approx(best.x[0], abs=1e-5)
    assert height == pytest.approx(-best.fun, abs=1e-9)
    second = (2 * depth(x) - depth(x + 1e-4) - depth(x - 1e-4)) / -1e-8
    assert curvature[0] == pytest.approx(second, rel=1e-4)


def test_judges_reach_their_peak() -> None:
    rng = np.random.default_rng(2)
    x, said = rng.normal(size=30), rng.integers(0, 2, 30).astype(np.int32)
    w, t = np.ones(2), np.zeros(2)
    item = np.arange(30, dtype=np.int32)
    prior = move_cuts(np.array([0, 29, 30]), item, said, x, SPREAD, w, t)
    best = [minimize(lambda at, k=k: -_judge_height(at, x[k], said[k]), [1, 0]) for k in (slice(29), slice(29, 30))]
    np.testing.assert_allclose(np.c_[w, t], [b.x for b in best], atol=1e-4)
    assert prior == pytest.approx(-0.5 * ((w - 1) ** 2 + t**2 / 9).sum())


@given(rows(1, least=2), st.dictionaries(st.integers(0, 5), st.integers(0, 1)))
def test_the_objective_never_falls(given_rows, known: dict[int, int]) -> None:
    for supervision in ("light", "full") if known else ("none",):
        gold = gold_of(known) if known else None
        posterior = Cubam().fit(crowd(given_rows), gold=gold, supervision=supervision)
        assert_never_falls(posterior.trace)
        np.testing.assert_allclose(posterior.probability.sum(axis=1), 1)


def test_the_trace_is_the_log_posterior() -> None:
    """At rest, judged by the definition."""
    table = [(0, 0, 1), (1, 0, 1), (0, 1, 0), (1, 1, 1), (2, 1, 0), (2, 2, 0)]
    judgments = crowd(table)
    posterior = Cubam(max_steps=400, tolerance=1e-13).fit(judgments)
    w, t = posterior.parameters["weight"], posterior.parameters["threshold"]
    total = -0.5 * ((w - 1) ** 2 + t**2 / 9).sum()
    for i in range(3):
        of = judgments.item == i
        judge, said = judgments.judge[of], judgments.grade[of]
        total -= minimize(lambda at, j=judge, s=said: -_item_height(float(at[0]), 0.0, w[j], t[j], s), [0.0]).fun
    assert posterior.converged
    assert posterior.trace[-1] == pytest.approx(total, abs=1e-7)


def test_judges_are_recovered() -> None:
    judgments, truth, w, t = _simulate(np.random.default_rng(3))
    posterior = Cubam().fit(judgments)
    assert np.corrcoef(posterior.parameters["weight"], w)[0, 1] > 0.85
    assert np.corrcoef(posterior.parameters["threshold"], t)[0, 1] > 0.95
    votes = MajorityVote().fit(judgments, rng=1)
    assert (posterior.grades == truth).mean() > (votes.grades == truth).mean()


def test_order_and_names_change_nothing() -> None:
    rng = np.random.default_rng(4)
    judgments, *_ = _simulate(rng, judges=10, items=60, per_item=5)
    table = np.c_[judgments.judge, judgments.item, judgments.grade]
    posterior = Cubam().fit(judgments)
    judge, item = rng.permutation(10), rng.permutation(60)
    other = Cubam().fit(crowd(rng.permutation(np.c_[judge[table[:, 0]], item[table[:, 1]], table[:, 2]])))
    np.testing.assert_allclose(other.probability[item], posterior.probability, atol=1e-9)
    np.testing.assert_allclose(other.parameters["weight"][judge], posterior.parameters["weight"], atol=1e-9)


def test_belief_is_the_average_over_x() -> None:
    place = _Place(np.array([0.7, -2.0, 0.0]), np.array([1.5, 4.0, 0.6]), np.ones(1), np.zeros(1))
    lean = np.array([0.0, 0.4, 0.0])
    grid = np.linspace(-12, 12, 20_001)
    density = norm.pdf(grid, place.x[:, None], 1 / np.sqrt(place.curvature)[:, None])
    upper = 1 / (1 + np.exp(-(2 * grid / ITEM_VARIANCE + lean[:, None])))
    expected = (density * upper).sum(axis=1) / density.sum(axis=1)
    np.testing.assert_allclose(_believe(place, lean), expected, atol=2e-3)
    assert _believe(place, lean)[2] == pytest.approx(0.5, abs=1e-12)


def test_more_votes_make_surer() -> None:
    few = Cubam().fit(crowd([(0, 0, 1), (1, 0, 1), (2, 0, 0)]))
    many = Cubam().fit(crowd([(j, 0, int(j % 3 > 0)) for j in range(30)]))
    assert 0.5 < few.probability[0, 1] < many.probability[0, 1] < 1


def test_rates_integrate_items_out() -> None:
    rates = _describe(np.array([1.4]), np.array([0.6]))
    x = np.random.default_rng(5).normal(0, 0.8, 400_000)
    assert rates["sensitivity"][0] == pytest.approx(norm.cdf(1.4 * (1 + x) - 0.6).mean(), abs=2e-3)
    assert rates["specificity"][0] == pytest.approx(1 - norm.cdf(1.4 * (x - 1) - 0.6).mean(), abs=2e-3)


def test_many_grades_are_refused_with_a_way_out() -> None:
    with pytest.raises(DataError, match="--grades"):
        Cubam().fit(crowd([(0, 0, 0), (0, 1, 1), (1, 0, 2)]))
    with pytest.raises(DataError, match=r"\b0\b.*\b1\b.*\b3\b"):
        Cubam().fit(crowd([(0, 0, 0), (0, 1, 1)]), gold=gold_of({0: 3}), supervision="full")


def test_any_two_grades_will_do() -> None:
    posterior = Cubam().fit(crowd([(0, 0, 1), (1, 0, 1), (0, 1, 3), (1, 1, 3)]))
    assert posterior.grades.tolist() == [1, 3]
    assert posterior.probability[:, [0, 2]].max() == 0


@pytest.mark.parametrize(("said", "top"), [(0, 0), (0, 1), (1, 1), (0, 3), (3, 3)])
def test_a_single_grade(said: int, top: int) -> None:
    posterior = Cubam().fit(crowd([(0, 0, said), (1, 0, said)], top_grade=top))
    assert posterior.grades.tolist() == [said]
    assert posterior.probability.shape == (1, top + 1)


def test_gold_moves_the_others() -> None:
    table = [(j, i, int(j == 2)) for j in range(3) for i in range(12)]
    assert Cubam().fit(crowd(table)).grades[11] == 0
    full = Cubam().fit(crowd(table), gold=gold_of(dict.fromkeys(range(10), 1)), supervision="full")
    assert full.grades.tolist() == [1] * 12
    split = [(j, i, (i + j) % 2) for j in range(2) for i in range(12)]
    light = Cubam().fit(crowd(split), gold=gold_of(dict.fromkeys(range(6), 1)), supervision="light")
    assert Cubam().fit(crowd(split)).probability[11, 1] == pytest.approx(0.5, abs=0.02)
    assert light.probability[11, 1] > 0.6


def test_ten_thousand_grades_of_one_item() -> None:
    table = [(j, 0, int(j % 10 == 0)) for j in range(10_000)] + [(0, 1, 1)]
    posterior = Cubam().fit(crowd(table))
    assert np.isfinite(posterior.probability).all()
    assert np.isfinite(posterior.trace).all()
    assert posterior.grades[0] == 0


def test_rounds_are_reported() -> None:
    judgments, *_ = _simulate(np.random.default_rng(7), items=50)
    seen: list[tuple[int, float]] = []
    posterior = Cubam(max_steps=3).fit(judgments, progress=lambda step, value: seen.append((step, value)))
    assert seen == list(enumerate(posterior.trace, start=1))
    assert has_note(posterior, "aggregation.not-converged-rounds", rounds=3)
    with pytest.raises(OptionError):
        Cubam(max_steps=0)
