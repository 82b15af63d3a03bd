"""A leaderboard as text: within 80 columns, with nothing left out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import karatage as kt
from karatage.data.estimate import Bounded
from karatage.views.showing import lay_out
from karatage.views.text import render_page
from tests.notes import gives
from tests.unit.boards import tell_apart

MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(rng=7)


def rank(gold: kt.Judgments | None, measure: str = MEASURE) -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, gold, measure)


def sample() -> kt.Judgments:
    return kt.read_gold(world().gold.to_frame().drop("judge").sample(400, seed=1))


@pytest.mark.parametrize("gold", [sample, lambda: world().gold, lambda: None], ids=["sample", "all", "none"])
def test_all_is_said_in_80_columns(gold):
    board = rank(gold())
    text = render_page(lay_out(board), top=0)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert board.sentence in words
    for s, name in enumerate(board.systems):
        (line,) = [line for line in text.splitlines() if f" {name} " in line]
        assert f"{board.naive.value[s]:.4f}" in line
        if board.corrected is not None:
            assert f"{board.corrected.value[s]:.4f}" in line
            first = board.corrected if board.guess is None else board.guess.standing
            assert f"{first.low[s]:.4f}" in line
    assert gives(words, "judges", board.naive_pairs.count)
    if board.corrected is not None:
        assert gives(words, "corrected", board.corrected_pairs.count)
        by_rates = board.corrected.way == "rates"  # then both follow from what is assumed
        assert (f"tau {board.tau.value:.3f} [" in words) != by_rates
        assert (f" {board.slope.value:.3f} [" in words) != by_rates


def test_the_rest_is_counted():
    text = render_page(lay_out(rank(None)), top=5)
    assert gives(text, 7, "--top 0")
    assert sum("system-" in line for line in text.splitlines()) == 5


def test_a_refusal_and_an_alarm_are_told():
    assert "AP is not " in " ".join(render_page(lay_out(rank(sample(), "AP"))).split())
    assert "shift." in render_page(lay_out(replace(rank(sample()), alarm="shift")))


def test_turned_verdicts_are_shown():
    board = rank(world().gold)
    claimed = np.flatnonzero(board.corrected_pairs.claimed & board.naive_pairs.claimed)[0]
    value = board.corrected_pairs.value.copy()
    value[claimed] *= -1
    p_value = np.where(board.corrected_pairs.claimed, 1e-6, 0.9)
    turned = replace(board, corrected_pairs=tell_apart(value, p_value, 0.05))
    assert turned.count_flips()["turns"] == 1
    text = render_page(lay_out(turned))
    assert "Reversed verdicts" in text
    assert f"{value[claimed]:+.4f}" in text
    assert "Reversed verdicts" not in render_page(lay_out(board))


def test_what_is_not_known_has_no_number():
    odd = replace(rank(world().gold), tau=Bounded(0.5, np.nan, np.nan), slope=Bounded(1.0, -np.inf, np.inf))
    text = " ".join(render_page(lay_out(odd)).split())
    assert "tau 0.500, tau_ap" in text
    assert "1.000 [no bound, no bound]" in text
