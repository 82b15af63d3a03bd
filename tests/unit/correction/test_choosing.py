"""Which items go to gold: chances as promised, sizes as ordered."""

from itertools import combinations

import numpy as np
import pytest

from karatage.correction.choosing import (
    FLOOR,
    choose_sizes,
    draw_batches,
    draw_items,
    expected_variance,
    find_chances,
    match_uniform,
)
from karatage.errors import DataError, OptionError

SIZE = np.array([0.0, 1.0, 2.0, 3.0, 10.0, 0.01, 4.0])


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


def test_chances_follow_size():
    np.testing.assert_allclose(find_chances(SIZE[1:4], 1), [1 / 6, 2 / 6, 3 / 6])
    pi = find_chances(SIZE, 3, floor=0.0)
    assert pi.sum() == pytest.approx(3)
    assert (pi[0], pi[4]) == (0, 1)  # size 0 needs no gold; the largest is certain
    np.testing.assert_allclose(pi[1:4] / pi[1], SIZE[1:4])  # the rest share what the cap leaves
    assert pi[5] / pi[1] == pytest.approx(0.01)


def test_caps_cascade():
    """Capping 100 leaves so much to the others that 10 is capped, too."""
    np.testing.assert_allclose(find_chances(np.array([100.0, 10.0, 1.0, 1.0]), 3, floor=0.0), [1, 1, 0.5, 0.5])


def test_small_sizes_have_a_floor():
    pi = find_chances(SIZE, 2, floor=0.3)
    least = 0.3 * SIZE[1:].mean()
    assert pi[5] / pi[2] == pytest.approx(least / 2)
    assert pi[5] >= 0.3 / 1.3 * 2 / 6
    assert find_chances(SIZE, 2)[5] > find_chances(SIZE, 2, floor=0.0)[5] > 0
    np.testing.assert_allclose(find_chances(np.array([1.0, 3.0]), 1, floor=1.0), [0.4, 0.6])


@pytest.mark.parametrize("count", [6, 7, 100])
def test_with_gold_for_all_every_item_that_matters_is_certain(count):
    np.testing.assert_array_equal(find_chances(SIZE, count), SIZE > 0)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_items_are_drawn_with_exactly_their_chances(count):
    """4 standard errors; as many as ordered, every time."""
    pi, source, draws = find_chances(SIZE, count), np.random.default_rng(3), 20_000
    drawn = np.array([draw_items(pi, source) for _ in range(draws)])
    assert (drawn.sum(axis=1) == count).all()
    assert (np.abs(drawn.mean(axis=0) - pi) <= 4 * np.sqrt(pi * (1 - pi) / draws) + 1e-12).all()


def test_any_two_items_may_be_drawn_together():
    """No pair of items excludes each other, as in a fixed order: alike items meet as often as in a plain draw."""
    source, draws = np.random.default_rng(4), 20_000
    drawn = np.array([draw_items(np.full(8, 0.25), source) for _ in range(draws)]).astype(float)
    together = (drawn.T @ drawn / draws)[np.triu_indices(8, 1)]
    chance = 2 / 8 * 1 / 7
    np.testing.assert_allclose(together, chance, atol=4.5 * np.sqrt(chance / draws))


def test_sizes_are_exact_for_many_items():
    source = np.random.default_rng(5)
    for _ in range(200):
        pi = find_chances(source.exponential(size=5000), 200)
        assert draw_items(pi, source).sum() == 200


def test_rounding_loses_no_item():
    """Ten times 0.1 is less than 1 to a computer; a comb that starts at 0 must still have a tooth in it."""

    class AtZero(np.random.Generator):
        def random(self):
            return 0.0

    assert np.cumsum(np.full(10, 0.1))[-1] < 1
    assert draw_items(np.full(10, 0.1), AtZero(np.random.PCG64(1))).sum() == 1


def test_chances_that_sum_to_no_whole_number_give_one_more_or_less():
    source = np.random.default_rng(6)
    counts = [draw_items(np.full(5, 0.3), source).sum() for _ in range(4000)]
    assert set(counts) == {1, 2}
    assert np.mean(counts) == pytest.approx(1.5, abs=0.04)


def test_nothing_is_drawn_where_nothing_matters():
    assert not draw_items(np.zeros(4), np.random.default_rng(0)).any()
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


def test_refusals():
    with pytest.raises(OptionError, match="at least 1 item, not 0"):
        find_chances(SIZE, 0)
    with pytest.raises(OptionError, match=r"from 0 to 1, not 2"):
        find_chances(SIZE, 2, floor=2.0)
    with pytest.raises(DataError, match="has no chance to be drawn"):
        expected_variance(np.ones(2), np.array([0.5, 0.0]), 1.0, 1)
