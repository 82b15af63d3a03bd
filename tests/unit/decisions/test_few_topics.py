"""Few topics that gold knows all of: what is said of new ones does not depend on the kind of measure."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karatage as kt
from tests.notes import gives, has_note

A, B = "system-01", "system-02"


@cache
def world(topics: int) -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=3, topics=topics, depth=20, rng=7)


def planned(topics: int, budget: int) -> kt.Judgments:
    """A plan's queue for the pair, judged."""
    here = world(topics)
    queue = kt.plan(here.runs, here.judgments, "P@10", budget=budget, a=A, b=B).queue
    known = here.pool.to_frame().select("topic", "document", "grade")
    return kt.read_gold(queue.drop("grade").join(known, on=["topic", "document"], how="left").fill_null(0))


def compare(size: int, gold: kt.Judgments, **terms: object) -> kt.Comparison:
    here = world(size)
    return kt.compare(here.runs, here.judgments, gold, kt.Question(measure="P@10", **terms), a=A, b=B)


@pytest.mark.parametrize("gold", ["pool", "queue"])
def test_gold_on_all_that_matters_decides_by_the_ordinary_t(gold: str) -> None:
    found = compare(8, world(8).pool if gold == "pool" else planned(8, 5000))
    scores = kt.score(world(8).runs, world(8).pool, "P@10")
    a, b = (scores.value[0, :, scores.systems.index(name)] for name in (A, B))
    by_scipy = stats.ttest_rel(b, a)
    assert found.corrected is not None
    assert found.corrected.difference.value == pytest.approx(np.mean(b - a))
    assert found.p_value == pytest.approx(by_scipy.pvalue)
    assert has_note(found, "decisions.few-topics", topics=8)


def test_scores_are_those_of_gold_or_none() -> None:
    """The queue has what the two rank differently; the scores lean on other documents too, which it does not have."""
    whole, matters = (compare(8, gold).corrected for gold in (world(8).pool, planned(8, 5000)))
    assert whole is not None
    assert matters is not None
    scores = kt.score(world(8).runs, world(8).pool, "P@10")
    assert whole.a is not None
    assert whole.a.value == pytest.approx(scores.value[0, :, scores.systems.index(A)].mean())
    assert (matters.a, matters.b) == (None, None)


def test_a_sample_and_fewer_than_five_topics_say_nothing_of_new_ones() -> None:
    for topics, gold in ((8, planned(8, 30)), (4, world(4).pool), (4, planned(4, 5000))):
        refused = compare(topics, gold)
        assert refused.corrected is None
        assert gives(refused.refusal, topics, "--claim these")
        assert compare(topics, gold, claim="these").corrected is not None


def test_other_measures_name_the_same_way_out() -> None:
    here = world(4)
    found = kt.compare(here.runs, here.judgments, here.pool, "nDCG@10", a=A, b=B)
    assert gives(found.refusal, "--claim these")


@pytest.mark.parametrize(("topics", "budget", "claims"), [(8, 5000, True), (8, 30, False), (4, 5000, False)])
def test_a_plan_promises_what_compare_will_say(topics: int, budget: int, claims: bool) -> None:
    here = world(topics)
    found = kt.plan(here.runs, here.judgments, "P@10", budget=budget, a=A, b=B)
    assert (found.new is not None) == claims
    assert has_note(found, "decisions.few-topics-planned") == (not claims)
    assert (compare(topics, planned(topics, budget)).corrected is not None) == claims


def test_the_board_too() -> None:
    here = world(8)
    board = kt.compare_all(here.runs, here.judgments, here.pool, "P@10")
    assert board.corrected is not None
    assert board.corrected_pairs is not None
    assert pl.Series(board.corrected_pairs.p_value).is_between(0, 1).all()
