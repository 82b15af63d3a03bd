"""Charts and page of the noisy experiment."""

import json
from html.parser import HTMLParser

import pytest

import karatage as kt
from karatage.errors import OptionError
from karatage.views.html import render_page
from karatage.views.noisy import chart_coverage, chart_histogram, chart_power, spell_rates, view_noisy

GRID = kt.experiments.NoisyPlan(
    studies=("intervals", "tests", "ebay", "trec", "dcg"),
    right_relevant=(0.9, 0.7),
    right_other=(0.8, 0.9),
    gold_sizes=(50, 250),
    topics=(20, 30),
    differences=(0.0, 0.1),
    simulations=200,
)


@pytest.fixture(scope="module")
def found():
    return kt.experiments.experiment_noisy(GRID)


@pytest.fixture(scope="module")
def alone():
    return kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(simulations=500))


def rows(chart):
    return [row for table in json.loads(chart.to_json())["datasets"].values() for row in table]


def test_histograms_are_drawn_to_the_count_with_the_true_value(alone):
    drawn = rows(chart_histogram(alone))
    assert sum(row["simulations"] for row in drawn if row.get("estimate") == "naive") == 500
    assert sum(row["simulations"] for row in drawn if row.get("estimate") == "corrected") == 500
    assert [row["true"] for row in drawn if "true" in row] == [0.4]


def test_coverage_is_drawn_for_every_world(found):
    drawn = {
        (row["rates"], row["gold_size"], row["topics"]): row["covered_t"]
        for row in rows(chart_coverage(found))
        if "rates" in row
    }
    assert len(drawn) == 8
    told = found.intervals.filter(right_relevant=0.7, gold_size=50, topics=30)["covered_t"].item()
    assert drawn[".7/.9", 50, 30] == told


def test_power_is_drawn_for_every_test(found):
    drawn = [row for row in rows(chart_power(found, samples="two", topics=30)) if "test" in row]
    assert len(drawn) == 2 * 2 * 2 * 5
    told = found.tests.filter(gold_samples="two", topics=30, difference=0.1, test="shared", gold_size=50)
    assert {row["rejected"] for row in drawn if row["test"] == "shared" and row["gold_size"] == 50} >= set(
        told["rejected"]
    )
    titles = [
        panel["title"]["text"][0]
        for panel in json.loads(chart_power(found, samples="one", topics=20).to_json())["concat"]
    ]
    assert titles == ["right .9/.8, P@10 = 0.4"] * 2 + ["right .7/.9, P@10 = 0.4"] * 2


def test_what_was_not_studied_is_not_drawn(found, alone):
    names = [name for name, _ in view_noisy(found).figures]
    assert names == ["coverage", "power-one-20", "power-one-30", "power-two-20", "power-two-30"]
    assert [name for name, _ in view_noisy(alone).figures] == ["histogram"]
    with pytest.raises(OptionError, match=r"\b1\b.*\b6\b.*\b8\b"):
        chart_histogram(found)
    with pytest.raises(OptionError):
        chart_power(alone, samples="one", topics=50)
    with pytest.raises(OptionError):
        chart_power(found, samples="one", topics=99)
    with pytest.raises(OptionError):
        chart_coverage(kt.experiments.experiment_noisy(kt.experiments.NoisyPlan(studies=("dcg",))))


def test_the_page_has_all_tables_and_charts(found):
    page = view_noisy(found)
    assert page.sentence == found.sentence
    assert [section.title for section in page.sections] == ["Intervals", "Tests", "eBay", "TREC", "Graded judgments"]
    text = render_page(page)
    texts = []
    parser = HTMLParser()
    parser.handle_data = texts.append
    parser.feed(text)
    words = "".join(texts)
    assert f"{found.intervals['covered'][0] * 100:.1f}" in words
    for figure in ("−2.524", "0.0116", "0.8047", "0.8284", "0.0903", "0.0923", "0.8541", "−2.384", "0.0171"):
        assert figure in words
    for figure in ("2454", "infinite", "0.527 > 0.447", "0.482132", "0.565465"):
        assert figure in words
    assert text.count('<div class="still"><svg') == 5
    assert text.count("<script>") == 2  # the page's own


def test_rates_are_short():
    assert spell_rates({"right_relevant": 0.95, "right_other": 1.0}) == ".95/1"
