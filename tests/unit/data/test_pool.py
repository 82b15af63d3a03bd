"""The pool with what nobody judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.data.alignment import add_items, align, pool_runs, widen_pool
from karatage.data.judgments import Draw
from karatage.errors import DataError, OptionError

RUNS = kt.read_runs(
    {
        "one": {"1": {"d1": 3, "x1": 2, "x2": 1}, "2": {"d3": 2, "d1": 1}, "9": {"d9": 1}},
        "two": {"1": {"x2": 2, "d2": 1}, "2": {"x1": 1}},
    }
)
JUDGMENTS = kt.read_judgments({"ann": {"1": {"d1": 1, "d2": 0}, "2": {"d3": 2}}, "bob": {"1": {"d1": 0}}})


def items(judgments: kt.Judgments) -> set[tuple[str, str]]:
    names = judgments.documents.gather(judgments.item_document).to_list()
    return set(zip((judgments.topics[t] for t in judgments.item_topic), names, strict=True))


def test_documents_of_the_first_ranks_of_judged_topics_are_items() -> None:
    wide = widen_pool(JUDGMENTS, RUNS, 2)
    assert items(wide) == {("1", "d1"), ("1", "d2"), ("2", "d3"), ("1", "x1"), ("1", "x2"), ("2", "d1"), ("2", "x1")}
    assert items(widen_pool(JUDGMENTS, RUNS, 1)) == items(JUDGMENTS) | {("1", "x2"), ("2", "x1")}
    assert wide.notes == JUDGMENTS.notes


def test_the_judgments_stay_the_same() -> None:
    wide = widen_pool(JUDGMENTS, RUNS, 3)
    assert (
        wide.to_frame()
        .sort("judge", "topic", "document")
        .equals(JUDGMENTS.to_frame().sort("judge", "topic", "document"))
    )
    assert (np.diff(wide.row_start) == 0).sum() == 4
    assert (align(RUNS, wide).ranked[:, :, :2] >= 0).sum() == 7
    for measure in ("P@2", "AP", "nDCG@3"):
        scores = [kt.score(RUNS, j, measure).value for j in (JUDGMENTS, wide)]
        np.testing.assert_array_equal(scores[0], scores[1])


def test_items_stay_in_order() -> None:
    wide = widen_pool(JUDGMENTS, RUNS, 3)
    key = wide.item_topic.astype(np.int64) * len(wide.documents) + wide.item_document
    assert (np.diff(key) > 0).all()


def test_a_pool_that_has_all_is_left_alone() -> None:
    wide = widen_pool(JUDGMENTS, RUNS, 3)
    assert widen_pool(wide, RUNS, 3) is wide
    assert widen_pool(JUDGMENTS, RUNS.only(("one",)), 1) is JUDGMENTS


def test_draws_stay_with_their_rows() -> None:
    draw = Draw(pi=np.array([0.1, 0.2, 0.3, 0.4]), batch=np.array([1, 2, 1, 2], np.int32), measure="P@2")
    wide = widen_pool(replace(JUDGMENTS, draw=draw), RUNS, 3)
    assert wide.draw is draw


def test_a_draw_of_some_rows() -> None:
    draw = Draw(pi=np.array([0.1, 0.2, 0.3]), batch=np.array([1, 1, 2], np.int32), measure="P@2", frame="f")
    some = draw.take(np.array([False, True, True]))
    assert (some.pi.tolist(), some.batch.tolist(), some.measure, some.frame) == ([0.2, 0.3], [1, 2], "P@2", "f")
    with pytest.raises(ValueError, match="read-only"):
        some.pi[0] = 1


def test_a_pool_is_what_the_systems_have_in_their_first_ranks() -> None:
    pool = pool_runs(RUNS, 2)
    expected = {("1", "d1"), ("1", "x1"), ("1", "x2"), ("1", "d2"), ("2", "d3"), ("2", "d1"), ("2", "x1"), ("9", "d9")}
    assert items(pool) == expected
    assert len(pool.grade) == 0
    assert items(pool_runs(RUNS, 1, ["2"])) == {("2", "d3"), ("2", "x1")}
    assert (align(RUNS, pool).ranked >= 0).sum() == 9  # also what is below a depth, if pooled by another system


def test_what_was_judged_beside_the_pool_becomes_an_item() -> None:
    pool = pool_runs(RUNS, 1)
    gold = kt.read_gold({"1": {"z": 1, "d1": 0}, "2": {"d1": 1}, "77": {"q": 1}})
    wide = add_items(pool, gold)
    assert items(wide) == items(pool) | {("1", "z"), ("2", "d1")}
    assert add_items(wide, gold) is wide
    assert (align(RUNS, wide).ranked >= 0).sum() == 7


def test_items_that_nobody_graded_are_not_added() -> None:
    gold = kt.read_gold({"1": {"z": 1, "d1": 0}})
    pool = pool_runs(RUNS, 1)
    assert add_items(pool, gold.keep_rows(gold.grade == 0)) is pool


def test_a_pool_with_judgments_keeps_them_when_items_are_added() -> None:
    wide = add_items(JUDGMENTS, kt.read_gold({"1": {"a": 1, "d1": 0}, "2": {"d1": 1}}))
    assert items(wide) == items(JUDGMENTS) | {("1", "a"), ("2", "d1")}
    order = ("judge", "topic", "document")
    assert wide.to_frame().sort(order).equals(JUDGMENTS.to_frame().sort(order))


def test_pools_that_cannot_be_are_refused() -> None:
    with pytest.raises(OptionError, match=r"depth.*\b0\b"):
        pool_runs(RUNS, 0)
    with pytest.raises(DataError, match="'5'"):
        pool_runs(RUNS, 1, ["1", "5"])
