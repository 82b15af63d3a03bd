"""Tables of comparisons and boards: the numbers of the result, and the same ones in the terminal and on the page."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.views.board import (
    explain_letters,
    frame_forest,
    spell_letters,
    tabulate_forest,
    tabulate_leaderboard,
    tabulate_turned,
    tabulate_verdicts,
)
from karatage.views.comparison import explain_correction, tabulate_difference, tabulate_scores
from karatage.views.showing import lay_out
from karatage.views.table import Table, lay_out_table, write_column
from karatage.views.text import render_page
from tests.unit.boards import tell_apart

MEASURE = "P(rel=2)@10"


@cache
def world() -> kt.simulation.World:
    return kt.simulation.simulate_collection(systems=6, topics=60, depth=30, rng=7)


@cache
def board(*, gold: bool = True) -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, world().gold if gold else None, MEASURE)


def compare(*, gold: bool = True, claim: str = "new") -> kt.Comparison:
    first, second, *_ = world().runs.systems
    question = kt.Question(measure=MEASURE, claim=claim)
    return kt.compare(world().runs, world().judgments, world().gold if gold else None, question, a=first, b=second)


def list_shown(table: Table) -> set[str]:
    """Every number as a terminal has it."""
    return {text for name in table.columns for text in write_column(table, name, plain=True) if text != "-"}


def test_opinions_stand_side_by_side() -> None:
    found = compare()
    difference, scores = tabulate_difference(found), tabulate_scores(found)
    assert len(difference.frame) == len(found.opinions)
    assert difference.frame["difference"].to_list() == [opinion.difference.value for opinion in found.opinions]
    assert difference.frame["p_value"].to_list() == [opinion.p_value for opinion in found.opinions]
    naive = found.naive.difference
    assert difference.frame.select("standard_error", "t", "low", "high").row(0) == (
        naive.standard_error,
        naive.value / naive.standard_error,
        naive.low,
        naive.high,
    )
    assert list(difference.columns.values())[2:] == ["± s.e.", "t", "95% from", "to", "p"]
    assert scores.frame.row(0)[1:] == (
        found.naive.a.value,
        found.naive.a.standard_error,
        found.naive.b.value,
        found.naive.b.standard_error,
    )


def test_captions_say_who_a_and_b_are() -> None:
    found = compare()
    for table in (tabulate_difference(found), tabulate_scores(found)):
        assert table.caption.endswith(f"; a = {found.a}, b = {found.b}")
    assert lay_out_table(tabulate_difference(found)).headers[1].text == "b − a"
    unnamed = kt.compare_figures(kt.Figures(50, 0.5, 0.2), kt.Figures(50, 0.6, 0.2), kt.RateCounts(43, 59, 67, 84))
    assert tabulate_scores(unnamed).caption == "Scores"


def test_what_is_exact_is_called_so() -> None:
    found = compare(claim="these")
    assert found.corrected.difference.exact
    frame = tabulate_difference(found).frame
    assert frame["by"].to_list() == ["judges", "gold alone, exact"]
    assert frame["low"][1] == frame["high"][1] == found.corrected.difference.value
    assert frame["t"][1] is None


def test_the_terminal_shows_the_numbers_of_the_tables() -> None:
    found = compare()
    words = set(render_page(lay_out(found)).split())
    for table in (tabulate_scores(found), tabulate_difference(found)):
        numbers = {text for text in list_shown(table) if text[-1].isdigit()}
        assert numbers
        assert numbers <= words
    text = render_page(lay_out(board()))
    for table in (tabulate_leaderboard(board()), tabulate_verdicts(board())):
        assert list_shown(table) <= {part.strip() for line in text.splitlines() for part in line.split("  ")}


def test_judges_and_corrected_stand_in_one_leaderboard() -> None:
    found = board()
    table = tabulate_leaderboard(found)
    frame = table.frame
    headers = ["#", "system", "judges #", "judges", "corrected", "95% from", "to", "letters"]
    assert list(table.columns.values()) == headers
    assert frame["system"].to_list() == list(found.systems)
    assert frame["corrected_rank"].to_list() == found.corrected.rank.tolist()
    assert frame["naive_rank"].to_list() == found.naive.rank.tolist()
    assert frame["corrected_score"].to_list() == found.corrected.value.tolist()
    assert frame["corrected_high"].to_list() == found.corrected.high.tolist()
    assert [row.about for row in lay_out_table(table).rows] == list(found.systems)
    alone = tabulate_leaderboard(board(gold=False))
    assert list(alone.columns.values()) == ["#", "system", "judges", "95% from", "to", "letters"]


def test_verdicts_are_counted() -> None:
    found = board()
    frame = tabulate_verdicts(found).frame
    counts = dict(frame.select("verdict", "pairs").iter_rows())
    flips = found.count_flips()
    assert counts["significant by the judges"] == found.naive_pairs.count
    assert counts["significant when corrected"] == found.corrected_pairs.count
    assert counts["significant only without correction"] == flips["falls"]
    assert counts["significant only when corrected"] == flips["arises"]
    assert frame["share"].to_list() == [count / 15 for count in counts.values()]
    assert list(tabulate_verdicts(board(gold=False)).frame["verdict"]) == ["significant by the judges"]


def test_turned_verdicts_and_doubts_are_told() -> None:
    found = board()
    assert tabulate_turned(found) is None
    claimed = np.flatnonzero(found.corrected_pairs.claimed & found.naive_pairs.claimed)[0]
    value = found.corrected_pairs.value.copy()
    value[claimed] *= -1
    doubted = np.zeros(len(value), bool)
    best = np.flatnonzero(found.b == 0)
    doubted[best[best != claimed][0]] = True
    p_value = np.where(found.corrected_pairs.claimed, 1e-6, 0.9)
    turned = replace(found, corrected_pairs=tell_apart(value, p_value, 0.05, doubted))
    frame = tabulate_turned(turned).frame
    assert frame["corrected_difference"].to_list() == [value[claimed]]
    assert frame["naive_difference"].to_list() == [found.naive_pairs.value[claimed]]
    assert "gold contradicts the correction" in tabulate_verdicts(turned).frame["verdict"].to_list()
    assert explain_letters(turned) != explain_letters(found)
    assert "contradicted by gold" in frame_forest(turned)["verdict"]


def test_a_forest_is_of_differences_from_the_best() -> None:
    found = board()
    best = found.systems[0]
    frame = frame_forest(found)
    assert frame["by"].unique(maintain_order=True).to_list() == ["judges", "corrected"]
    pairs = found.pairs()
    for row in frame.iter_rows(named=True):
        other = row["system"]
        (pair,) = pairs.filter(
            ((pl.col("a") == other) & (pl.col("b") == best)) | ((pl.col("a") == best) & (pl.col("b") == other))
        ).iter_rows(named=True)
        kind = "naive" if row["by"] == "judges" else "corrected"
        sign = 1 if pair["b"] == other else -1
        assert row["difference"] == pytest.approx(sign * pair[f"{kind}_difference"])
        ends = sorted([sign * pair[f"{kind}_low"], sign * pair[f"{kind}_high"]])
        assert [row["low"], row["high"]] == pytest.approx(ends)
        assert row["p"] == pytest.approx(pair[f"{kind}_p_holm"])
        winner = pair[f"{kind}_better"]
        assert row["verdict"] == ("not significant" if winner is None else "better" if winner == other else "worse")
    assert frame.filter(by="judges")["system"].to_list() == [name for name in found.systems if name != best]


def test_a_forest_as_a_table_has_both_sides_in_a_row() -> None:
    table = tabulate_forest(board())
    frame = frame_forest(board())
    assert table.frame["judges_difference"].to_list() == frame.filter(by="judges")["difference"].to_list()
    assert table.frame["corrected_p"].to_list() == frame.filter(by="corrected")["p"].to_list()
    assert [cell.text for cell in lay_out_table(table).headers] == [
        "system",
        *("judges", "95% from", "to", "p", "verdict"),
        *("corrected", "95% from", "to", "p", "verdict"),
    ]
    assert set(table.signed) == {name for name in table.frame.columns if table.frame[name].dtype == pl.Float64} - {
        "judges_p",
        "corrected_p",
    }
    assert "corrected" not in tabulate_forest(board(gold=False)).columns.values()


def test_no_number_is_nothing() -> None:
    found = board()
    odd = replace(found, corrected=replace(found.corrected, low=np.full(6, -np.inf), high=np.full(6, np.nan)))
    frame = tabulate_leaderboard(odd).frame
    assert frame["corrected_low"].to_list() == frame["corrected_high"].to_list() == [None] * 6


def test_what_the_correction_rests_on_is_explained() -> None:
    found = compare()
    text = list(explain_correction(replace(found, alarm="shift")))
    assert text[0].startswith("Gold: ")
    assert not any("shift" in part for part in text)  # the sentence has it
    assert any(part.startswith("Assumed: ") for part in text)
    assert list(explain_correction(compare(gold=False))) == []


@pytest.mark.parametrize(
    ("letters", "spelt"),
    [("", ""), ("a", "a"), ("abcde", "a-e"), ("abdfg", "a-b,d,f-g"), ("yza2b2", "y-b2"), ("ace", "a,c,e")],
)
def test_letters_are_spelt_briefly(letters: str, spelt: str) -> None:
    assert spell_letters(letters) == spelt
