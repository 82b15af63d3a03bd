"""What gold on a few topics is worth, where half of the judges know nothing, and where all are alike."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import karatage as kt
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.supervised.findings import experiment_supervised
from karatage.experiments.supervised.plan import SupervisedPlan
from karatage.simulation.panel import PanelQuality, simulate_panel


@pytest.fixture(scope="module")
def found():
    world = kt.simulation.simulate_collection(systems=15, topics=20, depth=40, rng=8)
    gold = prepare_gold(world.gold, PanelRules())
    panel = simulate_panel(gold, judges=10, quality=PanelQuality(random=5), rng=1)
    approaches = ("sup_tau_cubed", "sup_rmse", "sup_tau_cubed(sub=True)", "uniform")
    plan = SupervisedPlan(approaches=approaches, sizes=(3, 5), samples=100, replicates=1, teams="redrawn")
    return experiment_supervised(Collection.of({"runs": world.runs}, {"panel": panel}, gold), plan)


def test_gold_finds_whole_judges_who_know_nothing(found):
    whole = found.places[0]
    assert whole.configuration == "whole"
    assert found.compare("sup_tau_cubed", "uniform", whole).low > 0
    assert found.compare("sup_tau_cubed", "sup_rmse", whole).low > 0


def test_people_must_be_weighed_where_judges_change_from_topic_to_topic(found):
    """Weights of teams that are others on the test topics are chance, and worse than none."""
    apart = found.places[1]
    assert apart.configuration == "partitioned"
    assert found.compare("sup_tau_cubed", "uniform", apart).high < 0
    assert found.compare("sup_tau_cubed(sub=True)", "sup_tau_cubed", apart).low > 0
    assert found.compare("sup_tau_cubed(sub=True)", "uniform", apart).value > 0


PARTITIONED = SupervisedPlan(configurations=("partitioned",), sizes=(3,), samples=30, replicates=1)
ALIKE = PanelQuality(true_positive=(0.7, 0.7), true_negative=(0.93, 0.93))


def try_world(number, quality, *plans, topics=10):
    """The findings of some plans in one world, with its own topics, systems and people."""
    world = kt.simulation.simulate_collection(systems=15, topics=topics, depth=40, rng=number)
    gold = prepare_gold(world.gold, PanelRules())
    panel = simulate_panel(gold, judges=16, quality=quality, rng=number)
    collection = Collection.of({"runs": world.runs}, {"panel": panel}, gold)
    return [experiment_supervised(collection, replace(plan, seed=number)) for plan in plans]


def test_intervals_for_other_topics_cover_where_all_people_are_alike(thin):
    """There is nothing to gain. Mild weights lose nothing, so that the interval has 0 in about 95 of 100 worlds.

    Weights by tau from three topics lose by chance alone: the interval has the mean of all worlds as often. Intervals
    for other samples of the same topics have it less often.
    """
    worlds = thin(100)
    plan = replace(PARTITIONED, approaches=("sup_rmse", "sup_tau", "uniform"))
    found = [try_world(1000 + number, ALIKE, plan)[0] for number in range(worlds)]
    gains = {
        name: np.array([f.gains.filter(approach=name).row(0)[-5:] for f in found]) for name in ("sup_rmse", "sup_tau")
    }
    least = stats.binom.ppf(0.001, worlds, 0.95)
    mild, strong = gains["sup_rmse"], gains["sup_tau"]
    assert ((mild[:, 3] <= 0) & (mild[:, 4] >= 0)).sum() >= least
    assert (strong[:, 3] > 0).sum() <= worlds - least
    centre = strong[:, 0].mean()
    assert ((strong[:, 3] <= centre) & (strong[:, 4] >= centre)).sum() >= least
    assert (strong[:, 4] - strong[:, 3] >= strong[:, 2] - strong[:, 1]).all()


def test_weights_gain_where_people_who_differ_are_kept(thin):
    """Half of the people know nothing. The same judges with other people in each topic gain nothing."""
    plans = [
        replace(PARTITIONED, approaches=("sup_rmse_cubed", "uniform"), people=(2, 2), samples=40, teams=teams)
        for teams in ("kept", "redrawn")
    ]
    worlds = [try_world(number, PanelQuality(random=8), *plans, topics=20) for number in range(thin(40))]
    kept, redrawn = np.array([[f.overall["gap"][0] for f in world] for world in worlds]).T
    assert stats.ttest_1samp(kept, 0).confidence_interval(0.95).low > 0
    assert stats.ttest_1samp(kept - redrawn, 0).confidence_interval(0.95).low > 0
    assert abs(redrawn.mean()) < kept.mean() / 2
