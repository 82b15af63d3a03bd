"""Who weighs least: judges without information, on a real pool. Shares over 50 seeds are in docs/theory/aware.md."""

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.merging.estimators import ESTIMATORS, OWN

GOOD, SEEDS = 5, 4
FEW = "(replicates=50)"


@pytest.fixture(scope="module")
def collection(shared_data):
    folder = shared_data / "trec8-adhoc-10topics"
    (qrels,) = folder.glob("*qrels*")
    return kt.read_runs(folder / "runs"), kt.read_gold(qrels)


def panel(gold, last, seed):
    """Five good judges, and one of another kind: `last` says who is relevant for it."""
    rng = np.random.default_rng(seed)
    relevant = gold.grade > 0
    said = []
    for _ in range(GOOD):
        found, passed = rng.uniform(0.6, 0.9), rng.uniform(0.9, 0.98)
        said.append(np.where(relevant, rng.random(relevant.size) < found, rng.random(relevant.size) > passed))
    said.append(last(relevant, rng))
    judges = GOOD + 1
    return replace(
        gold,
        judges=tuple(f"judge-{k}" for k in range(judges)),
        judge=np.tile(np.arange(judges, dtype=np.int32), relevant.size),
        item=np.repeat(gold.item, judges),
        grade=np.array(said, np.int8).T.ravel(),
        top_grade=1,
    )


def names_where_last_is_least(collection, last, names):
    """Of the approaches, those that give the last judge less than any good one, under every seed."""
    runs, gold = collection
    least = set(names)
    for seed in range(SEEDS):
        found = kt.evaluate(runs, panel(gold, last, seed), "AP", approach=[name + FEW for name in names], rng=seed)
        for weights in found.weights:
            if weights.mean[GOOD] >= weights.mean[:GOOD].min():
                least.discard(weights.approach.removesuffix(FEW))
    return least


def weights_of_last(collection, last, names):
    """The last judge's share and the highest and lowest of the good ones', (name, seed, 3)."""
    runs, gold = collection
    found = []
    for seed in range(SEEDS):
        board = kt.evaluate(runs, panel(gold, last, seed), "AP", approach=names, rng=seed)
        found.append([(w.mean[GOOD], w.mean[:GOOD].max(), w.mean[:GOOD].min()) for w in board.weights])
    return np.array(found).transpose(1, 0, 2)


def at_random(share):
    return lambda relevant, rng: rng.random(relevant.size) < share


def test_a_coin_weighs_least_under_all_thirty(collection):
    assert names_where_last_is_least(collection, at_random(0.5), ESTIMATORS) == set(ESTIMATORS)


def test_a_rate_that_no_class_has_is_found_by_the_judges_own_chance(collection):
    assert names_where_last_is_least(collection, at_random(0.3), OWN) == set(OWN)
    missed = set(ESTIMATORS) - names_where_last_is_least(collection, at_random(0.3), ESTIMATORS)
    assert {name for name in ESTIMATORS if "sgl_rmse" in name or "kld" in name} <= missed


def test_a_rate_that_a_class_has_is_found(collection):
    """Which the three classes miss, see the test above."""
    names = [name for name in ESTIMATORS if "rmse" in name or "kld" in name]
    asked = [f"{name}(replicates=50,random=0.3)" for name in names]
    last, _, least = np.moveaxis(weights_of_last(collection, at_random(0.3), asked), 2, 0)
    assert (last < least).all()


def test_closeness_gives_a_coin_the_highest_weight(collection):
    """The reason why the paper's equations 20 to 27 are not taken word for word."""
    names = ["sgl_tau_msd", "sgl_apc_md", "tpc_apc_med", "sgl_rmse_md", "sgl_fro_msd"]
    asked = [f"{name}(replicates=50,closeness=True)" for name in names]
    last, most, _ = np.moveaxis(weights_of_last(collection, at_random(0.5), asked), 2, 0)
    assert (last > most).all()
    assert (last[0] > 0.3).all()  # of six judges


@pytest.fixture(scope="module")
def simulated():
    world = kt.simulation.simulate_collection(systems=30, topics=20, depth=30, rng=3)
    return world.runs, world.gold


def test_a_rate_that_a_class_has_is_found_on_simulated_runs(simulated):
    names = ["sgl_rmse_md", "sgl_kld_md", "sgl_rmse_md(random=0.3)", "sgl_kld_md(random=0.3)"]
    last, _, least = np.moveaxis(weights_of_last(simulated, at_random(0.3), names), 2, 0)
    assert (last[0] > least[0]).all()
    assert (last[2:] < least[2:] / 2).all()
    assert (last[2:] < last[:2] / 2).all()


def test_closeness_gives_a_coin_the_highest_weight_on_simulated_runs(simulated):
    names = ["sgl_fro_msd", "tpc_rmse_med"]
    asked = [*names, *(f"{name}(closeness=True)" for name in names)]
    last, most, least = np.moveaxis(weights_of_last(simulated, at_random(0.5), asked), 2, 0)
    assert (last[:2] < least[:2]).all()
    assert (last[2:] > most[2:]).all()


def test_five_percent_at_random_weighs_least_by_single_least_distances(collection):
    single = [name for name in ESTIMATORS if name.startswith("sgl") and not name.endswith("med") and "apc" not in name]
    assert set(single) <= names_where_last_is_least(collection, at_random(0.05), ESTIMATORS)


def test_an_inverted_judge_is_a_random_one_by_tau_and_apc(collection):
    by_order = {name for name in [*ESTIMATORS, *OWN] if "tau" in name or "apc" in name}
    assert by_order <= names_where_last_is_least(collection, lambda relevant, _: ~relevant, by_order)
