"""What is said of a leaderboard that may be in the wrong order."""

import json

import numpy as np
import pytest

from karatage.data.queue import Settling
from tests.notes import gives

WRONG = np.array([[0.0, 0.05, 0.2], [0.9, 0.0, 0.01], [0.7, 0.95, 0.0]])


def make_settling(**fields):
    """Three systems, stated in the order a, b, c."""
    given = {"counts": np.triu(np.ones((3, 3), bool), 1), "risk": 0.05, "wrong": WRONG}
    return Settling(
        measure="P@10",
        systems=("a", "b", "c"),
        score=np.array([0.5, 0.4, 0.3]),
        spread=np.array([0.01, 0.02, 0.03]),
        indifference=0.01,
        draws=250,
        **given | fields,
    )


def test_only_stated_pairs_above_the_risk_are_open():
    found = make_settling()
    assert np.argwhere(found.open).tolist() == [[0, 2]]  # a above b is wrong with the very risk that is allowed
    assert (found.pairs, found.undecided, found.settled) == (3, 1, False)
    assert found.expected_wrong == pytest.approx(0.05 + 0.2 + 0.01)
    assert found.worst == ("a", "c", 0.2)
    assert make_settling(risk=0.2).settled
    assert gives(found.sentence, "a", "c", 0.01, "P@10", "0.20")


def test_a_system_is_as_doubtful_as_the_worst_of_its_pairs():
    assert make_settling().to_frame()["doubt"].to_list() == [0.2, 0.05, 0.2]


def test_without_pairs_there_is_nothing_to_order():
    nothing = make_settling(counts=np.zeros((3, 3), bool))
    assert nothing.settled
    assert json.loads(nothing.to_json())["pairs"] == 0
