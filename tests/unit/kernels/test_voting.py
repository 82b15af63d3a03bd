"""The E-step by hand: ties of the hard step, likelihoods that under-flow, and blocks of items."""

import numpy as np
import pytest
from scipy.special import logsumexp

from karatage.kernels.voting import Rows, divide, expect


def one_item(said, grades):
    """One item, graded by one judge again and again."""
    said = np.array(said, np.int8)
    return Rows(
        start=np.array([0, len(said)]),
        judge=np.zeros(len(said), np.int32),
        said=said,
        group=np.zeros(1, np.int32),
        known=np.full(1, -1, np.int8),
        answered=np.bincount(said, minlength=grades).astype(float)[None],
    )


@pytest.mark.parametrize("grades", [2, 3])
def test_a_tie_goes_to_the_lowest_grade(grades):
    even = np.full((1, grades, grades), -np.log(grades))
    probability = np.zeros((1, grades))
    expect(one_item([1], grades), even[0, :1], even, True, probability)
    assert probability.tolist() == [np.eye(grades)[0].tolist()]


@pytest.mark.parametrize("grades", [2, 3])
@pytest.mark.parametrize("votes", [3, 3000])
def test_the_likelihood_is_that_of_all_grades_together(grades, votes):
    """Also where it is too small for anything but its logarithm."""
    rng = np.random.default_rng(0)
    said = rng.integers(grades, size=votes)
    answer = np.log(rng.dirichlet(np.full(grades, 500.0), grades).T)[None]
    prior = np.log(rng.dirichlet(np.ones(grades)))[None]
    probability = np.zeros((1, grades))
    found = expect(one_item(said, grades), prior, answer, False, probability)
    joint = prior[0] + answer[0, said].sum(axis=0)
    assert found.log_likelihood == pytest.approx(logsumexp(joint), rel=1e-12)
    np.testing.assert_allclose(probability[0], np.exp(joint - logsumexp(joint)), rtol=1e-9)


def test_blocks_share_the_rows_out_and_leave_no_item_behind(monkeypatch):
    monkeypatch.setattr("karatage.kernels.voting.ROWS_PER_BLOCK", 10)
    assert divide(np.arange(0, 42, 2), 8) == [(0, 5), (5, 10), (10, 15), (15, 20)]
    assert divide(np.array([0, 25, 25, 30, 40]), 8) == [(0, 1), (1, 3), (3, 4)]
    assert divide(np.array([0]), 8) == [(0, 0)]
