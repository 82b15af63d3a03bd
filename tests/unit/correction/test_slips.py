"""Gold's own errors: closed forms of double judging, and enumeration of all answers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from karatage.correction.slips import SHARES, _derive, _fit, learn_slips, spread_slips
from karatage.errors import DataError

BINARY = np.array([0.0, 1.0])


def table(differ: float, both: float, items: int = 100_000) -> np.ndarray:
    """Two answers to each item: the share of items on which they differ, and on which both are 1."""
    counts = np.array([[2, 0], [1, 1], [0, 2]])
    return np.repeat(counts, np.round(items * np.array([1 - differ - both, differ, both])).astype(int), axis=0)


def test_equal_rates_have_a_closed_form() -> None:
    """Two answers differ with probability d = 2 e (1 - e), so the slope is 1 - 2 e = sqrt(1 - 2 d)."""
    counts = table(0.18, 0.15)
    pattern, times = np.unique(counts, axis=0, return_counts=True)
    confusion, prevalence, _ = _fit(pattern, times[None].astype(float))
    middle = int(np.flatnonzero(SHARES == 0.5)[0])
    assert confusion[0, middle, 0, 1] == pytest.approx((1 - np.sqrt(1 - 0.36)) / 2, abs=1e-4)
    gains = _derive(confusion, prevalence, BINARY)[0, middle]
    assert gains[1] - gains[0] == pytest.approx(1 / np.sqrt(0.64), rel=1e-3)
    for share, found, chance in zip(SHARES, confusion[0], prevalence[0], strict=True):
        up, down = found[0, 1], found[1, 0]
        assert down / (up + down) == pytest.approx(share)
        assert 2 * chance @ (up * (1 - up), down * (1 - down)) == pytest.approx(0.18, abs=1e-4)
        assert chance @ (up**2, (1 - down) ** 2) == pytest.approx(0.15, abs=1e-4)


def test_two_answers_do_not_show_the_direction_and_three_do() -> None:
    """All shares explain a table of two answers equally well; with three, the true share is found."""
    two = learn_slips(table(0.18, 0.15), BINARY)
    slopes = _slopes(table(0.18, 0.15))
    assert np.ptp(slopes) > 0.1
    prior = SHARES * (1 - SHARES) / (SHARES * (1 - SHARES)).sum()
    assert two.factor == pytest.approx(prior @ slopes, abs=0.002)
    assert two.factor_error == pytest.approx(np.sqrt(prior @ (slopes - prior @ slopes) ** 2), rel=0.02)
    true, prevalence = spread_slips(np.array([0.1]), np.array(SHARES[-1])), np.array([0.6, 0.4])
    counts = []
    for answers in product((0, 1), repeat=3):
        chance = sum(p * np.prod(row[list(answers)]) for p, row in zip(prevalence, true, strict=True))
        counts += [[3 - sum(answers), sum(answers)]] * round(50_000 * chance)
    three = learn_slips(np.array(counts), BINARY)
    assert three.confusion == pytest.approx(true, abs=0.005)
    assert three.factor_error < 0.01


def _slopes(counts: np.ndarray) -> np.ndarray:
    pattern, times = np.unique(counts, axis=0, return_counts=True)
    confusion, prevalence, _ = _fit(pattern, times[None].astype(float))
    return _derive(confusion, prevalence, BINARY)[0, :, 3]


def test_gains_undo_slips_in_any_number_of_grades() -> None:
    """By enumeration of both answers: the mean corrected gain is that of the true grade."""
    rates, prevalence, gain = np.array([0.06, 0.03, 0.01]), np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.0, 1, 3, 7])
    true = spread_slips(rates, np.array(0.5))
    joint = np.einsum("y,yk,yl->kl", prevalence, true, true)
    counts = []
    for one, two in product(range(4), repeat=2):
        row = np.bincount([one, two], minlength=4)
        counts += [row] * round(400_000 * joint[one, two])
    pattern, times = np.unique(np.array(counts), axis=0, return_counts=True)
    confusion, found, _ = _fit(pattern, times[None].astype(float))
    middle = int(np.flatnonzero(SHARES == 0.5)[0])
    assert confusion[0, middle] == pytest.approx(true, abs=0.003)
    assert found[0, middle] == pytest.approx(prevalence, abs=0.003)
    assert true @ _derive(confusion, found, gain)[0, middle, :4] == pytest.approx(gain, abs=0.05)


def test_without_disagreement_gold_is_nearly_right_and_some_doubt_remains() -> None:
    found = learn_slips(table(0.0, 0.5, items=100), BINARY)
    assert found.gain == pytest.approx(BINARY, abs=0.02)
    assert 0 < found.rate < 0.01
    assert 0.003 < found.factor_error < 0.03


def test_the_standard_error_is_that_of_resampled_items() -> None:
    counts = table(0.2, 0.3, items=200)
    found = learn_slips(counts, BINARY)
    rng = np.random.default_rng(1)
    again = np.array(
        [learn_slips(counts[rng.integers(len(counts), size=len(counts))], BINARY).rate for _ in range(200)]
    )
    assert found.rate_error == pytest.approx(again.std(), rel=0.2)


def test_gold_without_doubles_is_refused() -> None:
    with pytest.raises(DataError, match="twice"):
        learn_slips(np.array([[1, 0], [0, 1]]), BINARY)
