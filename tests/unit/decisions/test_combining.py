"""Experts' grades stand, the crowd's are merged."""

from __future__ import annotations

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import pool_runs
from karatage.data.judgments import find_items
from karatage.decisions.belief import combine_judgments
from karatage.errors import DataError
from tests.notes import has_note

RUNS = kt.read_runs({"one": {"1": {"a": 3, "b": 2, "c": 1}}, "two": {"1": {"c": 2, "d": 1}}})
POOL = pool_runs(RUNS, 10)
CROWD = kt.read_judgments(
    {"x": {"1": {"a": 1, "b": 1, "zz": 1}}, "y": {"1": {"a": 1, "b": 0}}, "z": {"1": {"a": 0, "b": 0}}}
)


def test_the_crowd_is_merged_and_experts_stand() -> None:
    experts = kt.read_gold({"1": {"a": 0, "d": 1}})
    found = combine_judgments(POOL, CROWD, experts)
    np.testing.assert_array_equal(found.grade, [0, 0, -1, 1])  # a, b, c, d
    np.testing.assert_array_equal(found.expert, [True, False, False, True])
    np.testing.assert_array_equal(found.crowd, [True, True, False, False])
    np.testing.assert_allclose(found.probability, [[1, 0], [2 / 3, 1 / 3], [0, 0], [0, 1]])
    np.testing.assert_allclose(found.crowd_probability[:2], [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])
    assert has_note(found, "decisions.outside-pool", documents=1, who="the crowd")


def test_either_may_be_missing() -> None:
    np.testing.assert_array_equal(combine_judgments(POOL, CROWD, None).grade, [1, 0, -1, -1])
    alone = combine_judgments(POOL, None, kt.read_gold({"1": {"c": 2}}))
    np.testing.assert_array_equal(alone.grade, [-1, -1, 2, -1])
    assert alone.probability.shape == (4, 3)
    assert (combine_judgments(POOL, None, None).grade == -1).all()


def test_any_consensus_model_merges() -> None:
    world = kt.simulation.simulate_collection(systems=3, topics=4, depth=10, rng=1)
    pool = pool_runs(world.runs, 10)
    by_vote = combine_judgments(pool, world.judgments, None, "mv")
    by_model = combine_judgments(pool, world.judgments, None, "ds")
    merged = kt.aggregate(world.judgments, "ds").to_frame()
    names = {(t, d): g for t, d, g in merged.select("topic", "document", "grade").iter_rows()}
    documents = pool.documents.gather(pool.item_document).to_list()
    expected = [names[pool.topics[t], d] for t, d in zip(pool.item_topic, documents, strict=True)]
    np.testing.assert_array_equal(by_model.grade, expected)
    assert (by_vote.grade != by_model.grade).any()


def test_judgments_of_other_documents_only_are_refused() -> None:
    with pytest.raises(DataError, match=r"\b1\b.*pool"):
        combine_judgments(POOL, None, kt.read_gold({"1": {"other": 1}}))
    with pytest.raises(DataError, match=r"\b1\b.*crowd"):
        combine_judgments(POOL, kt.read_judgments({"x": {"5": {"a": 1}}}), None)


def test_experts_teach_the_model_but_not_what_the_crowd_says_alone() -> None:
    world = kt.simulation.simulate_collection(systems=3, topics=4, depth=10, rng=1)
    pool = pool_runs(world.runs, 20)
    experts = world.gold.keep_rows(np.arange(len(world.gold.grade)) % 2 == 0)
    found = combine_judgments(pool, world.judgments, experts, "ds")
    taught, alone = kt.aggregate(world.judgments, "ds", gold=experts), kt.aggregate(world.judgments, "ds")
    place = find_items(world.judgments, pool)
    inside = place >= 0
    open_ = inside & ~found.expert[place]
    np.testing.assert_allclose(found.probability[place[open_]], taught.probability[open_])
    np.testing.assert_array_equal(found.grade[place[open_]], taught.grades[open_])
    np.testing.assert_allclose(found.crowd_probability[place[inside]], alone.probability[inside])
    assert np.abs(taught.probability - alone.probability)[open_].max() > 0.01
    assert taught.notes
    assert set(taught.notes) <= set(found.notes)
