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


def at_random(share):
    return lambda relevant, rng: rng.random(relevant.size) < share


def test_a_coin_weighs_least_under_all_thirty(collection):
    assert names_where_last_is_least(collection, at_random(0.5), ESTIMATORS) == set(ESTIMATORS)


def test_a_rate_that_no_class_has_is_found_by_the_judges_own_chance(collection):
    assert names_where_last_is_least(collection, at_random(0.3), OWN) == set(OWN)
    missed = set(ESTIMATORS) - names_where_last_is_least(collection, at_random(0.3), ESTIMATORS)
    assert {name for name in ESTIMATORS if "sgl_rmse" in name or "kld" in name} <= missed


def test_five_percent_at_random_weighs_least_by_single_least_distances(collection):
    single = [name for name in ESTIMATORS if name.startswith("sgl") and not name.endswith("med") and "apc" not in name]
    assert set(single) <= names_where_last_is_least(collection, at_random(0.05), ESTIMATORS)


def test_an_inverted_judge_is_a_random_one_by_tau_and_apc(collection):
    by_order = {name for name in [*ESTIMATORS, *OWN] if "tau" in name or "apc" in name}
    assert by_order <= names_where_last_is_least(collection, lambda relevant, _: ~relevant, by_order)
