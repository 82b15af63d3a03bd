"""What earlier studies say about today's spread, against integrals and another library."""

import math

import numpy as np
import pytest
from scipy import stats

from karatage.correction.records import SAME_JUDGE, find_change, find_median, judge_spread, predict_spread
from karatage.correction.shrinkage import GRID, UsualBias

USUAL = UsualBias(level=-2.0, slope=3.0, doubt=0.5, degrees=4)
LOG = np.log(GRID)


def peak(spread, width=0.1):
    return -0.5 * ((LOG - math.log(spread)) / width) ** 2


def test_prediction_is_the_integral():
    """Over the judge's spread and that of each study, with Student's t, on a fine and wide grid."""
    centres, width = (math.log(0.05), math.log(0.07)), 0.2
    scatter = stats.t(4, scale=SAME_JUDGE * USUAL.doubt)
    fine = np.linspace(-9, 3, 601)
    kernel = scatter.pdf(fine[:, None] - fine[None, :])
    averaged = [kernel @ np.exp(-0.5 * ((fine - centre) / width) ** 2) for centre in centres]
    at = [20, 30, 34, 40, 48]
    expected = np.log([(scatter.pdf(fine - LOG[k]) * averaged[0] * averaged[1]).sum() for k in at])
    found = predict_spread(np.array([peak(math.exp(c), width) for c in centres]), USUAL)[at]
    np.testing.assert_allclose(found - found[2], expected - expected[2], atol=0.02)


def test_flat_studies_say_nothing():
    np.testing.assert_allclose(predict_spread(np.zeros((3, len(GRID))), USUAL), 0, atol=1e-9)


def test_many_studies_leave_the_scatter_between_studies():
    found = predict_spread(np.array([peak(0.05)] * 200), USUAL)
    chance = np.exp(found) / np.exp(found).sum()
    mean = float(chance @ LOG)
    deviation = math.sqrt(float(chance @ (LOG - mean) ** 2))
    assert math.exp(mean) == pytest.approx(0.05, rel=0.03)
    assert deviation == pytest.approx(0.25 * math.sqrt(2), rel=0.1)  # of t with 4 degrees, half as wide as for judges
    assert find_median(judge_spread(np.array([peak(0.05)] * 200), USUAL)) == pytest.approx(0.05, rel=0.02)


def test_one_odd_study_does_not_decide():
    usual, odd = [peak(0.03)] * 4, [peak(0.6)]
    at = GRID[int(predict_spread(np.array(usual + odd), USUAL).argmax())]
    assert at == pytest.approx(0.03, rel=0.2)


def draw(rng, confusion, grades, items):
    rows = rng.multinomial(items, grades)
    return np.array([rng.multinomial(n, shares) for n, shares in zip(rows, confusion, strict=True)])


RIGHT = [[0.8, 0.2], [0.25, 0.75]]
WRONG = [[0.6, 0.4], [0.5, 0.5]]


def test_an_unchanged_judge_is_rarely_taken_as_changed():
    rng = np.random.default_rng(1)
    found = [find_change(draw(rng, RIGHT, [0.6, 0.4], 200), draw(rng, RIGHT, [0.6, 0.4], 150)) for _ in range(300)]
    assert sum(change is not None for change in found) <= 3


@pytest.mark.parametrize(
    ("confusion", "grades"), [(WRONG, [0.6, 0.4]), (RIGHT, [0.15, 0.85])], ids=["other errors", "other gold"]
)
def test_changes_are_found(confusion, grades):
    rng = np.random.default_rng(2)
    before = draw(rng, RIGHT, [0.6, 0.4], 400)
    found = [find_change(before, draw(rng, confusion, grades, 400)) for _ in range(20)]
    assert sum(change is not None for change in found) >= 19
    assert find_change(before, before) is None


def test_small_changes_of_many_items_are_not_clear():
    """They are significant, and make no difference to the bias."""
    counts = np.array([[8000, 2000], [2500, 7500]])
    now = counts + np.array([[-300, 300], [300, -300]])
    assert stats.chi2_contingency(np.stack([counts[0], now[0]]), correction=False).pvalue < 1e-6
    assert find_change(counts, now) is None


@pytest.mark.parametrize("errors", [30, 70])
def test_the_test_is_the_chi_square_of_another_library(errors):
    """One row of counts, so that the sum over gold's grades has one term."""
    old, new = np.array([[320, 80], [0, 0]]), np.array([[400 - errors, errors], [0, 0]])
    p = stats.chi2_contingency(np.stack([old[0], new[0]]), correction=False).pvalue
    assert (find_change(old, new) is not None) == (p < 0.001)


def test_nothing_is_found_without_gold_items():
    counts = np.array([[500, 100], [100, 300]])
    assert find_change(counts, 0 * counts) is None
    assert find_change(0 * counts, counts) is None


def test_rare_grades_are_no_change():
    """Twelve relevant items in each study, graded by the same judge."""
    before = np.array([[79, 8, 0, 0], [1, 4, 3, 0], [0, 0, 1, 3], [0, 1, 0, 0]])
    assert find_change(before, np.array([[78, 12, 0, 0], [4, 2, 2, 1], [0, 0, 1, 0], [0, 0, 0, 0]])) is None
