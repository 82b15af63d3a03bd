"""Charts of an analysis of variance: what is drawn, in which order and colour, and that it renders."""

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import fdtrc

from karatage.comparison.anova import anova
from karatage.comparison.tukey import tukey
from karatage.errors import UnknownNameError
from karatage.views.charts import write_chart
from karatage.views.table import write_column
from karatage.views.text import print_lines, show_table
from karatage.views.variance import (
    COOL,
    FEW_LINES,
    MEAN,
    PLAIN,
    WARM,
    chart_interaction,
    chart_main_effects,
    chart_tukey,
    view_anova,
    view_tukey,
)
from tests.notes import has_line

BASELINES = ["mv", "emmv", "uniform"]
OTHERS = [f"{kind}_{gap}" for kind in ("sgl", "tpc") for gap in ("tau", "rmse", "fro", "kld")]
FAMILIES = {name: name.split("_")[1] for name in OTHERS}


def make_result(approaches=(*BASELINES, *OTHERS)):
    rng = np.random.default_rng(1)
    quality = dict(zip(approaches, np.linspace(0.5, 0.8, len(approaches)), strict=True))
    rows = [
        (k, approach, measure, quality[approach] + 0.01 * k + 0.05 * (measure == "AP") + rng.normal(0, 0.02))
        for k, approach, measure in itertools.product((2, 3, 5, 10), approaches, ("AP", "ERR@20", "nDCG@20"))
    ]
    frame = pl.DataFrame(rows, schema=["k", "approach", "measure", "tau_ap"], orient="row")
    return anova(frame, "tau_ap", factors=["k", "approach", "measure"], interactions=[("approach", "measure")])


def spec(chart):
    """Vega-Lite, with each layer's data in it."""
    whole = json.loads(chart.to_json())

    def fill(part):
        if part.get("data"):
            part["rows"] = whole["datasets"][part["data"]["name"]]
        for child in part.get("layer", []) + part.get("concat", []) + part.get("hconcat", []):
            child.setdefault("data", part.get("data", child.get("data")))
            fill(child)
        return part

    return fill(whole)


def kind(layer):
    return layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"]


def test_main_effects_show_every_mean_with_its_interval():
    result = make_result()
    panels = spec(chart_main_effects(result))["concat"]
    assert [panel["layer"][1]["encoding"]["x"]["title"] for panel in panels] == ["k", "approach", "measure"]
    for name, panel in zip(("k", "approach", "measure"), panels, strict=True):
        interval, line, points = panel["layer"]
        assert kind(line) == "line"
        assert (interval["encoding"]["y"]["field"], interval["encoding"]["y2"]["field"]) == ("low", "high")
        means = result.means(name)
        for layer in (interval, line, points):
            assert [row["level"] for row in layer["rows"]] == means["level"].to_list()
            assert [row["mean"] for row in layer["rows"]] == pytest.approx(means["mean"].to_list())
        low, high = line["encoding"]["y"]["scale"]["domain"]
        assert low < means["low"].min() < means["high"].max() < high
    assert len(spec(chart_main_effects(result, ["measure"]))["concat"]) == 1


def test_numbers_are_to_scale_and_names_have_a_place_each():
    k, approach, _ = spec(chart_main_effects(make_result()))["concat"]
    across = k["layer"][1]["encoding"]["x"]
    assert (across["type"], across["scale"]["domain"]) == ("quantitative", [2, 10])
    assert kind(k["layer"][0]) == "area"
    across = approach["layer"][1]["encoding"]["x"]
    assert (across["type"], across["sort"]) == ("nominal", sorted([*BASELINES, *OTHERS]))
    assert across["axis"]["labelAngle"] == -60
    assert kind(approach["layer"][0]) == "rule"


def test_many_levels_get_room():
    many = make_result([f"approach_{i:02d}" for i in range(64)])
    panel = spec(chart_main_effects(many, ["approach"]))["concat"][0]
    assert panel["width"] >= 64 * 14
    assert spec(chart_tukey(tukey(many, "approach")))["hconcat"][0]["height"] >= 64 * 12


def test_an_interaction_has_a_line_for_each_level():
    result = make_result()
    whole = spec(
        chart_interaction(result, "k", "approach", families=FAMILIES, baselines=BASELINES, highlight=["sgl_tau"])
    )
    intervals, thin, thick, labels = whole["layer"]
    bold = {*BASELINES, "sgl_tau"}
    assert (kind(intervals), kind(thin), kind(thick), kind(labels)) == ("area", "line", "line", "text")
    assert {row["second"] for row in thick["rows"]} == bold
    assert {row["second"] for row in intervals["rows"]} == bold
    assert {row["second"] for row in thin["rows"]} == set(OTHERS) - {"sgl_tau"}
    assert len(thin["rows"]) + len(thick["rows"]) == 4 * 11
    assert thin["mark"]["strokeWidth"] < 1 < thick["mark"]["strokeWidth"]
    found = {(row["first"], row["second"]): row["mean"] for row in thin["rows"] + thick["rows"]}
    expected = {row[:2]: row[2] for row in result.cell_means("k", "approach").rows()}
    assert found == pytest.approx(expected)
    assert {row["second"] for row in labels["rows"]} == bold
    assert {row["place"] for row in labels["rows"]} == {10}


def test_baselines_are_warm_and_families_cool():
    shade = spec(chart_interaction(make_result(), "measure", "approach", families=FAMILIES, baselines=BASELINES))[
        "layer"
    ][1]["encoding"]["color"]
    assert shade["scale"]["domain"] == [*BASELINES, "fro", "kld", "rmse", "tau"]
    assert shade["scale"]["range"] == [*WARM[:3], *COOL[:4]]
    assert shade["legend"]["values"] == ["fro", "kld", "rmse", "tau"]
    assert not set(WARM) & set(COOL)


def test_lines_without_families():
    many = spec(chart_interaction(make_result(), "k", "approach"))["layer"]
    assert many[1]["encoding"]["color"]["scale"]["domain"] == ["others"]
    assert not many[2]["rows"]
    few = spec(chart_interaction(make_result(), "k", "measure"))["layer"]
    assert few[1]["encoding"]["color"]["scale"]["domain"] == ["AP", "ERR@20", "nDCG@20"]
    assert few[1]["encoding"]["color"]["legend"] is None  # names stand beside the lines
    assert {row["second"] for row in few[0]["rows"]} == {"AP", "ERR@20", "nDCG@20"}
    half = spec(chart_interaction(make_result(), "k", "approach", families={"sgl_tau": "tau"}))["layer"]
    assert set(half[1]["encoding"]["color"]["scale"]["domain"]) == {"tau", "others"}


def test_names_beside_lines_do_not_cover_each_other():
    result = make_result()
    chart = chart_interaction(result, "k", "approach", highlight=[*BASELINES, *OTHERS])
    labels = spec(chart)["layer"][3]
    low, high = labels_domain(chart)
    place = sorted((row["label"] - low) / (high - low) * spec(chart)["height"] for row in labels["rows"])
    assert len(place) == 11
    assert min(np.diff(place)) > 11.9
    assert place[-1] <= spec(chart)["height"]
    order = sorted(labels["rows"], key=lambda row: row["mean"])
    assert order == sorted(labels["rows"], key=lambda row: row["label"])


def labels_domain(chart):
    return spec(chart)["layer"][1]["encoding"]["y"]["scale"]["domain"]


def test_tukey_marks_the_top_group_and_baselines():
    test = tukey(make_result(), "approach")
    band, *edges, intervals, points = spec(chart_tukey(test, baselines=["mv", "uniform"]))["hconcat"][0]["layer"]
    assert [kind(layer) for layer in (band, *edges, intervals, points)] == ["rect", "rule", "rule", "rule", "point"]
    assert [row["level"] for row in sorted(points["rows"], key=lambda row: row["row"])] == list(test.levels)
    colour = {row["level"]: row["colour"] for row in points["rows"]}
    assert colour.pop("mv") == WARM[0]
    assert colour.pop("uniform") == WARM[1]
    assert {level for level, found in colour.items() if found == MEAN} == set(test.top_group)
    assert {level for level, found in colour.items() if found == PLAIN} == set(colour) - set(test.top_group)
    assert 0 < len(test.top_group) < len(colour)
    assert {row["level"] for row in band["rows"]} == {test.levels[0], "mv", "uniform"}
    assert (intervals["encoding"]["x"]["field"], intervals["encoding"]["x2"]["field"]) == ("low", "high")
    frame = test.to_frame()
    assert [row["low"] for row in intervals["rows"]] == pytest.approx(frame["low"].to_list())


def test_tukey_says_which_end_is_good():
    result = make_result()
    higher = spec(chart_tukey(tukey(result, "measure")))["hconcat"][0]["layer"]
    lower = spec(chart_tukey(tukey(result, "measure", lower_is_better=True)))["hconcat"][0]["layer"]
    assert "higher is better" in higher[0]["encoding"]["x"]["title"]
    assert "lower is better" in lower[0]["encoding"]["x"]["title"]
    assert higher[0]["rows"][0]["level"] == "AP"
    assert lower[0]["rows"][0]["level"] != "AP"


def test_unknown_names_are_told():
    result = make_result()
    with pytest.raises(UnknownNameError, match="'emv'"):
        chart_interaction(result, "k", "approach", baselines=["emv"])
    with pytest.raises(UnknownNameError, match="'tau'"):
        chart_interaction(result, "k", "approach", highlight=["tau"])
    with pytest.raises(UnknownNameError, match="'emv'"):
        chart_tukey(tukey(result, "approach"), baselines=["emv"])
    with pytest.raises(UnknownNameError, match="'topic'"):
        chart_main_effects(result, ["topic"])
    with pytest.raises(UnknownNameError, match="'topic'"):
        chart_interaction(result, "topic", "approach")


def test_every_chart_renders(tmp_path):
    result = make_result()
    assert len(result.design.factor("approach").levels) > FEW_LINES
    charts = {
        "main": chart_main_effects(result),
        "lines": chart_interaction(result, "k", "approach", families=FAMILIES, baselines=BASELINES),
        "tukey": chart_tukey(tukey(result, "approach"), baselines=BASELINES),
    }
    for name, chart in charts.items():
        write_chart(chart, tmp_path / f"{name}.svg")
        text = (tmp_path / f"{name}.svg").read_text()
        assert "emmv" in text
        assert "NaN" not in text


def test_a_p_value_below_the_smallest_number_is_not_0():
    rng = np.random.default_rng(0)
    level = np.repeat(["x", "y"], 2000)
    frame = pl.DataFrame({"level": level, "y": rng.normal(0, 0.001, 4000) + (level == "y")})
    result = anova(frame, "y", factors=["level"])
    assert result.p_value.tolist() == [0.0]
    assert result.df.tolist() == [1]
    (table,) = view_anova(result).sections[0].tables
    assert write_column(table, "p_value") == ["<2.2e-308", "–", "–"]
    assert has_line(print_lines(show_table(table)), "level", "2.2e-308")
    assert table.frame["p_value"].to_list() == [0.0, None, None]


def test_the_f_distribution_is_0_only_below_the_smallest_number():
    """With two degrees of freedom p = (1 + 2 F / d)^(-d / 2), so that F of a very small p is known."""
    for exponent in (-50, -250, -300, -307):
        f = 2875 * (10 ** (-exponent / 2875) - 1)
        assert fdtrc(2, 5750, f) == pytest.approx(10.0**exponent, rel=1e-6)


def test_pairs_of_tukeys_test_are_not_0_either():
    result = make_result()
    test = tukey(result, "approach")
    sure = replace(test, p_value=np.where(np.eye(len(test.levels)) > 0, 1.0, 0.0))
    table = view_tukey(sure).sections[1].tables[0]
    assert set(write_column(table, "p_value")) == {"<1e-100"}
