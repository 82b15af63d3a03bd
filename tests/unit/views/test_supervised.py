"""Charts and page of the s-AWARE experiment."""

import json
from dataclasses import replace

import polars as pl
import pytest

import karatage as kt
from karatage.data.note import Note
from karatage.errors import OptionError
from karatage.experiments.collection import Collection, PanelRules, prepare_gold
from karatage.experiments.supervised.findings import experiment_supervised
from karatage.experiments.supervised.plan import SupervisedPlan, find_family
from karatage.simulation.panel import simulate_panel
from karatage.views.html import render_page
from karatage.views.supervised import _choose_colours, chart_supervised, chart_table, tabulate_gaps, view_supervised
from karatage.views.table import mark_rows, write_caption
from karatage.views.text import split_columns
from tests.notes import gives


@pytest.fixture(scope="module")
def found():
    world = kt.simulation.simulate_collection(systems=8, topics=6, depth=30, rng=5)
    gold = prepare_gold(world.gold, PanelRules())
    panel = simulate_panel(gold, judges=5, rng=2)
    plan = SupervisedPlan(measures=("AP", "P@5"), sizes=(2, 3), samples=3, replicates=4)
    return experiment_supervised(Collection.of({"T<08": world.runs}, {"panel": panel}, gold), plan)


def test_a_chart_shows_means_and_differences_of_one_place(found):
    chart = json.loads(chart_supervised(found, found.places[1], outcome="rmse").to_json())
    (rows,) = (rows for rows in chart["datasets"].values() if "label" not in rows[0])
    assert {(row["configuration"], row["measure"], row["outcome"]) for row in rows} == {("partitioned", "AP", "rmse")}
    assert len(rows) == 2 * 13
    means, gaps = chart["hconcat"]
    assert means["layer"][0]["encoding"]["y"]["title"] == "RMSE (mean)"
    assert gaps["layer"][0]["encoding"]["y"]["title"] == "difference from uniform"
    assert "by AP" in chart["title"]


def test_families_have_the_papers_colours(found):
    colour = dict(zip(found.plan.names, _choose_colours(found), strict=True))
    assert len(set(colour.values())) == 13
    assert colour["uniform"] == "#777777"
    assert all(int(colour[name][5:], 16) < 0x60 for name in colour if name.startswith("sup"))  # little blue in orange
    assert all(int(colour[name][5:], 16) > 0x60 for name in ("mv", "emmv", "emGZ", "emsemi"))


def test_table_1_is_a_map_of_ranks_in_the_colours_of_families(found):
    chart = json.loads(chart_table(found).to_json())
    cells = [layer for layer in chart["layer"] if layer["mark"]["type"] == "rect"]
    assert [layer["encoding"]["color"]["scale"]["domain"] for layer in cells] == [[13, 1]] * 3
    shown = {(row["where"], row["approach"]): row for data in chart["datasets"].values() for row in data}
    table = found.table()
    assert len(shown) == 13 * len(table) == 13 * 4
    for number, row in enumerate(table.iter_rows(named=True)):
        values = [row[name] for name in found.plan.names]
        for name in found.plan.names:
            cell = shown["T<08-{}, k = {}".format(row["configuration"], row["size"]), name]
            assert cell["row"] == number
            assert cell["place"] == 1 + sum(value > row[name] for value in values)
            assert cell["said"] == f"{row[name]:.3f}"
            assert cell["kind"] == find_family(name)
    bold = [layer for layer in chart["layer"] if layer["mark"].get("fontWeight") == "bold"]
    best = chart["datasets"][bold[0]["data"]["name"]]
    assert {row["place"] for row in best} == {1}


def test_differences_by_tau_ap_have_both_intervals(found):
    plain = tabulate_gaps(found, found.places[0], "AP", "rmse")
    both = tabulate_gaps(found, found.places[0], "AP", "tau_ap")
    assert set(both.columns) - set(plain.columns) == {"new_low", "new_high"}
    assert both.frame.filter(approach="mv").select("new_low", "new_high").row(0) == found.gains.filter(
        pl.col("size").is_null(), approach="mv", measure="AP", configuration="whole"
    ).select("new_low", "new_high").row(0)
    blocks = [write_caption(part) for part in split_columns(both)]
    assert len(blocks) == len(set(blocks)) == 2
    assert gives(blocks[0], "95% from", "other samples")
    assert gives(blocks[1], "other topics", "95%")
    assert "other topics" not in blocks[0] + write_caption(plain)
    old = tabulate_gaps(replace(found, topic_errors=()), found.places[0], "AP", "tau_ap")
    assert set(old.columns) == set(plain.columns)


def test_every_measure_outcome_and_place_has_a_chart(found):
    charts = dict(view_supervised(found).figures)
    assert len(charts) == 2 * (1 + 2 * 2)
    assert {"table1-1", "table1-2", "tau_ap-1-whole-1", "tau_ap-2-partitioned-2", "rmse-2-partitioned-1"} <= set(charts)


def test_the_page_has_table_1_the_figures_and_the_doubts(found):
    page = render_page(view_supervised(replace(found, notes=(Note.of("a doubt"),))))
    assert page.count('<div class="still"><svg') == 10
    assert "sup_tau_cubed" in page
    assert "T&lt;08" in page
    assert "a doubt" in page
    assert page.count("<script>") == 2  # the page's own
    assert f"{found.table()['mv'][0]:.4f}" in page


def test_the_best_of_a_row_is_marked():
    frame = pl.DataFrame({"a": [0.1, 0.3, None], "b": [0.2, 0.3, 0.1]})
    assert mark_rows(frame) == {"a": [False, True, False], "b": [True, True, True]}


def test_what_is_not_there_cannot_be_drawn(found):
    with pytest.raises(OptionError):
        chart_supervised(found, found.places[0], measure="nDCG")
