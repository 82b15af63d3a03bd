"""Unit tests of whole collections: their shape, their pool, and the truth that comes with them."""

import hashlib

import numpy as np
import pytest

import karatage as kt
from karatage.errors import OptionError


def fingerprint(*tables):
    seen = hashlib.sha256()
    for table in tables:
        if isinstance(table, kt.Runs):
            names, arrays = (table.systems, table.topics), (table.listed, table.bounds)
        else:
            names = (table.judges, table.topics, table.top_grade)
            arrays = (table.item_topic, table.item_document, table.judge, table.item, table.grade)
        seen.update(repr((names, table.documents.to_list())).encode())
        for array in arrays:
            seen.update(array.tobytes())
    return seen.hexdigest()[:16]


def items_of(judgments):
    return set(judgments.to_frame().select("topic", "document").rows())


def retrieved(runs, depth):
    rows = set()
    for t, topic in enumerate(runs.topics):
        for low, high in runs.bounds[t]:
            rows |= {(topic, d) for d in runs.documents.gather(runs.listed[low : min(high, low + depth)]).to_list()}
    return rows


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rng": 7}, "169b7ae462f9addd"),
        ({"systems": 5, "topics": 3, "depth": 600, "rng": 2}, "7bf0709536a1125f"),
        ({"systems": 120, "topics": 4, "depth": 10, "rng": 9}, "69ee82c80d42712d"),
    ],
)
def test_the_usual_shape_gives_what_it_always_gave(options, expected):
    """The demo and the transcripts rest on it."""
    world = kt.simulation.simulate_collection(**options)
    assert fingerprint(world.runs, world.judgments, world.gold) == expected


def test_the_truth_comes_with_it():
    world = kt.simulation.simulate_collection(systems=15, topics=9, depth=10, rng=1)
    assert len(world.quality) == 15
    np.testing.assert_allclose(np.sort(world.quality), np.linspace(0.8, 1.6, 15))
    assert world.systems["quality"].is_sorted(descending=True)
    assert dict(world.systems.rows()) == dict(zip(world.runs.systems, world.quality, strict=True))
    assert world.topics["topic"].to_list() == list(world.gold.topics)
    assert world.topics["documents"].to_list() == [20] * 9
    assert world.topics["relevant"].sum() == (world.gold.grade > 0).sum()
    with pytest.raises(ValueError, match="read-only"):
        world.quality[0] = 2
    assert not world.difficulty.flags.writeable


def test_without_a_pool_everything_is_judged():
    world = kt.simulation.simulate_collection(systems=3, topics=4, depth=10, rng=1)
    assert fingerprint(world.pool) == fingerprint(world.gold)
    assert items_of(world.judgments) == items_of(world.gold)
    assert len(world.gold.grade) == 4 * 20


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_the_pool_is_the_first_ranks_of_all_systems_and_changes_nothing_else(depth):
    options = {"systems": 6, "topics": 5, "depth": 10, "rng": 4}
    whole = kt.simulation.simulate_collection(**options)
    world = kt.simulation.simulate_collection(**options, shape=kt.simulation.CollectionShape(pool=depth))
    assert fingerprint(world.runs, world.gold) == fingerprint(whole.runs, whole.gold)
    assert items_of(world.pool) == items_of(world.judgments) == retrieved(world.runs, depth) < items_of(whole.gold)
    kept = set(world.pool.to_frame().rows())
    assert kept < set(whole.gold.to_frame().rows())
    assert set(world.judgments.to_frame().rows()) < set(whole.judgments.to_frame().rows())
    assert world.topics["pooled"].sum() == len(world.pool.grade)
    assert world.topics["pooled_relevant"].sum() == (world.pool.grade > 0).sum()


def test_documents_of_a_topic():
    world = kt.simulation.simulate_collection(
        systems=2, topics=3, depth=10, shape=kt.simulation.CollectionShape(documents=10), rng=1
    )
    assert len(world.gold.grade) == 30
    assert items_of(world.gold) == retrieved(world.runs, 10)
    assert (
        len(
            kt.simulation.simulate_collection(
                topics=3, shape=kt.simulation.CollectionShape(documents=400), rng=1
            ).gold.grade
        )
        == 1200
    )


def test_quality_may_be_the_same_for_all():
    shape = kt.simulation.CollectionShape(quality=(1.2, 1.2))
    assert set(kt.simulation.simulate_collection(topics=2, depth=5, shape=shape, rng=1).quality.tolist()) == {1.2}


def test_one_system_is_the_best():
    assert kt.simulation.simulate_collection(systems=1, topics=2, depth=5, rng=1).quality.tolist() == [1.6]


def test_topics_without_spread_are_alike():
    shape = kt.simulation.CollectionShape(difficulty=0.0)
    assert set(kt.simulation.simulate_collection(topics=5, depth=5, shape=shape, rng=1).difficulty.tolist()) == {1.0}


def test_systems_may_be_named_and_described():
    old, new = kt.simulation.SystemProfile("old", quality=0.5), kt.simulation.SystemProfile("new", quality=2.0)
    world = kt.simulation.simulate_collection(systems=[old, new], topics=30, depth=10, rng=1)
    assert world.systems.rows() == [("new", 2.0), ("old", 0.5)]
    score = dict(zip(world.runs.systems, kt.score(world.runs, world.gold, "P@5").mean[0], strict=True))
    assert score["new"] > score["old"] + 0.1


def test_a_system_finds_what_judges_overrate_as_far_as_it_has_their_taste():
    """With a taste of 1 and no quality it ranks by the judges' shared error alone, or, with -1, against it."""
    systems = [
        kt.simulation.SystemProfile(name, 0.0, taste) for name, taste in (("against", -1), ("apart", 0), ("with", 1))
    ]
    judge = kt.simulation.JudgeProfile("twin", noise=0.0)
    shape = kt.simulation.CollectionShape(documents=50, shared=1.0)
    world = kt.simulation.simulate_collection(systems=systems, topics=40, depth=10, judges=[judge], shape=shape, rng=2)
    judged, gold = (kt.score(world.runs, j, "P@10").mean[0] for j in (world.judgments, world.gold))
    overrated = judged - gold
    assert overrated[0] < overrated[1] - 0.1
    assert overrated[2] > overrated[1] + 0.1
    assert np.ptp(gold) < 0.06  # of 400 documents with 15 % relevant: standard error 0.018


def test_judges_without_shared_error_or_noise_are_gold():
    shape = kt.simulation.CollectionShape(shared=0.0)
    world = kt.simulation.simulate_collection(
        topics=4, depth=10, judges=[kt.simulation.JudgeProfile("j", noise=0.0)], shape=shape, rng=1
    )
    np.testing.assert_array_equal(world.judgments.grade, world.gold.grade)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quality": -1.0}, "quality.*-1"),
        ({"quality": float("nan")}, "nan"),
        ({"taste": 1.1}, r"\b1\.1\b"),
        ({"taste": float("nan")}, "nan"),
    ],
)
def test_impossible_systems_are_refused(options, says):
    with pytest.raises(OptionError, match=says):
        kt.simulation.SystemProfile("old", **options)


def test_systems_of_one_name_are_refused():
    with pytest.raises(OptionError, match="name"):
        kt.simulation.simulate_collection(
            systems=[kt.simulation.SystemProfile("old"), kt.simulation.SystemProfile("old")]
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"shared": -0.1}, r"-0\.1"),
        ({"quality": (1.6, 0.8)}, r"\b1\.6\b.*\b0\.8\b.*\b0\b"),
        ({"quality": (-1, 1)}, "quality"),
        ({"quality": (0, float("inf"))}, "quality"),
        ({"difficulty": -0.1}, r"-0\.1"),
        ({"difficulty": float("nan")}, "nan"),
        ({"relevant": 0}, r"relevant.*\b0\b"),
        ({"relevant": 1.5}, r"\b1\.5\b"),
        ({"documents": 49}, r"\b49\b.*\b50\b"),
        ({"pool": 0}, r"\b0\b.*\b50\b.*\b1\b"),
        ({"pool": 51}, r"pool.*\b51\b"),
    ],
)
def test_impossible_shapes_are_refused(options, says):
    with pytest.raises(OptionError, match=says):
        kt.simulation.simulate_collection(shape=kt.simulation.CollectionShape(**options))
