"""Calibration, shift and attenuation: what charts show, and that they can be drawn."""

from __future__ import annotations

from dataclasses import replace

import altair as alt
import numpy as np
import polars as pl
import pytest

import karatage as kt
from karatage.data.estimate import Bounded
from karatage.decisions.calibrate import calibrate
from karatage.errors import DataError
from karatage.views.board import chart_attenuation
from karatage.views.calibration import chart_calibration, chart_shift
from tests.notes import gives


@pytest.fixture(scope="module")
def found(hostile):
    frame = hostile.world.gold.to_frame().drop("judge").sample(300, seed=1)
    return calibrate(hostile.world.judgments, kt.read_gold(frame), rng=1)


def test_bins_are_those_of_the_calibration(found, read_chart):
    drawn = read_chart(chart_calibration(found))
    assert drawn.rows("probability") == found.bins.to_dicts()
    assert drawn.rows("across") == [{"across": 0.0, "up": 0.0}, {"across": 1.0, "up": 1.0}]
    ece = found.ece
    said = f"{100 * ece.value:.1f} ({100 * ece.low:.1f} to {100 * ece.high:.1f})"
    assert said in ": ".join(drawn.texts)
    assert drawn.size[0] <= 640


def test_grades_are_those_of_the_calibration(found, read_chart):
    drawn = read_chart(chart_shift(found))
    rows = {(row["whose"], row["grade"]): row["share"] for row in drawn.rows("whose")}
    names = {
        "judges": "judges, gold's items",
        "gold": "gold, the same items",
        "elsewhere": "judges, items without gold",
    }
    for row in found.grades.to_dicts():
        assert {name: rows[name, row["grade"]] for name in names.values()} == {
            names[column]: row[column] for column in names
        }
    leniency = found.shift.filter(statistic="leniency").row(0, named=True)
    assert any(gives(text, *(f"{leniency[name]:.2f}" for name in ("value", "low", "high"))) for text in drawn.texts)
    assert any(gives(text, "mv", f"{found.called:.1%}", f"{found.found:.1%}") for text in drawn.texts)
    assert any("within topics" in text for text in drawn.texts)
    assert drawn.size[0] <= 640


def test_gold_on_everything_has_nothing_elsewhere(hostile, read_chart):
    whole = calibrate(hostile.world.judgments, hostile.world.gold, rng=1)
    drawn = read_chart(chart_shift(whole))
    assert {row["whose"] for row in drawn.rows("whose")} == {"judges, gold's items", "gold, the same items"}
    assert not any("apart" in text for text in drawn.texts)


def test_one_topic_and_a_hostile_judge_can_be_drawn(hostile, read_chart):
    gold = hostile.world.gold.keep_topics(hostile.world.gold.topics[:1])
    alone = calibrate(hostile.world.judgments, gold, approach=f"judge:{hostile.names[0]}", rng=1)
    drawn = read_chart(chart_calibration(alone))
    assert any("judge:</script>" in text for text in drawn.texts)
    assert not any("nan" in text for text in drawn.texts)
    assert len(read_chart(chart_shift(alone)).rows("whose")) > 4


def test_scores_are_those_of_the_board(hostile, read_chart):
    board = hostile.board
    drawn = read_chart(chart_attenuation(board))
    rows = drawn.rows("corrected")
    assert [row["system"] for row in rows] == list(board.systems)
    assert [row["judges"] for row in rows] == board.naive.value.tolist()
    assert [row["corrected"] for row in rows] == board.corrected.value.tolist()
    assert drawn.params["chosen"]["views"] == ["systems"]
    assert drawn.size[0] <= 640
    points = drawn.spec["layer"][1]["encoding"]
    assert points["tooltip"][0]["field"] == "system"
    for axis in ("x", "y"):
        low, high = points[axis]["scale"]["domain"]
        assert low < min(row[name] for row in rows for name in ("judges", "corrected"))
        assert high > max(row[name] for row in rows for name in ("judges", "corrected"))


def test_equal_scores_have_a_scale(hostile, read_chart):
    systems = len(hostile.board.systems)
    parts = {"value": 0.5, "low": 0.4, "high": 0.6, "standard_error": 0.05}
    standing = replace(hostile.board.naive, **{name: np.full(systems, number) for name, number in parts.items()})
    drawn = read_chart(chart_attenuation(replace(hostile.board, naive=standing, corrected=standing)))
    low, high = drawn.spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert low < 0.5 < high


def test_labels_of_a_narrow_axis_keep_apart(read_chart):
    frame = pl.DataFrame({"x": [-0.3, 0.32]})
    drawn = read_chart(alt.Chart(frame, width=520).mark_point().encode(alt.X("x:Q", axis=alt.Axis(tickCount=12))))
    (labels,) = (part for part in drawn.svg.iter() if "role-axis-label" in part.attrib.get("class", ""))
    shown = [label for label in labels if label.attrib.get("opacity") != "0"]
    places = [float(label.attrib["transform"].split("(")[1].split(",")[0]) for label in shown]
    assert len(places) > 3
    assert places[1] - places[0] > 44  # the first begins where its axis does, so that there are 38 for both


@pytest.mark.parametrize(
    ("slope", "said"),
    [
        (Bounded(0.5, 0.4, 0.6), "is 0.050 by the judges (0.040 to 0.060): judges understate differences"),
        (Bounded(1.5, 1.4, 1.6), "is 0.150 by the judges (0.140 to 0.160): judges exaggerate differences"),
        (Bounded(1.1, 0.9, 1.6), "this may be due to chance"),
        (Bounded(1.1, np.nan, np.nan), "on the dashed line both are equal"),
        (None, "on the dashed line both are equal"),
    ],
)
def test_the_slope_is_told_in_words(hostile, read_chart, slope, said):
    drawn = read_chart(chart_attenuation(replace(hostile.board, slope=slope)))
    assert said in ": ".join(drawn.texts)


def test_without_correction_there_is_nothing_to_compare(hostile):
    with pytest.raises(DataError, match="gold"):
        chart_attenuation(hostile.naive_board)
