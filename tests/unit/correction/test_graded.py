"""Identities of the graded correction, its refusals and its resampling."""

import numpy as np
import pytest

from karatage.correction import graded
from karatage.errors import DataError, JudgeError

CONFUSION = np.array([[0.8, 0.15, 0.05], [0.1, 0.75, 0.15], [0.05, 0.15, 0.8]])
SIZE = np.array([120.0, 60.0, 25.0])
GAIN = np.array([0.0, 1.0, 3.0])
WEIGHT = 1 / np.log2(np.arange(2, 12))


def masses(*leading, grades=3, seed=1):
    """What judges said at ten ranks, as mass (..., topic, said)."""
    source = np.random.default_rng(seed)
    said = source.integers(0, grades, (2, *leading, 10)).min(axis=0)  # low grades more often
    return (WEIGHT[:, None] * (said[..., None] == np.arange(grades))).sum(axis=-2)


def test_perfect_judges_give_the_naive_score():
    mass = masses(40)
    found = graded.correct(mass, np.eye(3), SIZE, GAIN)
    naive = mass @ GAIN
    assert found.value == pytest.approx(naive.mean(), rel=1e-14)
    assert found.topics == pytest.approx(naive.var(ddof=1) / 40, rel=1e-14)
    assert found.gold == 0
    assert found.degrees == pytest.approx(39)


def test_a_judge_with_errors_is_not_left_naive():
    mass = masses(40)
    found = graded.correct(mass, CONFUSION, SIZE, GAIN)
    assert abs(found.value - (mass @ GAIN).mean()) > 0.1
    assert found.topics > (mass @ GAIN).var(ddof=1) / 40
    assert found.gold > 0


def test_gains_by_judges_average_to_golds_gain():
    gains = graded.judge_gains(CONFUSION, GAIN)
    np.testing.assert_allclose(CONFUSION @ gains, GAIN, atol=1e-14)
    assert gains[0] < 0 < GAIN[2] < gains[2]  # undoing errors moves them apart


def test_mean_over_topics_is_the_score():
    mass = masses(40)
    topics = graded.correct_topics(mass, graded.judge_gains(CONFUSION, GAIN))
    assert topics.shape == (40,)
    assert topics.mean() == pytest.approx(graded.correct(mass, CONFUSION, SIZE, GAIN).value, rel=1e-14)


@pytest.mark.parametrize("order", [[2, 1, 0], [1, 2, 0]])
def test_the_order_of_grades_does_not_matter(order):
    mass = masses(40)
    found = graded.correct(mass[:, order], CONFUSION[np.ix_(order, order)], SIZE[order], GAIN[order])
    np.testing.assert_allclose(found, graded.correct(mass, CONFUSION, SIZE, GAIN), rtol=1e-12)


def test_the_scale_of_gains_is_the_scale_of_scores():
    mass = masses(40)
    one, five = graded.correct(mass, CONFUSION, SIZE, GAIN), graded.correct(mass, CONFUSION, SIZE, 5 * GAIN)
    np.testing.assert_allclose(five, (5 * one.value, 25 * one.topics, 25 * one.gold, one.degrees), rtol=1e-12)


def test_a_gain_for_every_grade_adds_what_lists_weigh_and_nothing_to_a_difference():
    a, b = masses(40), masses(40, seed=2)
    plain, raised = (graded.correct(a, CONFUSION, SIZE, GAIN + extra) for extra in (0, 2))
    np.testing.assert_allclose(raised, (plain.value + 2 * WEIGHT.sum(), *plain[1:]), rtol=1e-12)
    plain, raised = (graded.correct(b - a, CONFUSION, SIZE, GAIN + extra) for extra in (0, 2))
    np.testing.assert_allclose(raised, plain, rtol=1e-10)


def test_a_difference_is_the_difference_and_turns_its_sign_only():
    a, b = masses(40), masses(40, seed=2)
    forth, back = (graded.correct(mass, CONFUSION, SIZE, GAIN) for mass in (b - a, a - b))
    apart = [graded.correct(mass, CONFUSION, SIZE, GAIN) for mass in (a, b)]
    assert forth.value == pytest.approx(apart[1].value - apart[0].value)
    np.testing.assert_allclose(back, (-forth.value, *forth[1:]), rtol=1e-12)
    assert forth.gold < (apart[0].gold + apart[1].gold) / 20  # errors that are shared cancel


def test_identical_systems_differ_by_nothing_for_sure():
    found = graded.correct(np.zeros((40, 3)), CONFUSION, SIZE, GAIN)
    assert found == (0, 0, 0, 39)


def test_more_gold_takes_from_the_gold_part_only():
    mass = masses(40)
    some, more = (graded.correct(mass, CONFUSION, SIZE * times, GAIN) for times in (1, 4))
    assert more.gold == pytest.approx(some.gold / 4)
    assert (more.value, more.topics) == (some.value, some.topics)
    assert some.estimated.variance == some.topics + some.gold


def test_degrees_lie_between_the_smallest_part_and_all_parts():
    few = graded.correct(masses(5000), CONFUSION, np.array([9.0, 9.0, 3.0]), GAIN)
    assert 2 < few.degrees < 5018
    assert few.degrees < graded.correct(masses(5000), CONFUSION, SIZE, GAIN).degrees
    assert graded.correct(masses(20), CONFUSION, 1e9 * SIZE, GAIN).degrees == pytest.approx(19, rel=1e-5)


def test_bias_shrinks_with_gold_and_perfect_judges_have_none():
    mass = masses(40)
    some, more = (graded.bias(mass, CONFUSION, SIZE * times, GAIN) for times in (1, 4))
    assert abs(some) > 0.01
    assert more == pytest.approx(some / 4)
    assert graded.bias(mass, np.eye(3), SIZE, GAIN) == 0
    many = graded.bias(masses(6, 40), np.stack([CONFUSION] * 6), SIZE, GAIN)
    assert many.shape == (6,)
    assert many[2] == pytest.approx(graded.bias(masses(6, 40)[2], CONFUSION, SIZE, GAIN))


def test_leading_axes_broadcast():
    mass, confusion = masses(6, 40), np.stack([CONFUSION, np.eye(3), CONFUSION.T / CONFUSION.T.sum(1, keepdims=True)])
    size = np.stack([SIZE, SIZE, SIZE[::-1]])
    pairs = graded.correct(mass, CONFUSION, SIZE, GAIN)
    for k in range(6):
        np.testing.assert_allclose([part[k] for part in pairs], graded.correct(mass[k], CONFUSION, SIZE, GAIN))
    table = graded.correct(mass[:, None], confusion, size, GAIN)
    assert table.value.shape == (6, 3)
    np.testing.assert_allclose(
        [part[4, 2] for part in table], graded.correct(mass[4], confusion[2], size[2], GAIN), rtol=1e-12
    )


def test_a_coin_is_refused():
    coin = np.full((2, 2), 0.5)
    with pytest.raises(JudgeError, match="grades"):
        graded.judge_gains(coin, [0, 1])


def test_a_grade_without_gold_is_named():
    lacking = CONFUSION.copy()
    lacking[1] = np.nan
    with pytest.raises(DataError, match=r"row.*\b1\b"):
        graded.correct(masses(40), lacking, SIZE, GAIN)
    with pytest.raises(DataError, match=r"grade.*\b2\b"):
        graded.correct(masses(40), CONFUSION, [5, 5, 0], GAIN)
    with pytest.raises(DataError, match=r"grade.*\b0\b"):
        graded.bootstrap(masses(40), [[0, 0], [1, 9]], [0, 1], draws=5, rng=np.random.default_rng(1))


def test_a_matrix_that_is_not_square_and_a_single_topic_are_refused():
    with pytest.raises(DataError, match=r"\b2\b.*\b3\b"):
        graded.judge_gains(CONFUSION[:2], [0, 1])
    with pytest.raises(DataError, match=r"\b2\b.*\b1\b"):
        graded.correct(masses(1), CONFUSION, SIZE, GAIN)


def resample(mass, counts, draws=200, seed=7):
    return graded.bootstrap(mass, counts, GAIN, draws=draws, rng=np.random.default_rng(seed))


def test_resampling_repeats_with_its_seed_and_leaves_its_input_alone():
    mass, counts = masses(40), np.rint(CONFUSION * SIZE[:, None])
    before = mass.copy(), counts.copy()
    found = resample(mass, counts)
    assert len(found.values) == 200
    assert found.lost == 0
    np.testing.assert_array_equal(found.values, resample(mass, counts).values)
    assert (found.values != resample(mass, counts, seed=8).values).all()
    np.testing.assert_array_equal(before[0], mass)
    np.testing.assert_array_equal(before[1], counts)


def test_resampling_in_blocks_changes_nothing(monkeypatch):
    mass, counts = masses(40), np.rint(CONFUSION * SIZE[:, None])
    whole = resample(mass, counts).values
    monkeypatch.setattr(graded, "BLOCK", 7 * 40)
    np.testing.assert_array_equal(resample(mass, counts).values, whole)


def test_resamples_vary_with_topics_and_with_gold():
    mass, counts = masses(40), np.rint(CONFUSION * SIZE[:, None])
    still = np.broadcast_to(mass.mean(axis=0), mass.shape)
    by_gold, by_topics, both = (
        resample(m, c, draws=4000).values.var() for m, c in ((still, counts), (mass, counts * 1e6), (mass, counts))
    )
    assert min(by_gold, by_topics) > 0
    assert both == pytest.approx(by_gold + by_topics, rel=0.1)


def test_resamples_without_a_solution_are_counted():
    counts = np.array([[20, 4, 0], [3, 14, 2], [0, 1, 1]])
    found = resample(masses(40), counts, draws=2000)
    missing = (1 - 2 / 45) ** 45  # neither item of the top grade is drawn
    assert found.lost / 2000 > missing - 4 * np.sqrt(missing / 2000)
    assert len(found.values) == 2000 - found.lost
    assert np.isfinite(found.values).all()


def test_percentiles_move_outwards_with_few_topics():
    values = np.random.default_rng(3).normal(size=20_000)
    plain = np.quantile(values, [0.025, 0.975])
    few, many = (graded.percentile_interval(values, topics=topics) for topics in (10, 10**8))
    np.testing.assert_allclose(many, plain, atol=1e-6)
    assert few[0] < plain[0] < plain[1] < few[1]
    assert few[1] == pytest.approx(2.262157 * np.sqrt(10 / 9), abs=0.1)  # Student's quantile at 9 degrees
    narrow = graded.percentile_interval(values, topics=10, confidence=0.5)
    assert few[0] < narrow[0] < narrow[1] < few[1]
