"""What the collaborative experiment makes of its numbers: means, intervals, verdicts, sentences."""

import json
from dataclasses import replace
from html import unescape

import numpy as np
import polars as pl
import pytest
from scipy import stats

import karatage as kt
from karatage.data.checks import find_schema
from karatage.experiments.collaborative.cells import STUDIES
from karatage.experiments.collaborative.findings import (
    CollaborativeFindings,
    decide,
    find_interval,
    find_topic_interval,
    summarise,
)
from tests.notes import gives

SCHEMAS = {study: find_schema(rule.columns) for study, rule in STUDIES.items()}
PLAN = kt.experiments.CollaborativePlan(
    orders=("depth", "thompson"),
    crowds=("careful",),
    approaches=("mv", "ry"),
    expert_shares=(0, 10),
    crowd_shares=(0, 40),
    fixed_share=40,
    ratios=("A",),
    samples=3,
)


def make(plan=PLAN, **tables):
    known = {kind: tables.get(kind, pl.DataFrame(schema=schema)) for kind, schema in SCHEMAS.items()}
    areas = tables.get("areas", pl.DataFrame(schema={"order": pl.String, "sample": pl.Int64, "area": pl.Float64}))
    return CollaborativeFindings(plan=plan, items=1000, relevant=0.1, topics=10, systems=5, areas=areas, **known)


@pytest.fixture(scope="module")
def found():
    orders = [
        (order, sample, 10.0, 100, 0.4, 0.8, value, 0.05, value - 0.5, 0.04)
        for order, values in {"depth": (0.5, 0.5, 0.5), "thompson": (0.6, 0.7, 0.65)}.items()
        for sample, value in enumerate(values, 1)
    ]
    finding = [
        (order, sample, share, share**0.5, 0.9 * share, share)
        for order in ("depth", "thompson")
        for sample in (1, 2, 3)
        for share in (0.5, 0.91, 1.0)
    ]
    areas = [
        {"order": order, "sample": sample, "area": area, "topics_above": above, "topics_below": 10 - above}
        for order, area, above in (("depth", 0.7, 0), ("thompson", 0.8, 9))
        for sample in (1, 2, 3)
    ]
    values = {
        ("depth", 0.0, "ry"): (0.80, 0.82, 0.81, 0.75),
        ("depth", 0.0, "mv"): (0.70, 0.71, 0.72, 0.75),
        ("depth", 10.0, "ry"): (0.90, 0.95, 0.97, 0.95),
        ("depth", 10.0, "mv"): (0.90, 0.91, 0.92, 0.95),
        ("thompson", 0.0, "ry"): (0.60, 0.61, 0.62, 0.80),
        ("thompson", 0.0, "mv"): (0.60, 0.62, 0.61, 0.80),
        ("thompson", 10.0, "ry"): (0.88, 0.86, 0.87, 0.80),
        ("thompson", 10.0, "mv"): (0.85, 0.86, 0.87, 0.80),
    }
    mixes = [
        (
            *(order, "careful", sample, experts, 40.0, approach, "A", experts / 100 + 0.04),
            *(near, near, 0.02, alone, near - alone, 0.02),
        )
        for (order, experts, approach), (*row, alone) in values.items()
        for sample, near in enumerate(row, 1)
    ]
    quality = [
        ("careful", sample, name, r, p, 0.9)
        for sample in (1, 2, 3)
        for name, r, p in (("mv", 0.9, 0.5), ("ry", 0.8, None))
    ]
    return make(
        orders=pl.DataFrame(orders, schema=SCHEMAS["orders"], orient="row"),
        finding=pl.DataFrame(finding, schema=SCHEMAS["finding"], orient="row"),
        areas=pl.DataFrame(areas),
        mixes=pl.DataFrame(mixes, schema=SCHEMAS["mixes"], orient="row"),
        quality=pl.DataFrame(quality, schema=SCHEMAS["quality"], orient="row"),
    )


def test_intervals_over_samples_are_t_intervals():
    values = np.array([0.3, 0.35, 0.5, 0.2])
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert find_interval(values) == pytest.approx((low, high))
    assert find_interval(values[:1]) == (None, None)
    assert find_interval(np.full(3, 0.5)) == (0.5, 0.5)


def test_intervals_over_topics_are_for_one_crowd():
    half = stats.t.ppf(0.975, 9) * np.sqrt((0.03**2 + 0.05**2) / 2)
    assert find_topic_interval(0.2, [0.03, 0.05], 10) == pytest.approx((0.2 - half, 0.2 + half))
    assert find_topic_interval(0.2, [None, None], 10) == (None, None)
    assert find_topic_interval(0.2, [0.1], 1) == (None, None)


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [(0.1, 0.2, "above"), (-0.2, -0.1, "below"), (-0.1, 0.1, "undecided"), (0.0, 0.0, "undecided"), (None, None, None)],
)
def test_an_interval_decides_where_it_excludes_0(low, high, told):
    assert decide(low, high) == told


def test_intervals_stay_where_the_quantity_can_be():
    frame = pl.DataFrame({"k": ["a", "a"], "tau_ap": [0.5, 0.99], "error": [0.4, 0.4]})
    row = summarise(frame, ["k"], {"tau_ap": "error"}, 10).row(0, named=True)
    assert (row["tau_ap_low"], row["tau_ap_high"]) == (-1.0, 1.0)
    assert row["tau_ap_topics_high"] == 1.0
    assert row["samples"] == 2


def test_mixes_are_decided_by_samples_and_by_topics(found):
    told = {
        (order, experts): (gap, verdict, topics)
        for order, experts, gap, verdict, topics in found.shares.select(
            "order", "experts", "gap", "verdict", "topics_verdict"
        ).rows()
    }
    assert told["depth", 0.0] == (pytest.approx(0.06), "above", "above")
    assert told["depth", 10.0] == (pytest.approx(-0.01), "undecided", "undecided")
    assert told["thompson", 0.0] == (pytest.approx(-0.19), "below", "below")
    assert told["thompson", 10.0] == (pytest.approx(0.07), "above", "above")


def test_wins_are_counted_for_each_order_with_their_costs(found):
    columns = (
        "order",
        "mixes",
        "above",
        "below",
        "undecided",
        "topics_above",
        "gap",
        "above_min",
        "above_max",
        "below_max",
    )
    assert found.wins.select(columns).rows() == [
        ("depth", 2, 1, 0, 1, 1, pytest.approx(0.025), 0.04, 0.04, None),
        ("thompson", 2, 1, 1, 0, 1, pytest.approx(-0.06), 0.14, 0.14, 0.04),
    ]


def test_the_least_cost_for_a_target_is_of_means(found):
    rows = found.reach(0.9).rows()
    assert rows == [
        ("depth", "careful", "A", 0.14, 10.0, 40.0, 0.91),
        ("thompson", "careful", "A", None, None, None, 0.91),
    ]
    assert found.reach(0.4)["cost"].to_list() == [0.04, 0.04]
    assert found.reach(1.1).select("cost", "alone").rows() == [(None, None)] * 2


def test_leads_are_over_the_first_approach_for_the_same_crowds(found):
    row = found.consensus.filter(order="depth", experts=0.0, approach="ry").row(0, named=True)
    leads = np.array([0.10, 0.11, 0.09])
    assert row["lead"] == pytest.approx(0.1)
    assert (row["lead_low"], row["lead_high"]) == pytest.approx(find_interval(leads))
    assert found.consensus.filter(approach="mv")["lead"].to_list() == [0.0] * 4


def test_table33_has_a_row_for_recall_and_one_for_precision(found):
    assert found.table33.rows() == [
        ("careful", "R", pytest.approx(90), pytest.approx(80)),
        ("careful", "P", pytest.approx(50), None),
    ]


def test_table32_needs_the_majority_vote_and_tells_all_rates_where_they_exist(found):
    """900 of 1,000 are not relevant; 10 relevant ones are missed, and 90 others are called relevant."""
    assert found.table32.rows() == [("careful", *map(pytest.approx, (90, 50, 90, 100 * 810 / 820)))]
    assert len(replace(found, quality=found.quality.filter(approach="ry")).table32) == 0
    said_all = found.quality.with_columns(recall=pl.lit(1.0), precision=pl.lit(0.1), accuracy=pl.lit(0.1))
    assert replace(found, quality=said_all).table32.select("SPC", "NPV").rows() == [(0, None)]


def test_the_sentence_says_where_mixing_pays(found):
    assert gives(found.sentence, "careful", "A", "tau_ap", 0.9, "14.0%", "10% experts", "40% crowd", "depth", "91.0%")
    assert gives(found.sentence, 2, 4, 1, "95%", 3, 2, 1)


def test_without_mixes_it_says_which_order_and_approach_lead(found):
    told = replace(found, mixes=found.mixes.clear()).sentence
    assert gives(told, "10%", "thompson", "tau_ap", "0.650", "+0.150", "+0.060", "+0.240")
    assert gives(told, "thompson", "0.800", "0.700", "depth", 9, 10)


def test_json_has_everything(found):
    told = json.loads(found.to_json())
    assert told["plan"]["approach"] == "ry"
    assert told["items"] == 1000
    assert len(told["tables"]["shares"]) == 4
    assert told["sentence"] == found.sentence
    assert len(told["mixes"]["tau_ap"]["values"]) == len(found.mixes)
    assert "NaN" not in found.to_json()
    assert found.sentence in unescape(found._repr_html_())
    assert found.sentence[:60] in repr(found)


def test_what_was_not_studied_is_empty():
    nothing = make(kt.experiments.CollaborativePlan(studies=("shares",)))
    assert nothing.tables == {}
    assert "<p>" in nothing._repr_html_()
    assert nothing.sentence == ""
    assert len(nothing.frame) == 0
