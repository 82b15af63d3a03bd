"""Figures of the paper by hand, and error rates and their refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize

from karatage.correction import precision
from karatage.correction.precision import (
    count_accuracy,
    measure_accuracy,
    measure_separation,
    require_gold,
    require_informed,
    smallest_spread,
)
from karatage.data.estimate import Accuracy, Estimated
from karatage.errors import DataError, JudgeError

RATES = (0.83, 0.74)
SIZES = (59.0, 84.0)


def slope(function, at: float, step: float = 1e-6) -> float:
    return float((function(at + step) - function(at - step)) / (2 * step))


def test_what_judges_do_is_undone() -> None:
    share = np.linspace(0, 1, 5)
    said = share * RATES[0] + (1 - share) * (1 - RATES[1])
    np.testing.assert_allclose(precision.correct(said, *RATES), share, atol=1e-15)


def test_perfect_judges_change_nothing() -> None:
    assert precision.correct(0.37, 1, 1) == 0.37
    assert precision.correct_variance(0.002, 0.37, 1, 1, 9, 9) == 0.002
    assert tuple(precision.compare_shared(0.1, 0.002, 1, 1, 9, 9))[:2] == (0.1, 0.002)
    assert precision.bias(0.37, 1, 1, 9, 9) == 0


def test_the_variance_is_the_delta_methods() -> None:
    j, v_j = 0.4, 0.0013
    m_r, m_n = RATES
    variance = (
        slope(lambda x: precision.correct(x, m_r, m_n), j) ** 2 * v_j
        + slope(lambda x: precision.correct(j, x, m_n), m_r) ** 2 * m_r * (1 - m_r) / SIZES[0]
        + slope(lambda x: precision.correct(j, m_r, x), m_n) ** 2 * m_n * (1 - m_n) / SIZES[1]
    )
    assert precision.correct_variance(v_j, j, *RATES, *SIZES) == pytest.approx(variance, rel=1e-6)


def test_the_variance_is_that_of_a_quotient() -> None:
    """[NOISY18] (6), from which (7) follows by (32) to (34)."""
    rng = np.random.default_rng(2)
    j, v_j, m_r, m_n = rng.uniform([0.2, 0.001, 0.6, 0.6], [0.6, 0.01, 1, 1], (50, 4)).T
    v_r, v_n, d, above = m_r * (1 - m_r) / SIZES[0], m_n * (1 - m_n) / SIZES[1], m_r + m_n - 1, j - 1 + m_n
    six = (v_j + v_n) / d**2 + (v_r + v_n) * above**2 / d**4 - 2 * above * v_n / d**3
    np.testing.assert_allclose(precision.correct_variance(v_j, j, m_r, m_n, *SIZES), six)


def test_corrected_tests_are_never_more_significant() -> None:
    """[NOISY18] 3.7, (19), (20): also if both systems have the same error rates."""
    rng = np.random.default_rng(3)
    a, b, v_a, v_b = rng.uniform([0.2, 0.2, 0.0001, 0.0001], [0.6, 0.6, 0.01, 0.01], (200, 4)).T
    rates = (0.8, 0.75, *SIZES)
    naive = np.abs(b - a) / np.sqrt(v_a + v_b)
    single = [
        Estimated(precision.correct(j, *rates[:2]), precision.correct_variance(v, j, *rates))
        for j, v in ((a, v_a), (b, v_b))
    ]
    for found in (precision.compare_independent(*single), precision.compare_shared(b - a, v_a + v_b, *rates)):
        assert (np.abs(found.value) / np.sqrt(found.variance) <= naive * (1 + 1e-12)).all()


def test_the_shared_variance_is_the_delta_methods() -> None:
    gap, v_gap = 0.07, 0.0009
    m_r, m_n = RATES

    def corrected(d: float, r: float, n: float) -> float:
        return float(precision.correct(0.4 + d, r, n) - precision.correct(0.4, r, n))

    variance = (
        slope(lambda x: corrected(x, m_r, m_n), gap) ** 2 * v_gap
        + slope(lambda x: corrected(gap, x, m_n), m_r) ** 2 * m_r * (1 - m_r) / SIZES[0]
        + slope(lambda x: corrected(gap, m_r, x), m_n) ** 2 * m_n * (1 - m_n) / SIZES[1]
    )
    found = precision.compare_shared(gap, v_gap, *RATES, *SIZES)
    assert found.value == pytest.approx(corrected(gap, m_r, m_n))
    assert found.variance == pytest.approx(variance, rel=1e-6)


def test_differences_are_b_less_a() -> None:
    found = precision.compare_independent(Estimated(0.3, 0.01), Estimated(0.5, 0.02))
    assert (float(found.value), float(found.variance), found.degrees) == pytest.approx((0.2, 0.03, np.inf))
    assert precision.compare_shared(-0.1, 0.01, *RATES, *SIZES).value < 0


def test_corrections_broadcast() -> None:
    j = np.linspace(0.3, 0.6, 6).reshape(2, 3)
    m_r = np.array([[0.8], [0.9]])
    found = precision.correct_variance(0.001, j, m_r, 0.7, 50, 60)
    assert found.shape == precision.correct(j, m_r, 0.7).shape == precision.bias(j, m_r, 0.7, 50, 60).shape == (2, 3)
    assert found[1, 2] == precision.correct_variance(0.001, j[1, 2], 0.9, 0.7, 50, 60)


def test_the_bias_is_second_order() -> None:
    """Half the curvature in each rate times its variance."""
    j, step = 0.55, 1e-4
    m_r, m_n = RATES

    def curvature(function, at: float) -> float:
        return float((function(at + step) - 2 * function(at) + function(at - step)) / step**2)

    expected = (
        curvature(lambda x: precision.correct(j, x, m_n), m_r) * m_r * (1 - m_r) / SIZES[0]
        + curvature(lambda x: precision.correct(j, m_r, x), m_n) * m_n * (1 - m_n) / SIZES[1]
    ) / 2
    assert precision.bias(j, *RATES, *SIZES) == pytest.approx(expected, rel=1e-5)


def likeliest(share, size, rates, sizes) -> np.ndarray:
    """The constrained maximum by a general optimiser: shares, then m_r and m_n."""

    def unlikely(x: np.ndarray) -> float:
        p = np.clip(x, 1e-9, 1 - 1e-9)
        seen, trials = np.r_[share, rates], np.r_[size, sizes]
        return float(-(trials * (seen * np.log(p) + (1 - seen) * np.log(1 - p))).sum()) / 100

    count = len(share)
    bounds = [{"type": "ineq", "fun": lambda x, s=s: x[count] - x[s]} for s in range(count)] + [
        {"type": "ineq", "fun": lambda x, s=s: x[s] - 1 + x[count + 1]} for s in range(count)
    ]
    start = np.r_[np.full(count, 0.5), 0.7, 0.7]
    return minimize(
        unlikely, start, constraints=bounds, bounds=[(0.001, 0.999)] * len(start), options={"ftol": 1e-12}
    ).x


@pytest.mark.parametrize(
    ("share", "size"),
    [
        ([0.9], [40.0]),
        ([0.9, 0.88], [40.0, 100.0]),
        ([0.95, 0.86, 0.5], [30.0, 500.0, 50.0]),  # the second is above m_r, but not above what the first makes of it
        ([0.1, 0.9], [50.0, 60.0]),
        ([0.05, 0.2], [50.0, 60.0]),
        ([0.5, 0.6], [50.0, 60.0]),
    ],
)
def test_the_constrained_estimate_is_the_likeliest(share: list[float], size: list[float]) -> None:
    rates, sizes = (0.85, 0.8), (80.0, 90.0)
    found = precision.constrain(np.array(share), np.array(size), rates, sizes)
    best = likeliest(np.array(share), np.array(size), rates, sizes)
    np.testing.assert_allclose(np.r_[found.share, found.m_r, found.m_n], best, atol=2e-4)
    corrected = precision.correct(found.share, found.m_r, found.m_n)
    assert ((corrected > -1e-12) & (corrected < 1 + 1e-12)).all()


def test_what_obeys_17_stays() -> None:
    found = precision.constrain(np.array([0.3, 0.85]), np.array([9.0, 9.0]), (0.85, 0.8), (50, 50))
    assert found.share.tolist() == [0.3, 0.85]
    assert (found.m_r, found.m_n) == (0.85, 0.8)


def test_algorithm_1_has_a_row_per_draw_and_gives_up_on_coins() -> None:
    rng = np.random.default_rng(0)
    draws = precision.bootstrap([0.5, 0.6], [1e-4, 1e-4], (0.6, 0.55, 20, 20), draws=500, rng=rng)
    assert draws.shape == (500, 2)
    lost = np.isnan(draws)
    assert 0.05 < lost[:, 0].mean() < 0.5
    np.testing.assert_array_equal(lost[:, 0], lost[:, 1])
    again = precision.bootstrap([0.5, 0.6], [1e-4, 1e-4], (0.6, 0.55, 20, 20), draws=500, rng=np.random.default_rng(0))
    np.testing.assert_array_equal(draws, again)


def test_resamples_of_judges_like_a_coin_are_left_out():
    """Rates that add up to 1 leave nothing to divide by."""
    drawn = precision.bootstrap(0.5, 0.01, (0.5, 0.5, 2, 2), draws=200, rng=np.random.default_rng(0))
    assert np.isnan(drawn).any()
    assert not np.isinf(drawn).any()


TWO = ("not relevant", "relevant")


def graded(share: np.ndarray, size: int) -> Accuracy:
    sizes = np.full(len(share), float(size))
    count = np.full(share.shape, np.round(share * size))
    count[:, 0] = size - count[:, 1:].sum(axis=1)
    return Accuracy(kinds=tuple(f"grade {k}" for k in range(len(share))), count=count, share=count / size, size=sizes)


def test_answers_are_counted_by_what_gold_says() -> None:
    gold, said = np.array([1, 1, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 1, 1])
    found = measure_accuracy(gold, said, kinds=TWO)
    assert found.count.tolist() == [[1, 1], [1, 3]]
    assert found.share.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert found.size.tolist() == [2, 4]


def test_figures_are_the_same_as_items() -> None:
    found = count_accuracy(43, 59, 67, 84)
    gold = np.repeat([1, 1, 0, 0], [43, 16, 67, 17])
    said = np.repeat([1, 0, 0, 1], [43, 16, 67, 17])
    same = measure_accuracy(gold, said, kinds=TWO)
    np.testing.assert_array_equal(found.count, same.count)
    np.testing.assert_allclose(found.share, same.share)
    assert (found.m_r, found.m_n) == (43 / 59, 67 / 84)


def test_unequal_chances_weigh_inversely_and_cost_size() -> None:
    gold, said = np.array([1, 1, 1, 0]), np.array([1, 1, 0, 0])
    found = measure_accuracy(gold, said, kinds=TWO, weight=np.array([1.0, 1.0, 8.0, 3.0]))
    assert found.share.tolist() == [[1, 0], [0.8, 0.2]]
    assert found.size.tolist() == pytest.approx([1, 100 / 66])  # (sum w)^2 / sum w^2
    assert found.count.tolist() == [[1, 0], [1, 2]]


def test_equal_weights_cost_nothing() -> None:
    rng = np.random.default_rng(0)
    gold, said = rng.integers(0, 3, (2, 50))
    plain = measure_accuracy(gold, said, kinds="abc")
    heavy = measure_accuracy(gold, said, kinds="abc", weight=np.full(50, 7.5))
    np.testing.assert_allclose(heavy.share, plain.share)
    np.testing.assert_allclose(heavy.size, plain.size)


def test_a_kind_without_gold_is_refused_not_divided() -> None:
    found = measure_accuracy(np.zeros(9, int), np.zeros(9, int), kinds=TWO)
    assert np.isnan(found.share[1]).all()
    assert found.size.tolist() == [9, 0]
    with pytest.raises(DataError, match=r"\b9\b.*relevant"):
        require_gold(found)


@pytest.mark.parametrize(("relevant", "words"), [(1, r"\b1\b.*relevant"), (4, r"\b4\b.*relevant")])
def test_too_little_gold_of_a_kind(relevant: int, words: str) -> None:
    with pytest.raises(DataError, match=words):
        require_gold(count_accuracy(relevant, relevant, 50, 50))
    require_gold(count_accuracy(5, 5, 5, 5))


@pytest.mark.parametrize(
    ("rates", "reason"),
    [
        ((26, 50, 23, 50), "52%.*46%.*better"),
        ((50, 50, 0, 50), "100%.*0%.*better"),
        ((29, 50, 30, 50), "58%.*60%.*better"),  # D = .18, two standard errors .197
        ((10, 50, 10, 50), "20%.*20%.*worse"),
    ],
)
def test_judges_that_tell_nothing(rates: tuple[int, int, int, int], reason: str) -> None:
    with pytest.raises(JudgeError, match=reason):
        require_informed(count_accuracy(*rates))


@pytest.mark.parametrize("rates", [(43, 59, 67, 84), (30, 50, 30, 50), (50, 50, 50, 50), (3000, 5000, 3000, 5000)])
def test_judges_that_are_clear_of_coins(rates: tuple[int, int, int, int]) -> None:
    found = count_accuracy(*rates)
    require_informed(found)
    assert measure_separation(found) > 2  # (30, 50, 30, 50): D = .2, two standard errors .196


CLEAR = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])


def test_judges_of_grades_must_be_better_than_chance() -> None:
    require_informed(graded(CLEAR, 100))
    require_informed(graded(np.eye(4), 20))
    with pytest.raises(JudgeError):
        require_informed(graded(np.full((3, 3), 1 / 3), 100))
    with pytest.raises(JudgeError):
        require_informed(graded(CLEAR[::-1] * [[0.2], [1], [1]] + [[0, 0, 0.8], [0, 0, 0], [0, 0, 0]], 5))
    alike = np.array([[0.9, 0.05, 0.05], [0.1, 0.48, 0.42], [0.1, 0.42, 0.48]])
    with pytest.raises(JudgeError, match="matrix"):
        require_informed(graded(alike, 40))
    require_informed(graded(alike, 40_000))


def test_the_spread_is_counted_in_standard_errors() -> None:
    """The smallest singular value over how much it scatters when gold is drawn anew."""
    rng = np.random.default_rng(1)
    found = graded(CLEAR, 200)
    drawn = np.stack([rng.multinomial(200, row, 4000) / 200 for row in CLEAR], axis=1)
    smallest = np.linalg.svd(drawn, compute_uv=False)[:, -1]
    assert smallest_spread(found) == pytest.approx(smallest.mean() / smallest.std(), rel=0.1)
    assert smallest_spread(graded(np.eye(3), 10)) == np.inf
