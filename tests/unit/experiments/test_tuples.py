"""Small panels whose grades are merged: each has coins of its own, and nothing else decides."""

import numpy as np
import polars as pl

import karatage as kt
from karatage.aggregation.registry import parse_model
from karatage.experiments.tuples import merge_grades_of


def test_coins_depend_on_who_is_in_the_panel_and_on_nothing_else():
    """Judges a and b never agree, nor do c and d: every grade is a coin."""
    rows = [(judge, "1", f"d{k:02d}", int(judge in "ac")) for judge in "abcd" for k in range(60)]
    judgments = kt.read_judgments(pl.DataFrame(rows, schema=["judge", "topic", "document", "grade"], orient="row"))
    models = [parse_model("mv")]
    first, second = merge_grades_of(np.array([[0, 1], [2, 3]]), judgments, models, seed=1)["mv"].T
    assert 10 < first.sum() < 50
    assert (first != second).any()
    turned = merge_grades_of(np.array([[3, 2], [1, 0]]), judgments, models, seed=1)["mv"].T
    assert np.array_equal(turned, [second, first])
    other = merge_grades_of(np.array([[0, 1]]), judgments, models, seed=2)["mv"][:, 0]
    assert (other != first).any()


def test_only_the_members_are_heard():
    rows = [(judge, "1", f"d{k}", int(judge in "ab")) for judge in "abcd" for k in range(5)]
    judgments = kt.read_judgments(pl.DataFrame(rows, schema=["judge", "topic", "document", "grade"], orient="row"))
    found = merge_grades_of(np.array([[0, 1], [2, 3]]), judgments, [parse_model("mv")], seed=1)["mv"]
    assert found.T.tolist() == [[1] * 5, [0] * 5]
