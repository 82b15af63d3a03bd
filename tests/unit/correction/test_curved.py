"""AP and ERR by gains of drawn documents: against enumeration, differences and gold alone."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from karatage.correction.curved import Ranked, shift_topics
from karatage.correction.sampled import Drawn, sum_topics
from karatage.kernels import ranking

RNG = np.random.default_rng(4)
TOPIC = np.repeat([0, 1], 6)
RANKED = np.array([[[0, 1, 2, 3], [4, 2, 0, -1]], [[6, 7, 8, 9], [9, 10, -1, 6]]], np.int32)
GRADE = np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 0], float)
PRECISIONS, CASCADE = (
    Ranked(climb, ratio, RANKED, TOPIC)
    for climb, ratio in ((ranking.climb_precisions, True), (ranking.climb_cascade, False))
)


def average_precision(grade: np.ndarray) -> np.ndarray:
    """By its definition (topic, system)."""
    out = np.zeros((2, 2))
    for t, s in product(range(2), range(2)):
        items = RANKED[t, s]
        hits = [grade[i] if i >= 0 else 0.0 for i in items]
        out[t, s] = sum(h * sum(hits[: n + 1]) / (n + 1) for n, h in enumerate(hits)) / max(grade[t == TOPIC].sum(), 1)
    return out


def cascade(stop: np.ndarray) -> np.ndarray:
    out = np.zeros((2, 2))
    for t, s in product(range(2), range(2)):
        going = 1.0
        for n, i in enumerate(RANKED[t, s]):
            if i >= 0:
                out[t, s] += going * stop[i] / (n + 1)
                going *= 1 - stop[i]
    return out


def test_scores_are_those_of_the_definition() -> None:
    np.testing.assert_allclose(PRECISIONS.expand(GRADE, GRADE).term, average_precision(GRADE))
    stop = RNG.random(12)
    np.testing.assert_allclose(CASCADE.expand(stop, stop).term, cascade(stop))


@pytest.mark.parametrize(("curve", "score"), [(PRECISIONS, None), (CASCADE, cascade)])
def test_derivatives_are_those_of_finite_differences(curve, score) -> None:
    gain, step = RNG.random(12), 1e-6
    weight = curve.expand(gain, gain).weight

    def value(x: np.ndarray) -> np.ndarray:
        return score(x) if score else smooth(x)

    for i in range(12):
        moved = gain + step * (np.arange(12) == i)
        found = (value(moved) - value(gain)).sum(axis=0) / step
        np.testing.assert_allclose(weight[i], found, atol=1e-4)


def smooth(gain: np.ndarray) -> np.ndarray:
    """Expected sum of precisions over expected relevant documents, for independent gains."""
    out = np.zeros((2, 2))
    for t, s in product(range(2), range(2)):
        above = 0.0
        for n, i in enumerate(RANKED[t, s]):
            if i >= 0:
                out[t, s] += gain[i] * (1 + above) / (n + 1)
                above += gain[i]
        out[t, s] /= gain[t == TOPIC].sum()
    return out


@pytest.mark.parametrize("curve", [PRECISIONS, CASCADE])
def test_gold_on_all_documents_gives_golds_own_difference(curve) -> None:
    drawn = Drawn(np.arange(12), GRADE, np.ones(12), np.ones(12, np.int64))
    said = RNG.integers(-1, 3, 12)
    found = sum_topics(np.ones((12, 2)) * [0.5, 1], said, TOPIC, 2, drawn, curve=curve)
    truth = (average_precision if curve is PRECISIONS else cascade)(GRADE).mean(axis=0)
    pairs = found.differences("these topics")
    assert pairs.value[0, 1] == pytest.approx(truth[1] - truth[0], abs=1e-12)
    assert pairs.variance[0, 1] == 0


def test_sum_of_precisions_is_unbiased_over_all_samples() -> None:
    """All 4,096 samples of independent draws, for expectations that are wrong; [STATAP]'s estimate is that for 0."""
    pi = RNG.uniform(0.2, 0.9, 12)
    for expected in (np.zeros(12), RNG.random(12)):
        total = np.zeros((2, 2))
        for sample in product((0, 1), repeat=12):
            chosen = np.array(sample, bool)
            gain = expected + np.where(chosen, (GRADE - expected) / pi, 0.0)
            score = np.zeros((2, 2))
            ranking.climb_precisions(RANKED, gain, score, np.zeros((12, 2)))
            if not expected.any():
                np.testing.assert_allclose(score, stat_sum(chosen, pi), atol=1e-12)
            total += np.where(chosen, pi, 1 - pi).prod() * score
        relevant = [GRADE[t == TOPIC].sum() for t in range(2)]
        np.testing.assert_allclose(total, average_precision(GRADE) * np.array(relevant)[:, None])


def stat_sum(chosen: np.ndarray, pi: np.ndarray) -> np.ndarray:
    """statAP's sum of precisions, as published: pairs of drawn relevant documents over their joint chance."""
    out = np.zeros((2, 2))
    for t, s in product(range(2), range(2)):
        items = RANKED[t, s]
        for n, i in enumerate(items):
            for j in items[: n + 1]:
                if i >= 0 and j >= 0 and chosen[i] and chosen[j]:
                    out[t, s] += GRADE[i] * GRADE[j] / (pi[i] if i == j else pi[i] * pi[j]) / (n + 1)
    return out


def test_topics_are_shrunk_as_their_spread_suggests() -> None:
    topic = np.repeat(np.arange(40), 30)
    noise = RNG.normal(0, 0.4, 1200)
    assert np.abs(shift_topics(noise, topic, np.ones(1200), 40)).max() < 0.1
    true = RNG.normal(0, 0.5, 40)
    found = shift_topics(true[topic] + noise, topic, np.ones(1200), 40)
    np.testing.assert_allclose(found, true, atol=0.3)
    assert shift_topics(np.zeros(3), np.array([0, 0, 2]), np.ones(3), 4).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("curve", [PRECISIONS, CASCADE])
def test_estimates_move_with_gains_as_their_weights_say(curve) -> None:
    """Also with documents that no system retrieved, which change the number of relevant ones."""
    known, step = RNG.random(12), 1e-6
    base = curve.expand(known, known)
    for i in range(12):
        moved = curve.expand(known + step * (np.arange(12) == i), known).term - base.term
        np.testing.assert_allclose(moved.sum(axis=0) / step, base.weight[i], atol=1e-4)
    assert curve is CASCADE or base.weight[5].all()
