"""Orders of judging on T08: answers on the way help to find what is relevant."""

import numpy as np
import pytest

import karatage as kt
from karatage.data.judgments import match_gold
from karatage.orders.budget import find_area, find_curve
from karatage.orders.orders import ORDERS, list_all


@pytest.fixture(scope="module")
def area(shared_data):
    """The area under the curve of an order, over all topics and each by itself."""
    folder = shared_data / "trec8-adhoc-10topics"
    gold = kt.read_gold(folder / "gold.qrels")
    alignment = kt.stats.align(kt.read_runs(folder / "runs"), gold)
    grade = match_gold(gold, gold)
    start = alignment.item_start

    def find(order, seed=0):
        state = kt.experiments.JudgingState(
            ranked=alignment.ranked,
            item_start=start,
            grade=np.full(len(grade), -1, np.int8),
            open=np.ones(len(grade), np.bool_),
            seed=seed,
        )
        listed = list_all(ORDERS[order], state, grade)
        assert sorted(listed.tolist()) == list(range(18_260))
        parts = [
            find_area(find_curve(listed[state.item_topic[listed] == t] - start[t], grade[start[t] : start[t + 1]] > 0))
            for t in range(10)
        ]
        return find_area(find_curve(listed, grade > 0)), np.array(parts)

    return find


def test_dynamic_orders_beat_depth_pooling(area):
    """In all, and in nine topics of ten."""
    depth, depth_by_topic = area("depth")
    assert depth == pytest.approx(0.750, abs=0.001)
    for order, expected in (("move-to-front", 0.827), ("thompson", 0.848)):
        found, by_topic = area(order)
        assert found == pytest.approx(expected, abs=0.006)
        assert found > depth + 0.07
        assert (by_topic > depth_by_topic).sum() >= 9


def test_the_luck_of_thompson_hardly_matters(area):
    areas = [area("thompson", seed)[0] for seed in range(3)]
    assert len(set(areas)) == 3
    assert np.std(areas) < 0.01
