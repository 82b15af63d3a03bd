from __future__ import annotations

import numpy as np
import pytest

from karatage.kernels import correlation


def brute_force(reference: np.ndarray, estimate: np.ndarray) -> tuple[float, float]:
    """Every pair of entries, and every order of tied ones by expectation: slow and obvious."""
    plain, weighted = 0.0, 0.0
    for i in range(len(estimate)):
        above = [j for j in range(len(estimate)) if estimate[j] > estimate[i]]
        tied = int((estimate == estimate[i]).sum())
        net = sum(np.sign(reference[j] - reference[i]) for j in above)
        plain += net
        weighted += net * np.mean([1 / (len(above) + n) if above else 0.0 for n in range(tied)])
    return plain, weighted


@pytest.mark.parametrize("size", [2, 12, 63, 64, 65, 130])
@pytest.mark.parametrize("values", [2, 9, 10**6])
def test_all_pairs_of_rows_as_by_brute_force(size: int, values: int) -> None:
    rng = np.random.default_rng(size)
    x, y = (rng.integers(0, values, (n, size)).astype(float) for n in (3, 4))
    plain, weighted = correlation.compare_orders(x, y)
    assert plain.shape == weighted.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        expected = brute_force(x[i], y[j])
        assert plain[i, j] == expected[0]
        assert weighted[i, j] == pytest.approx(expected[1], abs=1e-11)


def test_values_above_and_tied_are_counted() -> None:
    above, tied = correlation.count_above(np.array([[5.0, 7.0, 5.0, 1.0], [2.0, 2.0, 2.0, 2.0]]))
    assert above.tolist() == [[1, 0, 1, 3], [0, 0, 0, 0]]
    assert tied.tolist() == [[2, 1, 2, 1], [4, 4, 4, 4]]


def test_untied_pairs_are_counted() -> None:
    assert correlation.untied_pairs(np.array([[1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])).tolist() == [
        2,
        0,
        3,
    ]
