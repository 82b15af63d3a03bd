"""Gaps between scores: what rounding may do to a score's bounds."""

import numpy as np

from karatage.merging.gaps import find_heights


def test_scores_a_little_beyond_0_and_1_count_as_0_and_1():
    assert np.array_equal(find_heights(np.array([[-0.004, 0.5, 1.004]])), find_heights(np.array([[0.0, 0.5, 1.0]])))
