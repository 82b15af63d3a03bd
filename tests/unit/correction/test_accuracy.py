"""Error rates from gold items, and judges that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from karatage.correction.accuracy import (
    count_accuracy,
    measure_accuracy,
    measure_separation,
    require_gold,
    require_informed,
    smallest_spread,
)
from karatage.data.accuracy import Accuracy
from karatage.errors import DataError, JudgeError

TWO = ("not relevant", "relevant")


def graded(share: np.ndarray, size: int) -> Accuracy:
    sizes = np.full(len(share), float(size))
    return Accuracy(
        kinds=tuple(f"grade {k}" for k in range(len(share))), count=share * size, share=share.copy(), size=sizes
    )


def test_answers_are_counted_by_what_gold_says() -> None:
    gold, said = np.array([1, 1, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 1, 1])
    found = measure_accuracy(gold, said, kinds=TWO)
    assert found.count.tolist() == [[1, 1], [1, 3]]
    assert found.share.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert found.size.tolist() == [2, 4]


def test_figures_are_the_same_as_items() -> None:
    found = count_accuracy(43, 59, 67, 84)
    gold = np.repeat([1, 1, 0, 0], [43, 16, 67, 17])
    said = np.repeat([1, 0, 0, 1], [43, 16, 67, 17])
    same = measure_accuracy(gold, said, kinds=TWO)
    np.testing.assert_array_equal(found.count, same.count)
    np.testing.assert_allclose(found.share, same.share)
    assert (found.m_r, found.m_n) == (43 / 59, 67 / 84)


def test_unequal_chances_weigh_inversely_and_cost_size() -> None:
    gold, said = np.array([1, 1, 1, 0]), np.array([1, 1, 0, 0])
    found = measure_accuracy(gold, said, kinds=TWO, weight=np.array([1.0, 1.0, 8.0, 3.0]))
    assert found.share.tolist() == [[1, 0], [0.8, 0.2]]
    assert found.size.tolist() == pytest.approx([1, 100 / 66])  # (sum w)^2 / sum w^2
    assert found.count.tolist() == [[1, 0], [1, 2]]


def test_equal_weights_cost_nothing() -> None:
    rng = np.random.default_rng(0)
    gold, said = rng.integers(0, 3, (2, 50))
    plain = measure_accuracy(gold, said, kinds="abc")
    heavy = measure_accuracy(gold, said, kinds="abc", weight=np.full(50, 7.5))
    np.testing.assert_allclose(heavy.share, plain.share)
    np.testing.assert_allclose(heavy.size, plain.size)


def test_a_kind_without_gold_is_refused_not_divided() -> None:
    found = measure_accuracy(np.zeros(9, int), np.zeros(9, int), kinds=TWO)
    assert np.isnan(found.share[1]).all()
    assert found.size.tolist() == [9, 0]
    with pytest.raises(DataError, match="of 9 gold items that judges graded none is relevant by gold"):
        require_gold(found)


@pytest.mark.parametrize(("relevant", "words"), [(1, "only 1 is relevant"), (4, "only 4 are relevant")])
def test_too_little_gold_of_a_kind(relevant: int, words: str) -> None:
    with pytest.raises(DataError, match=words):
        require_gold(count_accuracy(relevant, relevant, 50, 50))
    require_gold(count_accuracy(5, 5, 5, 5))


@pytest.mark.parametrize(
    ("rates", "reason"),
    [
        ((26, 50, 23, 50), "not clearly better than chance"),
        ((50, 50, 0, 50), "not clearly better than chance"),
        ((29, 50, 30, 50), "not clearly better than chance"),  # D = .18, two standard errors .197
        ((10, 50, 10, 50), "worse than chance; are their grades inverted"),
    ],
)
def test_judges_that_tell_nothing(rates: tuple[int, int, int, int], reason: str) -> None:
    with pytest.raises(JudgeError, match=reason):
        require_informed(count_accuracy(*rates))


@pytest.mark.parametrize("rates", [(43, 59, 67, 84), (30, 50, 30, 50), (50, 50, 50, 50), (3000, 5000, 3000, 5000)])
def test_judges_that_are_clear_of_coins(rates: tuple[int, int, int, int]) -> None:
    found = count_accuracy(*rates)
    require_informed(found)
    assert measure_separation(found) > 2  # (30, 50, 30, 50): D = .2, two standard errors .196


CLEAR = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])


def test_graded_judges() -> None:
    require_informed(graded(CLEAR, 100))
    require_informed(graded(np.eye(4), 20))
    with pytest.raises(JudgeError, match="not clearly better than"):
        require_informed(graded(np.full((3, 3), 1 / 3), 100))
    with pytest.raises(JudgeError, match="not clearly better than"):
        require_informed(graded(CLEAR[::-1] * [[0.2], [1], [1]] + [[0, 0, 0.8], [0, 0, 0], [0, 0, 0]], 5))
    alike = np.array([[0.9, 0.05, 0.05], [0.1, 0.48, 0.42], [0.1, 0.42, 0.48]])
    with pytest.raises(JudgeError, match="cannot be inverted safely"):
        require_informed(graded(alike, 40))
    require_informed(graded(alike, 40_000))


def test_the_spread_is_counted_in_standard_errors() -> None:
    """The smallest singular value over how much it scatters when gold is drawn anew."""
    rng = np.random.default_rng(1)
    found = graded(CLEAR, 200)
    drawn = np.stack([rng.multinomial(200, row, 4000) / 200 for row in CLEAR], axis=1)
    smallest = np.linalg.svd(drawn, compute_uv=False)[:, -1]
    assert smallest_spread(found) == pytest.approx(smallest.mean() / smallest.std(), rel=0.1)
    assert smallest_spread(graded(np.eye(3), 10)) == np.inf
