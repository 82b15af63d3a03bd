"""The money: split as asked, never overspent, the rest told."""

from decimal import Decimal
from itertools import product

import numpy as np
import pytest

from karatage.data.options import JudgingPrices, parse_prices
from karatage.errors import OptionError
from karatage.orders.budget import allocate, check_share, cost_of, cost_share, split_queue
from tests.notes import gives

A = parse_prices("A")
ODD = JudgingPrices(Decimal("3.33"), Decimal("0.07"))
PLENTY = {"expert_items": 1000, "crowd_items": 1000}


def test_a_share_of_the_money_goes_to_experts():
    """100 at 10:1, 40 % for experts: 4 judgments, and 60 labels."""
    found = allocate(Decimal(100), A, expert_share=0.4, **PLENTY)
    assert (found.experts, found.labels, found.cost, found.rest) == (4, 60, 100, 0)
    assert gives(found.sentence, 4, "experts", 60, "crowd", 100)


@pytest.mark.parametrize(("share", "experts", "labels"), [(0.0, 0, 100), (1.0, 10, 0), (0.55, 5, 50), (0.99, 9, 10)])
def test_what_buys_no_expert_goes_to_the_crowd(share, experts, labels):
    found = allocate(100, A, expert_share=share, **PLENTY)
    assert (found.experts, found.labels) == (experts, labels)


def test_where_items_run_out_the_other_side_gets_the_money():
    few_experts = allocate(100, A, expert_share=1.0, expert_items=3, crowd_items=1000)
    assert (few_experts.experts, few_experts.labels) == (3, 70)
    few_labels = allocate(100, A, expert_share=0.0, expert_items=1000, crowd_items=25)
    assert (few_labels.experts, few_labels.labels, few_labels.rest) == (7, 25, 5)
    assert gives(few_labels.sentence, 7, 25, 5)


def test_an_item_goes_to_one_side():
    found = allocate(10_000, A, expert_share=0.05, expert_items=100, crowd_items=100, items=100)
    assert (found.experts, found.labels, found.cost) == (50, 50, 550)
    assert found.rest == 9450
    apart = allocate(10_000, A, expert_share=0.05, expert_items=100, crowd_items=100)
    assert (apart.experts, apart.labels) == (100, 100)


def test_no_items_no_cost():
    found = allocate(5, A, expert_share=0.5, expert_items=0, crowd_items=0)
    assert (found.experts, found.labels, found.cost, found.rest) == (0, 0, 0, 5)
    assert gives(found.sentence, 0, "experts", 0, "crowd", 0, 5)


def test_exact_where_floats_are_not():
    """Three tenths buy three judgments of a tenth; as floats, 0.3 // 0.1 is 2."""
    prices = JudgingPrices(Decimal("0.1"), Decimal("0.1"))
    assert allocate(0.3, prices, expert_share=1.0, **PLENTY).experts == 3
    assert 0.3 // 0.1 == 2


def test_never_above_the_budget_and_nothing_affordable_left():
    """Against all splits: as many experts as the share allows, then as many labels, then experts again."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        total = Decimal(int(rng.integers(400, 4000))) / 100
        share = round(float(rng.random()), 2)
        experts, labels = int(rng.integers(0, 10)), int(rng.integers(0, 200))
        items = int(rng.integers(max(experts, labels), experts + labels + 1))
        found = allocate(total, ODD, expert_share=share, expert_items=experts, crowd_items=labels, items=items)
        assert found.cost == cost_of(found.experts, found.labels, ODD) <= total
        assert found.rest == total - found.cost
        affordable = [
            (e, n)
            for e, n in product(range(experts + 1), range(labels + 1))
            if e + n <= items and cost_of(e, n, ODD) <= total
        ]
        assert (found.experts, found.labels) in affordable
        # nothing can be added to either side
        assert (found.experts + 1, found.labels) not in affordable
        assert (found.experts, found.labels + 1) not in affordable
        own = [e for e, _ in affordable if cost_of(e, 0, ODD) <= total * Decimal(str(share))]
        assert found.experts >= max(own)


def test_shares_of_the_queue():
    """[COLLAB14] 3.5.1: 32 % to experts and 64 % to the crowd cost under 40 % with A, under 60 % with B."""
    found = split_queue(1000, A, expert_share=0.32, crowd_share=0.64)
    assert (found.experts, found.labels, found.cost) == (320, 640, 3840)
    assert cost_share(320, 640, 1000, A) == 0.384
    assert cost_share(320, 640, 1000, parse_prices("B")) == 0.576
    assert split_queue(1000, A, expert_share=0.9, crowd_share=0.1).labels == 100
    rounded = split_queue(7, A, expert_share=0.5, crowd_share=0.5)
    assert rounded.experts + rounded.labels == 7


@pytest.mark.parametrize(
    ("total", "message"),
    [
        (0, r"budget.*\b0\b"),
        (-5, r"budget.*-5.*\b0\b"),
        (float("nan"), "nan"),
        ("lots", "budget.*'lots'"),
        (Decimal("0.5"), r"\b0\.5\b"),
    ],
)
def test_budgets_that_buy_nothing(total, message):
    with pytest.raises(OptionError, match=message):
        allocate(total, A, expert_share=0.5, **PLENTY)


def test_a_budget_may_be_spent_to_the_last():
    found = allocate(1, A, expert_share=0.5, **PLENTY)
    assert (found.experts, found.labels, found.rest) == (0, 1, 0)


def test_the_cheapest_is_of_those_who_have_something_to_judge():
    with pytest.raises(OptionError, match=r"\b10\b"):
        allocate(5, A, expert_share=0.5, expert_items=3, crowd_items=0)


def test_shares_and_counts_that_cannot_be_are_refused():
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(OptionError, match=r"\b0\b.*\b1\b"):
            allocate(100, A, expert_share=share, **PLENTY)
        with pytest.raises(OptionError, match="queue"):
            split_queue(10, A, expert_share=0.1, crowd_share=share)
    with pytest.raises(OptionError, match="below 0"):
        allocate(100, A, expert_share=0.5, expert_items=-1, crowd_items=3)
    with pytest.raises(OptionError, match=r"\b64\b.*\b50\b"):
        split_queue(10, A, expert_share=0.64, crowd_share=0.5)
    with pytest.raises(OptionError, match=r"\b1\b.*item"):
        cost_share(0, 0, 0, A)
    check_share(1.0, "all")
