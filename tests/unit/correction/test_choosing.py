"""Which items go to gold: sizes and batches as ordered."""

from itertools import combinations

import numpy as np
import pytest

from karatage.correction.sampled import (
    choose_sizes,
    draw_batches,
    expected_variance,
    match_uniform,
)
from karatage.errors import DataError
from karatage.kernels.sampling import FLOOR, find_chances


def test_the_size_of_an_item_is_how_differently_systems_weigh_it():
    weight = np.array([[1.0, 0.5, 0.0], [0.3, 0.3, 0.3], [0.0, 0.0, 0.7]])
    gaps = [[weight[i, a] - weight[i, b] for a, b in combinations(range(3), 2)] for i in range(3)]
    np.testing.assert_allclose(choose_sizes(weight), np.sqrt(np.square(gaps).mean(axis=1)))
    np.testing.assert_allclose(choose_sizes(weight[:, [0, 1]]), [0.5, 0, 0])
    np.testing.assert_allclose(choose_sizes(weight[:, [1]]), [0.5, 0.3, 0])
    assert choose_sizes(weight)[1] == 0


def test_decided_pairs_keep_a_chance():
    weight = np.array([[1.0, 0.5, 0.0], [0.3, 0.3, 0.3], [0.0, 0.0, 0.7], [0.0, 0.2, 0.2]])
    size = choose_sizes(weight, [(0, 1)])
    np.testing.assert_allclose(size, [0.5, 0, FLOOR * 0.35, 0.2])
    np.testing.assert_allclose(choose_sizes(weight, [(0, 1), (1, 2)])[:2], [0.5, 0])
    np.testing.assert_allclose(choose_sizes(weight, list(combinations(range(3), 2))), choose_sizes(weight))


def test_nothing_is_drawn_where_nothing_matters():
    assert len(draw_batches(np.zeros(4), [2], np.random.default_rng(0)).item) == 0


def test_batches_draw_from_what_is_left():
    size = np.random.default_rng(7).exponential(size=60)
    chosen = draw_batches(size, [10, 20], np.random.default_rng(8), taken=np.array([0, 1]))
    assert len(set(chosen.item)) == 30
    assert not {0, 1} & set(chosen.item)
    np.testing.assert_array_equal(np.bincount(chosen.batch), [0, 10, 20])
    left = size.copy()
    left[[0, 1]] = 0
    first = chosen.batch == 1
    np.testing.assert_allclose(chosen.pi[first], find_chances(left, 10)[chosen.item[first]])
    left[chosen.item[first]] = 0
    np.testing.assert_allclose(chosen.pi[~first], find_chances(left, 20)[chosen.item[~first]])


def test_batches_end_when_items_do():
    chosen = draw_batches(np.ones(5), [3, 3, 3], np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(chosen.batch), [0, 3, 2])
    np.testing.assert_array_equal(chosen.pi, [0.6] * 3 + [1.0] * 2)


def test_the_seed_seeds_and_inputs_stay():
    size = np.random.default_rng(7).exponential(size=60)
    before = size.copy()
    one, two, three = (draw_batches(size, [10, 5], np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.item, two.item)
    assert set(one.item) != set(three.item)
    np.testing.assert_array_equal(size, before)


def test_what_a_draw_buys():
    """The variance of the sum over draws of gap * residual / pi, enumerated for independent draws of two items."""
    gap, pi, residual = np.array([2.0, -1.0, 0.0]), np.array([0.5, 0.25, 0.0]), np.array([3.0, 2.0, 9.0])
    outcomes = [
        (a * gap[0] * residual[0] / pi[0] + b * gap[1] * residual[1] / pi[1], (0.5, 0.5)[a] * (0.75, 0.25)[b])
        for a in (0, 1)
        for b in (0, 1)
    ]
    mean = sum(value * chance for value, chance in outcomes)
    variance = sum((value - mean) ** 2 * chance for value, chance in outcomes)
    assert expected_variance(gap, pi, residual**2, 10) == pytest.approx(variance / 100)
    assert expected_variance(gap, pi, 4.0, 1) == pytest.approx(4 * (4 * 1 + 1 * 3))


def test_how_many_uniform_draws_buy_the_same():
    gap = np.random.default_rng(9).exponential(size=300)
    pi = find_chances(gap, 100)
    needed = match_uniform(gap, pi)
    assert needed > 110
    assert expected_variance(gap, np.full(300, needed / 300), 1.0, 1) == pytest.approx(
        expected_variance(gap, pi, 1.0, 1)
    )
    assert match_uniform(gap, np.full(300, 0.2)) == pytest.approx(60)
    assert match_uniform(gap, np.ones(300)) == 300
    assert match_uniform(np.zeros(3), np.zeros(3)) == 0


def test_a_chance_of_zero_is_refused():
    with pytest.raises(DataError, match="chance"):
        expected_variance(np.ones(2), np.array([0.5, 0.0]), 1.0, 1)
