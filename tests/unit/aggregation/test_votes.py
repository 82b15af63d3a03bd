"""What models hear: compressed rows, gold's part, scopes."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.votes import Votes
from karatage.errors import OptionError
from tests.notes import has_note, list_facts

CROWD = {"x": {"1": {"a": 1, "b": 0}, "2": {"a": 2}}, "y": {"1": {"b": 1}, "2": {"a": 0, "c": 1}}}
GOLD = {"1": {"b": 1}, "2": {"c": 2, "z": 1}}


@pytest.fixture
def crowd():
    return kt.read_judgments(CROWD)


@pytest.fixture
def gold():
    return kt.read_gold(GOLD)


def test_rows_and_counts(crowd):
    votes = Votes.prepare(crowd)
    assert votes.rows.start.tolist() == [0, 1, 3, 5, 6]
    assert (votes.judges, votes.grades, votes.groups, votes.items) == (2, 3, 1, 4)
    assert votes.count().tolist() == [[0, 1, 0], [1, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert votes.share()[1].tolist() == [0.5, 0.5, 0]
    assert votes.rows.answered.tolist() == [[1, 1, 1], [1, 2, 0]]


def test_light_leaves_training_items_out_and_counts_them(crowd, gold):
    votes = Votes.prepare(crowd, gold, "light")
    assert votes.items == 2
    assert votes.rows.start.tolist() == [0, 1, 3]
    assert votes.taking_part.tolist() == [True, False, True, False]
    assert votes.gold_classes.tolist() == [0, 1, 1]
    assert votes.gold_answers[0].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert votes.gold_answers[1].tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    posterior = votes.posterior("m", votes.share())
    assert posterior.grades.tolist() == [1, 1, 0, 2]
    assert has_note(posterior, "aggregation.gold-known", known=2, items=4)


def test_full_knows_training_items(crowd, gold):
    votes = Votes.prepare(crowd, gold, "full")
    assert votes.rows.known.tolist() == [-1, 1, -1, 2]
    assert votes.items == 4


def test_none_does_not_look_at_gold(crowd, gold):
    votes = Votes.prepare(crowd, gold, "none")
    assert not votes.gold_answers.any()
    assert (votes.rows.known < 0).all()


def test_gold_may_know_more_grades(crowd):
    votes = Votes.prepare(crowd, kt.read_gold({"1": {"a": 4}}), "full")
    assert votes.grades == 5
    assert votes.posterior("m", votes.share()).grades[0] == 4


def test_scope_topic_tells_judges_apart_by_topic(crowd):
    votes = Votes.prepare(crowd, scope="topic")
    assert votes.judge_names == ("x", "y", "x", "y")
    assert votes.judge_topics == ("1", "1", "2", "2")
    assert votes.rows.judge.tolist() == [0, 0, 1, 2, 3, 3]
    assert votes.rows.group.tolist() == [0, 0, 1, 1]


def test_repeated_grades_are_all_heard():
    table = {"judge": ["x", "x", "y"], "item": ["a", "a", "a"], "grade": [0, 1, 1]}
    assert Votes.prepare(kt.read_judgments(table)).count().tolist() == [[1, 2]]
    assert Votes.prepare(kt.read_judgments(table, repeats="last")).count().tolist() == [[0, 2]]


def test_silent_items_are_told():
    crowd = kt.Judgments.from_codes(judge=np.array([0]), item=np.array([1]), grade=np.array([1], np.int8))
    votes = Votes.prepare(crowd)
    assert votes.share()[0].tolist() == [0.5, 0.5]
    assert list_facts(votes.posterior("m", votes.share())) == {"aggregation.silent": {"items": 1}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"supervision": "some"}, None),
        ({"scope": "judge"}, "topic"),
        ({"supervision": "light"}, "'light' needs gold"),
    ],
)
def test_votes_that_cannot_be_prepared_are_refused(crowd, arguments, message):
    with pytest.raises(OptionError, match=message):
        Votes.prepare(crowd, **arguments)
