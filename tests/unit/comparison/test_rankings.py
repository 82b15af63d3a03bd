from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, rankdata

import karatage as kt
from karatage.errors import DataError, OptionError
from tests.oracles import brute_force

# Few distinct values, so that ties are common; halves, so that sums of squares are exact.
TABLES = arrays(float, st.tuples(st.integers(1, 4), st.just(6)), elements=st.integers(0, 4).map(lambda k: k / 2))
PAIRWISE = [
    (kt.stats.kendall_tau, kt.stats.kendall_tau_matrix, {}),
    (kt.stats.kendall_tau, kt.stats.kendall_tau_matrix, {"variant": "b"}),
    (kt.stats.tau_ap, kt.stats.tau_ap_matrix, {}),
    (kt.stats.rmse, kt.stats.rmse_matrix, {}),
]


@given(x=TABLES, y=TABLES)
def test_tau_b_equals_scipy(x: np.ndarray, y: np.ndarray) -> None:
    expected = [[kendalltau(a, b).statistic for b in y] for a in x]
    np.testing.assert_allclose(kt.stats.kendall_tau_matrix(x, y, variant="b"), expected, atol=1e-12)


@given(x=TABLES, y=TABLES)
def test_tau_a_equals_counting_pairs(x: np.ndarray, y: np.ndarray) -> None:
    expected = [[brute_force.kendall_tau(a, b) for b in y] for a in x]
    np.testing.assert_allclose(kt.stats.kendall_tau_matrix(x, y), expected, atol=1e-12)


@given(x=TABLES, y=TABLES)
@pytest.mark.parametrize(("vector", "matrix", "options"), PAIRWISE)
def test_matrices_equal_vectors_one_by_one(vector, matrix, options, x: np.ndarray, y: np.ndarray) -> None:
    found = matrix(x, y, **options)
    assert found.shape == (len(x), len(y))
    np.testing.assert_allclose(found, [[vector(a, b, **options) for b in y] for a in x], atol=1e-12)


@given(scores=TABLES)
def test_ranks_equal_scipy(scores: np.ndarray) -> None:
    np.testing.assert_array_equal(kt.stats.ranks(scores), rankdata(-scores, axis=1))


def test_ranks_of_one_vector_are_one_row() -> None:
    assert kt.stats.ranks([0.1, 0.3, 0.2]).tolist() == [[3.0, 1.0, 2.0]]


def test_tau_of_equal_and_reversed_rankings() -> None:
    x = np.arange(7.0)
    for compare in (kt.stats.kendall_tau, kt.stats.tau_ap):
        assert compare(x, x) == pytest.approx(1)
        assert compare(x, -x) == pytest.approx(-1)


def test_tau_ap_is_not_symmetric() -> None:
    x, y = (4, 3, 2, 1), (3, 2, 4, 1)
    assert kt.stats.tau_ap(x, y) == pytest.approx(brute_force.tau_ap(x, y))
    assert kt.stats.tau_ap(y, x) == pytest.approx(brute_force.tau_ap(y, x))
    assert kt.stats.tau_ap(x, y) != pytest.approx(kt.stats.tau_ap(y, x), abs=0.01)


def test_tau_ap_weighs_the_top_of_the_estimate_more() -> None:
    truth = (5, 4, 3, 2, 1)
    assert kt.stats.tau_ap(truth, (4, 5, 3, 2, 1)) < kt.stats.tau_ap(truth, (5, 4, 3, 1, 2))


def test_only_order_matters_to_tau_and_tau_ap() -> None:
    x, y = np.array([0.1, 0.5, 0.3, 0.3]), np.array([0.2, 0.2, 0.9, 0.1])
    for compare in (kt.stats.kendall_tau, kt.stats.tau_ap):
        assert compare(np.exp(9 * x), y**3) == compare(x, y)


TIED_X, TIED_Y = (3, 2, 2, 1, 1), (2, 2, 3, 1, 1)


def test_a_seed_seeds_sampled_ties() -> None:
    first, again, other = (kt.stats.tau_ap(TIED_X, TIED_Y, ties="sample", samples=7, rng=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_sampled_ties_converge_to_the_expectation() -> None:
    exact = kt.stats.tau_ap(TIED_X, TIED_Y)
    errors = [
        abs(kt.stats.tau_ap(TIED_X, TIED_Y, ties="sample", samples=samples, rng=3) - exact) for samples in (4, 4000)
    ]
    assert errors[1] < 0.015 < errors[0]


def test_sampling_changes_nothing_without_ties() -> None:
    x, y = (1, 2, 3, 4, 5), (2, 1, 3, 5, 4)
    assert kt.stats.tau_ap(x, y, ties="sample", samples=3, rng=0) == pytest.approx(kt.stats.tau_ap(x, y), abs=1e-15)


def test_tau_b_of_a_constant_has_no_value() -> None:
    assert np.isnan(kt.stats.kendall_tau([1, 1, 1], [1, 2, 3], variant="b"))
    assert kt.stats.kendall_tau([1, 1, 1], [1, 2, 3], variant="a") == 0


@pytest.mark.parametrize("compare", [kt.stats.kendall_tau, kt.stats.tau_ap, kt.stats.rmse])
class TestRefusals:
    def test_lengths_must_agree(self, compare) -> None:
        with pytest.raises(DataError, match="lengths"):
            compare([1, 2, 3], [1, 2])

    @pytest.mark.parametrize("gap", [np.nan, np.inf])
    def test_scores_must_be_finite(self, compare, gap: float) -> None:
        for x, y in ([1, gap], [1, 2]), ([1, 2], [gap, 1]):
            with pytest.raises(DataError, match="finite"):
                compare(x, y)

    def test_vectors_must_be_vectors(self, compare) -> None:
        with pytest.raises(DataError, match="vector"):
            compare([[1, 2]], [[1, 2]])


@pytest.mark.parametrize("compare", [kt.stats.kendall_tau, kt.stats.tau_ap])
@pytest.mark.parametrize("scores", [[], [0.5]])
def test_a_ranking_needs_two_systems(compare, scores: list[float]) -> None:
    with pytest.raises(DataError, match=r"\b2\b.*systems"):
        compare(scores, scores)


def test_one_system_has_an_rmse() -> None:
    assert kt.stats.rmse([0.5], [0.25]) == 0.25


def test_unknown_options_are_refused() -> None:
    with pytest.raises(OptionError, match="variant"):
        kt.stats.kendall_tau([1, 2], [1, 2], variant="c")
    with pytest.raises(OptionError, match="ties"):
        kt.stats.tau_ap([1, 2], [1, 2], ties="first")
    with pytest.raises(OptionError, match=r"samples.*\b1\b"):
        kt.stats.tau_ap([1, 2], [1, 2], ties="sample", samples=0)


@pytest.mark.parametrize("scores", [[0.5, np.nan], np.zeros((2, 2, 2))])
def test_ranks_refuse_gaps_and_other_shapes(scores) -> None:
    with pytest.raises(DataError, match="rank"):
        kt.stats.ranks(scores)


def test_inputs_stay_as_they_are() -> None:
    x, y = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])
    kt.stats.kendall_tau(x, y), kt.stats.tau_ap(x, y, ties="sample", rng=0), kt.stats.rmse(x, y), kt.stats.ranks(x)
    assert (x.tolist(), y.tolist()) == ([3.0, 1.0, 2.0], [1.0, 1.0, 2.0])


def test_rank_table_has_a_column_per_judge_and_shares_ranks() -> None:
    runs = kt.read_runs({"a": {"t": {"x": 1.0}}, "b": {"t": {"y": 1.0}}, "c": {"t": {"y": 1.0}}})
    judges = {"ann": {"t": {"x": 1, "y": 0}}, "bob": {"t": {"x": 0, "y": 1}}, "cat": {"t": {"x": 0, "y": 0}}}
    scores = kt.score(runs, kt.read_judgments(judges), "AP", no_relevant="drop")
    assert kt.stats.rank_table(scores).to_dict(as_series=False) == {
        "system": ["a", "b", "c"],
        "ann": [1.0, 2.5, 2.5],
        "bob": [3.0, 1.5, 1.5],
        "cat": [None, None, None],
    }
