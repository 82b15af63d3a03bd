"""What a gold sample tells of judges."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

from karatage.data.estimate import Accuracy
from tests.notes import gives

EBAY = np.array([[67.0, 17.0], [16.0, 43.0]])


def accuracy(count: np.ndarray, kinds: tuple[str, ...] = ("not relevant", "relevant")) -> Accuracy:
    size = count.sum(axis=1)
    return Accuracy(kinds=kinds, count=count.copy(), share=count / size[:, None], size=size)


def test_rates_of_the_paper() -> None:
    found = accuracy(EBAY)
    assert found.items == 143
    assert found.binary
    assert (found.m_r, found.m_n) == (43 / 59, 67 / 84)
    assert found.d == pytest.approx(43 / 59 + 67 / 84 - 1)
    assert found.condition == pytest.approx(np.linalg.cond(found.share))


def test_the_frame_has_a_row_per_answer_with_wilsons_interval() -> None:
    frame = accuracy(EBAY).to_frame(confidence=0.9)
    assert frame.select("gold", "said", "items").rows() == [
        ("not relevant", "not relevant", 67),
        ("not relevant", "relevant", 17),
        ("relevant", "not relevant", 16),
        ("relevant", "relevant", 43),
    ]
    right = frame.row(3, named=True)
    assert right["share"] == 43 / 59
    assert (right["low"], right["high"]) == pytest.approx(proportion_confint(43, 59, 0.1, "wilson"))


def test_the_sentence_of_two_kinds_names_relevant_items_first() -> None:
    assert gives(accuracy(EBAY).sentence, "72.9%", 59, "60.4%", "82.6%", "79.8%", 84, "70.0%", "87.0%")


def test_kinds_beyond_two_are_counted_and_named() -> None:
    count = np.array([[8.0, 2.0, 0.0], [1.0, 6.0, 3.0], [0.0, 1.0, 4.0]])
    found = accuracy(count, ("grade 0", "grade 1", "grades 2-3"))
    assert not found.binary
    assert found.to_frame()["gold"].unique(maintain_order=True).to_list() == ["grade 0", "grade 1", "grades 2-3"]
    assert gives(found.sentence, "80%", 10, "grade 0", "60%", 10, "grade 1", "80%", 5, "grades 2-3")


def test_a_kind_without_gold_is_not_known() -> None:
    share = np.array([[1.0, 0.0], [np.nan, np.nan]])
    found = Accuracy(
        kinds=("not relevant", "relevant"), count=np.array([[9.0, 0], [0, 0]]), share=share, size=np.array([9.0, 0])
    )
    frame = found.to_frame()
    assert frame.filter(pl.col("gold") == "relevant")["low"].is_nan().all()


def test_arrays_are_protected() -> None:
    with pytest.raises(ValueError, match="read-only"):
        accuracy(EBAY).count[0, 0] = 3
