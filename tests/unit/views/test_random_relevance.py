"""Charts and page of the random relevance experiment."""

import json
from html.parser import HTMLParser

import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.experiments.collection import Collection
from karatage.experiments.random_relevance.findings import experiment_random_relevance
from karatage.experiments.random_relevance.plan import RandomRelevancePlan
from karatage.simulation.panel import simulate_panel
from karatage.views.html import render_page
from karatage.views.random_relevance import chart_random_relevance, view_random_relevance
from karatage.views.text import print_lines, show_table
from tests.notes import gives

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def found():
    world = kt.simulation.simulate_collection(systems=6, topics=4, depth=40, rng=0)
    panels = {
        name: simulate_panel(world.gold, judges=5, correlation=c, rng=0) for name, c in (("p", 0.0), (HOSTILE, 0.4))
    }
    collection = Collection.of({"six": world.runs}, panels, world.gold)
    return experiment_random_relevance(collection, RandomRelevancePlan(sizes=(2, 3), samples=3, draws=20))


def points(chart):
    tables = json.loads(chart.to_json())["datasets"].values()
    rows = [row for table in tables for row in table]
    return {(r["measure"], r["approach"], r["gold"][:12], r["size"]): r["value"] for r in rows}


@pytest.mark.parametrize("outcome", ["tau", "tau_ap"])
def test_lines_show_the_means_of_table_2(found, outcome):
    drawn = points(chart_random_relevance(found, systems="six", panel="p", outcome=outcome))
    assert len(drawn) == 3 * 2 * (5 + 2)
    table = found.table2(outcome).filter(systems="six", panel="p", gold="RGS", approach="qbinmv", measure="eRDCG")
    assert drawn["DCG(dcg=jk,base=10)", "qbinmv", "randomised g", 3] == table["M = 3"][0]


def test_swatches_show_a_dash_and_a_gap_at_least_twice(found):
    layer = chart_random_relevance(found, systems="six", panel="p").to_dict()["concat"][0]["layer"][0]
    dash = layer["encoding"]["strokeDash"]
    assert dash["legend"]["symbolSize"] ** 0.5 >= 2 * max(map(sum, dash["scale"]["range"]))


def test_unknown_places_are_refused(found):
    for given in ({"systems": "seven", "panel": "p"}, {"systems": "six", "panel": "p", "outcome": "rmse"}):
        with pytest.raises(OptionError, match="systems"):
            chart_random_relevance(found, **given)


def test_the_page_has_all_tables_and_charts(found):
    page = view_random_relevance(found)
    assert [name for name, _ in page.figures] == ["tau_ap-1", "tau_ap-2", "tau-1", "tau-2"]
    assert page.sentence == found.sentence
    assert len(page.sections) == 3
    text = render_page(page)
    texts = []
    parser = HTMLParser()
    parser.handle_data = texts.append
    parser.feed(text)
    row = found.table1.row(0, named=True)
    assert {f"{row['tau']:.4f}", f"{row['tau ±']:.4f}"} <= set(texts)
    assert text.count('<div class="still"><svg') == 4
    assert text.count("<script>") == 2  # the page's own
    merged = page.sections[1].tables[0]
    best = [k for k, bold in enumerate(merged.mark["M = 2"]) if bold]
    assert len(best) >= 6  # of each measure against each gold


def test_captions_name_the_tables_of_the_paper_and_lines_that_are_hidden(found):
    page = view_random_relevance(found)
    for number, section in enumerate(page.sections[:2], 1):
        assert gives(section.tables[0].caption, f"Table {number}", "six", "p")
    caption = page.sections[1].charts[0].caption
    assert gives(caption, "uniform", "binmv", "DCG", "RBP")  # all judges graded every document
    assert not gives(caption, "uniform", "binmv", "AP")


def test_parts_of_a_wide_table_are_told_apart(found):
    text = print_lines(show_table(view_random_relevance(found).sections[0].tables[0]))
    titles = [" ".join(part.split("\n\n")[0].split()) for part in text.split("Table 1")[1:]]
    assert len(titles) == len(set(titles)) == 2


def test_without_a_check_there_is_no_section_for_it():
    world = kt.simulation.simulate_collection(systems=3, topics=3, depth=40, rng=0)
    collection = Collection.of({"s": world.runs}, {"p": simulate_panel(world.gold, judges=4, rng=0)}, world.gold)
    plan = RandomRelevancePlan(sizes=(2,), samples=2, draws=0, measures=("AP",))
    assert len(view_random_relevance(experiment_random_relevance(collection, plan)).sections) == 2
