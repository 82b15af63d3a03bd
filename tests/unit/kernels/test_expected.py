"""Kernels of expected measures against plain loops."""

import numpy as np
import pytest

from karatage.kernels.ranking import add_ideal_gains


def count_distribution(chance):
    """P(exactly n items count), by adding one item after the other."""
    exactly = np.ones(1)
    for p in chance:
        exactly = np.r_[exactly * (1 - p), 0.0] + np.r_[0.0, exactly * p]
    return exactly


def ideal(chance, weight, step=1.0):
    out = np.zeros(chance.shape[1])
    add_ideal_gains(chance, step, weight, out)
    return out


@pytest.mark.parametrize(("items", "depth", "high"), [(9, 9, 1.0), (9, 4, 1.0), (300, 20, 0.1), (300, 300, 0.05)])
def test_ideal_gains_follow_the_number_of_items_that_count(items, depth, high):
    source = np.random.default_rng(items + depth)
    chance, weight = source.random((items, 3)) * high, source.random(depth)
    for j, found in enumerate(ideal(chance, weight, 2.5)):
        exactly = count_distribution(chance[:, j])
        at_least = np.array([exactly[n:].sum() for n in range(1, depth + 1)])
        assert found == pytest.approx(2.5 * (weight * at_least).sum(), rel=1e-13)


def test_the_order_of_items_does_not_matter():
    source = np.random.default_rng(1)
    chance = source.choice([0.0, 1e-30, 0.001, 0.5, 0.999, 1.0], (200, 4))
    weight = 1 / np.arange(1.0, 201)
    np.testing.assert_allclose(ideal(chance, weight), ideal(chance[::-1].copy(), weight), rtol=1e-13)


def test_tiny_chances_keep_their_proportion():
    """The ratio of two tiny numbers must stand, so the first rank is never left out."""
    assert ideal(np.full((3, 1), 1e-40), np.ones(3))[0] == pytest.approx(3e-40, rel=1e-12)


def test_it_adds_to_what_is_there():
    out = np.array([5.0])
    add_ideal_gains(np.ones((2, 1)), 1.0, np.array([1.0, 0.5, 0.25]), out)
    assert out[0] == 6.5
