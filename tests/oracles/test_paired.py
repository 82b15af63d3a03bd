"""Paired tests against scipy, slow enumeration and the duality of tests and intervals."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import karatage as kt
from karatage.comparison import flipping, paired


def draw_scores(seed, topics, *, steps=None):
    rng = np.random.default_rng(seed)
    x, y = rng.random(topics), rng.random(topics) * 0.9 + 0.15
    return (x, y) if steps is None else (np.round(x * steps) / steps, np.round(y.clip(0, 1) * steps) / steps)


def all_signs(size):
    return np.array(list(itertools.product((-1, 1), repeat=size)))


@pytest.mark.parametrize("topics", [2, 5, 50, 300])
def test_t_is_scipy_s(topics):
    x, y = draw_scores(topics, topics)
    found, expected = kt.stats.paired_test(x, y), stats.ttest_rel(y, x)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.p_value == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("topics", [4, 12, 49, 150])
def test_wilcoxon_is_scipy_s_exact(topics):
    x, y = draw_scores(topics, topics)
    found, expected = kt.stats.paired_test(x, y, test="wilcoxon"), stats.wilcoxon(y, x, method="exact")
    assert found.p_value == pytest.approx(expected.pvalue)
    assert min(found.statistic, topics * (topics + 1) / 2 - found.statistic) == expected.statistic


@pytest.mark.parametrize("topics", [30, 200])
def test_wilcoxon_s_approximation_is_scipy_s(topics, monkeypatch):
    monkeypatch.setattr(paired, "MOST_STEPS", 1)
    x, y = draw_scores(topics, topics, steps=10)
    found = kt.stats.paired_test(x, y, test="wilcoxon")
    gap = np.round(10 * y) - np.round(10 * x)  # ties and zeros, without rounding errors
    expected = stats.wilcoxon(gap, method="approx", zero_method="wilcox", correction=False)
    assert not found.exact
    assert found.zeros == (gap == 0).sum() > 0
    assert found.p_value == pytest.approx(expected.pvalue)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=10))
def test_wilcoxon_with_ties_and_zeros_is_its_enumeration(steps):
    gap = np.array(steps)
    gap = gap[gap != 0]
    found = kt.stats.paired_test(np.full(len(steps), 0.3), 0.3 + np.array(steps) / 10, test="wilcoxon")
    if not len(gap):
        assert found.p_value == 1
        return
    rank = stats.rankdata(np.abs(gap))
    won = (all_signs(len(gap)) > 0) @ rank
    middle = rank.sum() / 2
    assert found.statistic == rank[gap > 0].sum()
    assert found.p_value == pytest.approx((np.abs(won - middle) >= abs(rank[gap > 0].sum() - middle)).mean())
    assert found.exact


@pytest.mark.parametrize("topics", [6, 25, 120])
def test_wilcoxon_s_interval_is_where_its_test_does_not_reject(topics):
    x, y = draw_scores(7, topics)
    found = kt.stats.paired_test(x, y, test="wilcoxon", confidence=0.9)
    gap = y - x
    walsh = np.sort([(gap[i] + gap[j]) / 2 for i in range(topics) for j in range(i, topics)])
    for bound in (found.low, found.high):
        assert np.abs(walsh - bound).min() == 0

    def rejects(shift):
        return stats.wilcoxon(gap - shift, method="exact").pvalue <= 0.1

    assert rejects(found.low - 1e-9)
    assert not rejects(found.low + 1e-9)
    assert rejects(found.high + 1e-9)
    assert not rejects(found.high - 1e-9)


def test_wilcoxon_s_interval_of_many_topics_is_near_the_exact_one(monkeypatch):
    x, y = draw_scores(7, 300)
    exact = kt.stats.paired_test(x, y, test="wilcoxon")
    monkeypatch.setattr(paired, "MOST_STEPS", 1)
    near = kt.stats.paired_test(x, y, test="wilcoxon")
    assert (near.low, near.high) == pytest.approx((exact.low, exact.high), abs=2e-3)
    assert near.p_value == pytest.approx(exact.p_value, abs=2e-3)


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9), st.sampled_from([1, 3, 10, np.pi]))
def test_permutation_is_its_enumeration(steps, unit):
    """Sums that tie but for rounding count as ties."""
    gap = np.array(steps) / unit
    found = kt.stats.paired_test(np.full(len(gap), 0.7), 0.7 + gap, test="permutation")
    sums = all_signs(len(gap)) @ np.array(steps)
    assert found.p_value == (np.abs(sums) >= abs(sum(steps))).mean()
    assert found.exact


def test_permutation_is_scipy_s():
    x, y = draw_scores(11, 14)
    expected = stats.permutation_test(
        (y, x), lambda a, b: (a - b).mean(), permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert kt.stats.paired_test(x, y, test="permutation").p_value == pytest.approx(expected.pvalue)


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=12))
def test_the_three_exact_ways_agree(steps):
    gap = np.array(steps, float)
    sums = all_signs(len(gap)) @ gap
    expected = (np.abs(sums) >= abs(gap.sum())).mean()
    used = gap[gap != 0]
    assert flipping.share_as_extreme(gap / 10) == pytest.approx(expected)
    assert flipping._share_by_halves(used * np.sqrt(2)) == pytest.approx(expected)
    assert (flipping.whole_steps(used * np.sqrt(2)) is None) == bool(len(used))


@pytest.mark.parametrize("topics", [24, 40])
def test_halves_and_whole_steps_agree_on_many_topics(topics):
    x, y = draw_scores(topics, topics, steps=20)
    assert flipping._share_by_halves(y - x) == pytest.approx(flipping.share_as_extreme(y - x), rel=1e-9)


def test_draws_come_near_the_exact_value(monkeypatch):
    x, y = draw_scores(3, 45, steps=10)
    exact = kt.stats.paired_test(x, y, test="permutation", rng=0)
    monkeypatch.setattr(paired, "share_as_extreme", lambda _: None)
    drawn = kt.stats.paired_test(x, y, test="permutation", resamples=40_000, rng=0)
    assert exact.exact
    assert not drawn.exact
    error = np.sqrt(exact.p_value * (1 - exact.p_value) / 40_000)
    assert abs(drawn.p_value - exact.p_value) < 4 * error


@pytest.mark.parametrize("topics", [8, 13])
def test_the_permutation_interval_is_where_its_test_does_not_reject(topics):
    x, y = draw_scores(topics, topics)
    found = kt.stats.paired_test(x, y, test="permutation", confidence=0.9)
    signs, gap = all_signs(topics), y - x

    def rejects(shift):
        sums = signs @ (gap - shift)
        return (np.abs(sums) >= abs((gap - shift).sum()) * (1 - 1e-12)).mean() <= 0.1 + 1e-12

    assert rejects(found.low - 1e-9)
    assert not rejects(found.low + 1e-9)
    assert rejects(found.high + 1e-9)
    assert not rejects(found.high - 1e-9)


def test_the_bootstrap_is_a_plain_loop_over_resampled_topics():
    x, y = draw_scores(5, 20)
    gap, draws = y - x, 400
    found = kt.stats.paired_test(x, y, test="bootstrap", resamples=draws, rng=9)
    rows = np.random.default_rng(9).integers(20, size=(draws, 20))
    t = [(gap[row].mean() - gap.mean()) / (gap[row].std(ddof=1) / np.sqrt(20)) for row in rows]
    seen = stats.ttest_1samp(gap, 0).statistic
    assert found.statistic == pytest.approx(seen)
    assert found.p_value == (1 + (np.abs(t) >= abs(seen)).sum()) / (1 + draws)
    half = np.sort(np.abs(t))[-20] * stats.sem(gap)  # 20 = 0.05 * 401, rounded down
    assert (found.low, found.high) == pytest.approx((gap.mean() - half, gap.mean() + half))


def test_the_bootstrap_comes_near_t_on_many_normal_topics():
    gap = np.random.default_rng(1).normal(0.02, 0.2, 400)
    t, boot = (kt.stats.paired_test(np.zeros(400), gap, test=test, rng=1) for test in ("t", "bootstrap"))
    assert boot.p_value == pytest.approx(t.p_value, abs=0.02)
    assert (boot.low, boot.high) == pytest.approx((t.low, t.high), abs=0.002)


def test_resamples_of_one_value_count_as_extreme():
    """Of two topics half the resamples repeat one, so that p cannot fall below a half."""
    found = kt.stats.paired_test([0.1, 0.1], [0.2, 0.21], test="bootstrap", rng=0)
    assert found.p_value > 0.45
    assert found.low == -np.inf


@pytest.mark.parametrize("sizes", [(2, 3), (30, 12), (300, 40)])
def test_welch_is_scipy_s(sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.random(sizes[0]), rng.random(sizes[1]) ** 2
    found, expected = kt.stats.welch_test(x, y, confidence=0.9), stats.ttest_ind(y, x, equal_var=False)
    interval = expected.confidence_interval(0.9)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.degrees == pytest.approx(expected.df)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_welch_on_the_paper_s_figures():
    """[NOISY18] section 7."""
    found = kt.stats.welch_test(kt.Figures(10278, 0.6260, 0.414), kt.Figures(20604, 0.6385, 0.402))
    assert found.statistic == pytest.approx(2.524, abs=5e-4)
    assert found.p_value == pytest.approx(0.0116, abs=5e-5)
