"""Marks: numbers, orders and choices of rows, keys that tell, and names beside lines."""

import json
import re
from itertools import pairwise

import polars as pl
import pytest

from karatage.views.html import clean_chart
from karatage.views.marks import (
    COLOURS,
    LABEL,
    SHAPES,
    WHOLE,
    Axis,
    Key,
    Rows,
    chart_map,
    find_span,
    lay_panel,
    mark_lines,
    place_labels,
    tell_apart,
)
from karatage.views.pictures import render_picture

FRAME = pl.DataFrame(
    {
        "system": ["b", "c" * 40 + "1", "c" * 40 + "2", "a"],
        "value": [0.9, 0.5, 0.5, 0.1],
        "low": [0.8, None, 0.4, 0.0],
        "high": [1.0, None, 0.6, 0.2],
        "doubt": [0.2, None, 0.9, 0.2],
        "at_odd": [3, 2, 1, 0],
        "mark": ["fine", "odd", "fine", "fine"],
    }
)
LOOKS = {
    "color": Key("mark", {"fine": "#0072B2", "odd": "#D55E00"}),
    "shape": Key("mark", {"fine": "circle", "odd": "diamond"}),
}


def read(chart):
    spec = json.loads(chart.to_json())
    (rows,) = (rows for rows in spec["datasets"].values() if "row" in rows[0] and "group" not in rows[0])
    return spec, rows


@pytest.fixture
def drawn():
    orders = {"doubt": "doubt", "odd": "at_odd"}
    rows = Rows(FRAME, "system", ["system:N", "value:Q"], LOOKS, natural="score", orders=orders)
    panels = [
        rows.chart_dots(Axis("value:Q", "score"), 300),
        rows.chart_bars(Axis("doubt:Q", "doubt", WHOLE), 100, line=0.05),
        rows.chart_letters([["b", "a"]], 20),
    ]
    return rows.put_together(panels, "Title", ["said"])


def test_rows_keep_the_order_of_the_frame_and_have_a_place_in_every_other(drawn):
    _, rows = read(drawn)
    assert [(row["system"][:1], row["row"], row["at_name"], row["at_doubt"], row["at_odd"]) for row in rows] == [
        ("b", 0, 1, 1, 3),
        ("c", 1, 2, 3, 2),
        ("c", 2, 3, 0, 1),
        ("a", 3, 0, 2, 0),
    ]


def test_readers_choose_a_system_and_an_order(drawn):
    spec, _ = read(drawn)
    params = {param["name"]: param for param in spec["params"]}
    assert params["sorted_by"]["bind"]["options"] == ["score", "doubt", "odd", "name"]
    assert params["chosen"]["select"]["fields"] == ["system"]
    assert len(params["chosen"]["views"]) == len(set(params["chosen"]["views"])) == 3


def test_names_that_are_the_same_when_cut_have_rows_of_their_own(drawn):
    picture = render_picture(clean_chart(drawn), "svg").result().decode()
    assert len(re.findall(">c+…[^<]*<", picture)) == 2


def test_a_kind_of_row_has_a_colour_and_a_shape(drawn):
    spec, _ = read(drawn)
    _, points = spec["hconcat"][0]["layer"]
    assert points["encoding"]["color"]["scale"] == {"domain": ["fine", "odd"], "range": ["#0072B2", "#D55E00"]}
    assert points["encoding"]["shape"]["scale"] == {"domain": ["fine", "odd"], "range": ["circle", "diamond"]}


def test_letters_join_members_and_leave_a_place_to_the_others(drawn):
    spec, _ = read(drawn)
    (rows,) = (rows for rows in spec["datasets"].values() if "group" in rows[0])
    assert [(row["group"], row["row"]) for row in rows] == [(0, 0), (0, 3), (None, 1), (None, 2)]


def test_topics_cannot_be_followed_and_rows_without_another_order_are_not_sorted():
    rows = Rows(FRAME.rename({"system": "topic"}), "topic")
    bars = rows.chart_bars(Axis("value:Q", "value", axis={"tickMinStep": 1}), 200)
    spec, _ = read(rows.put_together([bars], "Title"))
    assert "params" not in spec
    assert spec["hconcat"][0]["layer"][0]["encoding"]["x"]["axis"]["tickMinStep"] == 1


def test_rows_of_several_parts_are_sorted_as_rows_of_one():
    parts = pl.DataFrame({"topic": ["a", "a", "b", "b", "c"], "mark": [*"xyxy", "x"], "value": [5, 4, 3, 2, 1]})
    rows = Rows(parts, "topic", natural="size")
    chart = rows.put_together([rows.chart_bars(Axis("value:Q", "value"), 200, named=True)], "Title")
    picture = render_picture(clean_chart(chart), "svg").result().decode()
    assert re.findall(">([abc])<", picture) == ["a", "b", "c"]


def test_many_names_are_told_by_colour_and_shape_in_turn():
    names = [f"approach {k}" for k in range(11)]
    keys = tell_apart("approach", names, {})
    for key, looks in ((keys["color"], COLOURS), (keys["shape"], SHAPES)):
        assert key.looks["approach 10"] == looks[10 % len(looks)]
        assert key.only(["approach 10", "approach 3"]).looks == {"approach 3": looks[3], "approach 10": looks[2]}


@pytest.mark.parametrize(("interval", "what"), [("band", "area"), ("bar", "rule"), ("line", "rule")])
def test_lines_have_intervals_and_points(interval, what):
    axes = Axis("value:Q", "across"), Axis("value:Q", "up")
    layers = mark_lines(FRAME, *axes, {"color": "#0072B2"}, ends=("low", "high"), interval=interval, points=30)
    spans, line, points = json.loads(lay_panel(layers, (100, 100), "panel").to_json())["layer"]
    assert (spans["mark"]["type"], line["mark"]["type"], points["mark"]["type"]) == (what, "line", "point")
    assert (spans["encoding"]["y"]["field"], spans["encoding"]["y2"]["field"]) == ("low", "high")
    assert points["mark"]["size"] == 30


def test_names_beside_lines_do_not_overlap_and_stay_in_the_chart():
    ends = pl.DataFrame({"mean": [0.9, 0.1, 0.11, 0.12, 0.89, 0.91, 0.9]})
    low, high = span = find_span(ends, "mean", "mean")
    labels = place_labels(ends, span, 300)
    unit = (high - low) / 300 * LABEL
    assert labels["mean"].is_sorted()
    assert all(b - a >= unit * (1 - 1e-9) for a, b in pairwise(labels["label"]))
    assert labels["label"].max() <= high
    few = place_labels(ends.head(2), span, 300)
    assert few["label"].to_list() == pytest.approx(few["mean"].to_list())


def test_a_map_has_a_place_for_every_name():
    frame = pl.DataFrame({"row": [0, 1], "column": [1, 0], "judge": ["x", "y"], "value": [0.1, 0.9]})
    shade = Key("value:Q", title="value", legend={}, scale={"scheme": "viridis"})
    chart = chart_map(frame, ["x", "y", "z"], ["p", "q"], shade, told=["judge:N"], follow="judge", size=(90, 90))
    encoding = json.loads(chart.to_json())["layer"][0]["encoding"]
    assert encoding["y"]["scale"]["domain"] == [0, 1, 2]
    assert encoding["x"]["scale"]["domain"] == [0, 1]
    assert encoding["color"]["scale"]["scheme"] == "viridis"
