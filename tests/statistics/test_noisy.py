"""Intervals and tests under noisy judges: what they promise, in 10,000 simulations each.

A share of 95 % (or 5 %) is known to ± .0044 then, so that bands of .01 around it are more than four standard errors.
"""

import numpy as np
import pytest

import karatage as kt
from karatage.experiments.noisy.cells import INDEPENDENT, NAIVE, ONE, PAIRED, SHARED, SHARED_PAIRED, TWO, judge_topics


@pytest.fixture(scope="module")
def paper():
    """[NOISY18] section 6."""
    return kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(seed=1)).intervals.row(0, named=True)


def test_the_papers_simulation(paper):
    assert paper["naive"] == pytest.approx(0.480, abs=0.001)
    assert paper["corrected"] == pytest.approx(0.400 + paper["bias"], abs=0.0016)  # four standard errors
    assert paper["naive_covered"] == pytest.approx(0.053, abs=0.009)
    assert paper["covered"] == pytest.approx(0.950, abs=0.009)
    assert paper["spread"] == pytest.approx(paper["standard_error"], rel=0.03)
    assert paper["refused"] == paper["outside"] == 0


def test_one_draw_for_truth_and_error_is_algorithm_2():
    """The algorithm line by line gives the same distribution of the judges' P@k."""
    rng = np.random.default_rng(0)
    m_g = np.arange(0.49, 0.30, -0.02)
    relevant = rng.random((20_000, 10)) < m_g
    wrong = np.where(relevant, rng.random((20_000, 10)) < 0.1, rng.random((20_000, 10)) < 0.2)
    by_line = (relevant ^ wrong).mean(axis=1)
    ours = judge_topics(np.full((1, 20_000), 0.4), (0.9, 0.8), 10, rng)[0]
    shares = [np.bincount(np.round(scores * 10).astype(int), minlength=11) / 20_000 for scores in (by_line, ours)]
    assert np.abs(shares[0] - shares[1]).max() < 0.02
    assert by_line.mean() == pytest.approx(ours.mean(), abs=0.006)
    assert by_line.std() == pytest.approx(ours.std(), rel=0.03)


@pytest.fixture(scope="module")
def grid():
    """Judges .9/.8 and .7/.9, gold of 100 and 1000, 25 and 50 topics, P@10 of .2, .4 and .8."""
    plan = kt.experiments.NoisyPlan(
        right_relevant=(0.9, 0.7),
        right_other=(0.8, 0.9),
        gold_sizes=(100, 1000),
        topics=(25, 50),
        precision=(0.2, 0.4, 0.8),
    )
    return kt.experiments.experiment_noisy(plan).intervals


def test_corrected_intervals_cover_in_94_to_96_percent(grid):
    assert len(grid) == 24
    assert grid["covered_t"].is_between(0.94, 0.96).all()
    assert grid["covered"].is_between(0.935, 0.96).all()  # z knows nothing of 25 topics being few
    assert grid["naive_covered"].to_numpy().mean() < 0.5


@pytest.fixture(scope="module")
def tests():
    plan = kt.experiments.NoisyPlan(
        studies=("tests",), gold_sizes=(50, 250), topics=(50, 200), differences=(0.0, 0.1), seed=2
    )
    return kt.experiments.experiment_noisy(plan)


def test_size_of_the_shared_form_is_4_to_6_percent(tests):
    size = tests.pivot_tests(ONE).filter(difference=0.0)
    assert len(size) == 4
    for name in (NAIVE, PAIRED, SHARED, SHARED_PAIRED):
        assert size[name].is_between(0.04, 0.06).all(), name


def test_the_independent_form_hardly_rejects_with_a_shared_sample(tests):
    """About 0 where gold is what is uncertain; with few topics and much gold it comes back."""
    size = tests.pivot_tests(ONE).filter(difference=0.0)
    assert size.filter(gold_size=50)[INDEPENDENT].max() < 0.002
    assert size.filter(gold_size=250, topics=200)[INDEPENDENT].item() < 0.005
    assert size.filter(gold_size=250, topics=50)[INDEPENDENT].item() < 0.025


def test_the_shared_form_has_nearly_the_naive_power_and_covers(tests):
    power = tests.pivot_tests(ONE).filter(difference=0.1)
    assert ((power[PAIRED] - power[SHARED_PAIRED]).is_between(-0.001, 0.03)).all()
    assert (power[PAIRED] - power[INDEPENDENT]).min() > 0.05
    covered = tests.pivot_tests(ONE, "covered").filter(difference=0.1)
    assert covered[SHARED_PAIRED].is_between(0.94, 0.965).all()
    assert covered.filter(topics=200)[PAIRED].max() < 0.7  # naive: the difference is 30 % too small


def test_judges_of_their_own_want_the_independent_form(tests):
    size = tests.pivot_tests(TWO).filter(difference=0.0)
    assert size[INDEPENDENT].is_between(0.03, 0.06).all()
    assert size[SHARED_PAIRED].min() > 0.8
    assert size[PAIRED].min() > 0.8
    covered = tests.pivot_tests(TWO, "covered").filter(difference=0.1)
    assert covered[INDEPENDENT].is_between(0.94, 0.97).all()


def test_judges_like_coins_are_mostly_refused():
    plan = kt.experiments.NoisyPlan(right_relevant=(0.6,), right_other=(0.5,), gold_sizes=(50, 1000))
    found = kt.experiments.experiment_noisy(plan).intervals
    assert found["refused"].to_list() == [pytest.approx(0.82, abs=0.02), pytest.approx(0.006, abs=0.004)]
