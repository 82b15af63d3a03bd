"""Simulated collections: what was put in comes out."""

import numpy as np
import pytest

import karatage as kt


def order_found(world, gold=None):
    """Kendall's tau between systems' quality and their mean scores."""
    scores = kt.score(world.runs, world.gold if gold is None else gold, "AP")
    assert scores.systems == world.runs.systems
    return float(kt.stats.kendall_tau(world.quality, scores.mean[0]))


def test_the_measured_order_comes_nearer_to_the_known_one_as_topics_grow():
    found = [
        np.mean(
            [order_found(kt.simulation.simulate_collection(systems=20, topics=n, depth=20, rng=s)) for s in range(8)]
        )
        for n in (2, 16, 256)
    ]
    assert found[0] < found[1] < found[2]
    assert found[0] < 0.6
    assert found[2] > 0.9


def test_a_wider_range_of_quality_is_told_apart_more_easily():
    def find(quality, seed):
        shape = kt.simulation.CollectionShape(quality=quality)
        return order_found(kt.simulation.simulate_collection(systems=20, topics=10, depth=20, shape=shape, rng=seed))

    narrow, wide = ([find(q, s) for s in range(8)] for q in ((1.15, 1.25), (0.4, 2.0)))
    assert np.mean(wide) - np.mean(narrow) > 0.3


def test_harder_topics_score_lower_and_the_spread_of_difficulty_is_what_was_asked():
    shape = kt.simulation.CollectionShape(difficulty=1.0, relevant=0.1)
    world = kt.simulation.simulate_collection(systems=8, topics=400, depth=30, shape=shape, rng=3)
    assert abs(world.difficulty.mean() - 1) < 4 / np.sqrt(400)
    assert abs(world.difficulty.std() - 1) < 4 * np.sqrt(8 / 4) / np.sqrt(400)  # excess kurtosis of a gamma is 6
    score = kt.score(world.runs, world.gold, "P@5").value[0].mean(axis=1)
    easy, hard = world.difficulty < 0.5, world.difficulty > 1.5
    assert score[easy].mean() - score[hard].mean() > 0.2


def test_the_spread_of_difficulty_makes_topics_differ():
    def spread(difficulty):
        shape = kt.simulation.CollectionShape(difficulty=difficulty)
        world = kt.simulation.simulate_collection(systems=30, topics=200, depth=30, shape=shape, rng=3)
        return kt.score(world.runs, world.gold, "AP").value[0].mean(axis=1).std()

    assert spread(0.0) < 0.75 * spread(1.0)


@pytest.mark.parametrize("share", [0.02, 0.15, 0.5])
def test_the_share_of_relevant_documents_is_what_was_asked(share):
    shape = kt.simulation.CollectionShape(relevant=share)
    world = kt.simulation.simulate_collection(systems=2, topics=400, depth=50, shape=shape, rng=5)
    found = (world.gold.grade > 0).reshape(400, 100).mean(axis=1)
    assert abs(found.mean() - share) < 4 * found.std() / np.sqrt(400)


def test_a_deeper_pool_finds_more_relevant_documents_and_the_order_stays():
    found = []
    for depth in (2, 10, 40):
        shape = kt.simulation.CollectionShape(pool=depth, documents=400, relevant=0.1)
        world = kt.simulation.simulate_collection(systems=12, topics=40, depth=40, shape=shape, rng=6)
        found.append((len(world.pool.grade), int((world.pool.grade > 0).sum())))
    documents, relevant = np.array(found).T
    assert (np.diff(documents) > 0).all()
    assert (np.diff(relevant) > 0).all()
    assert relevant[-1] < (world.gold.grade > 0).sum()
    density = relevant / documents
    assert (np.diff(density) < 0).all()
    assert order_found(world, world.pool) > 0.7
