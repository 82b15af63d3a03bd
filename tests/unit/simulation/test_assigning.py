"""Who judges what: every item has its judges, and judges do what their kind does."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.simulation.crowd import assign_items


def make_topics(sizes):
    ends = np.cumsum([0, *sizes])
    return [np.arange(a, b) for a, b in pairwise(ends)]


def levels(contribution):
    return np.minimum((contribution * 4).astype(np.int32), 3)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.integers(1, 6),
    st.integers(0, 60),
    st.sampled_from([0.02, 0.3, 0.9]),
    st.integers(0, 2**31),
)
def test_every_item_has_its_judges_and_nobody_judges_one_twice(sizes, per_item, more, typical, seed):
    rng = np.random.default_rng(seed)
    judges = min(per_item + more, per_item * sum(sizes))
    contribution = np.clip(typical * rng.lognormal(0, 1, judges), 1e-3, 1)
    found = assign_items(make_topics(sizes), contribution, levels(contribution), per_item, rng)
    np.testing.assert_array_equal(np.bincount(found.item, minlength=sum(sizes)), per_item)
    assert len(set(zip(found.judge.tolist(), found.item.tolist(), strict=True))) == len(found.item)
    assert found.judge.max() < judges


def test_judges_do_their_share_of_one_topic():
    contribution = np.tile([0.1, 0.2, 0.3, 0.4], 50)  # 50 in all: what ten topics with five judges each take
    found = assign_items(make_topics([100] * 10), contribution, levels(contribution), 5, np.random.default_rng(1))
    assert not found.stretched
    np.testing.assert_allclose(np.bincount(found.judge) / 100, contribution, atol=0.05)
    topics = [len(set((found.item[found.judge == k] // 100).tolist())) for k in range(200)]
    assert max(topics) == 1


def test_few_judges_go_on_to_other_topics_and_keep_their_share_of_each():
    contribution = np.full(20, 0.4)  # 8 in all, so that the circle is walked more than six times
    found = assign_items(make_topics([50] * 10), contribution, levels(contribution), 5, np.random.default_rng(1))
    pairs, done = np.unique(found.judge * 10 + found.item // 50, return_counts=True)
    assert set(np.bincount(pairs // 10).tolist()) <= {6, 7}
    assert abs(done.mean() / 50 - 0.4) < 0.03
    assert done.max() / 50 < 0.5


def test_a_level_is_kept_where_it_can_be():
    contribution = np.r_[np.full(90, 0.01), np.full(10, 0.3)]
    level = levels(contribution)
    found = assign_items(make_topics([200]), contribution, level, 20, np.random.default_rng(1))
    share = np.bincount(found.judge, minlength=100) / 200
    assert not found.stretched
    np.testing.assert_array_equal(levels(share), level)
    assert share[:90].mean() > 0.15  # instead of 0.01
    found = assign_items(make_topics([200]), contribution, level, 60, np.random.default_rng(1))
    assert found.stretched


@pytest.mark.parametrize("judges", [5, 6])
def test_hardly_enough_judges(judges):
    contribution = np.full(judges, 0.01)
    found = assign_items(make_topics([3, 1]), contribution, levels(contribution), 5, np.random.default_rng(1))
    np.testing.assert_array_equal(np.bincount(found.item), 5)
