"""The graded correction against the paper's example, its binary equations, numerical derivatives and enumeration."""

from itertools import combinations_with_replacement, product
from math import factorial

import numpy as np
import pytest

from karatage.correction import graded

CONFUSION = np.array([[0.7, 0.2, 0.07, 0.03], [0.2, 0.6, 0.15, 0.05], [0.08, 0.2, 0.52, 0.2], [0.03, 0.1, 0.22, 0.65]])
SIZE = np.array([150.0, 80.0, 40.0, 22.0])
GAIN = np.array([0.0, 1.0, 3.0, 7.0])


def test_the_papers_example():
    """[NOISY18] 4.2 and Figure 1, in ascending order of grades: not, partly, highly relevant."""
    said = np.array([[0, 2], [1, 0]])  # (topic, rank)
    weight = 1 / np.log2([2, 3])
    mass = np.array([[weight[topic == grade].sum() for grade in range(3)] for topic in said])
    confusion = np.array([[0.8, 0.15, 0.05], [0.1, 0.8, 0.1], [0.05, 0.15, 0.8]])[::-1, ::-1]
    gain = np.array([0, 0.5, 1])
    assert (mass @ gain).mean() == pytest.approx(0.565465, abs=5e-7)
    assert graded.correct(mass, confusion, [50, 50, 50], gain).value == pytest.approx(0.482132, abs=5e-7)


def rates(seed=4):
    source = np.random.default_rng(seed)
    m_r, m_n, n_r, n_n = 0.83, 0.74, 59.0, 84.0
    share = source.integers(0, 11, (2, 60)) / 10  # P@10 of two systems, by the judges
    confusion = np.array([[m_n, 1 - m_n], [1 - m_r, m_r]])
    mass = np.stack([1 - share, share], axis=-1)
    v_r, v_n = m_r * (1 - m_r) / n_r, m_n * (1 - m_n) / n_n
    return share, mass, confusion, np.array([n_n, n_r]), m_r, m_n, v_r, v_n


def test_two_grades_are_equations_5_and_7():
    share, mass, confusion, size, m_r, m_n, v_r, v_n = rates()
    j, v_j, d = share.mean(axis=1), share.var(axis=1, ddof=1) / 60, m_r + m_n - 1
    found = graded.correct(mass, confusion, size, [0, 1])
    np.testing.assert_allclose(found.value, (j - 1 + m_n) / d, rtol=1e-12)
    np.testing.assert_allclose(found.topics, v_j / d**2, rtol=1e-12)
    np.testing.assert_allclose(found.gold, (v_r * (j - 1 + m_n) ** 2 + v_n * (j - m_r) ** 2) / d**4, rtol=1e-12)


def test_the_difference_of_two_grades_is_the_shared_form():
    share, mass, confusion, size, m_r, m_n, v_r, v_n = rates()
    gap, d = share[1] - share[0], m_r + m_n - 1
    found = graded.correct(mass[1] - mass[0], confusion, size, [0, 1])
    assert found.value == pytest.approx(gap.mean() / d, rel=1e-12)
    assert found.topics == pytest.approx(gap.var(ddof=1) / 60 / d**2, rel=1e-12)
    assert found.gold == pytest.approx(gap.mean() ** 2 * (v_r + v_n) / d**4, rel=1e-12)


def test_the_bias_of_two_grades_is_that_of_3_8():
    share, mass, confusion, size, m_r, m_n, v_r, v_n = rates()
    j, d = share.mean(axis=1), m_r + m_n - 1
    known = (j - 1 + m_n) * (v_r + v_n) / d**3 - v_n / d**2
    np.testing.assert_allclose(graded.bias(mass, confusion, size, [0, 1]), known, rtol=1e-12)


def test_the_bias_is_how_far_scores_are_off_on_average():
    """Over many gold samples of given sizes; what is left is of third order."""
    size, mean = np.array([400, 300, 300, 200]), np.array([[1.2, 1.4, 1.0, 0.9]])
    source, draws = np.random.default_rng(9), 400_000
    rows = np.stack(
        [source.multinomial(n, row, size=draws) / n for n, row in zip(size, CONFUSION, strict=True)], axis=1
    )
    gap = graded.judge_gains(rows, GAIN) @ mean[0] - graded.judge_gains(CONFUSION, GAIN) @ mean[0]
    known = graded.bias(mean, CONFUSION, size, GAIN)
    error = gap.std() / np.sqrt(draws)
    assert known > 10 * error
    assert gap.mean() == pytest.approx(known, abs=4 * error + 0.1 * known)


def test_what_judges_make_of_gold_is_undone():
    """[NOISY18] (23), (24): the mass that judges give in expectation is corrected to gold's own."""
    gold = np.random.default_rng(5).dirichlet(np.ones(4), 30)
    found = graded.correct(gold @ CONFUSION, CONFUSION, SIZE, GAIN)
    assert found.value == pytest.approx((gold @ GAIN).mean(), rel=1e-12)


def test_variance_is_that_of_numerical_derivatives():
    """Gradient by differences; covariance of a mean over topics, and of the shares of independent items in each row."""
    mass = np.random.default_rng(6).dirichlet([4, 3, 2, 1], 50) * 4.5
    found = graded.correct(mass, CONFUSION, SIZE, GAIN)

    def score(mean, confusion):
        return mean @ np.linalg.inv(confusion) @ GAIN

    mean, step = mass.mean(axis=0), 1e-6
    slope = [(score(mean + h, CONFUSION) - score(mean - h, CONFUSION)) / (2 * step) for h in step * np.eye(4)]
    assert found.topics == pytest.approx(slope @ np.cov(mass.T) / 50 @ slope, rel=1e-8)

    variance = np.zeros(4)
    for grade in range(4):
        slope = np.empty(4)
        for said in range(4):
            move = np.zeros((4, 4))
            move[grade, said] = step
            slope[said] = (score(mean, CONFUSION + move) - score(mean, CONFUSION - move)) / (2 * step)
        row = CONFUSION[grade]
        variance[grade] = slope @ (np.diag(row) - np.outer(row, row)) / SIZE[grade] @ slope
    assert found.gold == pytest.approx(variance.sum(), rel=1e-8)
    total = found.topics + found.gold
    welch = total**2 / (found.topics**2 / 49 + (variance**2 / (SIZE - 1)).sum())
    assert found.degrees == pytest.approx(welch, rel=1e-8)


def test_resamples_agree_with_the_delta_method():
    """With much gold and many topics both are the same normal distribution."""
    mass = np.random.default_rng(6).dirichlet([4, 3, 2, 1], 400) * 4.5
    counts = np.rint(CONFUSION * SIZE[:, None] * 50)
    size = counts.sum(axis=1)
    found = graded.correct(mass, counts / size[:, None], size, GAIN)
    drawn = graded.bootstrap(mass, counts, GAIN, draws=20_000, rng=np.random.default_rng(7))
    assert drawn.lost == 0
    error = np.sqrt(found.estimated.variance)
    assert drawn.values.std() == pytest.approx(error, rel=0.03)
    assert drawn.values.mean() == pytest.approx(found.value, abs=0.05 * error)


def test_resamples_are_those_of_enumeration():
    """Every way to draw 3 topics and 8 gold items, with its probability: the whole distribution and what is lost."""
    mass, counts, gain = np.array([[1.0, 0.0], [0.4, 0.6], [0.1, 0.9]]), np.array([[3, 1], [1, 3]]), np.array([0, 1.0])
    draws = 100_000
    topics = {}
    for drawn in combinations_with_replacement(range(3), 3):
        times = np.bincount(drawn, minlength=3)
        topics[tuple(times)] = factorial(3) / np.prod([factorial(n) for n in times]) / 27
    values, chances, lost = [], [], 0.0
    for cells in product(range(9), repeat=4):
        if sum(cells) != 8:
            continue
        chance = factorial(8) / np.prod([factorial(n) for n in cells]) * np.prod((counts.ravel() / 8) ** cells)
        a, b, c, d = cells
        if a + b == 0 or c + d == 0 or a * d == b * c:
            lost += chance
            continue
        m_n, m_r = a / (a + b), d / (c + d)
        for times, share in topics.items():
            j = (np.array(times) @ mass / 3)[1]
            values.append((j - 1 + m_n) / (m_r + m_n - 1))
            chances.append(chance * share)
    assert sum(chances) + lost == pytest.approx(1)

    found = graded.bootstrap(mass, counts, gain, draws=draws, rng=np.random.default_rng(8))
    assert found.lost / draws == pytest.approx(lost, abs=4 * np.sqrt(lost * (1 - lost) / draws))
    for at in (-2, -0.5, 0, 0.25, 0.5, 0.75, 1, 1.5, 3):
        below = sum(c for v, c in zip(values, chances, strict=True) if v < at - 1e-9) / (1 - lost)
        share = (found.values < at - 1e-9).mean()
        assert share == pytest.approx(below, abs=4.5 * np.sqrt(below * (1 - below) / len(found.values)))
