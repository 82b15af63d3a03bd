"""Gold that is a copy of a judge, or turned round."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.agreement.gold import CHANCE, EACH, ENOUGH, Copy, find_copies_of_gold, find_inversion
from karatage.data.judgments import match_gold

Grades = list[int]


def tell(**said: Grades) -> kt.Judgments:
    """Judges' grades of documents 0, 1, ...; -1 = none."""
    rows = [
        {"judge": judge, "topic": "t", "document": str(d), "grade": grade}
        for judge, grades in said.items()
        for d, grade in enumerate(grades)
        if grade >= 0
    ]
    return kt.read_judgments(pl.DataFrame(rows))


def find_copies(gold: Grades, **said: Grades) -> list[Copy]:
    judgments = tell(**said)
    return find_copies_of_gold(judgments, match_gold(judgments, tell(gold=gold)))


def invert(gold: Grades, **said: Grades):
    judgments = tell(**said)
    known = match_gold(judgments, tell(gold=gold))
    return find_inversion(judgments.grade, known[judgments.item], judgments, known)


VARIED = [0, 1, 2] * 40


def test_a_judge_equal_to_gold_is_a_copy() -> None:
    other = [0, 1, 1] * 40
    (found,) = find_copies(VARIED, ann=other, ben=VARIED)
    assert found == Copy(judge=1, items=120, contested=False)


@pytest.mark.parametrize("size", [ENOUGH - 1, ENOUGH])
def test_fewer_items_say_nothing(size: int) -> None:
    assert bool(find_copies(VARIED, ann=VARIED[:size])) == (size >= ENOUGH)


def test_one_difference_is_no_copy() -> None:
    assert not find_copies(VARIED, ann=[1, *VARIED[1:]])


@pytest.mark.parametrize(("others", "copied"), [(4, False), (5, True)])
def test_gold_of_one_grade_is_no_copy(others: int, copied: bool) -> None:
    gold = [1] * others + [0] * 100
    assert bool(find_copies(gold, ann=gold)) == copied


def test_gold_that_sides_with_one_judge_wherever_judges_differ_is_a_copy() -> None:
    """It differs from the judge on items only on which all judges agree."""
    ann, ben = VARIED, [0, 1, 0] * 20 + VARIED[60:]
    gold = [2 if d in (61, 64) else grade for d, grade in enumerate(VARIED)]
    assert not find_copies(gold, ann=ann, ben=ben)  # they differ on 20 items only
    ben = [(grade + 1) % 3 for grade in VARIED[:60]] + VARIED[60:]
    assert find_copies(gold, ann=ann, ben=ben) == [Copy(0, 60, contested=True)]


def test_turned_grades_are_seen_on_any_scale() -> None:
    rng = np.random.default_rng(0)
    for top in (1, 2, 3):
        truth = rng.integers(0, top + 1, 200)
        noisy = np.where(rng.random(200) < 0.2, rng.integers(0, top + 1, 200), truth)
        assert invert(truth.tolist(), ann=noisy.tolist()) is None
        found = invert((top - truth).tolist(), ann=noisy.tolist())
        assert found is not None
        assert f"--gold-grades 0={top}" in found.advice


def test_both_rates_must_be_below_one_half_by_more_than_chance() -> None:
    """Two of ten are a chance of 56/1,024 for a coin, one of ten is 11/1,024: each below 5 %, both below 1 in 1,000."""
    for right, inverted in ((2, False), (1, True)):
        gold, ann = [1] * 10 + [0] * 10, [1] * right + [0] * (10 - right) + [0] * right + [1] * (10 - right)
        assert (invert(gold, ann=ann) is not None) == inverted
    assert 56 / 1024 > EACH > 11 / 1024
    assert CHANCE > (11 / 1024) ** 2
    few, many = [1] * 10 + [0] * 400, [1] * 2 + [0] * 8 + [1] * 400
    assert invert(few, ann=many) is None  # however sure the other rate is
    assert invert([1] * 9 + [0] * 90, ann=[0] * 9 + [1] * 90) is None  # nine relevant items say nothing
    assert invert([1] * 50 + [0] * 50, ann=[0] * 100) is None  # a judge who says one thing
    assert invert([1] * 50 + [0] * 50, ann=[0, 1] * 50) is None  # a coin


def test_gold_that_agrees_with_one_judge_is_not_inverted() -> None:
    gold = [1] * 40 + [0] * 40
    wrong = [1 - grade for grade in gold]
    assert invert(gold, ann=wrong, ben=wrong, cid=wrong) is not None
    assert invert(gold, ann=wrong, ben=wrong, cid=gold) is None


def test_random_judges_and_gold_are_hardly_ever_called_inverted() -> None:
    rng = np.random.default_rng(1)
    worlds = [(rng.integers(0, 4, 60), rng.integers(0, 4, 60)) for _ in range(300)]
    assert sum(invert(gold.tolist(), ann=said.tolist()) is not None for gold, said in worlds) == 0
