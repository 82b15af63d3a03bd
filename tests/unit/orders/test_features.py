"""Features of items: worked numbers, ties with the number of runs, and speed."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import DataError
from karatage.orders.state import DEPTH, find_features, find_vote_features

HARMONIC = np.r_[0, np.cumsum(1 / np.arange(1, DEPTH + 1))]


def rank_at(*ranks, depth=1200):
    """Item 0 at the given rank of each run, nowhere for None; item 1 is in no run."""
    ranked = np.full((1, len(ranks), depth), -1, np.int32)
    for system, rank in enumerate(ranks):
        if rank is not None:
            ranked[0, system, rank - 1] = 0
    return ranked


@pytest.mark.parametrize(
    ("rank", "points"), [(1, 10), (10, 10), (11, 5), (100, 5), (101, 1), (1000, 1), (1001, 0), (None, 0)]
)
def test_features_of_one_run_by_its_rank(rank, points):
    found = find_features(rank_at(rank), 2)
    inside = rank is not None and rank <= DEPTH
    worth = 1 + HARMONIC[DEPTH] - HARMONIC[rank] if inside else 0
    assert found.meta_ap.tolist() == pytest.approx([worth, 0], abs=1e-14)
    assert found.weighted_retrieval.tolist() == [points, 0]
    assert found.average_rank.tolist() == [rank if inside else DEPTH + 1, DEPTH + 1]


def test_first_and_last_rank_by_hand():
    """1 + H_1000 - H_1 = H_1000 = 7.485 471; 1 + H_1000 - H_1000 = 1; 1 + 1/1000 one rank above."""
    worth = [find_features(rank_at(rank), 1).meta_ap.item() for rank in (1, 999, 1000)]
    assert worth == pytest.approx([7.485470860550345, 1.001, 1], abs=1e-13)


def test_runs_are_averaged_but_points_add_up():
    once, thrice = find_features(rank_at(3, 20, None), 1), find_features(rank_at(*(3, 20, None) * 3), 1)
    assert once.weighted_retrieval.item() == 15
    assert thrice.weighted_retrieval.item() == 45
    assert once.average_rank.item() == thrice.average_rank.item() == (3 + 20 + 1001) / 3
    assert once.meta_ap.item() == pytest.approx(thrice.meta_ap.item(), rel=1e-15)


def test_features_need_runs():
    with pytest.raises(DataError, match="runs"):
        find_features(np.empty((2, 0, 5), np.int32), 3)


def test_votes_by_hand():
    """One made-up grade, half 0 and half 1: (1, 1, 0) has 2.5 of 4 ones, so that two differ in 2 x .625 x .375."""
    judged = {"a": {"1": {"x": 1, "y": 1}}, "b": {"1": {"x": 1}}, "c": {"1": {"x": 0}}}
    judgments = kt.read_judgments(judged)
    found = find_vote_features(judgments)
    assert found.mean_grade.tolist() == [0.625, 0.75]
    assert found.doubt.tolist() == [2 * 0.625 * 0.375, 2 * 0.75 * 0.25]


def test_votes_where_nobody_judged():
    judgments = kt.read_judgments({"a": {"1": {"x": 3, "y": 0}}})
    found = find_vote_features(judgments.keep_rows(np.array([True, False])))
    assert found.mean_grade.tolist() == pytest.approx([0.75, 0.5])
    assert found.doubt.tolist() == pytest.approx([1 - (1.25**2 + 3 * 0.25**2) / 4, 0.75])


def test_more_unanimous_votes_leave_less_doubt():
    few = find_vote_features(kt.read_judgments({j: {"1": {"x": 1, "y": 0}} for j in "ab"})).doubt
    many = find_vote_features(kt.read_judgments({j: {"1": {"x": 1, "y": 0}} for j in "abcde"})).doubt
    assert (many < few).all()
    assert few[0] == few[1]
