"""Ideal gains where gold knows some documents only: exact where all is known, and as unsure as gold leaves them."""

import numpy as np
import pytest

from karatage.correction.ideal import Pool, draw_ideals, measure_ideals
from karatage.correction.sampled import Drawn

GAIN, WEIGHT = np.array([0.0, 1.0, 3.0]), 1 / np.log2(np.arange(2, 7))


def draw(said, topic, grade, pi=None, systems=None, *, gain=GAIN, weight=WEIGHT, draws=400):
    """Ideals of items of which `grade` is gold's, -1 = not drawn."""
    said, topic, grade = (np.asarray(part) for part in (said, topic, grade))
    item = np.flatnonzero(grade >= 0)
    drawn = Drawn(
        item,
        gain[grade[item]],
        np.ones(len(item)) if pi is None else np.asarray(pi, float)[item],
        np.ones(len(item), int),
    )
    pool = Pool(
        said=said,
        topic=topic,
        topics=int(topic.max()) + 1,
        systems=np.ones(len(said), int) if systems is None else np.asarray(systems),
    )
    return draw_ideals(pool, drawn, grade[item], gain, weight, rng=np.random.default_rng(0), draws=draws)


def best(grades):
    gains = np.sort(GAIN[np.asarray(grades)])[::-1][: len(WEIGHT)]
    return gains @ WEIGHT[: len(gains)]


@pytest.mark.parametrize("counts", [(3, 2, 1), (0, 4, 9), (7, 0, 0), (0, 0, 0), (1, 1, 2)])
def test_the_ideal_is_the_best_order(counts):
    grades = np.repeat([0, 1, 2], counts)
    assert measure_ideals(np.array([counts]), GAIN, WEIGHT)[0] == pytest.approx(best(grades))


def test_gold_on_everything_leaves_no_doubt():
    said, topic, gold = [2, 2, 2, 0, 0, 1], [0, 0, 0, 1, 1, 1], [0, 1, 0, 2, 0, 1]
    np.testing.assert_allclose(draw(said, topic, gold), [[best(gold[:3]), best(gold[3:])]] * 400)


def test_a_judge_who_never_errs_is_taken_at_its_word():
    """What gold has graded is not counted again."""
    truth = np.random.default_rng(1).integers(0, 3, (8, 6))
    gold = truth.copy()
    gold[:, 3:] = -1
    found = draw(truth.ravel(), np.repeat(np.arange(8), 6), gold.ravel())
    np.testing.assert_allclose(found, [[best(row) for row in truth]] * 400)


def share(said, topic, grade, *, left, **others):
    """Relevant documents of those that were not drawn, as a share (draw, topic); all of `left` count."""
    gain, weight = np.array([0.0, 1.0]), np.ones(len(said))
    relevant = np.bincount(topic, np.asarray(grade) > 0, int(np.max(topic)) + 1)
    return (draw(said, topic, grade, gain=gain, weight=weight, **others) - relevant) / left


def half_known(topics, known, left, grade):
    """Topics with so many known and unknown documents, which the judge all grades alike."""
    topic = np.repeat(np.arange(topics), known + left)
    gold = np.full((topics, known + left), -1)
    gold[:, :known] = grade
    return np.ones(len(topic), int), topic, gold.ravel()


def test_a_topic_is_like_its_gold():
    grade = np.full((20, 6), [0, 1] * 3)
    grade[:5], grade[5:10] = 0, 1
    found = share(*half_known(20, 6, 50, grade), left=50).mean(axis=0)
    assert found[:5].mean() < 0.3
    assert found[5:10].mean() > 0.7
    assert found[10:].mean() == pytest.approx(0.5, abs=0.05)


def test_what_many_systems_retrieve_is_like_gold_that_many_retrieve():
    grade = np.full((20, 6), [0, 0, 1, 0, 1, 1])
    systems = np.ones((20, 56), int)
    systems[:, 3:6] = 10
    systems[:10, 6:] = 10
    found = share(*half_known(20, 6, 50, grade), left=50, systems=systems.ravel()).mean(axis=0)
    assert found[:10].mean() > 0.58
    assert found[10:].mean() < 0.42


def test_gold_counts_by_its_inverse_chance():
    grade = np.full((40, 5), [0, 1, 1, 1, 1])
    said, topic, gold = half_known(40, 5, 50, grade)
    pi = np.where(gold == 0, 0.1, 0.4)
    found = share(said, topic, gold, left=50, pi=pi).mean()
    assert found == pytest.approx(0.5, abs=0.07)  # one of five, and 1/0.1 = 4 / 0.4
    assert share(said, topic, gold, left=50).mean() == pytest.approx(0.8, abs=0.07)


def test_little_gold_leaves_shares_unsure():
    """They are the same in all topics, so that many topics do not average the doubt away."""
    few, many = (
        share(*half_known(40, 4, 50, np.where(np.arange(40)[:, None] < golds, [0, 1, 1, 0], -1)), left=50).mean(axis=1)
        for golds in (3, 40)
    )
    assert 0.08 < few.std() < 0.2
    assert many.std() < 0.5 * few.std()


def test_gold_that_only_few_systems_retrieve_says_little_of_the_others():
    said, topic, gold = half_known(40, 4, 50, np.full((40, 4), [0, 1, 1, 0]))
    near, far = (
        share(said, topic, gold, left=50, systems=np.where(gold >= 0, 1, count)).mean(axis=1) for count in (1, 40)
    )
    assert far.std() > 3 * near.std()
