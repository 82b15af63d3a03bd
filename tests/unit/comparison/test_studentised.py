"""The studentised range: identities, limits, the table, and what is refused."""

import math

import numpy as np
import pytest
from scipy import stats

from karatage.comparison.tukey import quantile, survival, survival_of_many
from karatage.errors import OptionError

Q = np.array([0.0, 1e-3, 0.5, 2.0, 3.5, 5.0, 8.0, 20.0, 100.0])


@pytest.mark.parametrize("df", [1, 1.5, 2, 5, 30, 1000, 100_000, 1e8])
def test_two_groups_are_student_s_t(df):
    """Relative to the value, also where that is 1e-60."""
    expected = 2 * stats.t.sf(Q / math.sqrt(2), df)
    found = survival(Q, 2, df)
    likely = expected > 1e-140
    np.testing.assert_allclose(found[likely], expected[likely], rtol=1e-11)
    assert found[~likely].max(initial=0) < 1e-140


def test_two_groups_without_error_are_normal():
    np.testing.assert_allclose(survival(Q[:8], 2, math.inf), 2 * stats.norm.sf(Q[:8] / math.sqrt(2)), rtol=1e-12)


def test_the_range_of_three_by_integration_over_the_lowest():
    z = np.linspace(-12, 12, 200_001)
    inside = 3 * np.trapezoid(stats.norm.pdf(z) * (stats.norm.cdf(z + 2.5) - stats.norm.cdf(z)) ** 2, z)
    assert float(survival(2.5, 3, math.inf)) == pytest.approx(1 - inside, abs=1e-9)


@pytest.mark.parametrize("groups", [3, 34, 200])
def test_many_degrees_of_freedom_come_near_infinitely_many(groups):
    q = np.array([2.0, 4.0, 6.0])
    gaps = [np.abs(survival(q, groups, df) - survival(q, groups, math.inf)).max() for df in (1e3, 1e4, 1e5, 1e8)]
    assert gaps[1] == pytest.approx(gaps[0] / 10, rel=0.05)  # as 1 / df
    assert gaps[2] == pytest.approx(gaps[0] / 100, rel=0.05)
    assert gaps[3] < 1e-6


@pytest.mark.parametrize("df", [1, 3, 40, 5750, math.inf])
@pytest.mark.parametrize("groups", [2, 34, 300])
def test_it_falls_in_q_and_rises_with_groups(groups, df):
    q = np.linspace(0, 15, 40)
    found = survival(q, groups, df)
    assert found[0] == 1
    assert (np.diff(found) <= 0).all()
    assert (found <= survival(q, groups + 1, df) + 1e-14).all()
    assert survival(math.inf, groups, df) == 0


def test_it_keeps_the_shape():
    q = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, math.inf]])
    found = survival(q, 5, 20)
    assert found.shape == (2, 3)
    assert found[1, 0] == survival(4.0, 5, 20)
    assert survival_of_many(q, 5, 20).shape == (2, 3)


@pytest.mark.parametrize("level", [1e-50, 1e-6, 0.05, 0.5, 0.999])
@pytest.mark.parametrize(("groups", "df"), [(2, 1), (3, 10), (34, 5750), (129, math.inf)])
def test_quantiles_are_exceeded_as_often_as_they_should(level, groups, df):
    assert float(survival(quantile(level, groups, df), groups, df)) == pytest.approx(level, rel=1e-9)


def test_textbook_quantiles():
    """As every table of critical values has them."""
    assert quantile(0.05, 3, 10) == pytest.approx(3.877, abs=5e-4)
    assert quantile(0.05, 10, 20) == pytest.approx(5.008, abs=5e-4)
    assert quantile(0.01, 5, 30) == pytest.approx(5.048, abs=5e-4)
    assert quantile(0.05, 20, math.inf) == pytest.approx(5.012, abs=5e-4)


@pytest.mark.parametrize(
    ("groups", "df", "top"), [(3, 5, 30.0), (34, 5750, 12.0), (34, 5750, 400.0), (129, 100, 40.0), (200, math.inf, 9.0)]
)
def test_the_table_agrees_with_the_direct_way(groups, df, top):
    q = np.sort(np.random.default_rng(3).uniform(0, top, 5000))
    found, sample = survival_of_many(q, groups, df), slice(None, None, 50)
    direct = survival(q[sample], groups, df)
    np.testing.assert_allclose(found[sample], direct, rtol=1e-7, atol=1e-99)
    assert (np.diff(found) <= 0).all()
    assert found.max() <= 1


def test_the_table_calls_the_impossible_0():
    found = survival_of_many([3.0, 60.0, 1e6, math.inf], 3, math.inf)
    assert found[0] == pytest.approx(float(survival(3.0, 3, math.inf)), rel=1e-7)
    assert found[1:].tolist() == [0, 0, 0]


def test_a_table_of_nothing_but_ties():
    assert survival_of_many(np.zeros(3), 4, 9).tolist() == [1, 1, 1]
    assert survival_of_many(np.empty(0), 4, 9).shape == (0,)


@pytest.mark.parametrize(("groups", "df"), [(1, 10), (3, 0.5), (3, math.nan)])
def test_too_few_groups_or_degrees_of_freedom_are_refused(groups, df):
    with pytest.raises(OptionError, match=r"\b2\b.*\b1\b"):
        survival(1.0, groups, df)


def test_bad_ranges_and_levels_are_refused():
    with pytest.raises(OptionError, match=r"number.*\b0\b"):
        survival([1.0, -0.1], 3, 10)
    with pytest.raises(OptionError, match=r"number.*\b0\b"):
        survival(math.nan, 3, 10)
    for level in (0.0, 1.0, 5.0):
        with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
            quantile(level, 3, 10)
