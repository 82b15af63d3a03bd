"""What gold on a few topics is worth, where half of the judges know nothing."""

import pytest

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
    plan = SupervisedPlan(approaches=approaches, sizes=(3, 5), samples=100, replicates=1)
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
