"""Boards and pairs with a best guess, as readers see them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import altair as alt
import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.errors import DataError
from karatage.views.board import (
    chart_board,
    chart_differences,
    explain_letters,
    frame_forest,
    tabulate_forest,
    tabulate_leaderboard,
    tabulate_verdicts,
    view_board,
)
from karatage.views.comparison import ON_AVERAGE
from karatage.views.marks import CORRECTED, GUESS, JUDGES
from karatage.views.reading import restore
from karatage.views.showing import lay_out
from karatage.views.table import Table, write_table
from karatage.views.text import WIDTH, render_page
from tests.notes import gives
from tests.unit.boards import tell_apart
from tests.unit.views import saved_results
from tests.unit.views.test_decisions import rows_of

WAYS = {"judges", "corrected", "guess"}
LIGHT, DARK = 1.0, 0.0080  # luminance of a page: white, and #161616


@cache
def board() -> kt.Board:
    return saved_results.board_with_guess()


@cache
def differences() -> kt.Board:
    return saved_results.board_of_differences()


@cache
def pair() -> kt.Comparison:
    return saved_results.pair_with_guess()


def read(table: Table) -> pl.DataFrame:
    return table.frame.select(list(table.columns))


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("page", [LIGHT, DARK])
def test_colours_stand_out_on_light_and_dark_pages(page: float) -> None:
    for colour in (JUDGES, CORRECTED, GUESS):
        one, other = sorted((luminance(colour), page))
        assert (other + 0.05) / (one + 0.05) >= 3


def test_the_leaderboard_shows_all_three_with_the_interval_of_the_guess() -> None:
    found, guess = read(tabulate_leaderboard(board())), board().guess.standing
    assert found.columns == [
        *("guess_rank", "system", "naive_score", "corrected_score", "guess_score", "guess_low", "guess_high", "groups")
    ]
    assert found["guess_score"].to_list() == guess.value.tolist() == sorted(guess.value, reverse=True)
    assert found["guess_low"].to_list() == guess.low.tolist()
    assert found["guess_rank"].to_list() == guess.rank.tolist()


def test_where_only_differences_are_known_they_are_from_the_first() -> None:
    table, found = tabulate_leaderboard(differences()), differences()
    shown = read(table)
    assert shown.columns == [
        *("guess_rank", "system", "naive_score", "from_corrected", "from_guess", "low", "high", "groups")
    ]
    for column, pairs in (("from_corrected", found.corrected_pairs), ("from_guess", found.guess.pairs)):
        assert shown[column].to_list() == [None, *(-pairs.value[found.b == 0])]
        assert column in table.signed
    assert shown["low"].to_list() == [None, *(-found.guess.pairs.high[found.b == 0])]
    assert gives(table.caption, "corrected", "guess")


def test_corrected_ranks_follow_corrected_differences_where_scores_are_not_shown() -> None:
    found = differences()
    score = np.r_[0.0, -found.corrected_pairs.value[found.b == 0]]
    assert np.isnan(found.corrected.value).all()
    assert found.to_frame()["corrected_rank"].to_list() == [1 + int((score > own + 1e-9).sum()) for own in score]
    assert board().to_frame()["corrected_rank"].to_list() == board().corrected.rank.tolist()


def test_pairs_have_the_guess_with_both_intervals() -> None:
    claimed = claim(board(), (True, False, True), (True, True))
    found, guess = claimed.pairs(), claimed.guess
    columns = ["guess_difference", "guess_low", "guess_high", "guess_better", "usual_low", "usual_high"]
    assert found.columns[-len(columns) :] == columns
    assert found["guess_difference"].to_list() == guess.pairs.value.tolist()
    assert found["usual_high"].to_list() == guess.usual.high.tolist()
    for row in found.iter_rows(named=True):
        better = row["b"] if row["guess_low"] > 0 else row["a"] if row["guess_high"] < 0 else None
        assert row["guess_better"] == better
    assert found["guess_better"].count() == 2
    assert found["corrected_better"].count() == 0


def test_verdicts_count_both_intervals() -> None:
    claimed = claim(board(), (True, False), (True, True))
    assert tabulate_verdicts(claimed).frame["pairs"].to_list()[-2:] == [1, 2]
    assert gives(claimed.sentence, "1 differ", "2 if")
    assert tabulate_verdicts(saved_results.board()).frame.height == tabulate_verdicts(claimed).frame.height - 2


def claim(found: kt.Board, pairs: tuple[bool, ...], usual: tuple[bool, ...]) -> kt.Board:
    """The board with these claims for its first pairs."""

    def tell(claimed: tuple[bool, ...]) -> object:
        p = np.where(np.arange(len(found.a)) < len(claimed), np.resize(claimed, len(found.a)), False)
        return tell_apart(found.guess.pairs.value, np.where(p, 0.001, 0.5), 0.05)

    return replace(found, guess=replace(found.guess, pairs=tell(pairs), usual=tell(usual)))


def test_a_better_system_below_the_first_is_not_called_worse() -> None:
    """The order is that of the guess, and a corrected difference may be significant against it."""
    found, pairs = board(), len(board().a)
    value = np.where(np.arange(pairs) == 0, -0.3, 0.01)
    against = tell_apart(value, np.where(np.arange(pairs) == 0, 1e-9, 0.9), 0.05)
    turned = replace(found, corrected_pairs=against)
    assert turned.top == found.systems
    assert "No system differs" not in turned.sentence
    assert gives(turned.sentence, f"{len(found.systems)} systems")
    back = replace(found, corrected_pairs=replace(against, value=-value, low=-against.high, high=-against.low))
    assert found.systems[1] not in back.top


@pytest.mark.parametrize("make", [chart_board, chart_differences])
def test_charts_show_the_guess(make: Callable[[kt.Board], alt.HConcatChart]) -> None:
    rows = [row for row in rows_of(make(board()), "by") if "system" in row]
    assert {row["by"] for row in rows} == WAYS
    for row in rows:
        if row["by"] == "guess" and make is chart_board:
            s = board().systems.index(row["system"])
            standing = board().guess.standing
            assert (row["score"], row["low"], row["high"]) == (standing.value[s], standing.low[s], standing.high[s])
    spec = make(board()).to_json()
    assert GUESS in spec
    (order,) = [param for param in json.loads(spec)["params"] if "bind" in param]
    assert order["bind"]["options"] == ["guess", "judges", "corrected", "name"]


def test_only_scores_that_are_known_are_drawn() -> None:
    chart = chart_board(differences())
    assert {row["by"] for row in rows_of(chart, "by")} == {"judges"}
    assert GUESS not in chart.to_json()
    (order,) = [param for param in json.loads(chart.to_json())["params"] if "bind" in param]
    assert order["bind"]["options"][0] == "guess"


def test_the_forest_has_the_guess_without_p_values() -> None:
    found = frame_forest(board()).filter(by="guess")
    assert found["p"].null_count() == found.height == len(board().systems) - 1
    assert found["difference"].to_list() == (-board().guess.pairs.value[board().b == 0]).tolist()
    shown = tabulate_forest(board()).columns
    assert "guess_difference" in shown
    assert "guess_p" not in shown


def test_a_pair_shows_the_guess_in_a_colour_of_its_own() -> None:
    rows = rows_of(kt.charts.chart_comparison(pair()), "kind")
    assert [row["kind"] for row in rows] == ["judges", "corrected", "guess", "guess"]
    others = rows_of(kt.charts.chart_comparison(saved_results.by_figures()), "kind")
    assert [row["kind"] for row in others] == ["judges", *["corrected"] * (len(others) - 1)]
    decisive = pair().to_frame().filter("decisive")["opinion"].to_list()
    assert decisive == [pair().corrected.way]


@pytest.mark.parametrize("make", [board, differences, pair])
def test_80_columns_show_every_number(make: object) -> None:
    lines = render_page(lay_out(make())).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert any(gives(line, "guess") and "…" not in line for line in lines)


def test_what_each_claims_is_said_once() -> None:
    for found in (board(), pair()):
        texts = " ".join(f"{part.background} {part.text}" for part in lay_out(found).sections)
        assert texts.count("not for a pair that was chosen") == 1
    assert gives(board().guess.sentence, f"{1 - board().guess.unexplained:.0%}")


def test_a_guess_that_was_asked_for_says_what_its_claims_are() -> None:
    world = saved_results.larger_world()
    asked = kt.compare_all(world.runs, world.judgments, saved_results.even_half(), "P@5", correction="guess")
    assert asked.guess is None
    assert ON_AVERAGE in explain_letters(asked)
    found = kt.compare(
        world.runs, world.judgments, saved_results.even_half(), "P@5", a="system-01", b="system-03", correction="guess"
    )
    assert ON_AVERAGE in lay_out(found).sections[0].text


@pytest.mark.parametrize("ending", [".md", ".tex"])
def test_tables_are_written(tmp_path, ending: str) -> None:
    for name, table in view_board(board()).tables:
        write_table(table, tmp_path / f"{name}{ending}")
    assert "guess" in (tmp_path / f"leaderboard{ending}").read_text()


def save(found: kt.Board) -> dict[str, object]:
    return json.loads(found.to_json())


def load(facts: dict[str, object]) -> kt.Board:
    return restore(facts).result


@pytest.mark.parametrize("make", [board, differences])
def test_a_board_comes_back_from_its_json(make: object) -> None:
    assert load(save(make())).to_json() == make().to_json()


def test_a_file_from_before_the_guess_is_read() -> None:
    facts = save(saved_results.board())
    assert "guess" not in facts
    assert all("on_average" not in facts[way]["method"] for way in ("naive", "corrected"))
    assert load(facts).guess is None


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("unexplained",), 1.5),
        (("unexplained",), None),
        (("spread",), -0.1),
        (("mass",), -1),
        (("pairs", "value", 0), 0.5),
        (("usual", "value", 0), 0.5),
        (("pairs", "low", 0), -3),
        (("usual", "high", 1), 3),
        (("pairs", "p_value", 2), 1e-9),
        (("pairs", "claimed", 0), "turned"),
        (("usual", "doubted", 0), "turned"),
        (("standing", "value"), [0.5]),
        (("standing", "low", 0), 0.9),
        (("pairs",), None),
    ],
)
def test_a_guess_that_contradicts_itself_is_refused(place: tuple[str | int, ...], value: object) -> None:
    facts = save(board())
    at = facts["guess"]
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = (not at[place[-1]]) if value == "turned" else value
    with pytest.raises(DataError):
        load(facts)


def test_a_guess_without_a_correction_is_refused() -> None:
    with pytest.raises(DataError):
        replace(board(), corrected=None, corrected_pairs=None, refusal="too little gold")
