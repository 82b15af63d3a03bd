"""Sums for logistic regressions, term by term."""

import numpy as np
import pytest

from karatage.kernels.logistic import add_logistic


@pytest.mark.parametrize("odds", [-800.0, -30.0, -8.0, 0.0, 9.0, 800.0])
@pytest.mark.parametrize("grade", [0, 2])
def test_extreme_odds_count_as_far_as_numbers_go(odds, grade):
    slope, curve = np.zeros((1, 2)), np.zeros((1, 2, 2))
    add_logistic(
        np.ones((1, 1)),
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.array([0.5]),
        np.zeros(1, np.int32),
        np.array([grade], np.int8),
        np.array([[odds, 0.0]]),
        slope,
        curve,
    )
    chance = 0.0 if odds < -700 else 1 / (1 + np.exp(-odds))
    gap, bend = (grade > 0) - chance, chance * (1 - chance)
    np.testing.assert_allclose(slope[0], [gap, 0.5 * gap], rtol=1e-12)
    np.testing.assert_allclose(curve[0], [[bend, 0], [0.5 * bend, 0.25 * bend]], rtol=1e-12)
