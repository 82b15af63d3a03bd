"""Adjusted p-values against statsmodels; groups and letters against their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from karatage.errors import DataError
from karatage.kernels.multiplicity import benjamini_hochberg, find_groups, holm, letters

ADJUSTMENTS = {"holm": holm, "fdr_bh": benjamini_hochberg}


@pytest.mark.parametrize("method", ADJUSTMENTS)
@given(st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, np.nan]), min_size=1, max_size=30))
def test_adjusted_p_values_are_statsmodels(method, p_values):
    value = np.array(p_values)
    tested = ~np.isnan(value)
    found = ADJUSTMENTS[method](value)
    np.testing.assert_array_equal(np.isnan(found), ~tested)
    if tested.any():
        np.testing.assert_allclose(found[tested], multipletests(value[tested], method=method)[1], rtol=1e-12)
        assert (found[tested] >= value[tested]).all()
        assert (found[tested] <= 1).all()


def test_holm_is_stricter_and_both_follow_the_order():
    value = np.array([0.001, 0.2, 0.012, 0.04, 0.03])
    assert (holm(value) >= benjamini_hochberg(value)).all()
    for adjust in ADJUSTMENTS.values():
        assert (np.diff(adjust(np.sort(value))) >= 0).all()
        np.testing.assert_allclose(adjust(value)[np.argsort(value)], adjust(np.sort(value)))
        np.testing.assert_array_equal(adjust(value.reshape(5, 1)), adjust(value))
        assert adjust([]).shape == (0,)
        with pytest.raises(DataError, match=r"\b0\b.*\b1\b.*-0\.1"):
            adjust([0.5, -0.1])


def on_a_line(mean, margin):
    return np.abs(np.subtract.outer(mean, mean)) > margin


def largest_groups(separable):
    """All sets without a pair that differs to which nothing can be added, by trying every set."""
    size = len(separable)
    sets = [
        set(group)
        for k in range(1, size + 1)
        for group in itertools.combinations(range(size), k)
        if not separable[np.ix_(group, group)].any()
    ]
    return sorted(tuple(sorted(s)) for s in sets if not any(s < other for other in sets))


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 8))
def test_on_a_line_groups_are_all_the_largest(mean, margin):
    separable = on_a_line(np.sort(mean)[::-1], margin)
    assert list(find_groups(separable)) == largest_groups(separable)


@given(st.integers(1, 8), st.data())
def test_any_two_share_a_group_exactly_when_they_cannot_be_told_apart(size, data):
    separable = np.zeros((size, size), bool)
    for i, j in itertools.combinations(range(size), 2):
        separable[i, j] = separable[j, i] = data.draw(st.booleans())
    groups = find_groups(separable)
    largest = largest_groups(separable)
    assert set(groups) <= set(largest)  # so none lies within another
    assert len(set(groups)) == len(groups)
    assert list(groups) == sorted(groups)
    shown = letters(separable)
    assert all(shown)
    for i, j in itertools.combinations(range(size), 2):
        assert any({i, j} <= set(group) for group in groups) != separable[i, j]
        assert bool(set(shown[i]) & set(shown[j])) != separable[i, j]


def test_groups_stay_few_where_the_largest_are_too_many_to_list():
    """Twenty triples whose members differ among themselves only have 3^20 largest groups."""
    separable = np.kron(np.eye(20, dtype=bool), ~np.eye(3, dtype=bool))
    groups = find_groups(separable)
    assert len(groups) <= 60
    shared = np.zeros((60, 60), bool)
    for group in groups:
        shared[np.ix_(group, group)] = True
    np.testing.assert_array_equal(shared, ~separable)


def test_letters_of_a_small_example():
    """[PIE04]'s display by hand: b is near both neighbours, d stands alone."""
    mean = np.array([5.0, 4.2, 3.4, 1.0])
    assert letters(on_a_line(mean, 1.0)) == ("a", "ab", "b", "c")
    assert find_groups(on_a_line(mean, 1.0)) == ((0, 1), (1, 2), (3,))


def test_letters_beyond_z():
    assert letters(~np.eye(28, dtype=bool))[25:] == ("z", "a2", "b2")


def test_tables_that_say_nothing():
    with pytest.raises(DataError, match=r"\b2\b.*\b3\b"):
        letters(np.zeros((2, 3), bool))
    with pytest.raises(DataError):
        letters(np.array([[0, 1], [0, 0]], bool))
    with pytest.raises(DataError, match="system"):
        letters(np.ones((2, 2), bool))
