"""Intervals of tau and of the slope cover as often as they promise."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import karatage as kt

MEASURE = "P(rel=2)@10"
JUDGES = (kt.simulation.JudgeProfile("lenient", noise=0.5, leniency=0.5),)
Thin = Callable[[int], int]


def make_world(topics: int, seed: int) -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=12, topics=topics, depth=20, judges=JUDGES, rng=seed)


def rank(world: kt.simulation.World, gold: kt.Judgments) -> kt.Board:
    return kt.compare_all(world.runs, world.judgments, gold, kt.Question(measure=MEASURE, resamples=200))


@pytest.fixture(scope="module")
def slope() -> float:
    """Of very many topics."""
    world = make_world(3000, 99)
    return rank(world, world.gold).slope.value


@pytest.mark.parametrize("share", [1, 2], ids=["all topics", "every second topic"])
def test_intervals_cover(slope: float, share: int, thin: Thin) -> None:
    boards, worlds = [], thin(120)
    for seed in range(worlds):
        world = make_world(40, seed)
        gold = world.gold
        boards.append(rank(world, gold.keep_rows(gold.item_topic[gold.item] % share == 0)))
    least = stats.binom.ppf(0.001, worlds, 0.95) / worlds
    assert np.mean([board.slope.low <= slope <= board.slope.high for board in boards]) >= least
    for name in ("tau", "tau_ap"):
        found = [getattr(board, name) for board in boards]
        usual = np.mean([tau.value for tau in found])  # with as many topics
        assert np.mean([tau.low <= usual <= tau.high for tau in found]) >= least
