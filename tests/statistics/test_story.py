"""The demo's story must be told by its world, not by the luck of a seed; the how-to has the figures of 1,000 seeds."""

import numpy as np

import karatage as kt
from karatage.simulation.collection import simulate_story

SEEDS, LABELS = 40, 300


def ask(seed):
    """p-values, naive and corrected, of new against old and of newer against old."""
    world = simulate_story(seed)
    queue = kt.plan(world.runs, world.judgments, "P@10", budget=LABELS).queue
    gold = kt.read_gold(queue.drop("grade").join(world.gold.to_frame().drop("judge"), on=["topic", "document"]))
    found = [kt.compare(world.runs, world.judgments, gold, "P@10", a="old", b=b) for b in ("new", "newer")]
    return [(answer.naive.p_value, answer.corrected.p_value) for answer in found]


def test_judges_claim_what_gold_does_not_and_a_real_difference_survives():
    claimed = np.mean(np.array([ask(1000 + seed) for seed in range(SEEDS)]) < 0.05, axis=0)
    (judges_new, gold_new), (judges_newer, gold_newer) = claimed.tolist()
    assert judges_new > 0.7
    assert gold_new <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / SEEDS)
    assert min(judges_newer, gold_newer) > 0.75


def test_new_is_as_good_as_old_and_newer_is_better():
    truth = np.array([kt.score(world.runs, world.pool, "P@10").mean[0] for world in map(simulate_story, range(SEEDS))])
    by_system = dict(zip(simulate_story(0).runs.systems, truth.T, strict=True))
    difference = by_system["new"] - by_system["old"]
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(SEEDS)
    assert (by_system["newer"] - by_system["old"]).mean() > 0.08
