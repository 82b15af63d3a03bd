"""Charts of decisions: what they show, and that they can be drawn."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache

import pytest

import karatage as kt

MEASURE = "P(rel=2)@10"
ODD = """<b>&"'\\"""


@cache
def world() -> kt.World:
    found = kt.simulate_collection(rng=7)
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
    rows = rows_of(kt.draw_board(board()), "score")
    assert len(rows) == 24
    for row in rows:
        standing = board().naive if row["by"] == "judges" else board().corrected
        s = board().systems.index(row["system"])
        assert row["row"] == s
        assert (row["score"], row["low"], row["high"]) == (standing.value[s], standing.low[s], standing.high[s])
        assert row["top"] == (row["system"] in board().top)
        assert row["rank"] == standing.rank[s]


def test_a_board_shows_its_groups():
    shown = rows_of(kt.draw_board(board()), "group")
    found = {}
    for row in shown:
        found.setdefault(row["group"], []).append(row["row"])
    assert [tuple(rows) for rows in found.values()] == [group for group in board().groups if len(group) > 1]


def test_a_board_without_gold_shows_the_judges_only():
    rows = rows_of(kt.draw_board(board(gold=False)), "score")
    assert {row["by"] for row in rows} == {"judges"}
    assert "datum.by == 'judges'" in kt.draw_board(board(gold=False)).to_json()


def test_a_board_without_groups_can_be_drawn(tmp_path):
    apart = replace(board(), groups=tuple((s,) for s in range(12)))
    kt.write_chart(kt.draw_board(apart), tmp_path / "board.svg")
    assert "system-03" in text_of(tmp_path / "board.svg")


@pytest.mark.parametrize("ending", ["svg", "png", "html", "json"])
def test_every_format_is_whole(tmp_path, ending):
    path = tmp_path / f"board.{ending}"
    kt.write_chart(kt.draw_board(board()), path)
    assert path.stat().st_size > 1000
    if ending == "svg":
        text = text_of(path)
        assert ODD in text
        assert "a long name of more than thir…" in text
        assert "cannot be told apart" in text
        assert "40 topics: 12 systems" in text


def test_a_comparison_shows_all_opinions_and_no_difference(tmp_path):
    question = kt.Question(measure=MEASURE, resamples=200)
    gold = kt.read_gold(world().gold.to_frame().drop("judge").sample(400, seed=1))
    found = kt.compare(world().runs, world().judgments, gold, question, a="system-03", b=ODD)
    chart = kt.draw_comparison(found)
    rows = rows_of(chart, "difference")
    assert [row["difference"] for row in rows] == [opinion.difference.value for opinion in found.opinions]
    assert [row["low"] for row in rows] == [opinion.difference.low for opinion in found.opinions]
    assert [row["kind"] for row in rows] == ["judges"] + ["corrected"] * (len(rows) - 1)
    assert len({row["by"] for row in rows}) == len(rows) == 4
    assert rows_of(chart, "zero") == [{"zero": 0.0}]
    kt.write_chart(chart, tmp_path / "comparison.svg")
    text = text_of(tmp_path / "comparison.svg")
    assert f"{ODD} against system-03, with 95% intervals" in text
    assert "corrected by error rates" in text


def test_an_infinite_interval_can_be_drawn(tmp_path):
    found = kt.compare(world().runs, world().judgments, None, MEASURE, a="system-03", b=ODD)
    difference = replace(found.naive.difference, low=float("-inf"), high=float("nan"))
    odd = replace(found, naive=replace(found.naive, difference=difference))
    kt.write_chart(kt.draw_comparison(odd), tmp_path / "odd.svg")
    (row,) = rows_of(kt.draw_comparison(odd), "difference")
    assert (row["low"], row["high"]) == (None, None)
