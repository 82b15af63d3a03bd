"""Unit tests of the simulated collection."""

import numpy as np
import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.simulation.collection import PANEL


def test_shape_and_seed():
    world = kt.simulation.simulate_collection(rng=7)
    assert len(world.runs.systems) == 12
    assert len(world.gold.topics) == 40
    assert world.judgments.judges == tuple(sorted(judge.name for judge in PANEL))
    assert world.gold.top_grade == 3
    again = kt.simulation.simulate_collection(rng=7)
    np.testing.assert_array_equal(world.judgments.grade, again.judgments.grade)
    np.testing.assert_array_equal(world.runs.listed, again.runs.listed)
    assert (world.judgments.grade != kt.simulation.simulate_collection(rng=8).judgments.grade).any()


def test_careful_judges_agree_with_gold_and_the_random_one_does_not():
    world = kt.simulation.simulate_collection(topics=60, rng=1)
    agree = dict.fromkeys(world.judgments.judges, 0.0)
    for k, judge in enumerate(world.judgments.judges):
        rows = world.judgments.judge == k
        agree[judge] = float((world.judgments.grade[rows] == world.gold.grade[world.judgments.item[rows]]).mean())
    assert agree["careful-1"] > agree["crowd-1"] > agree["crowd-3"] > agree["spammer"]
    items = len(world.gold.grade)
    assert abs(agree["spammer"] - 0.25) < 4 * np.sqrt(0.25 * 0.75 / items)


def test_better_systems_score_better():
    world = kt.simulation.simulate_collection(topics=200, rng=2)
    mean = kt.score(world.runs, world.gold, "nDCG@10").mean[0]
    assert np.ptp(mean) > 0.15


def test_empty_worlds_are_refused():
    with pytest.raises(OptionError):
        kt.simulation.simulate_collection(systems=0)
