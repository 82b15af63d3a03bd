"""What an item's gold would tell, written out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.alignment import pool_runs
from karatage.data.judgments import find_items
from karatage.decisions.belief import IDEALS, combine_judgments, find_effect, find_weights, form_belief, require_weights

WORLD = kt.simulation.simulate_collection(systems=4, topics=6, depth=15, rng=3)
POOL = pool_runs(WORLD.runs, 15)
ALIGNMENT = kt.stats.align(WORLD.runs, POOL)


@pytest.mark.parametrize("measure", ["P@5", "DCG@10", "nDCG@10"])
def test_effect_is_the_weight_in_open_pairs_times_the_spread_of_the_gain(measure: str) -> None:
    """Items that are sure, or on which only other pairs differ, keep a tenth of the largest, or of the mean."""
    experts = WORLD.gold.keep_rows(np.arange(len(WORLD.gold.grade)) % 3 == 0)
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, experts))
    linear = require_weights(ALIGNMENT, kt.parse_measure(measure), 3)
    weight = find_weights(ALIGNMENT, linear, belief, None, np.random.default_rng(0))
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


def test_weights_of_ndcg_are_those_of_dcg_over_the_ideal_gain() -> None:
    """Experts know all grades, so the ideal is certain: the sum of weights times gains is the score."""
    measure = kt.parse_measure("nDCG@10")
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, WORLD.gold))
    linear = require_weights(ALIGNMENT, measure, WORLD.gold.top_grade)
    weight = find_weights(ALIGNMENT, linear, belief, None, np.random.default_rng(0))
    grade = np.zeros(len(POOL.item_topic), np.int64)
    grade[find_items(WORLD.gold, POOL)[WORLD.gold.item]] = WORLD.gold.grade
    found = np.zeros((len(POOL.topics), len(WORLD.runs.systems)))
    np.add.at(found, POOL.item_topic, weight * linear.gain[grade][:, None])
    scored = kt.evaluate(WORLD.runs, WORLD.gold, measure, approach="judge:gold")
    (value,) = scored.scores.values()
    order = [value.topics.index(name) for name in POOL.topics]
    np.testing.assert_allclose(found, value.value[0][order], atol=1e-12)


def find_scale(experts: kt.Judgments) -> np.ndarray:
    """What weights of DCG@10 are multiplied with, (topic,)."""
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, experts))
    weights = [
        find_weights(ALIGNMENT, require_weights(ALIGNMENT, kt.parse_measure(name), 3), belief, None, start())
        for name in ("nDCG@10", "DCG@10")
    ]
    ratio = weights[0].sum(axis=1) / np.where(weights[1].any(axis=1), weights[1].sum(axis=1), np.nan)
    found = [ratio[(POOL.item_topic == t) & np.isfinite(ratio)] for t in range(len(POOL.topics))]
    assert all(np.ptp(scale) < 1e-12 for scale in found)
    return np.array([scale[0] for scale in found])


def start() -> np.random.Generator:
    return np.random.default_rng(0)


def test_what_is_not_known_of_the_ideal_is_averaged_over() -> None:
    """The mean of 1 over the ideal, which is not 1 over its mean; 0 where nothing gains."""
    experts = WORLD.gold.keep_rows(np.arange(len(WORLD.gold.grade)) % 3 == 0)
    linear = require_weights(ALIGNMENT, kt.parse_measure("nDCG@10"), 3)
    drawn = form_belief(ALIGNMENT, combine_judgments(POOL, None, experts)).draw(IDEALS, start())
    best = [-np.sort(-linear.gain[drawn[POOL.item_topic == t]], axis=0)[:10] for t in range(len(POOL.topics))]
    ideal = np.stack([linear.weight @ gains for gains in best])  # (topic, draw)
    inverse = np.where(ideal > 0, 1 / np.where(ideal > 0, ideal, 1.0), 0.0)
    np.testing.assert_allclose(find_scale(experts), inverse.mean(axis=1))


def test_a_topic_where_nothing_gains_counts_like_others() -> None:
    grades = WORLD.gold.to_frame().drop("judge")
    nothing = pl.col("topic") == POOL.topics[0]
    experts = kt.read_gold(grades.with_columns(grade=pl.when(nothing).then(0).otherwise(pl.col("grade"))))
    scale = find_scale(experts)
    assert scale[0] == pytest.approx(np.median(scale[1:]))
    np.testing.assert_allclose(scale[1:], find_scale(WORLD.gold)[1:])
