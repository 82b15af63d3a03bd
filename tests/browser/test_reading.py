"""A page in a browser: drawn whole, without complaint, from nothing but itself; on paper and without scripts too."""

from __future__ import annotations

import re

import altair as alt
import polars as pl
import pytest

from karatage.views.charts import write_chart
from tests.browser.visiting import MEASURING, PHONE, settle, wait_until_drawn

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
A4 = (718, 1000)  # pixels between the margins of a sheet
PAPER = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 22, 22)"}


def find_empty_charts(page):
    """Charts in which nothing was drawn."""
    return page.evaluate(
        """() => Array.from(document.querySelectorAll("figure.chart"))
          .filter((chart) => !chart.querySelector(".drawn svg .mark-group path, .drawn svg .mark-group line,"
                                                  + ".drawn svg .mark-rect path, .drawn svg .mark-symbol path"))
          .map((chart) => chart.dataset.name)"""
    )


@pytest.mark.parametrize(("name", "theme"), [("survey", "light"), ("survey", "dark"), ("experiment", "dark")])
def test_every_chart_is_drawn_in_the_theme_of_the_reader(show, name, theme):
    page = show(name, color_scheme=theme)
    assert page.locator("html").get_attribute("data-ready") == theme
    assert page.evaluate(BACKGROUND) == PAPER[theme]
    count = page.locator("figure.chart").count()
    assert count >= 1
    assert page.locator("figure.chart .drawn svg").count() == count
    assert page.locator(".drawn:visible").count() == count
    assert page.locator(".still:visible").count() == 0
    assert page.evaluate("Object.keys(karatage.views).length") == count
    assert find_empty_charts(page) == []


def test_nothing_but_the_page_itself_can_be_loaded_or_run(show, complaints):
    page = show("numbers")
    rule = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert rule.startswith("default-src 'none';")
    assert page.locator("script[src], link, iframe, img, object, embed").count() == 0
    blocked = page.evaluate(
        """() => new Promise((done) => {
          document.addEventListener("securitypolicyviolation", (event) => done(event.violatedDirective));
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.head.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert page.evaluate("window.ran === undefined")
    assert page.evaluate("fetch('https://example.org/').then(() => 'came', () => 'refused')") == "refused"
    assert len(complaints.found) >= 2
    assert all("Content Security Policy" in complaint for complaint in complaints.found)
    complaints.found.clear()


def test_the_theme_can_be_switched_and_follows_the_reader_until_then(show):
    page = show("numbers", color_scheme="light")
    page.emulate_media(color_scheme="dark")
    page.wait_for_selector("html[data-ready=dark]")
    assert page.evaluate(BACKGROUND) == PAPER["dark"]
    page.locator("#theme").click()
    page.wait_for_selector("html[data-ready=light]")
    assert page.evaluate(BACKGROUND) == PAPER["light"]
    fills = page.evaluate("Array.from(document.querySelectorAll('.drawn svg text'), (t) => getComputedStyle(t).fill)")
    assert set(fills) <= {"rgb(26, 26, 26)", "rgb(89, 89, 89)"}
    page.emulate_media(color_scheme="light")
    page.emulate_media(color_scheme="dark")  # the reader has spoken
    settle(page)
    assert page.evaluate(BACKGROUND) == PAPER["light"]


def test_a_choice_and_an_order_outlive_a_switch_of_theme(show):
    page = show("numbers")
    page.locator("#system").select_option("b")
    page.locator("#theme").click()
    page.wait_for_selector("html[data-ready=dark]")
    wait_until_drawn(page)
    settle(page)
    assert page.locator("#system").input_value() == "b"
    shown = page.evaluate(
        """() => Array.from(document.querySelectorAll("figure[data-name=differences] .drawn svg .mark-symbol path"))
          .filter((mark) => mark.getAttribute("opacity") === "1").map((mark) => mark.__data__.datum.system)"""
    )
    assert shown == ["b"]


@pytest.mark.parametrize("name", ["survey", "pair"])
def test_on_paper_charts_are_still_and_nothing_is_cut(show, name):
    page = show(name, color_scheme="dark", size=A4)
    page.locator("figure:not(.chart) tbody tr[data-system]").first.click()
    page.emulate_media(media="print")
    assert page.evaluate(BACKGROUND) == PAPER["light"]
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 26, 26)"
    assert page.locator(".drawn:visible, .controls:visible, nav:visible").count() == 0
    assert page.locator(".still svg:visible").count() == page.locator("figure.chart").count()
    page.evaluate(MEASURING)
    assert page.evaluate("measuring.findCut()") == []
    paper = page.pdf(format="A4")
    assert paper.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) >= 2


@pytest.mark.parametrize("name", ["survey", "pair"])
def test_without_scripts_all_is_there_but_stands_still(show, name):
    page = show(name, java_script_enabled=False)
    assert page.locator("p.sentence").is_visible()
    assert page.locator(".controls").is_hidden()
    stills = page.locator(".still svg").all()
    assert len(stills) == page.locator("figure.chart").count() >= 1
    for still in stills:
        assert still.is_visible()
        assert still.bounding_box()["height"] > 30
    for table in page.locator("figure:not(.chart) table").all():
        assert table.is_visible()
    page.locator("details.numbers summary").first.click()
    assert page.locator("details.numbers table").first.is_visible()


@pytest.mark.soak
def test_a_large_collection_stays_small_and_whole(show, pages):
    assert pages("large").stat().st_size < 3_000_000
    page = show("large", size=PHONE)
    assert find_empty_charts(page) == []
    assert page.locator("figure:not(.chart) table[data-name=leaderboard] tbody tr").count() == 63
    assert page.locator("#judge option").count() == 1 + 27
    page.evaluate(MEASURING)
    assert page.evaluate("measuring.findOverflow()") == []


def test_a_chart_alone_is_drawn_from_nothing_but_its_file(browser, complaints, tmp_path):
    frame = pl.DataFrame({"x": [1, 2], "name": ["</script><b>", "a"]})
    write_chart(alt.Chart(frame).mark_point().encode(x="x:Q", y="name:N"), tmp_path / "chart.html")
    page = browser.new_page()
    complaints.watch(page)
    page.goto((tmp_path / "chart.html").as_uri())
    page.wait_for_selector("#vis svg.marks")
    page.close()
    assert complaints.found == []
