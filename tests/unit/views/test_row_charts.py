"""Charts of named rows: their numbers, orders and choices."""

import json
import re

import polars as pl
import pytest
from karatage.views.row_charts import WHOLE, Across, Mark, Rows

from karatage.views.pictures import draw_picture
from karatage.views.svg import clean_chart

FRAME = pl.DataFrame(
    {
        "system": ["b", "c" * 40 + "1", "c" * 40 + "2", "a"],
        "value": [0.9, 0.5, 0.5, 0.1],
        "low": [0.8, None, 0.4, 0.0],
        "high": [1.0, None, 0.6, 0.2],
        "doubt": [0.2, None, 0.9, 0.2],
        "mark": ["fine", "odd", "fine", "fine"],
    }
)
MARKS = {"fine": Mark("#0072B2", "circle"), "odd": Mark("#D55E00", "diamond")}


def read(chart):
    spec = json.loads(chart.to_json())
    (rows,) = (rows for rows in spec["datasets"].values() if "row" in rows[0])
    return spec, rows


@pytest.fixture
def drawn():
    rows = Rows(FRAME, "system", MARKS, orders={"doubt": "doubt"}, natural="score")
    panels = [
        rows.draw_dots(Across("score"), 300, ["value:Q"]),
        rows.draw_bars("doubt", Across("doubt", WHOLE, line=0.05), 100, ["doubt:Q"]),
    ]
    return rows.put_together(panels, "Title", ["said"])


def test_rows_keep_the_order_of_the_frame_and_have_a_place_in_every_other(drawn):
    _, rows = read(drawn)
    assert [(row["system"][:1], row["row"], row["at_name"], row["at_doubt"]) for row in rows] == [
        ("b", 0, 1, 1),
        ("c", 1, 2, 3),
        ("c", 2, 3, 0),
        ("a", 3, 0, 2),
    ]


def test_readers_choose_a_system_and_an_order(drawn):
    spec, _ = read(drawn)
    params = {param["name"]: param for param in spec["params"]}
    assert params["sorted_by"]["bind"]["options"] == ["score", "doubt", "name"]
    assert params["chosen"]["select"]["fields"] == ["system"]
    assert {view.partition("-")[0] for view in params["chosen"]["views"]} == {"system"}


def test_names_that_are_the_same_when_cut_have_rows_of_their_own(drawn):
    picture = draw_picture(clean_chart(drawn), "svg").result().decode()
    assert len(re.findall(">c+…[^<]*<", picture)) == 2


def test_a_kind_of_row_has_a_colour_and_a_shape(drawn):
    spec, _ = read(drawn)
    _, points = spec["hconcat"][0]["layer"]
    assert points["encoding"]["color"]["scale"] == {"domain": ["fine", "odd"], "range": ["#0072B2", "#D55E00"]}
    assert points["encoding"]["shape"]["scale"] == {"domain": ["fine", "odd"], "range": ["circle", "diamond"]}


def test_topics_cannot_be_followed_and_rows_without_another_order_are_not_sorted():
    rows = Rows(FRAME.rename({"system": "topic"}), "topic")
    spec, _ = read(rows.put_together([rows.draw_bars("value", Across("value", counts=True), 200, [])], "Title"))
    assert "params" not in spec
    assert spec["hconcat"][0]["layer"][0]["encoding"]["x"]["axis"]["tickMinStep"] == 1
