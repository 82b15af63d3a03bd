"""Bayesian models: ibcc and mace."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.variational import Ibcc, Mace, diverge, expect_log
from karatage.errors import OptionError
from tests.unit.aggregation.crowds import coin, gold_of, simulate


def test_divergence_against_sampling():
    """KL of two Dirichlets as the mean log ratio of their densities."""
    from scipy.stats import dirichlet

    found, before = np.array([[4.0, 2.5, 1.2]]), np.array([[1.0, 1.5, 2.0]])
    draws = np.random.default_rng(0).dirichlet(found[0], 200_000)
    ratio = dirichlet.logpdf(draws.T, found[0]) - dirichlet.logpdf(draws.T, before[0])
    error = 4 * ratio.std() / np.sqrt(len(ratio))
    assert diverge(found, before, expect_log(found)) == pytest.approx(ratio.mean(), abs=error)
    np.testing.assert_allclose(expect_log(found)[0], np.log(draws).mean(axis=0), atol=0.02)
    assert diverge(before, before, expect_log(before)) == pytest.approx(0)


def test_ibcc_nears_ds_with_many_grades():
    judgments, _ = simulate(coin([0.9, 0.8, 0.7, 0.6], 3), items=3000)
    ours, theirs = Ibcc().fit(judgments), kt.stats.DawidSkene().fit(judgments)
    np.testing.assert_allclose(ours.parameters["confusion"], theirs.parameters["confusion"], atol=0.02)


def test_ibcc_bound_lies_below_the_likelihood():
    judgments, _ = simulate(coin([0.9, 0.8, 0.7, 0.6]), items=200)
    assert Ibcc().fit(judgments).trace[-1] < kt.stats.DawidSkene(prior=None).fit(judgments).trace[-1]


def test_mace_finds_spammers_and_their_habits():
    rng = np.random.default_rng(1)
    judgments, truth = simulate(coin([0.9, 0.85, 0.8, 0.8, 0.75, 0.9], 3), items=800)
    judge, item = np.full(800, 6), np.arange(800)
    spam = rng.choice(3, 800, p=[0.1, 0.1, 0.8])
    crowd = kt.Judgments.from_codes(
        judge=np.r_[judgments.judge, judge], item=np.r_[judgments.item, item], grade=np.r_[judgments.grade, spam]
    )
    posterior = Mace().fit(crowd, rng=0)
    assert posterior.parameters["competence"][6] < 0.1
    assert posterior.parameters["competence"][:6].min() > 0.5
    assert posterior.parameters["habit"][6].argmax() == 2
    assert (posterior.grades == truth).mean() > 0.95


def test_mace_starts_differ_and_the_best_wins():
    judgments, _ = simulate(coin([0.8, 0.7, 0.6, 0.5, 0.4]), items=40)
    single = [Mace(restarts=1, max_steps=3).fit(judgments, rng=seed).trace[0] for seed in range(6)]
    assert len(set(single)) == 6
    source = np.random.default_rng(0)
    each = [Mace(restarts=1, max_steps=3).fit(judgments, rng=source) for _ in range(10)]
    together = Mace(restarts=10, max_steps=3).fit(judgments, rng=0)
    assert together.trace[-1] == max(one.trace[-1] for one in each)
    assert together.trace[0] < max(one.trace[0] for one in each)  # where a run starts does not decide


def test_mace_prior_and_gold_move_competence():
    judgments, truth = simulate(coin([0.8, 0.7, 0.75]), items=30)
    low, high = (Mace(prior=p).fit(judgments, rng=0).parameters["competence"].mean() for p in ((1, 50), (50, 1)))
    assert low < high
    wrong = Mace(prior=(25, 25)).fit(judgments, gold=gold_of(1 - truth, 10), supervision="light", rng=0)
    right = Mace(prior=(25, 25)).fit(judgments, gold=gold_of(truth, 10), supervision="light", rng=0)
    assert wrong.parameters["competence"].max() < right.parameters["competence"].min()


def test_options_are_checked():
    with pytest.raises(OptionError, match=r"prior.*above 0"):
        Ibcc(prior=(0, 1))
    with pytest.raises(OptionError, match=r"classes.*above 0"):
        Ibcc(classes=0)
    with pytest.raises(OptionError, match="above 0"):
        Mace(habit=0)
    with pytest.raises(OptionError, match="at least 1"):
        Mace(restarts=0)
