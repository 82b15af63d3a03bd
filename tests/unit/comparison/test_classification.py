"""Accuracy, F1 and the permutation test against slow and obvious enumerations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.comparison import classification
from karatage.comparison.classification import accuracy, credit_winners, f1, permutation_test
from karatage.errors import DataError, OptionError


@st.composite
def decisions(draw, *, count=1, most=5):
    """Gold and one or two sets of winners, ties among them."""
    k, n = draw(st.integers(2, 4)), draw(st.integers(1, most))
    gold = np.array(draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)), np.int8)
    winning = st.sets(st.integers(0, k - 1), min_size=1)
    tables = []
    for _ in range(count):
        table = np.zeros((n, k), bool)
        for i in range(n):
            table[i, list(draw(winning))] = True
        tables.append(table)
    return gold, *tables


def plain_f1(grade, gold, grades):
    """F1 of hard grades by its definition."""
    found = []
    for k in [1] if grades == 2 else range(grades):
        if not (gold == k).any():
            continue
        hits = ((grade == k) & (gold == k)).sum()
        precision, recall = hits / max((grade == k).sum(), 1), hits / (gold == k).sum()
        found.append(0.0 if hits == 0 else 2 * precision * recall / (precision + recall))
    return np.mean(found) if found else math.nan


def enumerate_grades(winners):
    """Every way to break the ties; all are equally likely."""
    return [np.array(choice) for choice in itertools.product(*(np.flatnonzero(row) for row in winners))]


@given(decisions())
def test_accuracy_and_f1_are_the_mean_over_all_ways_to_break_ties(data):
    gold, winners = data
    ways = enumerate_grades(winners)
    credit = credit_winners(winners)
    assert accuracy(credit, gold) == pytest.approx(np.mean([(way == gold).mean() for way in ways]))
    expected = np.mean([plain_f1(way, gold, winners.shape[1]) for way in ways])
    assert f1(credit, gold) == pytest.approx(expected, nan_ok=True)


def test_f1_is_neither_that_of_expected_counts_nor_of_one_coin():
    credit = np.array([[0.5, 0.5], [0.0, 1.0]])
    gold = np.array([1, 0], np.int8)
    assert f1(credit, gold) == pytest.approx((0 + 2 * 0.5 / 1.5) / 2)


def test_f1_with_many_ties_stays_near_its_limit():
    items = 200_000
    credit = np.full((items, 2), 0.5)
    gold = (np.arange(items) % 4 == 0).astype(np.int8)
    assert f1(credit, gold) == pytest.approx(2 * 0.25 * 0.5 / 0.75, abs=1e-4)


def slow_test(first, second, gold, quality):
    """Every exchange, credits counted anew each time."""

    def value(credit):
        if quality == "accuracy":
            return credit[np.arange(len(gold)), gold].mean()
        scored = classification.scored_grades(credit.shape[1], gold)
        return np.mean([2 * credit[gold == k, k].sum() / (credit[:, k].sum() + (gold == k).sum()) for k in scored])

    seen = abs(value(first) - value(second))
    hits = 0
    for swap in itertools.product([False, True], repeat=len(gold)):
        swap = np.array(swap)[:, None]
        a, b = np.where(swap, second, first), np.where(swap, first, second)
        hits += abs(value(a) - value(b)) >= seen - 1e-9
    return hits / 2 ** len(gold)


@pytest.mark.parametrize("quality", ["accuracy", "f1"])
@given(data=decisions(count=2, most=7))
def test_permutation_p_value_is_that_of_all_exchanges(quality, data):
    gold, *winners = data
    first, second = (credit_winners(table) for table in winners)
    p_value = permutation_test(first, second, gold, quality=quality)
    if quality == "f1" and not classification.scored_grades(first.shape[1], gold):
        assert math.isnan(p_value)
    else:
        assert p_value == pytest.approx(slow_test(first, second, gold, quality))
        assert permutation_test(second, first, gold, quality=quality) == pytest.approx(p_value)


def one_hot(grade, grades):
    return np.eye(grades)[grade]


def test_accuracy_p_value_is_the_sign_test():
    gold = np.zeros(40, np.int8)
    first, second = gold.copy(), gold.copy()
    first[:3], second[10:22] = 1, 1
    expected = 2 * sum(math.comb(15, k) for k in range(4)) / 2**15
    assert permutation_test(one_hot(first, 2), one_hot(second, 2), gold) == pytest.approx(expected)


@pytest.mark.parametrize("quality", ["accuracy", "f1"])
def test_sampling_comes_near_the_exact_value(monkeypatch, quality):
    source = np.random.default_rng(3)
    gold = source.integers(0, 2, 300).astype(np.int8)
    first, second = (np.where(source.random(300) < p, gold, 1 - gold) for p in (0.75, 0.70))
    tables = one_hot(first, 2), one_hot(second, 2)
    exact = permutation_test(*tables, gold, quality=quality)
    monkeypatch.setattr(classification, "MOST_STEPS", 1)
    sampled = permutation_test(*tables, gold, quality=quality, resamples=20_000, rng=1)
    assert sampled != exact
    assert sampled == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 20_000))
    assert sampled == permutation_test(*tables, gold, quality=quality, resamples=20_000, rng=1)


def test_a_sampled_p_value_is_never_zero():
    gold = np.repeat(np.arange(3, dtype=np.int8), 100)
    wrong = (gold + 1) % 3
    p_value = permutation_test(one_hot(gold, 3), one_hot(wrong, 3), gold, quality="f1", resamples=99, rng=0)
    assert p_value == 1 / 100


def test_equal_decisions_do_not_differ():
    gold = np.array([0, 1, 1], np.int8)
    credit = one_hot(np.array([0, 0, 1]), 2)
    assert permutation_test(credit, credit, gold) == 1.0


def test_bad_input_is_told():
    gold = np.array([0, 3], np.int8)
    with pytest.raises(DataError, match=r"\b0\b.*\b1\b.*\b3\b"):
        accuracy(np.full((2, 2), 0.5), gold)
    with pytest.raises(DataError, match=r"\b2\b.*grades"):
        f1(np.full((3, 2), 0.5), gold)
    with pytest.raises(DataError, match="winning"):
        credit_winners(np.zeros((1, 2), bool))
    with pytest.raises(OptionError, match="'recall'"):
        permutation_test(np.full((2, 2), 0.5), np.full((2, 2), 0.5), gold, quality="recall")
    with pytest.raises(DataError, match="items"):
        permutation_test(np.full((2, 2), 0.5), np.full((3, 2), 0.5), gold)
