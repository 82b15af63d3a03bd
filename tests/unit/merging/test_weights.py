"""From weights to shares, topic by topic."""

import numpy as np

from karatage.merging.estimators import fill_unseen, merge_scores, normalise


def test_where_all_weights_are_0_those_present_count_alike():
    present = np.array([[True, True, False], [True, True, False], [True, False, False]])
    weight = np.array([[3.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    share, silent = normalise(weight, present)
    assert share.T.tolist() == [[0.75, 0.25, 0], [0.5, 0.5, 0], [0, 0, 0]]
    assert silent.tolist() == [False, True, False]


def test_a_topic_that_nobody_has_a_share_in_has_no_score():
    value = np.array([[[0.5, 1.0], [np.nan, np.nan]], [[0.1, 0.2], [np.nan, np.nan]]])
    merged = merge_scores(value, np.array([[0.25, 0.0], [0.75, 0.0]]))
    np.testing.assert_allclose(merged[0], [0.2, 0.4])
    assert np.isnan(merged[1]).all()


def test_judges_of_whom_gold_says_nothing_weigh_as_the_others_do_on_average():
    assert fill_unseen(np.array([0.2, np.nan, 0.6])).tolist() == [0.2, 0.4, 0.6]
    assert fill_unseen(np.array([np.nan, np.nan])).tolist() == [1, 1]
