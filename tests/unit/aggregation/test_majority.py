"""Unit tests of majority vote."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import OptionError
from tests.notes import has_note


def votes(**grades):
    """One item per keyword, one judge per character."""
    return kt.read_judgments(
        {f"j{k}": {"t": {d: int(g[k]) for d, g in grades.items() if k < len(g)}} for k in range(5)}
    )


def test_plurality_and_shares():
    posterior = kt.stats.MajorityVote().fit(votes(a="110", b="222", c="0"))
    assert posterior.grades.tolist() == [1, 2, 0]
    np.testing.assert_allclose(posterior.probability, [[1 / 3, 2 / 3, 0], [0, 0, 1], [1, 0, 0]])
    assert posterior.notes == ()


@pytest.mark.parametrize(("ties", "grades"), [("lowest", [0, 1]), ("highest", [2, 1]), ("prior", [2, 1])])
def test_each_rule_breaks_ties_its_own_way(ties, grades):
    posterior = kt.stats.MajorityVote(ties=ties).fit(votes(a="02", b="111", c="2222")) if ties == "prior" else None
    posterior = posterior or kt.stats.MajorityVote(ties=ties).fit(votes(a="02", b="111"))
    assert posterior.grades.tolist()[:2] == grades
    assert has_note(posterior, "aggregation.ties", tied=1)


def test_a_fair_coin_decides_ties():
    items = {f"d{k:03d}": "01" for k in range(400)}
    decided = kt.stats.MajorityVote().fit(votes(**items), rng=5).grades
    assert abs(decided.mean() - 0.5) < 4 * np.sqrt(0.25 / 400)
    assert (decided == kt.stats.MajorityVote().fit(votes(**items), rng=5).grades).all()
    assert (decided != kt.stats.MajorityVote().fit(votes(**items), rng=6).grades).any()


def test_as_judgments_keeps_items():
    crowd = votes(a="110", b="222")
    merged = kt.stats.MajorityVote().fit(crowd).as_judgments()
    assert merged.to_frame().rows() == [("mv", "t", "a", 1), ("mv", "t", "b", 2)]
    assert merged.top_grade == 2


def test_to_frame_shows_probabilities():
    frame = kt.stats.MajorityVote().fit(votes(a="110")).to_frame()
    assert frame.columns == ["topic", "document", "grade", "p0", "p1", "expected"]
    assert frame["p1"][0] == pytest.approx(2 / 3)


def test_unknown_tie_rule():
    with pytest.raises(OptionError, match="prior"):
        kt.stats.MajorityVote(ties="flip")


def test_a_supermajority_is_asked_for():
    crowd = votes(a="110", b="100", c="022", d="012", e="0001")
    assert kt.stats.MajorityVote(min=2, ties="lowest").fit(crowd).grades.tolist() == [1, 0, 2, 1, 0]
    assert kt.stats.MajorityVote(min=3, ties="lowest").fit(crowd).grades.tolist() == [0, 0, 0, 0, 0]
    with pytest.raises(OptionError, match="at least 1 vote"):
        kt.stats.MajorityVote(min=0)


def test_fractional_ties_share_the_probability():
    posterior = kt.stats.MajorityVote(ties="fractional").fit(votes(a="0112", b="0011"), rng=1)
    np.testing.assert_allclose(posterior.probability, [[0, 1, 0], [0.5, 0.5, 0]])
    assert posterior.grades[0] == 1


def test_accuracy_is_the_expectation_over_ties():
    crowd = votes(a="01", b="11", c="012", d="0")
    gold = kt.read_gold({"t": {"a": 1, "b": 1, "c": 0, "d": 1, "elsewhere": 1}})
    assert kt.stats.MajorityVote().fit(crowd, rng=3).accuracy(gold) == pytest.approx((1 / 2 + 1 + 1 / 3 + 0) / 4)


@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_items_keep_gold(supervision):
    crowd = votes(a="111", b="01", c="01", d="01")
    gold = kt.read_gold({"t": {"a": 0, "b": 0}})
    posterior = kt.stats.MajorityVote(ties="prior").fit(crowd, gold=gold, supervision=supervision)
    assert posterior.grades.tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(posterior.probability[:2], [[1, 0], [1, 0]])
    np.testing.assert_allclose(posterior.probability[2:], 0.5)
