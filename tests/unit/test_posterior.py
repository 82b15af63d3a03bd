"""Unit tests of posteriors and of matching items."""

import json
from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.judgments import find_items, match_gold
from karatage.data.posterior import decide
from karatage.errors import DataError
from tests.notes import gives


@pytest.fixture
def posterior():
    crowd = kt.read_judgments({"x": {"1": {"a": 1, "b": 0}, "2": {"a": 2}}, "y": {"1": {"b": 1}}})
    return kt.Posterior(
        model="m",
        judgments=crowd,
        probability=np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]),
        grades=np.array([1, 0, 2], np.int8),
        judge_names=("x", "y"),
        parameters={"reliability": np.array([0.9, 0.6])},
        trace=np.array([-3.0, -2.0]),
    )


def test_what_follows_from_probabilities(posterior):
    np.testing.assert_allclose(posterior.expected, [1.1, 0.5, 1.75])
    assert posterior.winners.tolist() == [[False, True, False], [True, True, False], [False, False, True]]
    assert posterior.iterations == 2
    assert posterior.judges.to_dicts() == [
        {"judge": "x", "grades": 3, "reliability": 0.9},
        {"judge": "y", "grades": 1, "reliability": 0.6},
    ]
    assert gives(posterior.sentence, 3, "100%", "90%")


def test_rounding_does_not_decide():
    assert decide(np.array([[0.5 - 1e-12, 0.5 + 1e-12]])).tolist() == [0]
    assert decide(np.array([[0.5 - 1e-6, 0.5 + 1e-6]])).tolist() == [1]


def test_draws_follow_the_probabilities(posterior):
    drawn = posterior.draw(4000, rng=1)
    assert drawn.shape == (3, 4000)
    share = np.stack([(drawn == grade).mean(axis=1) for grade in range(3)], axis=1)
    np.testing.assert_allclose(share, posterior.probability, atol=4 * np.sqrt(0.25 / 4000))
    assert (drawn == posterior.draw(4000, rng=1)).all()
    assert (drawn != posterior.draw(4000, rng=2)).any()
    assert not (share[posterior.probability == 0] > 0).any()


def test_certainty_is_drawn_always(posterior):
    sure = kt.Posterior(
        model="m", judgments=posterior.judgments, probability=np.eye(3), grades=np.array([0, 1, 2], np.int8)
    )
    assert (sure.draw(500, rng=0) == np.array([[0], [1], [2]])).all()


def test_json_has_items_and_judges(posterior):
    found = json.loads(posterior.to_json())
    assert found["rows"][1] == {
        "topic": "1",
        "document": "b",
        "grade": 0,
        "p0": 0.5,
        "p1": 0.5,
        "p2": 0.0,
        "expected": 0.5,
    }
    assert found["trace"] == [-3.0, -2.0]
    assert found["converged"]


def test_items_are_matched_by_topic_and_document(posterior):
    other = kt.read_gold({"2": {"b": 1, "a": 0}, "1": {"b": 2}, "9": {"a": 1}})
    assert match_gold(posterior.judgments, other).tolist() == [-1, 2, 0]
    assert find_items(other, posterior.judgments).tolist() == [1, 2, -1, -1]


def test_a_gold_grade_beyond_the_scale_is_missed(posterior):
    assert posterior.accuracy(kt.read_gold({"1": {"a": 1}, "2": {"a": 5}})) == 0.5


def test_merged_judgments_have_the_longer_scale(posterior):
    wider = replace(posterior, probability=np.eye(5)[posterior.grades])
    assert wider.as_judgments().top_grade == 4
    shorter = replace(posterior, probability=np.eye(2)[[1, 0, 1]], grades=np.array([1, 0, 1], np.int8))
    assert shorter.as_judgments().top_grade == 2


def test_a_judge_has_all_grades_that_were_heard():
    crowd = kt.read_judgments({"judge": list("xxy"), "item": list("aaa"), "grade": [0, 1, 1]})
    assert kt.aggregate(crowd, "ds").judges["grades"].to_list() == [2, 1]


def test_items_without_topics_do_not_meet_items_with(posterior):
    gold = kt.read_gold({"item": ["a"], "grade": [1]})
    with pytest.raises(DataError, match="items"):
        posterior.accuracy(gold)
    with pytest.raises(DataError, match="no item in common"):
        posterior.accuracy(kt.read_gold({"7": {"a": 1}}))
