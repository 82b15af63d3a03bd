from __future__ import annotations

import numpy as np
import pytest

from karatage.kernels import correlation


@pytest.fixture
def tables() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.integers(0, 9, (23, 12)).astype(float), rng.integers(0, 9, (17, 12)).astype(float)


@pytest.mark.parametrize("product", [correlation.concordance, correlation.ap_concordance])
@pytest.mark.parametrize("rows", [1, 5, 17])
def test_pieces_make_up_the_whole(monkeypatch, tables, product, rows: int) -> None:
    whole = product(*tables)
    monkeypatch.setattr(correlation, "_SIGNS_AT_ONCE", rows * 12**2)
    np.testing.assert_allclose(product(*tables), whole, atol=1e-14)


def test_more_rows_than_one_piece_holds() -> None:
    """At full size: 500 systems leave 16 rows to a piece."""
    rng = np.random.default_rng(5)
    x, y = rng.random((20, 500)), rng.random((18, 500))
    assert len(x) * 500**2 > correlation._SIGNS_AT_ONCE
    found = correlation.concordance(x, y)
    for i, j in (0, 0), (19, 17), (3, 17), (19, 2):
        signs = np.sign(x[i][:, None] - x[i]) * np.sign(y[j][:, None] - y[j])
        assert found[i, j] == signs.sum() / 2


def test_count_above() -> None:
    above, tied = correlation.count_above(np.array([[5.0, 7.0, 5.0, 1.0], [2.0, 2.0, 2.0, 2.0]]))
    assert above.tolist() == [[1, 0, 1, 3], [0, 0, 0, 0]]
    assert tied.tolist() == [[2, 1, 2, 1], [4, 4, 4, 4]]


def test_untied_pairs() -> None:
    assert correlation.untied_pairs(np.array([[1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])).tolist() == [
        2,
        0,
        3,
    ]
