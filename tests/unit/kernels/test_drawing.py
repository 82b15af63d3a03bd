"""Drawing items: chances as promised, as many as ordered."""

import numpy as np
import pytest

from karatage.errors import OptionError
from karatage.kernels.sampling import draw_items, find_chances, mean_positive

SIZE = np.array([0.0, 1.0, 2.0, 3.0, 10.0, 0.01, 4.0])


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


def test_the_mean_is_of_what_matters():
    assert mean_positive(np.array([0.0, 1.0, 3.0])) == 2
    assert mean_positive(np.zeros(3)) == 0


def test_draws_that_cannot_be_are_refused():
    with pytest.raises(OptionError, match=r"\b1\b.*\b0\b"):
        find_chances(SIZE, 0)
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b.*\b2\b"):
        find_chances(SIZE, 2, floor=2.0)


def test_the_usual_floor_is_a_tenth_of_the_mean():
    np.testing.assert_array_equal(find_chances(SIZE, 2), find_chances(SIZE, 2, floor=0.1))
