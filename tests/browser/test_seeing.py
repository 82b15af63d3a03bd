"""A page on every screen, in every theme, for every reader: it fits, it can be read, it can be used without a mouse."""

from __future__ import annotations

from itertools import product

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.visiting import MEASURING, PHONE, THEMES, WIDE

TEXT, MARK = 4.5, 3.0  # contrast that WCAG 2 asks for
LIKE_OTHERS = """document.querySelectorAll("tbody tr:nth-child(n + 4)").forEach((row) => row.remove());
document.querySelectorAll("svg").forEach((chart) => chart.replaceChildren())"""  # saves most of the time
FOCUSABLE = "a[href], button, select, summary, input, [tabindex='0']"


def open_all(page):
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def list_sights():
    """Pages, sizes and themes: each pair of them in the gate, each three under soak."""
    for name, size, theme in product(["survey", "pair"], {"wide": WIDE, "phone": PHONE}.items(), THEMES):
        rest = (name == "pair") ^ (size[1] is PHONE) ^ (theme == THEMES[1])
        yield pytest.param(name, size[1], theme, id=f"{name}-{size[0]}-{theme}", marks=[pytest.mark.soak] * rest)


@pytest.mark.parametrize(("name", "size", "theme"), [*list_sights()])
def test_it_fits_and_can_be_read(show, name, size, theme):
    page = show(name, size=size, color_scheme=theme)
    page.evaluate(MEASURING)
    assert page.evaluate("measuring.findOverflow()") == []
    open_all(page)
    assert page.evaluate("measuring.findOverflow()") == []
    assert page.evaluate(f"measuring.findFaintTexts({TEXT})") == []
    assert page.evaluate(f"measuring.findFaintMarks({MARK})") == []


@pytest.mark.parametrize("theme", [THEMES[0], *(pytest.param(theme, marks=pytest.mark.soak) for theme in THEMES[1:])])
def test_it_can_be_understood_without_seeing_it(show, theme):
    page = show("survey", color_scheme=theme)
    open_all(page)
    page.evaluate(LIKE_OTHERS)
    found = Axe().run(page, {"exclude": [["svg"]]})  # a chart is its caption and its table
    assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found.response["violations"]] == []


@pytest.mark.parametrize("name", ["numbers", "survey"])
def test_every_control_can_be_reached_and_seen_by_keyboard(show, name):
    page = show(name)
    page.evaluate("document.querySelectorAll('.box').forEach((box, k) => { box.dataset.k = k; })")
    wanted = page.locator(FOCUSABLE).evaluate_all("parts => parts.filter((part) => part.checkVisibility()).length")
    seen = []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                """() => {
                  const active = document.activeElement;
                  const { outlineStyle, outlineWidth } = getComputedStyle(active);
                  const again = active.dataset.reached === "yes";
                  active.dataset.reached = "yes";
                  return [active.tagName, again, outlineStyle !== "none" && parseFloat(outlineWidth) >= 1];
                }"""
            )
        )
    assert [tag for tag, again, _ in seen if again or tag == "BODY"] == []
    assert {tag for tag, _, outlined in seen if not outlined} == set()
    missed = page.locator(FOCUSABLE).evaluate_all(
        "parts => parts.filter((part) => part.checkVisibility() && !part.dataset.reached).map((part) => part.outerHTML)"
    )
    assert missed == []
