from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import norm

from karatage.aggregation.latent import Ordinal
from karatage.aggregation.majority import MajorityVote
from karatage.errors import OptionError
from karatage.kernels.latent import move_scales, tabulate, weigh_scale
from tests.notes import has_note
from tests.unit.aggregation.latent_crowds import assert_never_falls, crowd, gold_of, pairs, rows, slopes

MEAN, VARIANCE = np.array([0.1, np.log(0.7)]), np.array([0.25, 0.25])


def _table(bias: float, spread: float, grades: int, top: int) -> np.ndarray:
    """P(said | grade), (said, grade), by the definition."""
    out = np.zeros((grades, grades))
    for grade in range(grades):
        edges = norm.cdf((np.arange(top) + 0.5 - grade - bias) / spread)
        out[: top + 1, grade] = np.diff(np.r_[0, edges, 1])
    return out


def _height(at: np.ndarray, answers: np.ndarray, top: int) -> float:
    bias, log_spread = at
    p = _table(bias, np.exp(log_spread), len(answers), top)
    seen = answers > 0
    return float((answers[seen] * np.log(p[seen])).sum() - 0.5 * ((at - MEAN) ** 2 / VARIANCE).sum())


def _simulate(rng: np.random.Generator, shares: list[float], judges: int = 20, items: int = 800, per_item: int = 6):
    judge, item = pairs(judges, items, per_item, rng)
    truth = rng.choice(len(shares), items, p=shares)
    bias, spread = rng.normal(0, 0.5, judges), np.exp(rng.normal(np.log(0.6), 0.4, judges))
    seen = truth[item] + bias[judge] + spread[judge] * rng.normal(size=len(judge))
    said = np.clip(np.floor(seen + 0.5), 0, len(shares) - 1)
    return crowd(np.c_[judge, item, said]), truth, bias, spread


@pytest.mark.parametrize("top", [1, 3])
def test_tables_match_the_definition(top: int) -> None:
    table = np.empty((1, 4, 4))
    tabulate(np.array([top]), np.array([-0.4]), np.log([0.8]), table)
    expected = _table(-0.4, 0.8, 4, top)
    np.testing.assert_allclose(np.exp(table[0]), expected, atol=1e-12)
    np.testing.assert_allclose(np.exp(table[0]).sum(axis=0), 1)


def test_slopes_and_curvature() -> None:
    """Curvature is the expected one: that of the counts which the model itself expects."""
    at, met = np.array([0.3, -0.2]), np.array([5.0, 0.0, 7.0, 2.0])
    answers = np.random.default_rng(1).random((4, 4)) * met
    found = weigh_scale(answers, 3, *at, MEAN, VARIANCE)
    assert found[0] == pytest.approx(_height(at, answers, 3))
    np.testing.assert_allclose(found[1:3], slopes(lambda x: _height(x, answers, 3), at), atol=1e-6)
    expected = _table(at[0], np.exp(at[1]), 4, 3) * met
    _, _, _, bb, bs, ss = weigh_scale(expected, 3, *at, MEAN, VARIANCE)

    def slope(x: np.ndarray, k: int) -> float:
        return weigh_scale(expected, 3, *x, MEAN, VARIANCE)[1 + k]

    np.testing.assert_allclose([bb, bs], -slopes(lambda x: slope(x, 0), at), atol=1e-5)
    np.testing.assert_allclose([bs, ss], -slopes(lambda x: slope(x, 1), at), atol=1e-5)


def test_judges_reach_their_peak() -> None:
    """Also from a start far away, with a judge who is all over the place and one who said nothing."""
    rng = np.random.default_rng(2)
    answers = np.stack([rng.random((3, 3)) * 20, np.diag([30.0, 10.0, 5.0]), np.zeros((3, 3))])
    bias, log_spread = np.full(3, 2.0), np.full(3, -2.0)
    density = move_scales(answers, np.full(3, 2), MEAN, VARIANCE, bias, log_spread)
    for j in range(3):
        best = minimize(lambda at, j=j: -_height(at, answers[j], 2), MEAN, method="Nelder-Mead", tol=1e-9)
        np.testing.assert_allclose([bias[j], log_spread[j]], best.x, atol=1e-4)
    assert density == pytest.approx(-0.5 * (((np.c_[bias, log_spread] - MEAN) ** 2) / VARIANCE).sum())


@given(rows(3), st.dictionaries(st.integers(0, 5), st.integers(0, 4)), st.sampled_from([0.0, 1.0]))
def test_the_objective_never_falls(given_rows, known: dict[int, int], even: float) -> None:
    for supervision in ("light", "full") if known else ("none",):
        gold = gold_of(known) if known else None
        posterior = Ordinal(even=even).fit(crowd(given_rows), gold=gold, supervision=supervision)
        assert_never_falls(posterior.trace)
        np.testing.assert_allclose(posterior.probability.sum(axis=1), 1)


@given(rows(3, judges=3, items=4))
def test_beliefs_follow_from_the_judges(given_rows) -> None:
    """At rest, Bayes' rule with the reported parameters, item by item."""
    judgments = crowd(given_rows, top_grade=3)
    posterior = Ordinal(tolerance=1e-12, even=1e9).fit(judgments)  # even shares
    tables = [_table(b, s, 4, 3) for b, s in zip(*posterior.parameters.values(), strict=True)]
    mass = np.ones((len(posterior.grades), 4))
    for judge, item, said in given_rows:
        mass[item] *= tables[judge][said]
    np.testing.assert_allclose(posterior.probability, mass / mass.sum(axis=1, keepdims=True), atol=1e-6)


def test_biases_and_spreads_are_recovered() -> None:
    judgments, truth, bias, spread = _simulate(np.random.default_rng(3), [0.25] * 4)
    posterior = Ordinal().fit(judgments)
    assert posterior.converged
    assert np.corrcoef(posterior.parameters["bias"], bias)[0, 1] > 0.95
    assert np.corrcoef(np.log(posterior.parameters["spread"]), np.log(spread))[0, 1] > 0.9
    error = np.abs(posterior.expected - truth).mean()
    assert error < 0.8 * np.abs(MajorityVote().fit(judgments, rng=1).expected - truth).mean()


def test_shares_are_learnt_unless_drawn_to_even() -> None:
    judgments, truth, *_ = _simulate(np.random.default_rng(4), [0.85, 0.1, 0.05], per_item=2)
    learnt, even = Ordinal(even=0).fit(judgments), Ordinal(even=100).fit(judgments)
    assert learnt.expected.mean() < even.expected.mean()
    assert abs(learnt.expected.mean() - truth.mean()) < abs(even.expected.mean() - truth.mean())


def test_order_and_names_change_nothing() -> None:
    rng = np.random.default_rng(5)
    judgments, *_ = _simulate(rng, [0.4, 0.3, 0.3], judges=8, items=60)
    table = np.c_[judgments.judge, judgments.item, judgments.grade]
    posterior = Ordinal().fit(judgments)
    judge, item = rng.permutation(8), rng.permutation(60)
    other = Ordinal().fit(crowd(rng.permutation(np.c_[judge[table[:, 0]], item[table[:, 1]], table[:, 2]])))
    np.testing.assert_allclose(other.probability[item], posterior.probability, atol=1e-9)
    np.testing.assert_allclose(other.parameters["bias"][judge], posterior.parameters["bias"], atol=1e-9)


def test_a_judge_who_never_gives_high_grades_means_or_more() -> None:
    """Two judges use 0-3; the third draws a line at 2, which says nothing against 3."""
    graded = [(j, i, i % 4) for j in range(2) for i in range(80)]
    line = [(2, i, int(i % 4 >= 2)) for i in range(80)]
    posterior = Ordinal().fit(crowd([*graded, *line]))
    assert posterior.grades.tolist() == [i % 4 for i in range(80)]
    assert has_note(posterior, "aggregation.short-scales", judges=("2",))
    assert posterior.parameters["spread"][2] < 0.5
    assert -1.5 < posterior.parameters["bias"][2] < -0.5


def test_gold_anchors_the_level() -> None:
    """All judges are one grade too kind, which only gold can tell."""
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 300)
    judge, item = pairs(6, 300, 3, rng)
    said = np.clip(np.floor(truth[item] + 1 + rng.normal(0, 0.4, len(item)) + 0.5), 0, 3)
    judgments = crowd(np.c_[judge, item, said])
    gold = gold_of({i: int(truth[i]) for i in range(60)})
    rest = slice(60, None)
    alone = np.abs(Ordinal().fit(judgments).expected - truth)[rest].mean()
    for supervision in "light", "full":
        posterior = Ordinal().fit(judgments, gold=gold, supervision=supervision)
        assert posterior.grades[:60].tolist() == truth[:60].tolist()
        assert np.abs(posterior.expected - truth)[rest].mean() < 0.5 * alone


def test_items_without_topics_are_one_topic() -> None:
    judgments, *_ = _simulate(np.random.default_rng(7), [0.5, 0.5], judges=4, items=40, per_item=3)
    posterior = Ordinal(scope="topic").fit(judgments)
    assert posterior.judge_topics == ("",) * 4
    np.testing.assert_allclose(posterior.probability, Ordinal().fit(judgments).probability)


def test_ten_thousand_grades_of_one_item() -> None:
    table = [(j, 0, 3 * int(j % 10 == 0)) for j in range(10_000)] + [(0, 1, 1)]
    posterior = Ordinal().fit(crowd(table))
    assert np.isfinite(posterior.probability).all()
    assert np.isfinite(posterior.trace).all()
    assert posterior.grades[0] == 0


def test_one_judge_is_believed() -> None:
    posterior = Ordinal().fit(crowd([(0, 0, 2), (0, 1, 0), (0, 2, 1)]))
    assert posterior.grades.tolist() == [2, 0, 1]
    assert Ordinal().fit(crowd([(0, 0, 0)], top_grade=0)).grades.tolist() == [0]


@pytest.mark.parametrize("options", [{"prior": (0.0, 1.0)}, {"prior": (1.0,)}, {"even": -1.0}, {"max_steps": 0}])
def test_options_that_cannot_be_are_refused(options: dict) -> None:
    with pytest.raises(OptionError):
        Ordinal(**options)
