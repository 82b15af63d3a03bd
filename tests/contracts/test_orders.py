"""What every order of judging keeps, whatever the runs and the answers so far."""

from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from karatage.data.options import JudgingPrices
from karatage.orders.budget import allocate, cost_of
from karatage.orders.orders import ORDERS, list_all
from tests.oracles.judging_states import make_state

STATES = {
    **{f"random {seed}": make_state(seed) for seed in range(15)},
    "one system": make_state(100, systems=1),
    "one topic": make_state(101, topics=1),
    "one item": make_state(102, topics=1, documents=1, judged=0.0, closed=0.0),
    "all open": make_state(103, judged=0.0, closed=0.0),
    "all judged": make_state(104, judged=1.0, closed=0.0),
    "all closed": make_state(105, judged=0.0, closed=1.0),
}
EMPTY = {
    "an empty ranking": replace(make_state(106), ranked=np.full((3, 4, 6), -1, np.int32)),
    "rankings without ranks": replace(make_state(107), ranked=np.full((3, 4, 0), -1, np.int32)),
}
each_order = pytest.mark.parametrize("order", ORDERS.values(), ids=list(ORDERS))
WALKS = {"move-to-front", "thompson"}


def each_state(test):
    """One test for all states."""

    def run(order):
        for state in STATES.values():
            test(order, state)

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def reach(order, state):
    """Open items that an order can pick: walks find retrieved documents only, draws what has an effect."""
    within = state.open.copy()
    if order.name in WALKS:
        within &= np.isin(np.arange(state.items), state.ranked)
    if order.name == "effect":
        within &= state.effect > 0
    return set(np.flatnonzero(within).tolist())


@each_order
@each_state
def test_picks_open_items_once_and_as_many_as_asked(order, state):
    within = reach(order, state)
    for n in (0, 1, 3, len(within), state.items + 50):
        picks = order.next_items(state, n)
        assert len(picks.item) == len(picks.pi) == min(n, len(within))
        assert len(set(picks.item.tolist())) == len(picks.item)
        assert set(picks.item.tolist()) <= within
        assert picks.item.dtype == np.int64
        if order.name == "effect":
            assert ((picks.pi > 0) & (picks.pi <= 1)).all()
        else:
            assert np.isnan(picks.pi).all()


@each_order
@pytest.mark.parametrize("state", EMPTY.values(), ids=list(EMPTY))
def test_runs_that_retrieve_nothing(order, state):
    picks = order.next_items(state, state.items)
    assert set(picks.item.tolist()) == reach(order, state)
    assert (len(picks.item) == 0) == (order.name in WALKS)


@each_order
@each_state
def test_same_seed_same_queue(order, state):
    one, two = order.next_items(state, 7), order.next_items(replace(state), 7)
    np.testing.assert_array_equal(one.item, two.item)
    np.testing.assert_array_equal(one.pi, two.pi)


def test_the_seed_matters_where_luck_does_and_nowhere_else():
    state = make_state(3, topics=3, documents=12, depth=12, judged=0.0, closed=0.0)
    for order in ORDERS.values():
        queues = {tuple(order.next_items(replace(state, seed=seed), 6).item.tolist()) for seed in range(20)}
        assert (len(queues) > 1) == (order.name in {"thompson", "effect"}), order.name


@each_order
@each_state
def test_inputs_stay(order, state):
    before = {field.name: np.copy(getattr(state, field.name)) for field in fields(state)}
    order.next_items(state, 5)
    list_all(order, state, np.zeros(state.items, np.int8))
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(state, name), value)


@each_order
@each_state
def test_a_shorter_queue_is_the_start_of_a_longer_one(order, state):
    """All but drawn ones, whose chances depend on how many are drawn."""
    if order.name != "effect":
        full = order.next_items(state, state.items).item
        for n in (1, 2, 5):
            np.testing.assert_array_equal(order.next_items(state, n).item, full[:n])


@each_order
@each_state
def test_other_systems_order(order, state):
    """Static orders do not notice; walks may where runs are equally good; they find the same documents in the end."""
    rng = np.random.default_rng(5)
    full = order.next_items(state, state.items).item
    for _ in range(3):
        shuffled = replace(state, ranked=state.ranked[:, rng.permutation(state.ranked.shape[1])])
        other = order.next_items(shuffled, state.items).item
        if order.name in WALKS:
            assert set(other.tolist()) == set(full.tolist())
        else:
            np.testing.assert_array_equal(other, full)


def test_walks_notice_the_systems_order_through_ties_only():
    """Where answers tell all runs apart, priorities decide: two runs, of which the first document tells."""
    ranked = np.array([[[0, 1, 2], [3, 4, 5]]], np.int32)
    grade = np.array([0, -1, -1, 1, -1, -1], np.int8)
    state = replace(
        make_state(0, topics=1),
        ranked=ranked,
        item_start=np.array([0, 6]),
        grade=grade,
        open=grade < 0,
        level=1,
        disagreement=None,
        effect=None,
    )
    expected = [4, 5, 1, 2]
    for system in ([0, 1], [1, 0]):
        picks = ORDERS["move-to-front"].next_items(replace(state, ranked=ranked[:, system]), 4)
        assert picks.item.tolist() == expected


@each_order
@each_state
def test_going_on_after_a_batch(order, state):
    """Batch after batch, every item within reach is picked once."""
    rng, seen = np.random.default_rng(9), []
    within = reach(order, state)
    while (item := order.next_items(state, 4).item).size:
        seen += item.tolist()
        grade, still = state.grade.copy(), state.open.copy()
        grade[item], still[item] = rng.integers(0, 4, len(item)), False
        state = replace(state, grade=grade, open=still)
    assert sorted(seen) == sorted(within)


@each_order
@each_state
def test_listing_all(order, state):
    """Static orders list what one call gives; all list each item once."""
    answer = np.random.default_rng(2).integers(0, 4, state.items).astype(np.int8)
    listed = list_all(order, state, answer)
    assert sorted(listed.tolist()) == sorted(reach(order, state))
    if not order.dynamic:
        np.testing.assert_array_equal(listed, order.next_items(state, state.items).item)


@each_order
@each_state
def test_the_budget_is_kept_to_the_cent(order, state):
    """A queue is cut where the money ends: experts first, then the crowd."""
    rng = np.random.default_rng(4)
    within = len(reach(order, state))
    for _ in range(5):
        prices = JudgingPrices(Decimal(int(rng.integers(100, 900))) / 100, Decimal(int(rng.integers(1, 100))) / 100)
        total = Decimal(int(rng.integers(1000, 9000))) / 100
        share = float(rng.random())
        found = allocate(total, prices, expert_share=share, expert_items=within, crowd_items=within, items=within)
        item = order.next_items(state, found.experts + found.labels).item
        spent = sum((prices.expert if k < found.experts else prices.label for k in range(len(item))), Decimal(0))
        assert len(item) == found.experts + found.labels
        assert spent == found.cost == cost_of(found.experts, found.labels, prices)
        assert found.cost + found.rest == total
        assert found.rest >= 0
        if len(item) < within:
            assert found.rest < min(prices.expert, prices.label)


@each_order
def test_every_order_is_explained(order):
    text = (Path(__file__).parents[2] / "docs" / "theory" / "orders.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith(f"| `{order.name}` | "))
    assert f"| {'yes' if order.dynamic else 'no'} |" in row
