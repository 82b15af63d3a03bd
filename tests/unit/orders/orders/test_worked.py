"""Orders of judging by hand."""

import numpy as np
import pytest

from karatage.errors import DataError, OptionError, UnknownNameError
from karatage.orders.budget import find_area, find_curve
from karatage.orders.orders import ORDERS, Order, by_rule, list_all, list_orders, next_items, parse_order
from karatage.orders.state import JudgingState


def make_state(ranked, grade=None, **fields):
    """One topic per entry of `ranked`, which names all items."""
    depth = max((len(run) for runs in ranked for run in runs), default=0)
    padded = [[[*run, *[-1] * (depth - len(run))] for run in runs] for runs in ranked]
    sizes = [len({i for run in runs for i in run}) for runs in ranked]
    items = sum(sizes)
    judged = np.full(items, -1, np.int8) if grade is None else np.array(grade, np.int8)
    return JudgingState(
        **{
            "ranked": np.array(padded, np.int32),
            "item_start": np.concatenate([[0], np.cumsum(sizes)]),
            "grade": judged,
            "open": judged < 0,
            **fields,
        }
    )


ONE = [[[0, 1, 2, 3], [4, 1, 5, 0], [6, 5, 7, 8]]]
ANSWER = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0], np.int8)


def test_move_to_front_by_hand():
    """Priorities (x, y, z) of the runs x = 0123, y = 4150, z = 6578.

    x gives 0, not relevant: (-1, 0, 0). y gives 4, relevant, stays, gives 1, relevant, then 5, not: (-1, -1, 0).
    z gives 6, not: (-1, -1, -1). x has waited longest: 1 was judged, 2 is relevant, 3 is not: (-2, -1, -1), and x has
    no more. Of y only 0 is left, which was judged: no more. z: 5 was judged, 7 is relevant, 8 is not.
    """
    order = list_all(ORDERS["move-to-front"], make_state(ONE), ANSWER)
    assert order.tolist() == [0, 4, 1, 5, 6, 2, 3, 7, 8]


def test_a_batch_of_move_to_front_goes_round():
    """Without answers no run loses its place for good, but each goes behind its equals."""
    assert next_items("move-to-front", make_state(ONE), 9).item.tolist() == [0, 4, 6, 1, 5, 7, 2, 8, 3]


def test_answers_so_far_move_runs():
    """0 not relevant, 4 relevant: y is in front of z, gives 1, goes behind z; x only comes when they have no more."""
    state = make_state(ONE, [0, -1, -1, -1, 1, -1, -1, -1, -1])
    assert next_items("move-to-front", state, 9).item.tolist() == [1, 6, 5, 7, 8, 2, 3]
    assert next_items("move-to-front", state, 2).item.tolist() == [1, 6]


def test_closed_items_are_passed_over_and_teach_nothing():
    may_pick = np.ones(9, bool)
    may_pick[[0, 4]] = False
    assert next_items("move-to-front", make_state(ONE, open=may_pick), 3).item.tolist() == [1, 5, 6]


def test_open_items_with_an_answer_are_picked_and_teach():
    """A document that the crowd graded may be open to experts."""
    state = make_state(ONE, ANSWER, open=np.ones(9, bool))
    assert next_items("move-to-front", state, 4).item.tolist() == [0, 4, 1, 5]


def test_level_says_what_is_relevant():
    """With no document good enough, runs go round."""
    order = list_all(ORDERS["move-to-front"], make_state(ONE, level=2), ANSWER)
    assert order.tolist() == [0, 4, 6, 1, 5, 7, 2, 8, 3]


@pytest.mark.parametrize("order", ["meta-ap", "average-rank", "depth"])
def test_rounding_decides_no_tie(order):
    """Each run gives the documents in another cyclic order: all have the same ranks, added up in different orders."""
    for size in range(3, 16):
        ranked = [[[(rank + run) % size for rank in range(size)] for run in range(size)]]
        assert next_items(order, make_state(ranked), size).item.tolist() == list(range(size))


TWO = [[[0, 1, 2]], [[3, 4]], [[5]]]


@pytest.mark.parametrize("order", ["depth", "move-to-front", "thompson"])
def test_topics_take_turns_as_far_as_they_have_documents(order):
    assert next_items(order, make_state(TWO), 6).item.tolist() == [0, 3, 5, 1, 4, 2]


@pytest.mark.parametrize("order", ["move-to-front", "thompson"])
def test_judged_documents_count_as_turns(order):
    assert next_items(order, make_state(TWO, [1, 0, -1, -1, -1, -1]), 6).item.tolist() == [3, 5, 4, 2]


def test_thompson_learns_which_run_is_good():
    """One run finds relevant documents only, the other none: the good one is soon asked most of the time."""
    state = make_state([[list(range(100)), list(range(100, 200))]])
    answer = (np.arange(200) < 100).astype(np.int8)
    share = [
        (list_all(ORDERS["thompson"], make_state([state.ranked[0].tolist()], seed=seed), answer)[:60] < 100).mean()
        for seed in range(20)
    ]
    assert np.mean(share) > 0.9
    blind = [
        (next_items("thompson", make_state([state.ranked[0].tolist()], seed=seed), 60).item < 100).mean()
        for seed in range(20)
    ]
    assert np.mean(blind) == pytest.approx(0.5, abs=0.1)


def test_thompson_topics_have_luck_of_their_own():
    """Answers in one topic change nothing in another."""
    runs = [[[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]], [[4, 5, 6, 7], [7, 6, 5, 4], [6, 4, 7, 5]]]
    for seed in range(20):
        before = next_items("thompson", make_state(runs, seed=seed), 8).item
        after = next_items("thompson", make_state(runs, [0, -1, 0, -1, -1, -1, -1, -1], seed=seed), 8).item
        assert before[before >= 4].tolist() == after[after >= 4].tolist()


def test_effect_draws_new_luck_after_each_batch():
    """The same numbers in every batch would make later chances depend on earlier draws."""
    ranked, together = [[list(range(40))]], 0
    for seed in range(300):
        state = make_state(ranked, effect=np.ones(40), seed=seed)
        first = next_items("effect", state, 20).item
        left = np.ones(40, bool)
        left[first] = False
        second = next_items("effect", make_state(ranked, open=left, effect=np.ones(40), seed=seed), 10)
        np.testing.assert_allclose(second.pi, 0.5)
        kept = np.flatnonzero(left)
        together += np.isin(kept[:10], second.item).sum()
    assert together / 3000 == pytest.approx(0.5, abs=0.04)


def test_effect_has_other_luck_once_something_is_judged():
    """Forty items alike; whether a judged one stands behind them must not leave the draw as it was."""
    ranked, may_pick, same = [[list(range(41))]], np.arange(41) < 40, 0
    for seed in range(20):
        first = next_items("effect", make_state([[list(range(40))]], effect=np.ones(40), seed=seed), 20).item
        second = next_items("effect", make_state(ranked, open=may_pick, effect=np.ones(41), seed=seed), 20).item
        same += first.tolist() == second.tolist()
    assert same == 0


def test_effect_lists_the_largest_first_and_leaves_out_what_tells_nothing():
    state = make_state([[[0, 1, 2, 3]]], effect=np.array([1.0, 0.0, 3.0, 2.0]))
    picks = next_items("effect", state, 4)
    assert picks.item.tolist() == [2, 3, 0]
    assert picks.pi.tolist() == [1, 1, 1]
    assert len(next_items("effect", make_state([[[0, 1]]], effect=np.zeros(2)), 2).item) == 0


def test_orders_are_found_by_their_names():
    assert list_orders() == tuple(sorted(ORDERS))
    assert all(ORDERS[name].name == name for name in ORDERS)
    assert parse_order("depth") is ORDERS["depth"]
    with pytest.raises(UnknownNameError, match=r"'tompson'.*'thompson'"):
        parse_order("tompson")


def test_an_order_of_ones_own():
    last_first = Order("last", lambda state, n: by_rule(np.flatnonzero(state.open)[::-1][:n]))
    assert next_items(last_first, make_state(TWO), 2).item.tolist() == [5, 4]


def test_states_without_what_an_order_needs_are_refused():
    state = make_state(TWO)
    with pytest.raises(OptionError, match=r"-1.*judge"):
        next_items("depth", state, -1)
    with pytest.raises(DataError, match="'disagreement'"):
        next_items("disagreement", state, 1)
    with pytest.raises(DataError, match="'effect'"):
        next_items("effect", state, 1)
    with pytest.raises(DataError, match=r"\b2\b.*\b6\b"):
        next_items("effect", make_state(TWO, effect=np.ones(2)), 1)
    with pytest.raises(DataError, match="not numbers from 0 on"):
        next_items("disagreement", make_state(TWO, disagreement=np.array([0, 0, np.nan, 0, 0, 0])), 1)
    with pytest.raises(DataError, match="item"):
        list_all(ORDERS["depth"], state, np.full(6, -1, np.int8))
    with pytest.raises(DataError):
        find_curve(np.arange(3), np.zeros(3, bool))


def test_curves_and_areas_of_relevant_items_found():
    """Four of ten items are relevant: found at once, at last, and with an order that ends early."""
    relevant = np.arange(10) < 4
    assert find_curve(np.arange(10), relevant).tolist() == [0, 0.25, 0.5, 0.75, 1, 1, 1, 1, 1, 1, 1]
    assert find_area(find_curve(np.arange(10), relevant)) == pytest.approx(0.8)
    assert find_area(find_curve(np.arange(10)[::-1], relevant)) == pytest.approx(0.2)
    short = find_curve(np.array([0, 5]), relevant)
    assert short.tolist() == [0] + [0.25] * 10
    assert find_area(short) == pytest.approx(0.25 * 0.95)
    rng = np.random.default_rng(1)
    areas = [find_area(find_curve(rng.permutation(10), relevant)) for _ in range(2000)]
    assert np.mean(areas) == pytest.approx(0.5, abs=0.01)
