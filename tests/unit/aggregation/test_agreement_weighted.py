"""Wawa: a vote weighted by agreement with its outcome."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.majority import AgreementWeighted
from karatage.errors import OptionError
from tests.unit.aggregation.crowds import coin, gold_of, simulate


def test_one_round_by_hand():
    """Items a b c: judges 0 and 1 agree everywhere, judge 2 never; then a tie of 0 against 2 goes to 0."""
    judge, item = np.array([0, 1, 2, 0, 1, 2, 0, 2]), np.array([0, 0, 0, 1, 1, 1, 2, 2])
    grade = np.array([1, 1, 0, 0, 0, 1, 1, 0])
    posterior = AgreementWeighted(max_steps=1).fit(kt.Judgments.from_codes(judge=judge, item=item, grade=grade))
    weight = [2.5 / 3, 1.0, 0.5 / 3]
    np.testing.assert_allclose(posterior.parameters["weight"], weight)
    np.testing.assert_allclose(posterior.probability[2, 1], weight[0] / (weight[0] + weight[2]))
    assert posterior.grades.tolist() == [1, 0, 1]


def test_rounds_go_on_until_the_vote_stands():
    judgments, truth = simulate(coin([0.95, 0.9, 0.55, 0.5, 0.5, 0.5]), items=400)
    posterior = AgreementWeighted().fit(judgments)
    assert posterior.converged
    assert posterior.iterations > 1
    assert (posterior.grades == truth).mean() > (kt.stats.MajorityVote().fit(judgments, rng=0).grades == truth).mean()


@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_weighs_judges(supervision):
    judgments, truth = simulate(coin([0.95, 0.45, 0.4]), items=300, share_seen=1.0)
    rest = np.arange(150, 300)
    alone = AgreementWeighted(max_steps=1).fit(judgments)
    taught = AgreementWeighted(max_steps=1).fit(judgments, gold=gold_of(truth, 150), supervision=supervision)
    weight, before = taught.parameters["weight"], alone.parameters["weight"]
    assert weight[0] - weight[1:].max() > before[0] - before[1:].max()
    assert (taught.grades[rest] == truth[rest]).mean() >= (alone.grades[rest] == truth[rest]).mean()


@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_counts_once(supervision):
    """Two judges who agree on an open item; on the other, gold says that the second was wrong."""
    judgments = kt.Judgments.from_codes(
        judge=np.array([0, 1, 0, 1]), item=np.array([0, 0, 1, 1]), grade=np.array([1, 0, 1, 1])
    )
    posterior = AgreementWeighted().fit(judgments, gold=gold_of(np.array([1]), 1), supervision=supervision)
    np.testing.assert_allclose(posterior.parameters["weight"], [1, 0.5])


def test_steps_are_checked():
    with pytest.raises(OptionError, match="at least 1"):
        AgreementWeighted(max_steps=0)
