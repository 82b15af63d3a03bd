"""Charts of decisions: what they show, and that they can be drawn."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import karatage as kt
from karatage.views.choosing import cut_names
from tests.unit.boards import tell_apart

MEASURE = "P(rel=2)@10"
ODD = """<b>&"'\\"""


@cache
def world() -> kt.simulation.World:
    found = kt.simulation.simulate_collection(rng=7)
    names = (ODD, "a long name of more than thirty characters", *found.runs.systems[2:])
    return replace(found, runs=replace(found.runs, systems=names))


@cache
def board(gold: bool = True) -> kt.Board:
    return kt.compare_all(world().runs, world().judgments, world().gold if gold else None, MEASURE)


def rows_of(chart, key: str) -> list[dict]:
    tables = json.loads(chart.to_json())["datasets"].values()
    return [row for table in tables for row in table if key in row]


def text_of(path) -> str:
    return "\n".join(text for text in ET.parse(path).getroot().itertext() if text.strip())


def test_a_board_shows_both_scores_of_every_system_with_intervals():
    rows = rows_of(kt.charts.chart_board(board()), "score")
    assert len(rows) == 24
    for row in rows:
        standing = board().naive if row["by"] == "judges" else board().corrected
        s = board().systems.index(row["system"])
        assert row["row"] == s
        assert (row["score"], row["low"], row["high"]) == (standing.value[s], standing.low[s], standing.high[s])
        assert row["top"] == (row["system"] in board().top)
        assert row["rank"] == standing.rank[s]


def test_a_board_shows_its_groups():
    shown = rows_of(kt.charts.chart_board(board()), "group")
    found = {}
    for row in shown:
        found.setdefault(row["group"], []).append(row["row"])
    assert [tuple(rows) for rows in found.values()] == [group for group in board().groups if len(group) > 1]


def test_a_board_without_gold_shows_the_judges_only():
    rows = rows_of(kt.charts.chart_board(board(gold=False)), "score")
    assert {row["by"] for row in rows} == {"judges"}
    (order,) = [
        param for param in json.loads(kt.charts.chart_board(board(gold=False)).to_json())["params"] if "bind" in param
    ]
    assert order["bind"]["options"] == ["judges", "name"]


def test_the_legend_names_what_is_drawn_only(read_chart):
    assert "corrected" in read_chart(kt.charts.chart_board(board())).texts
    assert "corrected" not in read_chart(kt.charts.chart_board(board(gold=False))).texts


def test_a_board_without_groups_can_be_drawn(tmp_path):
    found = board()
    pairs = len(found.a)
    apart = replace(found, corrected_pairs=tell_apart(np.ones(pairs), np.full(pairs, 1e-9), 0.05))
    assert len(apart.groups) == 12
    kt.charts.write_chart(kt.charts.chart_board(apart), tmp_path / "board.svg")
    assert "system-03" in text_of(tmp_path / "board.svg")


@pytest.mark.parametrize("ending", ["svg", "png", "html", "json"])
def test_every_format_is_whole(tmp_path, ending):
    path = tmp_path / f"board.{ending}"
    kt.charts.write_chart(kt.charts.chart_board(board()), path)
    assert path.stat().st_size > 1000
    if ending == "svg":
        text = text_of(path)
        assert ODD in text
        assert "a long name of more than thir…" in text
        assert "not significantly different" in text
        assert "40 topics: 12 systems" in text


def test_a_comparison_shows_all_opinions_and_no_difference(tmp_path):
    question = kt.Question(measure=MEASURE, resamples=200, correction="rates")
    gold = kt.read_gold(world().gold.to_frame().drop("judge").sample(400, seed=1))
    found = kt.compare(world().runs, world().judgments, gold, question, a="system-03", b=ODD)
    chart = kt.charts.chart_comparison(found)
    rows = rows_of(chart, "difference")
    assert [row["difference"] for row in rows] == [opinion.difference.value for opinion in found.opinions]
    assert [row["low"] for row in rows] == [opinion.difference.low for opinion in found.opinions]
    assert [row["kind"] for row in rows] == ["judges"] + ["corrected"] * (len(rows) - 1)
    assert len({row["by"] for row in rows}) == len(rows) == 4
    assert rows_of(chart, "line") == [{"line": 0.0}]
    kt.charts.write_chart(chart, tmp_path / "comparison.svg")
    text = text_of(tmp_path / "comparison.svg")
    assert f"{ODD} against system-03" in text
    assert f"right of the line {ODD} is better; 95% intervals" in text
    assert "error rates corrected" in text


def test_an_infinite_interval_can_be_drawn(tmp_path):
    found = kt.compare(world().runs, world().judgments, None, MEASURE, a="system-03", b=ODD)
    difference = replace(found.naive.difference, low=float("-inf"), high=float("nan"))
    odd = replace(found, naive=replace(found.naive, difference=difference))
    kt.charts.write_chart(kt.charts.chart_comparison(odd), tmp_path / "odd.svg")
    (row,) = rows_of(kt.charts.chart_comparison(odd), "difference")
    assert (row["low"], row["high"]) == (None, None)


@pytest.mark.parametrize(("order", "key"), [("corrected", "row"), ("judges", "at_judges"), ("name", "at_name")])
def test_rows_can_be_sorted(hostile, read_chart, order, key):
    drawn = read_chart(kt.charts.chart_board(hostile.board), sorted_by=order)
    wanted = sorted(drawn.rows("score"), key=lambda row: row[key])
    names = list(dict.fromkeys(row["system"] for row in wanted))
    shown = [text for text in drawn.texts if text in cut_names(names, 30)]
    assert shown == cut_names(names, 30)
    assert drawn.params["sorted_by"]["value"] == order


def test_places_are_those_of_the_scores_and_the_alphabet(hostile, read_chart):
    board = hostile.board
    rows = {row["system"]: row for row in read_chart(kt.charts.chart_board(board)).rows("score")}
    by_judges = sorted(board.systems, key=lambda name: rows[name]["at_judges"])
    assert list(board.naive.rank[[board.systems.index(name) for name in by_judges]]) == sorted(board.naive.rank)
    assert sorted(board.systems, key=lambda name: rows[name]["at_name"]) == sorted(
        board.systems, key=lambda name: (name.casefold(), name)
    )


def test_hostile_names_are_text_and_stay_apart(hostile, read_chart):
    drawn = read_chart(kt.charts.chart_board(hostile.board))
    assert "</script><script>alert('x')</…" in drawn.texts
    assert "x" * 14 + "…" + "x" * 15 in drawn.texts
    assert "x" * 14 + "…" + "x" * 14 + "y" in drawn.texts
    assert drawn.svg.findall(".//{*}script") == []
    assert {row["system"] for row in drawn.rows("group")} == set(hostile.board.systems)


def test_a_system_is_chosen_in_both_panels(hostile, read_chart):
    drawn = read_chart(kt.charts.chart_board(hostile.board))
    names = [panel["layer"][1]["name"] for panel in drawn.spec["hconcat"]]
    assert drawn.params["chosen"]["views"] == names


def test_a_board_fits_a_page(hostile, read_chart):
    assert read_chart(kt.charts.chart_board(hostile.board)).size[0] <= 640
    world = kt.simulation.simulate_collection(systems=129, topics=6, rng=1)
    many = kt.compare_all(world.runs, world.judgments, world.gold, "P@10")
    assert read_chart(kt.charts.chart_board(many)).size[0] <= 640


def test_colours_are_left_to_the_page(hostile):
    spec = kt.charts.chart_board(hostile.board).to_dict()
    assert spec["config"] == {"view": {"continuousHeight": 300, "continuousWidth": 300}}  # altair's own


def test_unknown_scores_can_be_drawn(hostile, read_chart):
    board = hostile.board
    lost = np.full(len(board.systems), np.nan)
    odd = replace(board, corrected=replace(board.corrected, low=lost, high=lost, value=lost))
    assert {row["by"] for row in read_chart(kt.charts.chart_board(odd)).rows("score")} == {"judges"}
    found, gone = board.corrected, np.arange(len(lost)) == 0
    ends = {name: np.where(gone, np.nan, getattr(found, name)) for name in ("value", "low", "high")}
    one = replace(board, corrected=replace(found, **ends))
    rows = [row for row in read_chart(kt.charts.chart_board(one)).rows("score") if row["by"] == "corrected"]
    assert [row["score"] for row in rows if row["system"] == board.systems[0]] == [None]
    assert len(rows) == len(board.systems)


def test_no_name_ends_the_script_of_a_chart_in_html(hostile, tmp_path):
    kt.charts.write_chart(kt.charts.chart_board(hostile.board), tmp_path / "board.html")
    text = (tmp_path / "board.html").read_text()
    assert "</script><script>alert(" not in text
    assert "\\u003c/script>\\u003cscript>alert(" in text
