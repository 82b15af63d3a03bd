"""A crowd simulated from a model and learned again gives the model back."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.crowd import Correlation
from tests.notes import has_note
from tests.unit.simulation.crowds import make_gold, make_model

JUDGES = 2000


def distance(first, second):
    """Total variation of the shares of voxels."""
    return 0.5 * np.abs(first.shares - second.shares).sum()


def relearn(model, gold, per_item, **options):
    return kt.simulation.learn_crowd(
        kt.simulation.simulate_crowd(gold, model, per_item=per_item, judges=JUDGES, rng=1), gold, **options
    )


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("hcb", (0, 5000, 0.5)),
        ("careful", (25, 200, 0.3)),
        *(pytest.param(*more, marks=pytest.mark.soak) for more in (("hcb", (25, 200, 0.3)), ("rte", (0, 5000, 0.5)))),
    ],
)
def test_shares_and_mean_rates_come_back(name, shape):
    """With some 60 relevant and 60 other items for the median judge in the first shape."""
    model = kt.simulation.load_crowd(name)
    again = relearn(model, make_gold(*shape), 100, rng=2)
    assert distance(again, model) < 0.1
    # Means over 2,000 judges of rates known to about 0.04 and drawn evenly: 0.001; topics and levels add a little.
    np.testing.assert_allclose(again.rates, model.rates, atol=0.008)
    if shape[0] == 0:  # where the median judge has 50 items of each kind at least
        assert not has_note(again, "simulation.few-gold")


def test_noise_that_is_kept_moves_judges_and_moves_more_of_them_the_fewer_judgments_there_are():
    model, gold = kt.simulation.load_crowd("hcb"), make_gold(0, 5000, 0.5)
    far = {
        (noise, each): distance(relearn(model, gold, each, noise=noise, rng=2), model)
        for noise in ("kept", "removed")
        for each in (10, 40)
    }
    assert far["kept", 10] > far["kept", 40] > 0.15
    assert far["removed", 10] < far["kept", 10] / 2
    assert far["removed", 40] < 0.12


def test_few_judgments_are_told():
    gold = make_gold(0, 2000, 0.5)
    assert has_note(relearn(kt.simulation.load_crowd("hcb"), gold, 5, rng=2), "simulation.few-gold")


def test_means_do_not_lean_however_few_judgments_there_are():
    model = kt.simulation.load_crowd("hcb")
    again = relearn(model, make_gold(0, 5000, 0.5), 5, rng=2)
    np.testing.assert_allclose(again.rates, model.rates, atol=4 * 0.4 / np.sqrt(12_500) + 0.005)


@pytest.mark.parametrize("shared", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.2, 0.2, 0.0), (0.3, 0.1, 0.15)])
def test_correlations_come_back(shared):
    model = make_model(shared=shared, families={"a": 0.5, "b": 0.3, "c": 0.2}, spread=0.02, contribution=0.2)
    gold = make_gold(100, 60, 0.4)
    found = []
    for seed in range(3):
        crowd = kt.simulation.simulate_crowd(gold, model, judges=100, rng=seed)
        families = {judge: judge[0] for judge in crowd.judges}
        found.append(kt.simulation.learn_crowd(crowd, gold, families=families, rng=1).correlation)
    np.testing.assert_allclose(np.mean(found, axis=0), shared, atol=0.035)


def test_correlations_come_back_when_judges_differ_much_and_see_one_topic():
    model = replace(kt.simulation.load_crowd("rte"), correlation=Correlation(0.3, 0.0, 0.1))
    gold = make_gold(80, 100, 0.4)
    crowd = [kt.simulation.simulate_crowd(gold, model, rng=seed) for seed in range(2)]
    found = np.mean([kt.simulation.learn_crowd(judged, gold, rng=1).correlation for judged in crowd], axis=0)
    np.testing.assert_allclose(found, [0.3, 0.0, 0.1], atol=0.07)


def test_contributions_keep_their_heavy_tail():
    model = kt.simulation.load_crowd("hcb")
    crowd = kt.simulation.simulate_crowd(make_gold(20, 1000), model, rng=1)
    done = np.sort(np.bincount(crowd.judge))[::-1]
    assert done[: len(done) // 10].sum() > 0.25 * done.sum()  # a tenth of the judges
    again = kt.simulation.learn_crowd(crowd, make_gold(20, 1000), rng=1)
    assert again.contribution.exponent == pytest.approx(model.contribution.exponent, abs=1.5)


def test_graded_crowds_come_back_but_for_single_voxels():
    """Kinds of LLM judges lie at the walls of their voxels, so shares stray further (.10 to .27) than means do."""
    model = kt.simulation.load_crowd("llm-dl-2021")
    gold = make_gold(50, 100, relevant=0.6, top=3)
    balanced = replace(model, balance=np.array([0.4, 0.2, 0.2, 0.2]))
    crowd = kt.simulation.simulate_crowd(gold, balanced, judges=300, per_item=100, rng=1)
    families = {judge: judge.rsplit("-", 1)[0] for judge in crowd.judges}
    again = kt.simulation.learn_crowd(crowd, gold, families=families, rng=2)
    np.testing.assert_allclose(again.rates, model.rates, atol=0.02)
    assert distance(again, model) < 0.3
    mean = [(m.share[:, None, None] * m.confusion).sum(axis=0) for m in (model, again)]
    np.testing.assert_allclose(mean[0], mean[1], atol=0.05)  # other shares of gold's grades bend rows a little
    np.testing.assert_allclose(again.correlation, model.correlation, atol=0.06)
