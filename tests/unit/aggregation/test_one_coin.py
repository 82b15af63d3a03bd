"""One reliability per judge: onecoin and zc."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.reliability import OneCoin, ZenCrowd
from karatage.errors import OptionError
from tests.unit.aggregation.crowds import coin, gold_of, simulate

RIGHT = [0.95, 0.9, 0.8, 0.7, 0.6]


@pytest.mark.parametrize("model", [OneCoin(), ZenCrowd()])
@pytest.mark.parametrize("grades", [2, 4])
def test_reliabilities_are_found(model, grades):
    judgments, truth = simulate(coin(RIGHT, grades), items=1500)
    posterior = model.fit(judgments)
    np.testing.assert_allclose(posterior.parameters["reliability"], RIGHT, atol=0.05)
    assert posterior.converged
    assert (posterior.grades == truth).mean() > (kt.stats.MajorityVote().fit(judgments, rng=0).grades == truth).mean()


def test_m_step_is_the_mode_of_beta_and_dirichlet():
    """One judge, gold everywhere: r = (a - 1 + right) / (a + b - 2 + n), by hand."""
    judgments = kt.Judgments.from_codes(judge=np.zeros(4, int), item=np.arange(4), grade=np.array([1, 1, 0, 0]))
    truth = np.array([1, 1, 0, 1])
    posterior = ZenCrowd(prior=(7, 3)).fit(judgments, gold=gold_of(truth, 4), supervision="full")
    mean = (6 + 3) / (8 + 4)  # gold moves the prior's mean, which keeps its weight of 8
    assert posterior.parameters["reliability"][0] == pytest.approx((8 * mean + 3) / (8 + 4))


def test_the_prior_of_one_coin_counts_every_wrong_grade():
    """Three grades, half a count for each of the two wrong ones: 3 right and 1 wrong, by hand."""
    judgments = kt.Judgments.from_codes(judge=np.zeros(4, int), item=np.arange(4), grade=np.array([2, 1, 0, 0]))
    posterior = OneCoin(prior=(0.5, 3)).fit(judgments, gold=gold_of(np.array([2, 1, 1, 1]), 4), supervision="full")
    mean = (3 + 2) / (4 + 4)
    assert posterior.parameters["reliability"][0] == pytest.approx((4 * mean + 2) / (4 + 4))


def test_the_prior_holds_back_judges_with_few_grades():
    judgments, _ = simulate(coin(RIGHT), items=12)
    loose, firm = (ZenCrowd(prior=p).fit(judgments).parameters["reliability"] for p in ((1.01, 1.01), (700, 300)))
    np.testing.assert_allclose(firm, 0.7, atol=0.02)
    assert np.ptp(loose) > np.ptp(firm)
    assert np.ptp(OneCoin(prior=None).fit(judgments).parameters["reliability"]) > np.ptp(firm)


def test_the_prior_of_the_grades_holds_back_their_shares():
    judgments, _ = simulate(coin([0.7] * 3), items=60, shares=[0.9, 0.1])
    free, even = (ZenCrowd(classes=c).fit(judgments).probability.mean(axis=0) for c in (1.0, 1e6))
    assert free[0] > even[0]


@pytest.mark.parametrize("supervision", ["light", "full"])
def test_gold_teaches_what_is_typical(supervision):
    """Judges who mostly err: without gold the crowd is read upside down."""
    judgments, truth = simulate(coin([0.25, 0.2, 0.3, 0.2, 0.25]), items=400)
    gold = gold_of(truth, 100)
    alone, taught = ZenCrowd().fit(judgments), ZenCrowd().fit(judgments, gold=gold, supervision=supervision)
    rest = np.arange(100, 400)
    assert (alone.grades[rest] == truth[rest]).mean() < 0.3
    assert (taught.grades[rest] == truth[rest]).mean() > 0.7


def test_options_are_checked():
    with pytest.raises(OptionError, match=r"counts.*\b0\b"):
        OneCoin(prior=(-1, 2))
    with pytest.raises(OptionError, match=r"Beta.*\b1\b"):
        ZenCrowd(prior=(0.5, 3))
    with pytest.raises(OptionError, match="Dirichlet"):
        ZenCrowd(classes=0.5)
    with pytest.raises(OptionError, match="'fast'"):
        ZenCrowd(dialect="fast")
