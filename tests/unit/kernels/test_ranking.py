from __future__ import annotations

import numpy as np

from karatage.kernels import ranking

RANKED = np.array([[2, -1, 0, 1], [3, 3, -1, -1]], np.int32)  # a list may end early, and -1 is outside the pool
GRADE = np.array([[1, 0], [2, -1], [0, 3], [-1, 1]], np.int8)  # (item, judge)


def test_scattered_grades_go_to_their_own_block() -> None:
    item, column = np.array([0, 1, 1, 2], np.int32), np.array([0, 1, 2, 3], np.int32)
    out = np.full((3, 2), -1, np.int8)
    ranking.scatter_grades(item, column, np.array([5, 6, 7, 8], np.int8), 1, 3, out)
    assert out.tolist() == [[-1, -1], [6, 7], [-1, -1]]


def test_counts_leave_the_unjudged_out() -> None:
    for level, expected in (0, [3, 3]), (1, [2, 2]), (2, [1, 1]), (4, [0, 0]):
        out = np.zeros(2)
        ranking.count_at_least(GRADE, level, out)
        assert out.tolist() == expected


def test_gains_add_up_their_steps() -> None:
    out = np.zeros((2, 2))
    level, step = np.array([1, 2], np.int32), np.array([10.0, 5.0])
    ranking.sum_gains(RANKED, GRADE, level, step, np.array([1.0, 0.5, 0.25]), out)
    assert out.tolist() == [[2.5, 15.0], [0.0, 15.0]]


def test_ideal_gains_rank_the_best_first_and_end_with_the_pool() -> None:
    out, count = np.zeros(2), np.array([[3.0, 1.0], [1.0, 0.0]])
    ranking.sum_ideal_gains(count, np.array([10.0, 5.0]), np.array([1.0, 0.5, 0.25, 0.125]), out)
    assert out.tolist() == [15.0 + 5.0 + 2.5, 10.0]


def test_the_first_relevant_counts_at_its_own_rank() -> None:
    out = np.zeros((2, 2))
    ranking.find_first_relevant(RANKED, GRADE, 1, 4, out)
    assert out.tolist() == [[1 / 3, 1.0], [0.0, 1.0]]


def test_a_cascade_stops_where_it_is_satisfied() -> None:
    out, stop = np.zeros((2, 2)), np.array([0.0, 0.0, 0.5, 0.5, 1.0])
    ranking.sum_cascade(RANKED, GRADE, stop, 4, out)
    assert out.tolist() == [[0.5 / 3 + 0.25 / 4, 1.0], [0.0, 0.5 + 0.25 / 2]]
