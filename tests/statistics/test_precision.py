"""Corrected P@k in 10,000 simulations: intervals at other depths and near 1, and Algorithm 1 beside Equation (7).

`test_noisy.py` has P@10 and the tests of differences. A share of 95 % is known to ± .0044 here.
"""

import numpy as np
import pytest
from scipy.special import stdtrit

from karatage.correction import graded, precision

SIMULATIONS = 10_000


def judge(share, rates, depth, topics, rng):
    """The judges' P@k of every topic, (simulation, topic), where every document is relevant with chance `share`."""
    m_r, m_n = rates
    said = share * m_r + (1 - share) * (1 - m_n)
    return rng.binomial(depth, said, (SIMULATIONS, topics)) / depth


def check_gold(rates, sizes, rng):
    """Rates as gold shows them, (simulation,)."""
    return [rng.binomial(size, rate, SIMULATIONS) / size for rate, size in zip(rates, sizes, strict=True)]


def estimate(scores, m_r, m_n, sizes, depth):
    """Values, standard errors and quantiles, as `compare` has them: (5), (7), (8) and Welch's degrees of freedom."""
    topics = scores.shape[1]
    confusion = np.stack([np.stack([m_n, 1 - m_n], axis=-1), np.stack([1 - m_r, m_r], axis=-1)], axis=-2)
    found = graded.correct(np.stack([1 - scores, scores], axis=-1), confusion, sizes[::-1], [0, 1])
    by_topics = found.topics * (1 - 1 / topics if depth == 1 else 1)
    j = scores.mean(axis=1)
    v_j = precision.share_variance(j, topics) if depth == 1 else scores.var(axis=1, ddof=1) / topics
    variance = precision.correct_variance(v_j, j, m_r, m_n, *sizes)
    value = precision.correct(j, m_r, m_n)
    np.testing.assert_allclose(found.value, value, atol=1e-12)
    np.testing.assert_allclose(by_topics + found.gold, variance, rtol=1e-9)
    return value, np.sqrt(variance), stdtrit(found.degrees, 0.975)


@pytest.mark.parametrize("sizes", [(100, 100), (60, 300)])
@pytest.mark.parametrize("rates", [(0.9, 0.8), (0.7, 0.9)])
@pytest.mark.parametrize("share", [0.3, pytest.param(0.6, marks=pytest.mark.soak)])
@pytest.mark.parametrize(("depth", "topics"), [(1, 100), (1, 400), (3, 50), (20, 50)])
def test_intervals_cover_in_94_to_96_percent(depth, topics, share, rates, sizes):
    """P@1 over 100 and 400 topics, P@3 and P@20 over 50; P@k of .3 and .6; judges .9/.8 and .7/.9; two gold samples."""
    rng = np.random.default_rng([depth, topics, int(100 * share), int(10 * rates[0]), sizes[0]])
    scores = judge(share, rates, depth, topics, rng)
    value, error, quantile = estimate(scores, *check_gold(rates, sizes, rng), sizes, depth)
    covered = (np.abs(value - share) <= quantile * error).mean()
    assert 0.94 <= covered <= 0.96


@pytest.mark.parametrize("share", [0.97, 1.0])
def test_near_1_the_cut_interval_covers_and_the_constrained_estimate_is_nearer(share):
    """[NOISY18] 3.6: about half of the plain estimates leave [0, 1] at P@k = 1; the interval is cut at 1."""
    rng = np.random.default_rng(5)
    rates, sizes, topics = (0.9, 0.8), (80, 80), 200
    scores = judge(share, rates, 1, topics, rng)
    m_r, m_n = check_gold(rates, sizes, rng)
    value, error, quantile = estimate(scores, m_r, m_n, sizes, 1)
    low, high = value - quantile * error, np.minimum(value + quantile * error, 1)
    assert 0.94 <= ((low <= share) & (share <= high)).mean() <= 0.985
    assert (value > 1).mean() > 0.2
    j = scores.mean(axis=1)
    settled = np.array(
        [
            precision.correct(found.share, found.m_r, found.m_n)[0]
            for found in (
                precision.constrain(np.array([j[s]]), np.array([topics]), (m_r[s], m_n[s]), sizes) for s in range(2000)
            )
        ]
    )
    assert settled.max() <= 1 + 1e-12
    assert np.sqrt(((settled - share) ** 2).mean()) < np.sqrt(((value[:2000] - share) ** 2).mean())


@pytest.mark.parametrize("rates", [(0.9, 0.8, 100, 100), (0.729, 0.798, 200, 300), (0.95, 0.6, 60, 300)])
@pytest.mark.parametrize("j", [0.3, 0.55])
def test_algorithm_1_agrees_with_equation_7_where_judges_are_clear_of_coins(j, rates):
    rng = np.random.default_rng(2)
    v_j = j * (1 - j) / 400
    draws = precision.bootstrap(j, v_j, rates, draws=200_000, rng=rng)[:, 0]
    error = np.sqrt(precision.correct_variance(v_j, j, *rates))
    assert draws.std(ddof=1) == pytest.approx(error, rel=0.05)
    assert draws.mean() == pytest.approx(precision.correct(j, *rates[:2]) + precision.bias(j, *rates), abs=0.004)


def test_algorithm_1_shares_its_rates_between_systems():
    """So their difference is as `compare_shared` has it, not as (10)."""
    rng = np.random.default_rng(3)
    j, v_j, rates = np.array([0.5, 0.54]), np.full(2, 1e-5), (0.8, 0.8, 100, 100)
    draws = precision.bootstrap(j, v_j, rates, draws=100_000, rng=rng)
    found = precision.compare_shared(0.04, 2e-5, *rates)
    assert np.std(draws[:, 1] - draws[:, 0]) == pytest.approx(np.sqrt(found.variance), rel=0.05)
    apart = np.sqrt(precision.correct_variance(v_j, j, *rates).sum())
    assert np.std(draws[:, 1] - draws[:, 0]) < apart / 5


def test_the_bias_is_what_simulations_show():
    """3.8, with gold so small that it can be seen."""
    rng = np.random.default_rng(4)
    rates, sizes, share = (0.8, 0.75), (40, 40), 0.9
    said = share * rates[0] + (1 - share) * (1 - rates[1])
    right = [rng.binomial(size, rate, 1_000_000) / size for rate, size in zip(rates, sizes, strict=True)]
    values = precision.correct(said, *right)
    off = values.mean() - share
    assert off == pytest.approx(float(precision.bias(said, *rates, *sizes)), rel=0.2)
    assert abs(off) > 5 * values.std() / 1000
