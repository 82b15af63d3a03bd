"""What models with a table per judge share: priors, gold's part, starts."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.dawid_skene import neutral_tables
from karatage.aggregation.votes import Votes, begin, prior_answers, unheard_classes

CROWD = {
    "x": {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 0, "c": 0}},
    "y": {"1": {"a": 1, "b": 1, "c": 1}, "2": {"a": 0, "b": 1, "c": 0}},
}
GOLD = {"1": {"a": 1, "b": 1}, "2": {"a": 1}}


@pytest.fixture
def light():
    return Votes.prepare(kt.read_judgments(CROWD), kt.read_gold(GOLD), "light")


def test_gold_turns_the_prior_and_keeps_its_weight(light):
    added = prior_answers(light, 0.5, 3.0)
    assert added.shape == (1, 2, 2)
    np.testing.assert_allclose(added[0].sum(axis=0), 3.5)
    np.testing.assert_allclose(added[0, :, 0], [3.0, 0.5])
    # on gold's grade 1 the two judges said 0 twice and 1 four times
    np.testing.assert_allclose(added[0, :, 1], 3.5 * np.array([0.5 + 2, 3 + 4]) / (3.5 + 6))


@pytest.mark.parametrize("scope", ["all", "topic"])
def test_training_items_count_where_they_were_left_out(scope):
    crowd, gold = kt.read_judgments(CROWD), kt.read_gold(GOLD)
    left_out, heard = (unheard_classes(Votes.prepare(crowd, gold, s, scope=scope)) for s in ("light", "full"))
    assert left_out.tolist() == ([[0, 3]] if scope == "all" else [[0, 2], [0, 1]])
    assert not heard.any()


def test_a_start_from_gold_has_the_shares_of_its_grades(light):
    start = begin(light, np.array([[0.9, 0.3], [0.1, 0.7]]))
    np.testing.assert_allclose(np.exp(start.prior), [[1 / 5, 4 / 5]])
    np.testing.assert_allclose(np.exp(start.answer[1]), [[0.9, 0.3], [0.1, 0.7]])


def test_neutral_judges_are_right_nine_times_in_ten(light):
    tables = neutral_tables(light)
    np.testing.assert_allclose(np.exp(tables.answer), [[[0.9, 0.1], [0.1, 0.9]]] * 2)
    np.testing.assert_allclose(np.exp(tables.prior), [[0.5, 0.5]])
