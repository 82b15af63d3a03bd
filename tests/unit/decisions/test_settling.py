"""The probability of a wrong order against enumeration, and the pairs that matter."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import pool_runs
from karatage.data.queue import Settling
from karatage.decisions.belief import choose_pairs, combine_judgments, form_belief, settle
from karatage.errors import DataError, OptionError, UnknownNameError
from tests.notes import gives

RUNS = kt.read_runs(
    {
        "one": {"1": {"a": 3, "b": 2, "c": 1}, "2": {"e": 2, "f": 1}},
        "two": {"1": {"c": 3, "d": 2, "a": 1}, "2": {"f": 2, "g": 1}},
        "three": {"1": {"d": 1}, "2": {"g": 1}},
    }
)
POOL = pool_runs(RUNS, 10)
ALIGNMENT = kt.stats.align(RUNS, POOL)
GOLD = kt.read_gold({"1": {"a": 1, "b": 0}, "2": {"e": 0}})


def settle_for(measure: str, *, indifference: float = 0.0, risk: float = 0.05, seed: int = 0) -> Settling:
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, GOLD))
    rng = np.random.default_rng(seed)
    return settle(ALIGNMENT, belief, kt.parse_measure(measure), indifference=indifference, risk=risk, rng=rng)


@pytest.mark.parametrize("measure", ["P@2", "AP", "nDCG@2"])
def test_the_probability_of_a_wrong_order_is_that_of_all_worlds(measure: str) -> None:
    """Every grading of the four open documents, weighed by how often it is drawn."""
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, GOLD))
    drawn = belief.draw(20_000, np.random.default_rng(9))
    unsure = np.flatnonzero(belief.grade < 0)
    wrong = np.zeros((3, 3))
    for answer in itertools.product((0, 1), repeat=len(unsure)):
        grade = belief.grade.copy()
        grade[unsure] = answer
        weight = float((drawn[unsure] == np.array(answer)[:, None]).all(axis=0).mean())
        (scores,) = kt.stats.score_grades(ALIGNMENT, grade[:, None], [measure]).values()
        value = scores.value[0].mean(axis=0)
        wrong += weight * (value[None, :] - value[:, None] > 0.1)
    found = settle_for(measure, indifference=0.1)
    np.testing.assert_allclose(found.wrong, wrong, atol=4 * np.sqrt(0.25 / found.draws))


def test_pairs_are_stated_in_the_order_of_expected_scores() -> None:
    found = settle_for("P@2")
    order = np.argsort(-found.score)
    assert found.pairs == 3
    for a, b in itertools.combinations(order, 2):
        assert found.counts[a, b]
        assert not found.counts[b, a]


def test_a_margin_or_a_risk_settles_what_is_open() -> None:
    strict, loose = settle_for("P@2"), settle_for("P@2", indifference=0.6)
    assert not strict.settled
    assert loose.settled
    assert (loose.wrong <= strict.wrong).all()
    assert settle_for("P@2", risk=0.49).undecided < strict.undecided
    assert gives(loose.sentence, 3)


def test_all_judged_is_settled() -> None:
    every = kt.read_gold({"1": {"a": 1, "b": 0, "c": 0, "d": 1}, "2": {"e": 0, "f": 1, "g": 0}})
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, every))
    rng = np.random.default_rng(0)
    found = settle(ALIGNMENT, belief, kt.parse_measure("AP"), indifference=0.0, risk=0.05, rng=rng)
    scores = kt.score(RUNS, every, "AP")
    np.testing.assert_allclose(found.score, scores.value[0].mean(axis=0))
    assert found.settled
    assert found.expected_wrong == 0
    np.testing.assert_allclose(found.spread, 0, atol=1e-12)


def test_only_some_pairs_matter() -> None:
    found = settle_for("P@2")
    best = choose_pairs(found, best=1, systems=None)
    top = int(np.argmax(found.score))
    assert best.sum() == 2
    assert best[top].sum() == 2
    assert choose_pairs(found, best=9, systems=None).sum() == 3
    pair = choose_pairs(found, best=None, systems=("three", "one"))
    assert pair.sum() == 1
    assert (pair & found.counts).sum() == 1
    with pytest.raises(UnknownNameError, match="'three'"):
        choose_pairs(found, best=None, systems=("one", "thre"))
    with pytest.raises(DataError, match="systems"):
        choose_pairs(found, best=None, systems=("one", "one"))
    with pytest.raises(OptionError, match=r"best.*\b0\b.*\b1\b"):
        choose_pairs(found, best=0, systems=None)


def test_seeds_seed_and_results_can_be_kept() -> None:
    one, same, other = settle_for("AP"), settle_for("AP"), settle_for("AP", seed=1)
    np.testing.assert_array_equal(one.wrong, same.wrong)
    assert (one.wrong != other.wrong).any()
    assert one.to_json() == same.to_json()
    table = one.to_frame()
    assert table["system"].to_list() == [one.systems[s] for s in np.argsort(-one.score)]
    a, b, chance = one.worst
    assert chance == max(table["doubt"])
    assert {a, b} <= set(RUNS.systems)
    assert not one.wrong.flags.writeable


def test_equals_are_in_no_wrong_order() -> None:
    runs = kt.read_runs({name: {"1": {"a": 2, "b": 1}} for name in ("one", "two")})
    pool = pool_runs(runs, 2)
    alignment = kt.stats.align(runs, pool)
    belief = form_belief(alignment, combine_judgments(pool, None, None))
    rng = np.random.default_rng(0)
    found = settle(alignment, belief, kt.parse_measure("P@1"), indifference=0.0, risk=0.05, rng=rng)
    assert found.wrong.max() == 0
    assert found.settled


def test_topics_that_no_system_has_do_not_count() -> None:
    every = {"1": {"a": 1, "b": 0, "c": 0, "d": 1}, "2": {"e": 0, "f": 1, "g": 0}}
    gold = kt.read_gold({**every, "3": {"z": 1}})
    alignment = kt.stats.align(RUNS, gold)
    belief = form_belief(alignment, combine_judgments(gold, None, gold))
    rng = np.random.default_rng(0)
    found = settle(alignment, belief, kt.parse_measure("AP"), indifference=0.0, risk=0.05, rng=rng)
    np.testing.assert_allclose(found.score, kt.score(RUNS, kt.read_gold(every), "AP").value[0].mean(axis=0))


def test_scores_and_spreads_are_those_of_the_worlds_drawn() -> None:
    belief = form_belief(ALIGNMENT, combine_judgments(POOL, None, GOLD))
    rng = np.random.default_rng(0)
    drawn = np.hstack([belief.draw(250, rng) for _ in range(4)])
    (scores,) = kt.stats.score_grades(ALIGNMENT, drawn, ["AP"]).values()
    value = scores.value.mean(axis=1)
    found = settle_for("AP")
    np.testing.assert_allclose(found.score, value.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.spread, value.std(axis=0, ddof=1), rtol=1e-12)


@pytest.mark.parametrize(("work", "draws"), [(1, 250), (1200, 300), (10**6, 1000)])
def test_large_pools_are_drawn_less_often(monkeypatch: pytest.MonkeyPatch, work: int, draws: int) -> None:
    monkeypatch.setattr("karatage.decisions.belief.WORK", work)
    assert settle_for("AP").draws == draws  # four documents are open


def test_documents_below_the_cutoff_count_where_a_measure_asks_what_there_is_to_find() -> None:
    runs = kt.read_runs({name: {"1": {name: 2, "c": 1}, "2": {"d": 1}} for name in ("a", "b")})
    pool = pool_runs(runs, 2)
    alignment = kt.stats.align(runs, pool)
    belief = form_belief(alignment, combine_judgments(pool, None, kt.read_gold({"1": {"a": 1, "b": 0}, "2": {"d": 2}})))
    rng = np.random.default_rng(0)
    found = settle(alignment, belief, kt.parse_measure("nDCG@1"), indifference=0.0, risk=0.05, rng=rng)
    drawn = belief.draw(20_000, np.random.default_rng(1))
    (scores,) = kt.stats.score_grades(alignment, drawn, ["nDCG@1"], top_grade=2).values()
    np.testing.assert_allclose(found.score, scores.value.mean(axis=(0, 1)), atol=0.02)
    assert found.spread[0] > 0.05  # as c may be better than a
    precise = settle(alignment, belief, kt.parse_measure("P@1"), indifference=0.0, risk=0.05, rng=rng)
    np.testing.assert_array_equal(precise.score, [1, 0.5])
