"""What an item's gold would tell, written out."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.pool import pool_runs
from karatage.queueing.belief import form_belief
from karatage.queueing.combining import combine_judgments
from karatage.queueing.effect import find_effect, find_weights, require_weights

WORLD = kt.simulate_collection(systems=4, topics=6, depth=15, rng=3)
POOL = pool_runs(WORLD.runs, 15)
ALIGNMENT = kt.align(WORLD.runs, POOL)


@pytest.mark.parametrize("measure", ["P@5", "DCG@10"])
def test_effect_is_the_weight_in_open_pairs_times_the_spread_of_the_gain(measure: str) -> None:
    """Items that are sure, or on which only other pairs differ, keep a tenth of the largest, or of the mean."""
    experts = WORLD.gold.keep_rows(np.arange(len(WORLD.gold.grade)) % 3 == 0)
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, experts))
    linear = require_weights(ALIGNMENT, kt.parse_measure(measure), 3)
    weight = find_weights(ALIGNMENT, linear, None)
    undecided = np.zeros((4, 4), bool)
    undecided[3, 1] = True
    apart = np.abs(weight[:, 3] - weight[:, 1])
    size = np.where(weight.max(axis=1) > weight.min(axis=1), 0.1 * apart[apart > 0].mean(), 0.0)
    size[apart > 0] = apart[apart > 0]
    chance = belief.probability
    spread = np.sqrt(np.maximum(chance @ linear.gain**2 - (chance @ linear.gain) ** 2, 0))
    assert (spread < 0.1 * spread.max()).any()
    np.testing.assert_allclose(
        find_effect(weight, linear, belief, undecided), size * np.maximum(spread, 0.1 * spread.max()), atol=1e-9
    )
