"""Paired and unpaired tests: options that matter, degenerate scores, refusals."""

import json
import math

import numpy as np
import pytest

import karatage as kt
from karatage.comparison import flipping, paired
from karatage.errors import DataError, OptionError
from tests.notes import gives, has_note, list_facts

TESTS = ("t", "wilcoxon", "permutation", "bootstrap")
RNG = np.random.default_rng(3)
X = RNG.beta(2, 3, 30)
Y = np.clip(X + RNG.normal(0.06, 0.12, 30), 0, 1)


@pytest.mark.parametrize("test", TESTS)
def test_differences_are_the_second_less_the_first(test):
    there, back = kt.stats.paired_test(X, Y, test=test, rng=1), kt.stats.paired_test(Y, X, test=test, rng=1)
    assert there.difference == pytest.approx((Y - X).mean())
    assert there.difference > 0
    assert there.low < there.difference < there.high
    assert there.p_value == pytest.approx(back.p_value)
    assert back.difference == -there.difference
    if test in ("t", "wilcoxon"):
        assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert there.test == test
    assert there.topics == 30


@pytest.mark.parametrize("test", TESTS)
def test_confidence_matters(test):
    wide, narrow = (kt.stats.paired_test(X, Y, test=test, confidence=c, rng=1) for c in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.p_value == narrow.p_value
    for found in (wide, narrow):
        assert found.significant == (found.p_value <= 1 - found.confidence)
        if test != "wilcoxon":
            assert found.significant == (found.low > 0 or found.high < 0)


@pytest.mark.parametrize("test", TESTS)
def test_topics_without_a_score_are_left_out_and_told(test):
    x, y = X.copy(), Y.copy()
    x[4], y[9], y[4] = np.nan, np.nan, np.nan
    found = kt.stats.paired_test(x, y, test=test, rng=1)
    kept = np.delete(np.arange(30), [4, 9])
    plain = kt.stats.paired_test(X[kept], Y[kept], test=test, rng=1)
    assert found.topics == 28
    assert found.p_value == plain.p_value
    assert has_note(found, "comparison.topics-unpaired", topics=2)
    assert not has_note(plain, "comparison.topics-unpaired")


@pytest.mark.parametrize("test", TESTS)
def test_systems_that_score_alike(test):
    x = np.array([0.1 + 0.2, 0.5, 0.7])
    found = kt.stats.paired_test(x, [0.3, 0.5, 0.7], test=test)  # 0.1 + 0.2 is not quite 0.3
    assert (found.p_value, found.difference, found.low, found.high) == (1.0, 0.0, 0.0, 0.0)
    assert found.zeros == 3
    assert has_note(found, "comparison.alike")


def test_the_same_difference_everywhere_leaves_t_nothing_to_go_by():
    x = np.linspace(0.1, 0.6, 12)
    found = kt.stats.paired_test(x, x + 0.1)
    assert found.statistic == math.inf
    assert found.low == found.high == pytest.approx(0.1)
    assert has_note(found, "comparison.constant")
    assert found.to_dict()["statistic"] is None
    assert kt.stats.paired_test(x, x + 0.1, test="permutation").p_value == 2 / 2**12
    assert kt.stats.paired_test(x, x + 0.1, test="bootstrap", resamples=99).p_value == 0.01


def test_draws_and_seeds_matter():
    for test, size in (("bootstrap", 30), ("permutation", 60)):
        x, y = np.resize(X, size), np.resize(Y, size) + np.linspace(0, 0.013, size)
        once = kt.stats.paired_test(x, y, test=test, rng=1)
        assert once == kt.stats.paired_test(x, y, test=test, rng=1)
        assert once != kt.stats.paired_test(x, y, test=test, rng=2)
        assert not once.exact
        few = kt.stats.paired_test(x, y, test=test, rng=1, resamples=99)
        assert few.p_value * 100 == pytest.approx(round(few.p_value * 100))
    assert kt.stats.paired_test(X, Y, rng=1) == kt.stats.paired_test(X, Y, rng=2, resamples=7)


def test_a_p_value_from_draws_is_never_zero():
    y = X + np.linspace(1, 2, 30)
    assert kt.stats.paired_test(X, y, test="bootstrap", resamples=99, rng=0).p_value == 0.01
    many = np.resize(X, 50)
    assert kt.stats.paired_test(many, many + np.pi / np.arange(3, 53), test="permutation", resamples=99).p_value == 0.01


def test_exact_p_values_say_so(monkeypatch):
    """Up to 20 topics by all subsets, to 40 by halves, beyond by whole steps, else drawn."""
    rng = np.random.default_rng(5)
    for size, exact in ((12, True), (30, True), (60, False)):
        x = rng.random(size)
        found = kt.stats.paired_test(x, x + rng.normal(0.05, 0.2, size), test="permutation", rng=0)
        assert found.exact == exact
        assert has_note(found, "comparison.random-subsets") == (size == 30)
        assert has_note(found, "comparison.random-flips") == (size == 60)
    found = kt.stats.paired_test(rng.integers(0, 11, 60) / 10, rng.integers(0, 11, 60) / 10, test="permutation", rng=0)
    assert found.exact
    assert kt.stats.paired_test(X, Y, test="wilcoxon").exact
    monkeypatch.setattr(paired, "MOST_STEPS", 1)
    assert not kt.stats.paired_test(X, Y, test="wilcoxon").exact


def test_too_few_topics_for_an_interval():
    for test in ("permutation", "wilcoxon"):
        found = kt.stats.paired_test([0.1, 0.2, 0.3], [0.2, 0.4, 0.6], test=test)
        assert found.p_value == 0.25
        assert (found.low, found.high) == (-math.inf, math.inf)
        assert has_note(found, "comparison.no-interval", topics=3, confidence=0.95)
        assert has_note(found, "comparison.few-topics", topics=3)
        assert json.loads(json.dumps(found.to_dict()))["low"] is None


def test_wilcoxon_tells_of_topics_without_a_difference():
    found = kt.stats.paired_test([0.1, 0.2, 0.3, 0.5, 0.9], [0.2, 0.2, 0.1, 0.5, 1.0], test="wilcoxon")
    assert found.zeros == 2
    assert has_note(found, "comparison.zeros", topics=2)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.1, 0.2], [0.1], r"\b2\b.*\b1\b"),
        ([0.1], [0.2], r"\b1\b.*\b2\b"),
        ([0.1, np.nan], [0.2, 0.3], r"\b1\b.*score"),
        ([], [], r"\b0\b.*topics"),
        ([[0.1, 0.2]], [[0.3, 0.4]], r"\(1, 2\)"),
        ([0.1, np.inf], [0.2, 0.3], r"\b1\b.*NaN"),
    ],
)
def test_scores_that_cannot_be_tested(x, y, message):
    with pytest.raises(DataError, match=message):
        kt.stats.paired_test(x, y)


def test_options_out_of_range():
    with pytest.raises(OptionError, match="'sign'"):
        kt.stats.paired_test(X, Y, test="sign")
    with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
        kt.stats.paired_test(X, Y, confidence=95)
    with pytest.raises(OptionError, match="resample"):
        kt.stats.paired_test(X, Y, test="bootstrap", resamples=0)


def test_whole_steps_are_found_or_not():
    np.testing.assert_array_equal(flipping.whole_steps(np.array([0.1 + 0.2, -0.3, 0.2])), [3, -3, 2])
    np.testing.assert_array_equal(flipping.whole_steps(np.array([1 / 3, -0.25])), [4, -3])
    np.testing.assert_array_equal(flipping.whole_steps(np.array([2.0, 4.0])), [2, 4])
    assert flipping.whole_steps(np.array([0.1, np.pi / 10])) is None


def test_welch_takes_scores_or_their_figures():
    rng = np.random.default_rng(2)
    x, y = rng.random(30), rng.random(12)
    found = kt.stats.welch_test(x, y)
    narrow = kt.stats.welch_test(x, y, confidence=0.5)
    assert found.difference == pytest.approx(y.mean() - x.mean())
    assert narrow.high - narrow.low < found.high - found.low
    assert narrow.p_value == found.p_value
    same = kt.stats.welch_test(kt.Figures(30, x.mean(), x.std(ddof=1)), y)
    assert same.p_value == pytest.approx(found.p_value)
    holed = kt.stats.welch_test(np.append(x, np.nan), y)
    assert holed.topics == (30, 12)
    assert list_facts(holed) == {"comparison.topics-unscored": {"topics": 1}}
    with pytest.raises(DataError, match=r"\b1\b.*\b2\b"):
        kt.stats.welch_test([0.5, np.nan], y)


def test_welch_without_spread():
    flat = kt.stats.welch_test([0.5, 0.5], [0.5, 0.5])
    assert (flat.p_value, flat.statistic, flat.low, flat.high) == (1.0, 0.0, 0.0, 0.0)
    apart = kt.stats.welch_test([0.5, 0.5], [0.4, 0.4])
    assert (apart.p_value, apart.statistic) == (0.0, -math.inf)
    assert apart.to_dict()["statistic"] is None
    assert not flat.significant
    assert apart.significant
    assert has_note(apart, "comparison.constant-scores")


def test_ten_topics_are_enough_to_say_nothing_of_their_number():
    few = [list_facts(kt.stats.paired_test(np.zeros(n), np.arange(n) / 10, test="t")) for n in (9, 10)]
    assert few == [{"comparison.few-topics": {"topics": 9}}, {}]


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([0.4, 0.6, 0.6, 0.8], ("second", 0.25, "higher", "first", 4, "p")),
        ([0.1, 0.6, 0.2, 0.3], ("second", 0.05, "lower", "first", 4, "p")),
        ([0.2, 0.5, 0.3, 0.4], ("same", 4)),
    ],
)
def test_the_sentence_says_who_is_higher_and_whether_that_may_be_chance(y, said):
    assert gives(kt.stats.paired_test([0.2, 0.5, 0.3, 0.4], y).sentence, *said)


def test_the_sentence_names_no_interval_that_is_not_there():
    found = kt.stats.paired_test([0.2, 0.5], [0.4, 0.6], test="permutation")
    assert gives(found.sentence, "p = 0.50")
    assert "[" not in found.sentence
