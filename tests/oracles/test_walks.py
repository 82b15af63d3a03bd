"""Orders of judging against slow and obvious ones, on many small collections."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from karatage.orders.orders import ORDERS, list_all
from karatage.orders.state import JudgingState, find_features
from karatage.random_streams import stream
from tests.oracles import walks
from tests.oracles.judging_states import make_state, runs_of

STATES = [make_state(seed) for seed in range(40)]


def walk_slowly(order: str, state: JudgingState, answers: dict[int, bool], open_items: set[int], n: int) -> list[int]:
    visits = []
    for topic in range(len(state.item_start) - 1):
        runs = runs_of(state, topic)
        if order == "thompson":
            visits.append(list(walks.thompson(runs, answers, open_items, stream(state.seed, f"thompson {topic}"))))
        else:
            visits.append(list(walks.move_to_front(runs, answers, open_items)))
    return walks.take_turns(visits, open_items, n)


def answers_in(state: JudgingState) -> dict[int, bool]:
    return {int(i): bool(state.grade[i] >= state.level) for i in np.flatnonzero(state.grade >= 0)}


@pytest.mark.parametrize("order", ["move-to-front", "thompson"])
def test_walks_as_told_with_some_answers_known(order):
    for state in STATES:
        open_items = set(np.flatnonzero(state.open).tolist())
        for n in (1, 4, 100):
            expected = walk_slowly(order, state, answers_in(state), open_items, n)
            assert ORDERS[order].next_items(state, n).item.tolist() == expected


@pytest.mark.parametrize("order", ["move-to-front", "thompson"])
def test_all_at_once_is_one_at_a_time(order):
    """With all answers known, one call gives what asking anew after each judgment gives, slow or fast."""
    for seed in range(12):
        start = make_state(seed, judged=0.0, closed=0.0)
        grade = np.random.default_rng(seed).integers(0, 4, start.items).astype(np.int8)
        truth = {i: bool(grade[i] >= start.level) for i in range(start.items)}
        slow = walks.judge_one_at_a_time(
            lambda answers, open_items, state=start: walk_slowly(order, state, answers, open_items, 1), truth
        )
        assert list_all(ORDERS[order], start, grade).tolist() == slow
        fast, state = [], start
        while (item := ORDERS[order].next_items(state, 1).item).size:
            fast += item.tolist()
            judged, still = state.grade.copy(), state.open.copy()
            judged[item], still[item] = grade[item], False
            state = replace(state, grade=judged, open=still)
        assert fast == slow


def test_depth_is_pool_after_pool():
    for state in STATES:
        meta_ap = find_features(state.ranked, state.items).meta_ap.round(9).tolist()
        items = [set(range(low, high)) for low, high in pairwise(state.item_start.tolist())]
        expected = walks.depth_pools(state.ranked.tolist(), items, meta_ap)
        picked = ORDERS["depth"].next_items(state, state.items).item.tolist()
        assert picked == [i for i in expected if state.open[i]]


@pytest.mark.parametrize("name", ["average-rank", "meta-ap"])
def test_sorted_by_what_runs_say(name):
    harmonic = [sum(1 / k for k in range(1, n + 1)) for n in range(1001)]
    for state in STATES:
        runs = [state.ranked[t].tolist() for t in state.item_topic]
        ranks = [[run.index(i) + 1 if i in run else None for run in runs[i]] for i in range(state.items)]
        if name == "average-rank":
            key = [sum(r or 1001 for r in own) / len(own) for own in ranks]
        else:
            key = [
                -round(sum(1 + harmonic[1000] - harmonic[r] if r else 0 for r in own) / len(own), 9) for own in ranks
            ]
        expected = sorted(np.flatnonzero(state.open).tolist(), key=lambda i: (key[i], i))
        assert ORDERS[name].next_items(state, state.items).item.tolist() == expected


def test_sorted_by_disagreement():
    for state in STATES:
        expected = sorted(np.flatnonzero(state.open).tolist(), key=lambda i: (-state.disagreement[i], i))
        assert ORDERS["disagreement"].next_items(state, 5).item.tolist() == expected[:5]


def test_drawn_by_effect():
    """The chance of being picked is pi, over seeds, and pi follows the effect up to a floor."""
    state = make_state(7, topics=4)
    reach = np.flatnonzero(state.open & (state.effect > 0))
    draws, n = 4000, 5
    assert len(reach) > n
    hits, pi = np.zeros(state.items), np.zeros(state.items)
    for seed in range(draws):
        picks = ORDERS["effect"].next_items(replace(state, seed=seed), n)
        assert len(picks.item) == n
        hits[picks.item] += 1
        pi[picks.item] = picks.pi
    assert set(np.flatnonzero(hits)) == set(reach.tolist())
    assert math.isclose(pi.sum(), n, abs_tol=1e-9)
    assert (np.abs(hits / draws - pi) <= 4 * np.sqrt(pi * (1 - pi) / draws) + 1e-12).all()
    free = (pi > 0) & (pi < 1) & (state.effect > 0.2 * state.effect[reach].mean())
    ratio = pi[free] / state.effect[free]
    np.testing.assert_allclose(ratio, ratio[0])
