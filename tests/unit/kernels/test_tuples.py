"""Merging the scores of small panels: shares within each topic, and what happens where nobody has a weight."""

import numpy as np

from karatage.kernels.correlation import merge_tuples


def test_weights_are_shares_of_the_members_in_each_topic():
    value = np.array([[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2, [[9.0, 9.0]] * 2])
    weight = np.array([[3.0, 1.0], [1.0, 1.0], [5.0, 5.0]])
    out = np.empty((1, 2))
    merge_tuples(value, weight, np.array([[0, 1]]), out)
    np.testing.assert_allclose(out, [[(3 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2]], rtol=1e-15)


def test_members_without_any_weight_in_a_topic_count_alike_there():
    value = np.array([[[1.0, 0.0], [0.2, 0.4]], [[0.0, 1.0], [0.6, 0.8]], [[9.0, 9.0]] * 2])
    weight = np.array([[1.0, 0.0], [0.0, 0.0], [5.0, 5.0]])
    out = np.empty((1, 2))
    merge_tuples(value, weight, np.array([[0, 1]]), out)
    np.testing.assert_allclose(out, [[(1.0 + 0.4) / 2, (0.0 + 0.6) / 2]], rtol=1e-15)
