"""The control: shuffled within topics, p-values that are never zero, and seeds."""

import numpy as np
import pytest

from karatage.data.disagreement import HeldOut
from karatage.errors import DataError, OptionError
from karatage.orders.control import Control, control_disagreement
from karatage.orders.disagreement import FeatureTable, Outcome


def make_control(auc, *shuffled):
    rates = np.full((len(shuffled), 5), 0.5)
    rates[:, 4] = shuffled
    return Control(topics=1, items=9, found=HeldOut(0.9, 0.5, 0.4, 0.5, auc), shuffled=rates)


def test_p_value_counts_the_observed_outcomes():
    assert make_control(0.7, 0.5, 0.6, 0.4).p_value() == 1 / 4
    assert make_control(0.6, 0.5, 0.6, 0.4).p_value() == 2 / 4
    assert make_control(0.3, 0.5, 0.6, 0.4).p_value() == 1
    assert make_control(0.3, 0.5, 0.6, 0.4).p_value("tpr") == 1 / 4
    assert make_control(0.1 + 0.2, 0.3).p_value() == 1  # a tie, but for rounding


def test_gain_is_recall_minus_false_alarms():
    control = make_control(0.7, 0.5, 0.6)
    assert control.gain == pytest.approx(0.9 - 0.6)
    assert control.shuffled_gain.tolist() == [0, 0]
    assert control.gain_p_value == 1 / 3


def make_topics(shares, *, items=100, related=False, seed=0):
    """Topics whose judges disagree on different shares of items; the feature is the topic's share, and some noise."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(len(shares), dtype=np.int32), items)
    disagree = rng.random(len(topic)) < np.array(shares)[topic]
    value = np.array(shares)[topic] + 0.1 * rng.normal(size=len(topic)) + related * disagree
    table = FeatureTable(
        value=value[:, None], topics=tuple(map(str, range(len(shares)))), item_topic=topic, features=("f",)
    )
    return table, Outcome(np.ones(len(topic), bool), disagree)


def test_differences_between_topics_do_not_count():
    """The feature tells topics apart, and topics differ, but within a topic it tells nothing."""
    nothing = control_disagreement(*make_topics((0.2, 0.5, 0.8)), trials=2, shuffles=19, rng=0)
    assert nothing.p_value() > 0.1
    assert nothing.found.auc == pytest.approx(0.5, abs=0.1)
    related = control_disagreement(*make_topics((0.2, 0.5, 0.8), related=True), trials=2, shuffles=19, rng=0)
    assert related.p_value() == related.gain_p_value == 1 / 20
    assert related.found.auc > 0.95


def test_seeds_and_topics_that_cannot_be_tried():
    case = make_topics((0.3, 0.0, 0.5))
    first, again, other = (control_disagreement(*case, trials=1, shuffles=3, rng=seed) for seed in (1, 1, 2))
    assert first.topics == 2
    assert first.items == 200
    assert (first.shuffled == again.shuffled).all()
    assert first.found == again.found
    assert (first.shuffled != other.shuffled).any()
    with pytest.raises(DataError, match="topic"):
        control_disagreement(*make_topics((0.0, 1.0)), rng=0)
    with pytest.raises(OptionError, match=r"\b0\b.*\b5\b.*\b1\b"):
        control_disagreement(*case, trials=0, shuffles=5)


def test_a_higher_threshold_finds_less():
    case = make_topics((0.4,), related=True)
    low, high = (control_disagreement(*case, trials=2, shuffles=1, threshold=t, rng=0) for t in (0.01, 0.99))
    assert low.found.tpr > high.found.tpr
    assert low.found.auc == high.found.auc
