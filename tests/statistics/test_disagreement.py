"""Known regressions come back, and the control of shuffled outcomes raises no more false alarms than it should."""

import numpy as np
import pytest

from karatage.orders.control import control_disagreement
from karatage.orders.disagreement import FeatureTable, Outcome, fit_line, fitting, learn_from_features, transfer

LINE = np.array([-1.2, 0.8, -0.3])


def make_world(rng, *, topics=1, items=100, line=LINE):
    value = rng.normal(size=(topics * items, 2)) * (1.5, 4) + (2, 10)
    chance = 1 / (1 + np.exp(-(line[0] + value @ line[1:])))
    table = FeatureTable(
        value=value,
        topics=tuple(map(str, range(topics))),
        item_topic=np.repeat(np.arange(topics, dtype=np.int32), items),
        features=("f", "g"),
    )
    return table, Outcome(np.ones(len(value), bool), rng.random(len(value)) < chance)


def test_known_coefficients_are_recovered():
    """Mean over 40 worlds of 5,000 items, within four of its standard errors and a penalty's pull of .002."""
    found = []
    with fitting():
        for seed in range(40):
            table, outcome = make_world(np.random.default_rng(seed), items=5_000, line=np.array([1.0, 0.8, -0.3]))
            line = fit_line(table.value, outcome.disagree)
            found.append([line.intercept, *line.coefficients])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(40)
    assert (error < 0.02).all()
    assert np.mean(found, axis=0) == pytest.approx(np.array([1.0, 0.8, -0.3]), abs=4 * error.max() + 0.002)


def test_disagreement_that_is_there_is_found():
    rng = np.random.default_rng(1)
    line = np.array([1.0, 0.8, -0.3])
    found = [
        control_disagreement(*make_world(rng, items=150, line=line), trials=2, shuffles=19, rng=k).p_value()
        for k in range(10)
    ]
    assert np.mean(np.array(found) <= 0.05) > 0.85


def test_control_keeps_its_size():
    """No relation: p-values of 1/20, ..., 20/20 are equally likely; AUC and TPR - FPR are nothing beyond chance."""
    rng = np.random.default_rng(2)
    worlds = 60
    flat = np.array([-0.8, 0, 0])
    controls = [
        control_disagreement(*make_world(rng, items=60, line=flat), trials=1, shuffles=19, rng=k) for k in range(worlds)
    ]
    for p_values in [c.p_value() for c in controls], [c.gain_p_value for c in controls]:
        for level in 0.1, 0.25:
            alarms = np.mean(np.array(p_values) <= level)
            assert alarms < level + 3 * np.sqrt(level * (1 - level) / worlds)
    assert np.mean([c.p_value() <= 0.5 for c in controls]) > 0.5 - 3 * np.sqrt(0.25 / worlds)
    assert np.mean([c.found.auc for c in controls]) == pytest.approx(0.5, abs=0.04)


def test_transfer_to_topics_alike():
    """Ten topics of one line: whichever is chosen, chances on new topics rank as the true ones do."""
    line = np.array([-0.6, 0.8, -0.3])
    table, outcome = make_world(np.random.default_rng(3), topics=10, items=300, line=line)
    model = learn_from_features(table, outcome, trials=5, rng=0)
    new, _ = make_world(np.random.default_rng(4), topics=4, items=200, line=line)
    chance = transfer(model, new).chance
    assert len(model.topics) >= 8
    for topic in range(4):
        rows = new.item_topic == topic
        assert np.corrcoef(chance[rows], new.value[rows] @ line[1:])[0, 1] > 0.85
