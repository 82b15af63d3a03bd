"""The forest of differences: what it shows, and that it can be drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import karatage as kt
from karatage.views.board import chart_differences
from tests.unit.boards import tell_apart


def find_pair(board, one: str, other: str) -> tuple[int, float]:
    """The pair of two systems, and what makes its difference one - other."""
    pairs = {(board.systems[a], board.systems[b]): k for k, (a, b) in enumerate(zip(board.a, board.b, strict=True))}
    return (pairs[other, one], 1.0) if (other, one) in pairs else (pairs[one, other], -1.0)


def test_every_system_but_the_best_is_there_with_its_difference(hostile, read_chart):
    board = hostile.board
    reference = board.systems[0]
    rows = read_chart(chart_differences(board)).rows("difference")
    assert len(rows) == 14
    shown = {row["row"]: row["system"] for row in rows}
    assert [shown[k] for k in sorted(shown)] == [name for name in board.systems if name != reference]
    for row in rows:
        found = board.naive_pairs if row["by"] == "judges" else board.corrected_pairs
        pair, sign = find_pair(board, row["system"], reference)
        assert row["difference"] == pytest.approx(sign * found.value[pair])
        low, high = sorted([sign * found.low[pair], sign * found.high[pair]])
        assert (row["low"], row["high"]) == pytest.approx((low, high))
        assert row["p"] == found.holm[pair]


def test_verdicts_say_what_becomes_of_the_judges(hostile, read_chart):
    board = hostile.board
    pairs = len(board.a)
    before, after = np.zeros(pairs, bool), np.zeros(pairs, bool)
    mine = np.flatnonzero(board.b == 0)
    before[mine[[0, 1, 2]]] = True  # significant before: falls, stays, turns
    after[mine[[1, 2, 3]]] = True  # significant after: stays, turns, arises
    value = np.abs(board.naive_pairs.value) + 0.01
    turned = value.copy()
    turned[mine[2]] *= -1
    doubted = np.zeros(pairs, bool)
    doubted[mine[5]] = True
    odd = replace(
        board,
        adjust="none",
        naive_pairs=tell_apart(value, np.where(before, 0.001, 0.5), 0.05),
        corrected_pairs=tell_apart(turned, np.where(after, 0.001, 0.5), 0.05, doubted),
    )
    rows = read_chart(chart_differences(odd)).rows("difference")
    found = {row["system"]: row["verdict"] for row in rows}
    expected = [
        "significant only without correction",
        "significant",
        "reversed",
        "significant only when corrected",
        "not significant",
        "contradicted by gold",
    ]
    assert [found[board.systems[board.a[pair]]] for pair in mine[:6]] == expected


def test_without_gold_only_the_judges_are_there(hostile, read_chart):
    chart = read_chart(chart_differences(hostile.naive_board))
    assert {row["by"] for row in chart.rows("difference")} == {"judges"}
    assert "corrected" not in chart.texts
    assert "corrected" in read_chart(chart_differences(hostile.board)).texts
    assert chart.params["sorted_by"]["bind"]["options"] == ["judges", "name"]


def test_unknown_intervals_and_many_systems_can_be_drawn(hostile, read_chart):
    board = hostile.board
    lost = np.full(len(board.a), np.nan)
    wide = np.full(len(board.a), np.inf)
    nothing = {"standard_error": lost, "low": -wide, "high": lost, "p_value": lost, "claimed": lost > 0}
    odd = replace(board, corrected_pairs=replace(board.corrected_pairs, **nothing))
    rows = [row for row in read_chart(chart_differences(odd)).rows("difference") if row["by"] == "corrected"]
    assert {(row["low"], row["high"], row["p"]) for row in rows} == {(None, None, None)}
    assert "doubted" not in " ".join(read_chart(chart_differences(odd)).texts)


def test_it_fits_a_page(hostile, read_chart):
    chart = read_chart(chart_differences(hostile.board))
    assert chart.size[0] <= 640
    assert "<script>" in "".join(chart.texts)
    world = kt.simulation.simulate_collection(systems=129, topics=6, rng=1)
    many = kt.compare_all(world.runs, world.judgments, world.gold, "P@10")
    width, height = read_chart(chart_differences(many)).size
    assert width <= 640
    assert 128 * 13 < height < 128 * 13 + 200


def test_two_systems_are_enough(hostile, read_chart):
    world = hostile.world
    board = kt.compare_all(world.runs, world.judgments, world.gold, hostile.measure, systems=world.runs.systems[:2])
    assert len(read_chart(chart_differences(board)).rows("difference")) == 2
