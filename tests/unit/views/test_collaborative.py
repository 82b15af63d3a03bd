"""Charts and page of the collaborative experiment."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.views.collaborative import (
    chart_consensus,
    chart_finding,
    chart_gaps,
    chart_orders,
    chart_shares,
    tabulate_reach,
    tabulate_wins,
    view_collaborative,
)
from karatage.views.html import render_page
from karatage.views.text import print_lines, show_table
from tests.notes import has_line

PLAN = kt.experiments.CollaborativePlan(
    orders=("depth", "meta-ap"),
    crowds=("careful",),
    approaches=("mv", "ry"),
    expert_shares=(0, 10, 40),
    crowd_shares=(0, 30),
    fixed_share=30,
    samples=2,
    resamples=5,
)


@pytest.fixture(scope="module")
def found():
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    return kt.experiments.experiment_collaborative(world.runs, world.gold, PLAN)


@pytest.fixture(scope="module")
def bare():
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    return kt.experiments.experiment_collaborative(
        world.runs, world.gold, kt.experiments.CollaborativePlan(studies=("finding",), orders=("depth",))
    )


def rows(chart):
    return [row for table in json.loads(chart.to_json())["datasets"].values() for row in table]


def test_mixes_without_intervals_are_neither_above_nor_below(found):
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    plan = replace(PLAN, studies=("shares",), orders=("depth",), samples=1, resamples=0)
    single = tabulate_wins(kt.experiments.experiment_collaborative(world.runs, world.gold, plan)).frame
    assert single["mixes"].to_list() == [3, 3]
    for name in ("above", "below", "over topics"):
        assert single[name].to_list() == [None, None]
        assert None not in tabulate_wins(found).frame[name].to_list()


def test_wins_and_least_costs_fit_a_terminal():
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    orders = ("average-rank", "move-to-front")
    plan = replace(PLAN, studies=("shares",), crowds=("hcb:independent",), orders=orders)
    independent = kt.experiments.experiment_collaborative(world.runs, world.gold, plan)
    for make, last in ((tabulate_wins, "mean gap"), (tabulate_reach, "experts alone")):
        text = print_lines(show_table(make(independent)))
        assert has_line(text, "crowd", "ratio", last)
        assert all(has_line(text, name) for name in (*orders, "hcb:independent"))


def test_orders_are_drawn_for_every_share(found):
    drawn = {(row["order"], row["experts"]): row["tau_ap"] for row in rows(chart_orders(found))}
    assert drawn == {(o, e): t for o, e, t in found.order_means.select("order", "experts", "tau_ap").rows()}
    titles = [panel["title"]["text"] for panel in json.loads(chart_orders(found).to_json())["concat"]]
    assert titles == ["tau", "tau_ap"]


def test_the_curve_of_found_documents_begins_at_nothing(found):
    drawn = [row for row in rows(chart_finding(found)) if row.get("order") == "meta-ap"]
    assert drawn[0] == {"order": "meta-ap", "judged": 0.0, "found": 0.0}
    assert drawn[-1]["found"] == 1.0
    assert len(drawn) == 101


def test_shares_are_drawn_over_cost_beside_experts_alone(found):
    told = rows(chart_shares(found, "depth"))
    mixes = [row for row in told if "share" in row]
    assert {(row["share"], row["experts"], row["ratio"]) for row in mixes} == {
        ("30%", experts, ratio) for experts in (0.0, 10.0, 40.0) for ratio in "AB"
    }
    alone = {row["cost"]: row["tau_ap"] for row in told if "share" not in row}
    own = found.order_means.filter(order="depth", experts=10.0).row(0, named=True)
    assert alone[own["judged"] / found.items] == own["tau_ap"]


def test_approaches_are_drawn_at_the_first_ratio(found):
    told = [row for row in rows(chart_consensus(found, "meta-ap")) if "approach" in row]
    assert {row["ratio"] for row in told} == {"A"}
    assert {row["approach"] for row in told} == {"mv", "ry"}


def test_gaps_are_written_and_bold_where_decided(found):
    told = rows(chart_gaps(found, "depth"))
    assert len(told) == 6
    for row in told:
        assert row["decided"] == (row["verdict"] in ("above", "below"))
        assert float(row["text"].replace("−", "-")) == pytest.approx(row["gap"], abs=0.006)
        assert row["text"] == ".00" or row["text"][0] in "+−"


def test_what_was_not_studied_is_not_drawn(found, bare):
    assert [name for name, _ in view_collaborative(bare).figures] == ["finding"]
    for draw in chart_consensus, chart_shares, chart_gaps:
        with pytest.raises(OptionError, match="'thompson'"):
            draw(found, "thompson")
    with pytest.raises(OptionError, match="orders"):
        chart_orders(bare)
    only = kt.experiments.CollaborativePlan(studies=("orders",), orders=("depth",), resamples=0)
    world = kt.simulation.simulate_collection(systems=5, topics=5, depth=15, rng=3)
    with pytest.raises(OptionError, match="finding"):
        chart_finding(kt.experiments.experiment_collaborative(world.runs, world.gold, only))


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables, self.pictures, self.text = 0, 0, ""

    def handle_starttag(self, tag, attrs):
        self.tables += tag == "table"
        self.pictures += tag == "svg"

    def handle_data(self, data):
        self.text += data


def test_the_page_has_all_charts_tables_and_doubts(found):
    page = Reader()
    page.feed(render_page(view_collaborative(found)))
    assert page.pictures == 2 + 2 * 3
    assert page.tables == 3 + 1 + 3 + 9 + 2
    assert found.sentence in page.text
    for note in found.notes:
        assert str(note) in page.text
    for words in (
        "figure 3.4",
        "figure 3.6",
        "figures 3.7 and 3.8",
        "tables 3.2 and 3.3",
        "150 documents of 5 topics",
        "2 crowds",
    ):
        assert words in " ".join(page.text.split())


def test_a_page_of_one_study_is_short(bare):
    page = view_collaborative(bare)
    assert [section.title for section in page.sections] == ["Finding"]
