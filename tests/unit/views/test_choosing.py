"""Choices that charts share, and names that fit on an axis."""

from __future__ import annotations

import polars as pl
import pytest

from karatage.views.choosing import (
    choose_order,
    cut_names,
    let_choose,
    measure_names,
    name_by_number,
    place_names,
    place_rows,
    tell,
)


def make_chart(name: str, kind: str = "system"):
    import altair as alt

    frame = pl.DataFrame({kind: ["a", "b"], "value": [1, 2]})
    return alt.Chart(frame).mark_point().encode(x="value:Q").properties(name=name)


@pytest.mark.parametrize(("kind", "name"), [("system", "chosen"), ("judge", "chosen_judge")])
def test_one_thing_of_a_kind_is_chosen_by_a_click(kind, name, read_chart):
    chart = read_chart(let_choose(make_chart("dots", kind), kind))
    (param,) = chart.spec["params"]
    assert param["name"] == name
    assert param["select"] == {"type": "point", "fields": [kind], "toggle": False}
    assert param["views"] == ["dots"]


def test_all_named_marks_of_charts_put_together_can_be_clicked(read_chart):
    import altair as alt

    both = alt.hconcat(alt.layer(make_chart("one")), make_chart("two"), title="t").add_params(choose_order(["a", "b"]))
    chart = read_chart(let_choose(both, "system"))
    named = [chart.spec["hconcat"][0]["layer"][0]["name"], chart.spec["hconcat"][1]["name"]]
    assert chart.params["chosen"]["views"] == named
    assert chart.params["sorted_by"]["value"] == "a"
    assert chart.svg is not None


def test_a_row_stands_where_the_chosen_order_has_it():
    assert place_rows({"best": "row"}) == "datum.row"
    expression = place_rows({"best": "row", 'a "b"': "at_0", "name": "at_name"})
    assert expression == 'sorted_by == "best" ? datum.row : sorted_by == "a \\"b\\"" ? datum.at_0 : datum.at_name'


def test_names_are_placed_by_the_alphabet():
    assert place_names(["b", "A", "c", "B"]) == [2, 0, 3, 1]
    assert place_names([]) == []


def test_names_that_would_be_the_same_lose_their_middle():
    assert cut_names(["short", "a" * 20], 10) == ["short", "a" * 9 + "…"]
    assert cut_names(["abcdefghij-1", "abcdefghij-2", "other"], 8) == ["abc…ij-1", "abc…ij-2", "other"]
    assert all(len(name) <= 8 for name in cut_names(["é" * 30 + "\n", "é" * 30 + "\t"], 8))
    assert cut_names(["same", "same"], 8) == ["same", "same"]


def test_room_for_names_has_a_limit():
    assert measure_names(["x" * 10_000]) == measure_names(["x" * 30]) > measure_names(["x"])


def test_numbers_are_told_short_and_fields_in_words():
    told = [tip.to_dict() for tip in tell("system:N", "share_low:Q", "p_value:Q", "rmse_0.3:Q")]
    assert [tip["title"] for tip in told] == ["system", "share low", "p value", "rmse 0.3"]
    assert [tip.get("format") for tip in told] == [None, ".4~f", ".2~g", ".4~f"]
    assert told[3]["field"] == r"rmse_0\.3"  # not the field 3 of a field rmse_0


def test_a_number_stands_for_a_name_even_if_that_is_code(read_chart):
    import altair as alt

    names = ["constructor", 'a "b" \\', "</script>"]
    axis = alt.Axis(labelExpr=name_by_number(names))
    chart = alt.Chart(pl.DataFrame({"row": [0, 1, 2]})).mark_point().encode(y=alt.Y("row:O", axis=axis))
    assert [text for text in read_chart(chart).texts if text in names] == names
