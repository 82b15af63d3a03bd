"""The jackknife over topics, against the error of a plain mean over topics."""

import numpy as np
import polars as pl
import pytest

from karatage.experiments.supervised.findings import _Group, find_topic_errors, jackknife

TOPICS, TRAINING = 10, 3
EFFECT = np.random.default_rng(5).normal(0, 1, TOPICS)
ERROR = EFFECT.std(ddof=1) / np.sqrt(TOPICS)  # of the mean over topics


def draw(samples, rng, noise=0.0):
    """Samples whose gap is the mean of their test topics' effects, and noise of their own."""
    test = np.arange(TOPICS) >= TRAINING
    test = rng.permuted(np.tile(test, (samples, 1)), axis=1)
    total, own = (EFFECT * test).sum(axis=1, keepdims=True), rng.normal(0, noise, (samples, 1))
    count = TOPICS - TRAINING
    less = np.where(test, (total - EFFECT) / (count - 1) + own, np.nan)
    return _Group(total / count + own, less[:, :, None])


def test_it_is_the_error_of_the_mean_over_topics():
    found = jackknife([draw(20_000, np.random.default_rng(1))])
    assert found[0] == pytest.approx(ERROR, rel=0.02)


@pytest.mark.parametrize("sizes", [1, 3])
def test_noise_of_few_samples_is_subtracted(sizes):
    """Without it the variance would be more than twice as large."""
    rng = np.random.default_rng(2)
    variance = [jackknife([draw(60, rng, noise=1.5) for _ in range(sizes)])[0] ** 2 for _ in range(400 // sizes)]
    spread = np.std(variance) / np.sqrt(len(variance))
    assert np.mean(variance) == pytest.approx(ERROR**2, abs=4 * spread)
    assert 4 * spread < 0.35 * ERROR**2


def test_effects_that_sizes_share_do_not_average_out():
    rng = np.random.default_rng(3)
    assert jackknife([draw(5000, rng) for _ in range(4)])[0] == pytest.approx(ERROR, rel=0.03)


def test_a_topic_that_is_never_tested_gives_no_error():
    group = draw(50, np.random.default_rng(4))
    group.less[:, 3] = np.nan
    assert np.isnan(jackknife([group])).all()
    assert np.isnan(jackknife([draw(1, np.random.default_rng(4))])).all()


def test_rows_are_put_in_their_places():
    """Two approaches; the second is the baseline, with its own part in each value."""
    place = {"systems": "s", "panel": "p", "configuration": "whole", "measure": "AP"}
    group, frame, less = draw(40, np.random.default_rng(6)), [], []
    for n in range(40):
        for name, value in ("sup_tau", group.gap[n, 0] + n), ("uniform", n):
            frame.append({**place, "size": 2, "sample": n, "approach": name, "tau_ap": float(value)})
        for t in np.flatnonzero(np.isfinite(group.less[n, :, 0])):
            for name, value in ("sup_tau", group.less[n, t, 0] + n + t), ("uniform", n + t):
                row = {**place, "size": 2, "sample": n, "approach": name, "tau_ap": float(value)}
                less.append({**row, "without": int(t)})
    names = ("sup_tau", "uniform")
    whole, one = find_topic_errors(pl.DataFrame(frame), pl.DataFrame(less), names, "uniform")
    assert (whole.size, one.size, one.approach, one.topics) == (None, 2, "sup_tau", TOPICS)
    assert one.error == pytest.approx(jackknife([group])[0], rel=1e-9)
    assert whole.error == pytest.approx(one.error)


def test_a_gain_that_all_samples_share_adds_no_error():
    group = draw(30, np.random.default_rng(7), noise=0.1)
    moved = _Group(group.gap + 5, group.less + 5)
    assert jackknife([moved])[0] == pytest.approx(jackknife([group])[0], rel=1e-9)
