"""Models that learn from gold or a record: nb, emsemi, emgz."""

import numpy as np
import pytest

import karatage as kt
from karatage.aggregation.dawid_skene import JudgeHistory
from karatage.aggregation.supervised import NaiveBayes, SemiSupervised
from karatage.errors import OptionError
from tests.notes import has_note
from tests.unit.aggregation.crowds import coin, gold_of, simulate

RIGHT = [0.9, 0.8, 0.35, 0.6]


@pytest.fixture(scope="module")
def crowd():
    return simulate(coin(RIGHT), items=500)


def test_naive_bayes_by_hand():
    """Two judges, gold on items 0 to 2; item 3 heard 1 and 0."""
    judgments = kt.Judgments.from_codes(
        judge=np.array([0, 0, 0, 0, 1, 1, 1]),
        item=np.array([0, 1, 2, 3, 0, 1, 3]),
        grade=np.array([1, 1, 0, 1, 0, 1, 0]),
    )
    posterior = NaiveBayes().fit(judgments, gold=gold_of(np.array([1, 1, 0]), 3), supervision="full")
    first, second = [[2 / 3, 1 / 3], [1 / 4, 3 / 4]], [[1 / 2, 1 / 2], [1 / 2, 1 / 2]]
    np.testing.assert_allclose(posterior.parameters["confusion"], [first, second])
    mass = np.array([2 / 5 * 1 / 3 * 1 / 2, 3 / 5 * 3 / 4 * 1 / 2])
    np.testing.assert_allclose(posterior.probability[3], mass / mass.sum())


def test_naive_bayes_does_not_hear_judges_without_gold():
    """Judge 2 grades open items only, and changes nothing there."""
    judge, item = np.array([0, 1, 0, 1, 0, 1, 2]), np.array([0, 0, 1, 1, 2, 2, 2])
    grade = np.array([1, 1, 0, 1, 1, 0, 0])
    heard = judge < 2
    gold = gold_of(np.array([1, 0]), 2)
    with_it, without = (
        NaiveBayes().fit(
            kt.Judgments.from_codes(judge=judge[rows], item=item[rows], grade=grade[rows]),
            gold=gold,
            supervision="full",
        )
        for rows in (slice(None), heard)
    )
    np.testing.assert_allclose(with_it.probability, without.probability)
    assert has_note(with_it, "aggregation.unseen", unseen=1, judges=3)
    assert not has_note(without, "aggregation.unseen")


def test_light_and_full_say_the_same_of_open_items(crowd):
    judgments, truth = crowd
    gold = gold_of(truth, 50)
    light, full = (NaiveBayes().fit(judgments, gold=gold, supervision=s) for s in ("light", "full"))
    np.testing.assert_allclose(light.probability, full.probability, atol=1e-12)


def test_semi_supervised_learns_from_open_items_too(crowd):
    judgments, truth = crowd
    gold, rest = gold_of(truth, 12), np.arange(12, 500)
    taught = NaiveBayes().fit(judgments, gold=gold, supervision="full")
    both = SemiSupervised().fit(judgments, gold=gold, supervision="full")
    assert (both.grades[rest] == truth[rest]).mean() > (taught.grades[rest] == truth[rest]).mean()
    np.testing.assert_allclose(both.parameters["accuracy"], RIGHT, atol=0.07)


def test_semi_supervised_starts_from_gold():
    """Judges who mostly err: with light supervision gold sets the start only, and EM would not turn around."""
    judgments, truth = simulate(coin([0.25, 0.2, 0.3, 0.2, 0.25]), items=400)
    posterior = SemiSupervised().fit(judgments, gold=gold_of(truth, 100), supervision="light")
    assert (posterior.grades[100:] == truth[100:]).mean() > 0.7


def test_semi_supervised_prior_matters(crowd):
    judgments, truth = crowd
    gold = gold_of(truth, 12)
    plain, firm = (
        SemiSupervised(prior=p).fit(judgments, gold=gold, supervision="full").parameters["accuracy"]
        for p in (None, (500.0, 500.0))
    )
    assert np.ptp(plain) > 2 * np.ptp(firm)


def test_history_weighs_each_grade_apart():
    leaning = [[[0.95, 0.05], [0.4, 0.6]], [[0.6, 0.4], [0.05, 0.95]], [[0.8, 0.2], [0.2, 0.8]]] * 2
    judgments, truth = simulate(leaning, items=2000)
    posterior = JudgeHistory().fit(judgments)
    assert (posterior.grades == truth).mean() > (kt.stats.MajorityVote().fit(judgments, rng=0).grades == truth).mean()
    np.testing.assert_allclose(posterior.parameters["reliability"], np.array(leaning)[:, [0, 1], [0, 1]], atol=0.08)


def test_history_of_an_earlier_batch_is_counted_in_every_step():
    mostly_wrong = coin([0.9, 0.2, 0.25, 0.3])
    earlier, first = simulate(mostly_wrong, items=800, seed=1)
    judgments, truth = simulate(mostly_wrong, items=40, seed=2)
    past = JudgeHistory().fit(earlier, gold=gold_of(first, 400), supervision="full")
    with_past, without = JudgeHistory(history=past).fit(judgments), JudgeHistory().fit(judgments)
    assert (with_past.grades == truth).mean() > 0.8 > 0.5 > (without.grades == truth).mean()
    assert with_past.parameters["answers"].sum() > past.parameters["answers"].sum()


def test_history_starts_from_the_record_on_gold():
    """Judges who mostly err: the first step already reads them the right way around."""
    judgments, truth = simulate(coin([0.25, 0.2, 0.3, 0.2, 0.25]), items=400)
    posterior = JudgeHistory(max_steps=1).fit(judgments, gold=gold_of(truth, 20), supervision="full")
    assert (posterior.grades[20:] == truth[20:]).mean() > 0.8


def test_history_record_on_gold_counts_with_light(crowd):
    judgments, truth = crowd
    posterior = JudgeHistory().fit(judgments, gold=gold_of(truth, 100), supervision="light")
    assert posterior.parameters["answers"].sum() == len(judgments.grade)


def test_options_are_checked():
    with pytest.raises(OptionError, match=r"count.*\b0\b"):
        JudgeHistory(smoothing=0)
    with pytest.raises(OptionError, match="emgz"):
        JudgeHistory(history=kt.stats.MajorityVote().fit(simulate(coin([0.9]))[0]))
