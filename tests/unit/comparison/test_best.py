"""The best of some levels against the best of others."""

import itertools

import numpy as np
import pytest
from scipy import stats

from karatage.comparison.best import add_variances, bound_best


def pair(values):
    """Differences of the columns of a sample (row, level)."""
    rows, levels = values.shape
    both = values[:, :, None] - values[:, None, :]
    return both.mean(axis=0), both.var(axis=0, ddof=1) / rows, np.full((levels, levels), rows - 1.0)


@pytest.fixture
def values():
    return np.random.default_rng(3).normal([0.5, 0.45, 0.48, 0.2], 0.1, (20, 4))


def test_two_levels_have_students_interval(values):
    found = bound_best(*pair(values), [0], [3])
    expected = stats.ttest_rel(values[:, 0], values[:, 3]).confidence_interval(0.95)
    assert found == pytest.approx((np.mean(values[:, 0] - values[:, 3]), *expected))
    assert found.verdict == "yes"
    assert bound_best(*pair(values), [3], [0]).verdict == "no"


def test_the_interval_of_a_choice_is_by_definition(values):
    difference, variance, df = pair(values)
    first, second = [0, 1], [2, 3]

    def end(i, j, tail):
        return stats.t.ppf(1 - tail, df[i, j]) * np.sqrt(variance[i, j])

    low = max(min(difference[i, j] - end(i, j, 0.025 / 2) for j in second) for i in first)
    high = min(max(difference[i, j] + end(i, j, 0.025 / 2) for i in first) for j in second)
    found = bound_best(difference, variance, df, first, second)
    assert found == pytest.approx((difference[0, 2], low, high))
    back = bound_best(difference, variance, df, second, first)
    assert back == pytest.approx((-found.difference, -found.high, -found.low))


@pytest.mark.parametrize(("first", "second"), [([0], [1, 2, 3]), ([0, 1], [2, 3]), ([0, 1, 2, 3, 4], [5])])
def test_ties_seldom_give_a_verdict(first, second):
    """All means are the same, which is the worst case: each side's verdict is false in 2.5% of the worlds at most."""
    source, levels, worlds = np.random.default_rng(0), len(first) + len(second), 1500
    verdicts = [bound_best(*pair(source.normal(0, 1, (15, levels))), first, second).verdict for _ in range(worlds)]
    for told in ("yes", "no"):
        assert (
            stats.binomtest(verdicts.count(told), worlds, 0.025).pvalue > 0.001 or verdicts.count(told) < 0.025 * worlds
        )
    assert verdicts.count("yes") + verdicts.count("no") > 0


def test_variances_that_are_all_exact_leave_no_doubt():
    zero = np.zeros((2, 2))
    total, df = add_variances(np.array([zero, zero]), [4, 9])
    assert np.isinf(df).all()
    assert bound_best(np.array([[0.0, 0.1], [-0.1, 0.0]]), total, df, [0], [1]) == (0.1, 0.1, 0.1)
    assert bound_best(zero, total, df, [0], [1]).verdict == "open"


def test_degrees_of_freedom_are_satterthwaites():
    one, other = np.random.default_rng(1).normal(0, (1, 3), (12, 2)).T
    both = one, other[:7]
    variance = np.array([part.var(ddof=1) / len(part) for part in both])
    total, df = add_variances(variance, [11, 6])
    expected = stats.ttest_ind(*both, equal_var=False)
    assert df == pytest.approx(expected.df)
    assert np.mean(both[0]) - np.mean(both[1]) == pytest.approx(expected.statistic * np.sqrt(total))


def test_what_is_unknown_is_open():
    unknown = np.full((2, 2), np.nan)
    found = bound_best(np.array([[0.0, 0.1], [-0.1, 0.0]]), unknown, np.ones((2, 2)), [0], [1])
    assert found.verdict == "open"
    assert np.isnan(found[1:]).all()


def test_exceeding_all_others_needs_no_allowance_for_their_number(values):
    """An intersection of tests: with more of the others that are clearly worse the lower end stays where it is."""
    difference, variance, df = pair(np.column_stack([values[:, [0, 3]], *[values[:, [3]] - 5.0] * 9]))
    alone, among = (bound_best(difference, variance, df, [0], others) for others in ([1], range(1, 11)))
    assert among.low == pytest.approx(alone.low)
    assert among.high > alone.high
    for some in itertools.combinations(range(1, 11), 2):
        assert bound_best(difference, variance, df, [0], some).low >= among.low - 1e-12
