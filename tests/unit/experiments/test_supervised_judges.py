"""Weights in the s-AWARE experiment: the same as `evaluate`'s, never from gold of test topics."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import align
from karatage.data.judgments import Gold
from karatage.data.partition import Partition
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.supervised.cells import Ground, Judges, Sample, _lay_out, teach
from karatage.experiments.supervised.plan import Split, SupervisedPlan
from karatage.merging.estimators import normalise
from karatage.simulation.panel import PanelQuality, partition_judges, simulate_panel

PLAN = SupervisedPlan(
    measures=("AP", "DCG@10"),
    approaches=("sup", "unsup_tau_tpc", "sgl_kld_med", "tpc_rmse_own2", "sup_tau_cubed(sub=True)", "sup_kld(sub=True)"),
    replicates=9,
    seed=4,
)
MEMBERS = np.array([0, 2, 3])
TRAINING = np.array([True, False, True, False, False, False])


@pytest.fixture(scope="module")
def collection():
    world = kt.simulation.simulate_collection(systems=8, topics=6, depth=30, rng=5)
    gold = prepare_gold(world.gold, PanelRules())
    assert len(gold.topics) == 6
    panel = simulate_panel(gold, judges=5, quality=PanelQuality(random=1), rng=3)
    return Collection.of({"runs": world.runs}, {"panel": panel}, gold)


@pytest.fixture(scope="module")
def ground(collection):
    panel = collection.panels["panel"]
    return Ground.of(align(collection.runs["runs"], collection.gold), collection.gold, panel, PLAN)


def whole(panel):
    return Partition(judgments=panel, people=panel.judges, person=panel.judge)


@pytest.fixture(scope="module")
def judges(ground, collection):
    return Judges.of(ground, [whole(collection.panels["panel"])], PLAN)


@pytest.fixture(scope="module")
def teams(ground, collection):
    part = partition_judges(collection.panels["panel"], judges=4, rng=1)
    return Judges.of(ground, [part], PLAN)


def test_weights_are_those_of_evaluate(collection, ground, judges):
    panel = collection.panels["panel"]
    chosen = panel.keep_rows(np.isin(panel.judge, MEMBERS))
    names = [name for name in PLAN.names if "sub" not in name]
    own = {"unsup_tau_tpc": "tpc_tau_msd(replicates=9)", "sgl_kld_med": "sgl_kld_med(replicates=9)"}
    asked = [own.get(name, "tpc_rmse_own2(replicates=9)" if "own" in name else name) for name in names]
    gold = Gold(collection.gold, training=tuple(np.array(collection.gold.topics)[TRAINING]))
    board = kt.evaluate(collection.runs["runs"], chosen, PLAN.measures, approach=asked, gold=gold, rng=PLAN.seed)
    taught = teach(ground, judges, MEMBERS, TRAINING, PLAN)
    for weights in board.weights:
        name = names[asked.index(weights.approach)]
        found = taught.get((name, weights.measure))
        weight = judges.weight[name, weights.measure][MEMBERS] if found is None else found.weight
        share, _ = normalise(weight, np.ones(weight.shape, bool))
        np.testing.assert_allclose(share[:, ~TRAINING], weights.share[MEMBERS], atol=1e-14)


@pytest.mark.parametrize("who", ["judges", "teams"])
def test_gold_of_test_topics_is_never_looked_at(ground, who, request):
    them, topic = request.getfixturevalue(who), ground.gold.item_topic
    before = teach(ground, them, MEMBERS, TRAINING, PLAN)
    for turned, same in (~TRAINING, True), (TRAINING, False):
        grade = np.where(turned[topic], np.roll(1 - ground.grade, 7), ground.grade).astype(np.int8)
        value = {m: np.where(turned[:, None], v[:, ::-1] ** 2, v) for m, v in ground.value.items()}
        other = replace(ground, grade=grade, value=value, gold=replace(ground.gold, grade=grade))
        after = teach(other, them, MEMBERS, TRAINING, PLAN)
        for key, found in before.items():
            assert np.array_equal(found.weight, after[key].weight) == same, key


def test_whole_people_have_the_weights_of_whole_judges(ground, judges):
    taught = teach(ground, judges, MEMBERS, TRAINING, PLAN)
    for measure in PLAN.measures:
        for name in ("sup_tau_cubed", "sup_kld"):
            sub = taught[f"{name}(sub=True)", measure]
            assert np.array_equal(sub.weight, taught[name, measure].weight)
            assert sub.unseen == 0


def test_people_are_weighed_in_each_topic_by_their_part(ground, teams):
    taught = teach(ground, teams, MEMBERS, TRAINING, PLAN)
    assert not np.ptp(taught["sup_tau_cubed", "AP"].weight, axis=1).any()
    assert (np.ptp(taught["sup_tau_cubed(sub=True)", "AP"].weight, axis=1) > 0).all()


def test_a_judge_whose_people_are_unseen_gets_the_mean_weight_of_the_others(ground, collection):
    """Person 4 grades for the third judge, in test topics only."""
    panel = collection.panels["panel"]
    rows = np.isin(panel.judge, [0, 1, 2, 4])
    training = TRAINING[panel.item_topic[panel.item]]
    rows &= ~((panel.judge == 4) & training) & ~((panel.judge == 2) & ~training)
    chosen = panel.keep_rows(rows)
    code = np.array([0, 1, 2, -1, 2], np.int32)[chosen.judge]
    part = Partition(
        judgments=replace(chosen, judges=("a", "b", "c"), judge=code), people=panel.judges, person=chosen.judge
    )
    members = np.arange(3)
    found = teach(ground, Judges.of(ground, [part], PLAN), members, TRAINING, PLAN)
    alone = teach(ground, Judges.of(ground, [whole(panel)], PLAN), members, TRAINING, PLAN)
    for name in ("sup_tau_cubed", "sup_kld"):
        known = alone[name, "AP"].weight[:, 0]
        sub = found[f"{name}(sub=True)", "AP"]
        np.testing.assert_allclose(sub.weight[2, ~TRAINING], known.mean(), rtol=1e-14)
        np.testing.assert_allclose(sub.weight[:2], np.repeat(known[:2, None], 6, axis=1), rtol=1e-14)
        assert sub.unseen == 1
        assert found[name, "AP"].unseen == 0


def test_a_judge_without_grades_in_training_topics_gets_the_mean_weight_of_the_others(ground, collection):
    panel = collection.panels["panel"]
    silent = panel.keep_rows((panel.judge != 3) | ~TRAINING[panel.item_topic[panel.item]])
    found = teach(ground, Judges.of(ground, [whole(silent)], PLAN), MEMBERS, TRAINING, PLAN)
    for name in ("sup_tau", "sup_rmse_cubed"):
        weight = found[name, "AP"].weight[:, 0]
        assert weight[2] == pytest.approx(weight[:2].mean(), rel=1e-15)
        assert found[name, "AP"].unseen == 1


def test_judges_side_by_side_are_as_by_themselves(ground, collection):
    parts = [partition_judges(collection.panels["panel"], judges=2, rng=seed) for seed in (1, 2)]
    together = Judges.of(ground, parts, PLAN)
    for n, part in enumerate(parts):
        alone, here = Judges.of(ground, [part], PLAN), slice(2 * n, 2 * n + 2)
        assert np.array_equal(together.said[:, here], alone.said)
        assert np.array_equal(together.person[:, here], alone.person)
        for key, weight in alone.weight.items():
            assert np.array_equal(together.weight[key][here], weight)


def test_documents_that_no_judge_graded_do_not_count(collection):
    panel = collection.panels["panel"]
    rows = panel.item % 3 > 0
    alignment = align(collection.runs["runs"], collection.gold)
    found = Ground.of(alignment, collection.gold, panel.keep_rows(rows), PLAN)
    assert np.array_equal(found.grade >= 0, np.arange(len(found.grade)) % 3 > 0)
    assert len(found.gold.grade) == (found.grade >= 0).sum()
    full = Ground.of(alignment, collection.gold, panel, PLAN)
    assert (found.value["AP"] != full.value["AP"]).any()
    assert (found.random["AP"]["ovr"] != full.random["AP"]["ovr"]).any()
    assert Ground.of(alignment, collection.gold, panel, PLAN, like=full) is full
    assert Ground.of(alignment, collection.gold, panel, PLAN, like=found) is not found


def test_models_say_nothing_of_documents_that_the_k_tuple_did_not_grade(ground, collection):
    """Others graded them; what a model makes up where it has no grade is not measured."""
    panel, members = collection.panels["panel"], np.array([0, 2])
    unheard = np.arange(len(ground.grade)) % 3 == 0
    plan = replace(PLAN, approaches=("mv", "emmv", "emneu", "uniform"))
    part = panel.keep_rows(~np.isin(panel.judge, members) | ~unheard[panel.item])
    test = ~TRAINING[ground.gold.item_topic]
    sample = Sample(0, members, Split(TRAINING, np.zeros(len(test), bool), test))
    gold, *others = _lay_out(ground, Judges.of(ground, [whole(part)], plan), sample, plan).T
    assert np.array_equal(gold, np.where(test, ground.grade, -1))
    assert len(others) == len(members) + 3
    for grades in others:
        assert np.array_equal(grades >= 0, test & ~unheard)


def test_own_grades_are_shuffled_100_times_at_most(ground, collection):
    panel = collection.panels["panel"]
    plans = [replace(PLAN, approaches=("tpc_rmse_own2",), measures=("AP",), replicates=n) for n in (99, 100, 101)]
    less, most, more = (Judges.of(ground, [whole(panel)], plan).weight["tpc_rmse_own2", "AP"] for plan in plans)
    assert (less != most).any()
    assert np.array_equal(most, more)
