"""Random judges: rates, bits, and shuffles that keep what they should."""

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.merging.gaps import CLASSES, RandomJudges, shuffle_grades
from karatage.random_streams import stream
from karatage.simulation.crowd import draw_rates


@pytest.mark.parametrize("replicates", [1, 8, 13])
def test_each_class_has_its_rate(replicates):
    items = 20_000
    drawn = RandomJudges.draw(items, replicates, stream(1, "x"))
    for name, bits in drawn.bits.items():
        assert bits.shape == (items, (replicates + 7) // 8)
        relevant = np.unpackbits(bits, axis=1, count=replicates).sum(axis=0)
        deviation = (CLASSES[name] * (1 - CLASSES[name]) * items) ** 0.5
        assert (np.abs(relevant - CLASSES[name] * items) < 5 * deviation).all()


def test_replicates_may_have_rates_of_their_own():
    rates = np.array([0.02, 0.3, 0.97])
    bits = RandomJudges.draw(20_000, 3, stream(2, "x"), {"some": rates}).bits["some"]
    found = np.unpackbits(bits, axis=1, count=3).mean(axis=0)
    assert (np.abs(found - rates) < 5 * (rates * (1 - rates) / 20_000) ** 0.5).all()


def test_a_crowds_judges_have_the_rates_of_its_model():
    """By its mean rates of true positives and negatives, and as often as `simulate_crowd` lets them say relevant."""
    crowd = kt.simulation.load_crowd("hcb")
    rates = draw_rates("hcb", 4000, stream(1, "x"))
    hit, rejection = crowd.rates
    expected = crowd.balance[1] * hit + crowd.balance[0] * (1 - rejection)
    assert abs(rates.mean() - expected) < 0.01
    said = {"gold": {"1": {f"d{k}": int(k < 554) for k in range(1000)}}}
    simulated = kt.simulation.simulate_crowd(kt.read_gold(said["gold"]), "hcb", per_item=9, judges=300, rng=1)
    assert abs(simulated.grade.mean() - rates.mean()) < 0.03
    assert 0.1 < rates.std() < 0.3


def test_replicates_and_items_are_independent():
    bits = RandomJudges.draw(10_000, 16, stream(3, "x")).bits["uni"]
    table = np.unpackbits(bits, axis=1).astype(float)
    correlation = np.corrcoef(table.T)
    np.fill_diagonal(correlation, 0)
    assert np.abs(correlation).max() < 5 / 100
    assert abs(np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]) < 5 / 400


def test_the_stream_decides():
    first, same, other = (RandomJudges.draw(50, 20, stream(seed, "x")).bits["uni"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_shuffles_keep_the_grades_of_each_topic():
    world = kt.simulation.simulate_collection(systems=2, topics=3, depth=10, rng=1)
    frame = world.judgments.to_frame().filter(~((pl.col("judge") == "crowd-1") & (pl.col("topic") == "102")))
    judgments = kt.read_judgments(frame)
    judge = judgments.judges.index("crowd-1")
    rows = judgments.judge == judge
    own = np.full(len(judgments.item_topic), -1)
    own[judgments.item[rows]] = judgments.grade[rows]
    shuffled = shuffle_grades(judgments, judge, 30, seed=4)
    np.testing.assert_array_equal(shuffled == -1, np.repeat((own == -1)[:, None], 30, axis=1))
    for t in range(3):
        items = slice(judgments.item_start[t], judgments.item_start[t + 1])
        np.testing.assert_array_equal(np.sort(shuffled[items], axis=0), np.sort(own[items])[:, None].repeat(30, axis=1))
    assert len(np.unique(shuffled, axis=1).T) == 30
    assert (shuffle_grades(judgments, judge, 30, seed=5) != shuffled).any()


def test_every_place_is_as_likely_for_a_grade():
    judgments = kt.read_judgments({"a": {"1": {f"d{k}": int(k == 0) for k in range(5)}}})
    place = shuffle_grades(judgments, 0, 20_000, seed=1).argmax(axis=0)
    count = np.bincount(place, minlength=5)
    assert (np.abs(count - 4000) < 5 * (20_000 * 0.2 * 0.8) ** 0.5).all()
